"""Bounds by shares of the cost: never above the truth, whatever the adversary's stand, and windows never lose the closest centre."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.search.contract import Clock
from elbowroom.search.trees.first.asked import asked_of
from elbowroom.search.trees.first.collapse import Collapse
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.split import Split, where_to_stand
from elbowroom.search.trees.first.split_kernels import sum_up_shares
from tests.support.brute import closest
from tests.support.referee import Engine, run_engine
from tests.support.small_questions import hard_question, random_question

CLOCK = Clock(1e6)


def splits_of(problem: RecourseProblem, budget: float, stands: int, seed: int = 0) -> list[Split]:
    """For the stand of the product and for some anywhere, on trees that are collapsed below a budget of total cost."""
    model = problem.model
    assert isinstance(model, TreeEnsemble)
    margins = tree_margins(model, problem.target_index, problem.target.need)
    forest = Forest.of(model, problem.space, margins)
    asked = asked_of(problem, forest, everywhere=True)
    if asked is None:
        return []
    small = Collapse(model, forest, asked).below(budget)
    n, rng = problem.factual.size, np.random.default_rng(seed)
    stand, rival = where_to_stand(problem, model, margins, asked.home[:n])
    found = []
    for k in range(stands):
        place = asked.home.copy()
        place[:n] = stand
        single = np.flatnonzero(problem.space.group_of < 0)
        if k:
            rival = int(rng.integers(margins.base.size))
            place[single] += rng.normal(0.0, 2.0, single.size)
            place[:n] = np.where(problem.space.whole_room, np.rint(place[:n]), place[:n])
        found.append(Split(forest, asked, small, margins, rival, place, budget))
    return found


@pytest.mark.parametrize("block", range(6))
def test_never_above_brute_force(block: int) -> None:
    rising = 0
    for seed in range(40 * block, 40 * block + 40):
        problem = random_question(np.random.default_rng([23, seed]))
        if problem.trouble is not None or problem.distance is Distance.LINF:
            continue
        truth = closest(problem)
        power = 2 if problem.distance is Distance.L2 else 1
        total = truth**power
        budget = 1.3 * total + 0.1 if math.isfinite(total) else 4.0
        for split in splits_of(problem, budget, 3, seed):
            split.run(1e7, CLOCK)
            assert split.bound <= total * (1.0 + 1e-9) + 1e-9
            rising += split.bound > 0.0
            windows = split.windows(CLOCK)
            if math.isinf(truth):
                continue
            assert windows is not None
            low, high = windows[0][: problem.factual.size], windows[1][: problem.factual.size]
            inside = closest(problem, obeys=lambda c, a=low, b=high: bool(((c >= a) & (c <= b)).all()))  # type: ignore[misc]
            assert inside == pytest.approx(truth, rel=1e-9, abs=1e-12)
    assert rising > 5


@pytest.mark.parametrize("distance", ["l1", "l2"])
@pytest.mark.parametrize("seed", range(4))
def test_below_proven_distances_and_rising(seed: int, distance: str) -> None:
    problem = hard_question(seed, radius=0.1, distance=distance)
    best = run_engine(Engine.BOXES, problem).distance
    total = best**2 if distance == "l2" else best
    (split,) = splits_of(problem, 1.2 * total, 1)
    before = 0.0
    for _ in range(20):
        split.sweep(CLOCK)
        assert split.bound >= before
        before = split.bound
    assert 0.0 < split.bound <= total * (1.0 + 1e-9)


def test_shares_that_are_spoilt_prove_less_not_more() -> None:
    """Whatever is written into the shares, what they exceed the cost by is counted against the bound."""
    problem = hard_question(1, radius=0.1)
    best = run_engine(Engine.BOXES, problem).distance
    (split,) = splits_of(problem, 1.2 * best, 1)
    split.run(1e7, CLOCK)
    rng = np.random.default_rng(0)
    for size in (1e-9, 1e-3, 1.0, 100.0):
        split.shares.lam[:] += rng.normal(0.0, size, split.shares.lam.size)
        for s in range(split.shares.lam_start.size - 1):
            begin, end = split.shares.lam_start[s], split.shares.lam_start[s + 1]
            split.shares.floor[s] = split.shares.lam[begin:end].min()
            for e in range(split.shares.entry_start[s], split.shares.entry_start[s + 1]):
                low, high = split.shares.entry_low[e], split.shares.entry_high[e]
                least = split.shares.lam[begin + low : begin + high + 1].min()
                split.shares.entry_share[e] = least - split.shares.floor[s]
        sum_up_shares(split.shares)
        assert split.now() <= best * (1.0 + 1e-9)


def test_no_time_no_sweeps() -> None:
    problem = hard_question(0, radius=0.1)
    (split,) = splits_of(problem, 10.0, 1)
    split.run(1e9, Clock(0.0))
    assert split.bound == 0.0
    windows = split.windows(Clock(0.0))
    assert windows is not None and np.isinf(windows[0]).all()


def test_so_many_sweeps_whatever_work_they_are() -> None:
    problem = hard_question(0, radius=0.1)
    bounds = []
    for at_least in (0, 7):
        (split,) = splits_of(problem, 10.0, 1)
        split.run(0.0, CLOCK, at_least=at_least)
        assert split._sweeps == at_least
        bounds.append(split.bound)
    assert bounds[0] < bounds[1]
