"""Everything that people may ask for, against the truth found by looking at everything.

*together*: boxes on small trees with random rules, steps, prices, rooms on some columns, plausible answers and missing values;
distances equal to 1e-9 (with linear rules, which hold to rounding, to 3e-8). *whole numbers*: every family of models and shape
of room, by every centre and every point of its room. *several*: menus, fewest changes and answers of different kinds against
enumeration. *why not*: questions constructed to have no answer; the set that is named blocks, and no proper subset does.
Every region is attacked. Nothing here measures seconds.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tests.support.blocked import check
from tests.support.exact import people, several, whole
from tests.support.whole_truth import FAMILIES

import elbowroom

Parts: TypeAlias = dict[str, tuple[int, int, Callable[[int], str]]]  # how many, the first seed, what is asked
FIRST = 10_000  # seeds that no test of the suite asks about


def _blocked(seed: int) -> str:
    check(seed)
    return "none"


PARTS: Parts = {
    "together": (2_300, FIRST, people),
    **{f"whole numbers, {family}": (150 if family == "network" else 300, FIRST, lambda seed, f=family: whole(seed, (f,))) for family in FAMILIES},
    "whole numbers, trees by Algorithm 1": (200, 2 * FIRST, lambda seed: whole(seed, ("trees",), "adversarial")),
    "several": (450, FIRST, several),
    "why not": (200, 0, _blocked),
}  # fmt: skip


def run_exact(rows: int | None = None, only: Sequence[str] = ()) -> dict[str, Any]:
    """One record per part: how many questions, how they ended, and what was wrong."""
    return run_parts(PARTS, rows, only)


def run_parts(parts: Parts, rows: int | None, only: Sequence[str]) -> dict[str, Any]:
    """Each part asks its questions, by number of the first one."""
    warnings.simplefilter("ignore", elbowroom.ElbowroomWarning)
    records, failures = [], []
    for name, (count, first, ask) in parts.items():
        if only and not any(name.startswith(part) for part in only):
            continue
        ended: Counter[str] = Counter()
        for seed in range(first, first + min(count, rows or count)):
            try:
                ended[ask(seed)] += 1
            except AssertionError as wrong:
                ended["wrong"] += 1
                failures.append(f"{name}, {wrong}")
                print(f"{name}, seed {seed}: {wrong}", flush=True)
            if ended.total() % 25 == 0:
                print(f"{name}: {ended.total()} questions, {ended['wrong']} wrong", flush=True)
        records.append({"part": name, "questions": ended.total(), **ended, "wrong": ended["wrong"]})
        print(records[-1], flush=True)
    return {"parts": records, "failures": failures}
