"""Branch and bound by shares of the cost: never above the truth, to the end for single points, and the same with any number of threads."""

from __future__ import annotations

import math
import weakref
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from elbowroom.problem import Box, Distance, RecourseProblem
from elbowroom.search.contract import Clock
from elbowroom.search.trees.first import branch as module
from elbowroom.search.trees.first.branch import Branch
from elbowroom.search.trees.first.dual import Dual
from elbowroom.search.trees.first.limits import COPIES
from elbowroom.search.trees.first.narrow import narrowed
from elbowroom.search.trees.first.split import Split
from tests.support.brute import closest
from tests.support.referee import Engine, run_engine
from tests.support.small_questions import hard_question, random_question
from tests.unit.search.trees.first.test_split import CLOCK, splits_of


def run(split: Split, budget: float, n_jobs: int = 1, work: float = math.inf) -> tuple[float, Branch]:
    """After a few sweeps of the whole."""
    for _ in range(3):
        split.sweep(CLOCK)
    made = Branch(split, lambda first, last: None, n_jobs)
    return made.run(lambda: budget, CLOCK, lambda bound: None, work), made


def total_of(problem: RecourseProblem) -> float:
    return closest(problem) ** (2 if problem.distance is Distance.L2 else 1)


@pytest.mark.parametrize("block", range(4))
def test_never_above_brute_force_and_windows_keep_the_closest(block: int) -> None:
    divided = 0
    for seed in range(30 * block, 30 * block + 30):
        problem = random_question(np.random.default_rng([29, seed]))
        if problem.trouble is not None or problem.distance is Distance.LINF:
            continue
        total = total_of(problem)
        budget = 1.3 * total + 0.1 if math.isfinite(total) else 4.0
        for split in splits_of(problem, budget, 2, seed):
            bound, branch = run(split, budget, work=20_000.0)
            divided += branch.parts
            assert bound <= min(total * (1.0 + 1e-9) + 1e-9, budget)
            if math.isinf(total):
                continue
            cells = branch.windows(budget)
            assert cells is not None
            low, high = (limit[: problem.factual.size] for limit in split.limits_of(*cells))
            inside = closest(problem, obeys=lambda c, a=low, b=high: bool(((c >= a) & (c <= b)).all()))  # type: ignore[misc]
            assert inside == pytest.approx(closest(problem), rel=1e-9, abs=1e-12)
    assert divided > 20


@pytest.mark.parametrize("seed", range(3))
def test_single_points_are_proven_to_the_end(seed: int) -> None:
    """Where rooms are points and there is one rival, the shares know everything: the bound reaches the closest centre."""
    problem = replace(hard_question(seed, radius=0.1), room=Box(0.0))
    truth = run_engine(Engine.BOXES, problem).distance
    (split,) = splits_of(problem, 1.2 * truth, 1)
    bound, branch = run(split, 1.2 * truth)
    assert bound == pytest.approx(truth, rel=1e-6)
    assert branch.parts > 0


def test_threads_change_nothing() -> None:
    found = []
    for n_jobs in (1, 3):
        problem = hard_question(0, radius=0.1)
        (split,) = splits_of(problem, 3.0, 1)
        bound, branch = run(split, 3.0, n_jobs, work=300_000.0)
        found.append((bound, branch.parts, branch.work))
    assert found[0] == found[1]
    assert found[0][1] > 4


def test_no_more_threads_than_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    (split,) = splits_of(hard_question(0, radius=0.1), 3.0, 1)
    size = sum(getattr(split.shares, each.name).nbytes for each in fields(split.shares))
    for most, threads in ((0, 1), (2 * COPIES * size, 2), (100 * COPIES * size, 3)):
        monkeypatch.setattr(module, "SHARES_BYTES", most)
        assert Branch(split, lambda first, last: None, 3).threads == threads


def test_a_part_takes_its_place_in_memory() -> None:
    """Where windows leave less of a side, the side itself is given up."""
    (split,) = splits_of(hard_question(0, radius=0.1), 3.0, 1)
    alive = weakref.WeakSet[Dual]()
    branch, most = Branch(split, lambda first, last: None), 0
    made = branch._of

    def counted(*about: Any) -> Dual | None:
        nonlocal most
        dual = made(*about)
        if dual is not None:
            alive.add(dual)
            most = max(most, len(alive))
        return dual

    branch._of = counted  # type: ignore[method-assign]
    branch.run(lambda: 3.0, CLOCK, lambda bound: None, 100_000.0)
    assert branch.parts > 4
    assert most < COPIES  # beside the whole: a part, its side, and what is left of that


def test_parts_without_memory_for_their_shares_prove_the_same_or_less(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = replace(hard_question(3, radius=0.1), room=Box(0.0))
    truth = run_engine(Engine.BOXES, problem).distance
    monkeypatch.setattr(module, "PART_BYTES", 0)
    (split,) = splits_of(problem, 1.2 * truth, 1)
    assert run(split, 1.2 * truth)[0] == pytest.approx(truth, rel=1e-6)


def test_narrowing_twice_is_narrowing_once() -> None:
    """So that the shares of a part can be put back into it."""
    (split,) = splits_of(hard_question(1, radius=0.1), 3.0, 1)
    split.run(1e6, CLOCK)
    size = np.diff(split.shares.cell_start)
    first, last = size // 4, size - 1 - size // 8
    once = narrowed(split.shares, first, last)
    half = narrowed(split.shares, first // 2, last)
    assert once is not None and half is not None
    twice = narrowed(half[0], first - first // 2, last - first // 2)
    assert twice is not None
    for name in (
        "value",
        "leaf_start",
        "entry_leaf",
        "entry_low",
        "entry_high",
        "lam",
        "coarse",
        "cost",
        "column_slot",
    ):
        assert np.array_equal(getattr(once[0], name), getattr(twice[0], name)), name


def test_no_time_no_parts() -> None:
    (split,) = splits_of(hard_question(0, radius=0.1), 10.0, 1)
    branch = Branch(split, lambda first, last: None)
    assert branch.run(lambda: 10.0, Clock(0.0), lambda bound: None) == 0.0
    assert branch.parts == 0
