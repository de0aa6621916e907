"""Over a hundred fixed questions and what was answered to them: every family, shape, distance, rule and kind of feature.

``python -m tests.golden.questions`` asks all of them and says which answers differ from the stored ones, to the bit;
with ``--write`` it stores what it gets. Models are made from arrays, so that no version of another library changes the
questions themselves. The answers that come from linear programs or matrix products may differ in their last bits between
machines and versions; `test_questions` knows.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from elbowroom import AtMost, Ball, Box, Diamond, Explainer, Feature, LinearRule, Space
from elbowroom.models import Decision, Model
from elbowroom.problem import Group, RecourseProblem, Room
from elbowroom.problem.rules import Rule
from tests.support.linear_problems import linear_model
from tests.support.oblique_models import random_oblique
from tests.support.plane_questions import ROOMS, Family, plane_question
from tests.support.round_questions import random_round_question
from tests.support.small_models import random_network, random_trees
from tests.support.small_questions import random_question

STORED = Path(__file__).with_name("questions.json")
PATIENCE = 300.0  # seconds: every question ends by itself long before
VERSIONS = ("numpy", "scipy", "numba", "highspy")


@dataclass(frozen=True)
class Question:
    """What is asked, of an explainer that other questions of the same ``model`` have been asked before."""

    name: str
    model: Model
    space: Space
    row: np.ndarray
    room: Room
    target: object
    distance: str = "l1"
    rules: tuple[Rule, ...] = ()
    method: str = "auto"


def _of(name: str, problem: RecourseProblem, method: str = "auto", rules: tuple[Rule, ...] = ()) -> Question:
    asked = (*problem.rules, *rules)
    return Question(
        name, problem.model, problem.space, problem.factual, problem.room, problem.target,
        problem.distance.value, asked, method,
    )  # fmt: skip


def questions() -> Iterator[Question]:
    """All of them, in a fixed order."""
    for family in Family:
        for norm in ROOMS:
            for number in range(3):
                yield _of(f"{family.value}, {norm}, {number}", plane_question(family, norm, 1000 + number))
    for number in range(15):
        yield _of(f"small box {number}", random_question(np.random.default_rng([13, number])))
    for number in range(15):
        yield _of(f"small round room {number}", random_round_question(np.random.default_rng([17, number])))
    yield from _forests()
    yield from _networks()
    yield from _rules()
    for norm in ROOMS:
        yield _of(f"Algorithm 1, tree, {norm}", plane_question(Family.TREE, norm, 1000), "adversarial")
        yield _of(f"Algorithm 1, ReLU, {norm}", plane_question(Family.RELU, norm, 1000), "adversarial")
        yield _of(f"one leaf, {norm}", plane_question(Family.ENSEMBLE, norm, 1001), "one_leaf")


def _forests() -> Iterator[Question]:
    """Ensembles of a size at which the search works for its answer; three rows to one explainer."""
    for kind, classes in (("two classes", 2), ("three classes", 3)):
        rng = np.random.default_rng([19, classes])
        features = [Feature(f"x{f}", "numeric", -3.0, 3.0, weight=1.0 + f / 4) for f in range(6)]
        features += [Feature("x6", "integer", -3, 3, direction="increasing"), Feature("x7", "binary", immutable=True)]
        features += [Feature(f"x{f}", "binary") for f in (8, 9, 10)]
        space = Space(tuple(features), (Group("city", ("x8", "x9", "x10"), 0.7),))
        cuts = [np.round(rng.normal(0.0, 1.2, 16), 3) for _ in range(6)] + [
            np.arange(-2.5, 3.0),
            *4 * [np.array([0.5])],
        ]
        decision = Decision.POSITIVE if classes == 2 else Decision.ARGMAX
        model = random_trees(rng, 11, 40, 4, cuts, classes, decision, exact=False, base=-12.0)
        rows = np.column_stack(
            [rng.uniform(-2, 2, (3, 6)), rng.integers(-2, 2, 3), np.ones(3), np.eye(3)[rng.integers(3, size=3)]]
        )
        rooms: dict[str, Room] = {"box": Box(0.2), "ball": Ball(0.3), "diamond": Diamond(0.4)}
        for shape, room in rooms.items():
            for i, distance in enumerate(("l1", "l2", "linf")):
                target = int(model.scores(rows[i][None])[0].argmin()) if classes == 3 else 1
                yield Question(f"forest, {kind}, {shape}, {distance}", model, space, rows[i], room, target, distance)


def _networks() -> Iterator[Question]:
    for hidden in ((12,), (5, 5)):
        rng = np.random.default_rng([23, *hidden])
        model = random_network(rng, (4, *hidden))
        space = Space(tuple(Feature(f"x{f}", "numeric", -2.0, 2.0) for f in range(4)))
        row = rng.uniform(-1, 1, 4)
        target = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
        for room, distance in ((Box(0.05), "l1"), (Ball(0.05), "l2"), (Diamond(0.05), "linf")):
            yield Question(f"network {hidden}, {type(room).__name__}", model, space, row, room, target, distance)


def _rules() -> Iterator[Question]:
    rng = np.random.default_rng(29)
    cuts = [rng.normal(0.0, 1.0, 6) for _ in range(4)]
    models: dict[str, Model] = {
        "linear": linear_model(rng.normal(size=(1, 4)), np.array([-3.0])),
        "network": random_network(rng, (4, 6)),
        "oblique": random_oblique(rng, 4, 1, 3),
        "forest": random_trees(rng, 4, 5, 3, cuts, exact=False),
    }
    space = Space((*(Feature(f"x{f}", "numeric", -2.0, 2.0) for f in range(3)), Feature("x3", "integer", -2, 2)))
    row = np.array([0.3, -0.4, 0.2, 1.0])
    budget = LinearRule({"x0": 1.0, "x1": 1.0, "x2": 0.5}, -1.0, 1.5)
    for family, model in models.items():
        target = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
        method = "adversarial" if family == "forest" else "auto"
        for room in (Box(0.04), Ball(0.04), Diamond(0.04)):
            name = f"{family}, {type(room).__name__}"
            yield Question(f"{name}, at most two", model, space, row, room, target, "l1", (AtMost(2),))
            yield Question(f"{name}, rows", model, space, row, room, target, "l2", (budget,), method)


def answers() -> dict[str, dict[str, Any]]:
    """Ask everything; explainers are kept, and what they have answered before changes nothing."""
    known: dict[int, Explainer] = {}
    found: dict[str, dict[str, Any]] = {}
    for question in questions():
        explainer = known.setdefault(id(question.model), Explainer(question.model, question.space))
        found[question.name] = _ask(explainer, question)
    return found


def _ask(explainer: Explainer, q: Question) -> dict[str, Any]:
    answer = explainer.explain(q.row, q.room, q.target, q.distance, q.rules, PATIENCE, q.method)
    entry: dict[str, Any] = {"status": answer.status.name, "lower_bound": _exact(answer.lower_bound)}
    if answer:
        entry["distance"] = _exact(answer.distance)
        entry["center"] = [_exact(v) for v in answer.center]
    for name in ("nodes", "rounds"):
        if name in answer.counters:
            entry[name] = int(answer.counters[name])
    return entry


def _exact(value: float) -> str:
    return float(value).hex() if math.isfinite(value) else str(value)


def surroundings() -> dict[str, str]:
    """What the last bits of an answer may depend on; linear algebra is another one for each family of processors."""
    algebra = {str(library.get("architecture", "")) for library in threadpool_info() if library["user_api"] == "blas"}
    return {
        "machine": f"{platform.machine()} {platform.system()} {' '.join(sorted(algebra))}",
        **{name: version(name) for name in VERSIONS},
    }


def stored() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return document


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="the golden questions")
    parser.add_argument("--write", action="store_true", help="store the answers instead of comparing")
    given = parser.parse_args(arguments)
    found = answers()
    if given.write:
        STORED.write_text(
            json.dumps({"made with": surroundings(), "answers": found}, indent=1) + "\n", encoding="utf-8"
        )
        return 0
    expected = stored()["answers"]
    different = [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
    for name in different:
        sys.stdout.write(f"{name}\n  stored {expected.get(name)}\n  now    {found.get(name)}\n")
    sys.stdout.write(f"{len(expected) - len(different)} of {len(expected)} golden questions equal to the bit\n")
    return len(different) > 0


if __name__ == "__main__":
    sys.exit(main())
