"""Thirty seeded bugs of the search for boxes on trees, each in a copy of the package of its own, without compiled code.

A trial asks random questions. What the search claims is compared with the closest answers of the search as it is, which are proven;
of a wrong claim, a proof must not be confirmed. ``python -m tests.support.search_mutants`` prints the table.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
TREES = "elbowroom/search/trees/"


class Mutant(NamedTuple):
    name: str
    file: str
    old: str
    new: str


def _of(file: str, *changes: tuple[str, str, str]) -> list[Mutant]:
    return [Mutant(name, TREES + file, old, new) for name, old, new in changes]


MUTANTS = [
    *_of(
        "boxes/expand.py",
        ("child at the lower edge skipped", "if (p >= low[d]) if side == 0", "if (p > low[d]) if side == 0"),
        ("child at the upper edge skipped", "else (p <= high[d]):", "else (p < high[d]):"),
        ("costliest child skipped", "for i in range(n_literals):", "for i in range(n_literals - 1):"),
        ("cheapest child skipped", "for i in range(n_literals):", "for i in range(1, n_literals):"),
        ("upper children skipped", "if p < first or p > final:", "if up or p < first or p > final:"),
        ("lower children skipped", "if p < first or p > final:", "if not up or p < first or p > final:"),
        ("children cut one cell too far above", "high[d] = p - 1", "high[d] = p - 2"),
        ("children cut one cell too far below", "low[d] = p + 1", "low[d] = p + 2"),
        ("children beyond nine tenths of the budget dropped", "if total < budget:", "if total < 0.9 * budget:"),
        ("budget too small when a node is popped", "if nodes.key[0] >= budget:", "if nodes.key[0] >= 0.8 * budget:"),
        ("budget too small when a node is settled", "if base >= budget:", "if base >= 0.9 * budget:"),
        ("costs of literals counted twice", "total = base + cost if additive", "total = base + 2 * cost if additive"),
        ("key raised beyond the bound", "key = max(key, value)", "key = 1.2 * max(key, value)"),
        ("every second node forgotten", "        if row < 0:\n            continue\n", "        if row < 0 or worked % 2 == 0:\n            continue\n"),
    ),
    *_of(
        "bound/bound.py",
        ("deficit too large", "deficit -= model.guard[rival]", "deficit += 0.1"),
        ("deficit a third larger", "deficit -= model.guard[rival]", "deficit *= 1.33"),
        ("gains below twice the deficit prune", "if most < deficit:", "if most < 2.0 * deficit:"),
        ("extra cost counted twice where it prunes", "base + value >= budget:", "base + 2.0 * value >= budget:"),
        ("bound too high", "return BOUND.OPEN, base + value", "return BOUND.OPEN, base + 1.5 * value"),
        ("every bound prunes", "return BOUND.OPEN, base + value", "return BOUND.PRUNED, base"),
        ("steps beyond half the limit dropped", "if c >= limit:", "if c >= 0.5 * limit:"),
        ("steps cost as much as all before them", "cost[i] - cost[i - 1] if concave else cost[i]", "cost[i]"),
        ("reach of one side only", "narrow(scratch.reach, model, d, first, final, begin, end)", "narrow(scratch.reach, model, d, first, first, begin, end)"),
    ),
    *_of(
        "bound/gains.py",
        ("first tree dropped from the bound", "if settled:  # the node", "if settled or tree == model.tree_start[rival]:  # the node"),
        ("gains too small", "most += largest", "most += 0.5 * largest"),
        ("trees with one other leaf dropped", "if n_leaves == 0:", "if n_leaves <= 1:"),
        ("the room follows the cell", "return low if v < low else (high if v > high else v)", "return v"),
    ),
    *_of(
        "bad/find.py",
        ("nearly good sums called bad", "if most < model.need[r]:", "if most < model.need[r] + 0.2:"),
        ("all rivals but the first dropped", "for r in range(n_rivals):", "for r in range(1):"),
        ("one side of a split never looked at", "return top + 1\n    return top - 1", "return top\n    return top - 1"),
    ),
]  # fmt: skip


def question(seed: int) -> Any:
    """Twelve trees on four columns: searches take several nodes, without compiled code a second."""
    import numpy as np

    from elbowroom.problem import Box, RecourseProblem, Space
    from tests.support.small_models import random_trees

    rng = np.random.default_rng(seed)
    cuts = [rng.normal(size=8) for _ in range(4)]
    model = random_trees(rng, n_features=4, n_trees=12, depth=3, cuts=cuts, exact=False)
    row = rng.normal(size=4)
    other = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    return RecourseProblem.ask(model, Space.plain(model.info.names), row, Box(0.2), other)


def truths(questions: int) -> list[float]:
    """The distances of the closest answers, by the search as it is, whose proofs are confirmed."""
    from elbowroom_checker import check
    from tests.support.proofs import proven

    found = [proven(question(seed)) for seed in range(questions)]
    said = [check(each.proof.text.encode(), each.model_file) for each in found]
    assert all(
        one.bound is not None and one.bound >= each.distance * (1 - 1e-6) for one, each in zip(said, found, strict=True)
    )
    return [each.distance for each in found]


def trial(known: list[float]) -> dict[str, int]:
    """In the process of a mutant: how many claims were wrong, and what became of their proofs."""
    from elbowroom_checker import Refused, check
    from tests.support.proofs import proven

    count = {"asked": 0, "failed": 0, "wrong": 0, "no proof": 0, "refused": 0, "confirmed": 0}
    for seed, truth in enumerate(known):
        count["asked"] += 1
        try:
            found = proven(question(seed))
        except Exception:  # a search that breaks claims nothing
            count["failed"] += 1
            continue
        if not found.lower_bound > truth * (1 + 1e-9):
            continue
        count["wrong"] += 1
        document = found.proof.document
        if document is None or isinstance(document["optimality"], str):
            count["no proof"] += 1
            continue
        try:
            said = check(found.proof.text.encode(), found.model_file)
            assert said.bound is not None
            count["confirmed" if said.bound > truth * (1 + 1e-9) else "refused"] += 1
        except Refused:
            count["refused"] += 1
    return count


def run(mutant: Mutant | None, known: list[float]) -> dict[str, int]:
    """A trial in a copy of the sources with one bug (None: without any)."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        if mutant is not None:
            path = source / mutant.file
            text = path.read_text(encoding="utf-8")
            assert mutant.old in text, mutant
            path.write_text(text.replace(mutant.old, mutant.new, 1), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "NUMBA_DISABLE_JIT": "1"}
        command = [sys.executable, "-m", "tests.support.search_mutants", "--trial", json.dumps(known)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
        found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
        return found


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--trial"]:
        sys.stdout.write(json.dumps(trial(json.loads(arguments[1]))) + "\n")
        return
    known = truths(int(arguments[0]) if arguments else 20)
    for mutant in (None, *MUTANTS):
        name = "no bug" if mutant is None else mutant.name
        sys.stdout.write(f"{name:52s} {run(mutant, known)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
