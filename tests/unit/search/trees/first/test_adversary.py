"""Where the adversary stands: in the room, at the cell that hurts most, and higher bounds for it."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.kernels.kernel import kernel
from elbowroom.models import TreeEnsemble
from elbowroom.problem import Box
from elbowroom.search.trees.first import split as module
from elbowroom.search.trees.first.adversary import adapt_policy, monotone
from elbowroom.search.trees.first.shares import Shares
from elbowroom.search.trees.first.split import Split
from tests.support.referee import Engine, run_engine
from tests.support.small_questions import hard_question, random_question
from tests.unit.search.trees.first.test_split import CLOCK, splits_of


@kernel
def _adapt(shares: Shares, column: int) -> None:
    adapt_policy(shares, column)


def wide_splits(count: int) -> list[Split]:
    """Of questions in which some places offer several cells."""
    found: list[Split] = []
    for seed in range(200):
        problem = random_question(np.random.default_rng([43, seed]))
        if isinstance(problem.room, Box):
            found += [
                s
                for s in splits_of(problem, 4.0, 2, seed)
                if (s.shares.place_first < s.shares.place_last).any()
            ]  # fmt: skip
    assert len(found) >= count
    return found[:count]


def test_the_cell_of_the_largest_total() -> None:
    rng, moved = np.random.default_rng(0), 0
    for split in wide_splits(30):
        shares = split.shares
        for column in range(len(shares.cell_start) - 1):
            cells = slice(int(shares.cell_start[column]), int(shares.cell_start[column + 1]))
            places = slice(int(shares.place_start[column]), int(shares.place_start[column + 1]))
            total = rng.integers(0, 5, cells.stop - cells.start).astype(np.float64)
            shares.total[cells] = total
            shares.lost[cells] = rng.random(total.size) < 0.1
            reached = np.where(shares.lost[cells] > 0, np.inf, total)
            before = shares.policy[places].copy()
            _adapt(shares, column)
            first, last, now = shares.place_first[places], shares.place_last[places], shares.policy[places]
            assert (first <= now).all() and (now <= last).all()
            best = [reached[a : b + 1].max() for a, b in zip(first, last, strict=True)]
            assert reached[now].tolist() == best
            kept = reached[before] == best
            assert (now[kept] == before[kept]).all()
            moved += int((now != before).sum())
            cheapest = np.full(total.size, np.inf)
            np.minimum.at(cheapest, now, shares.place_cost[places])
            stood = np.isin(np.arange(total.size), now)
            assert shares.cost[cells].tolist() == np.where(stood, cheapest, shares.far[0]).tolist()
    assert moved > 30


def test_places_offer_what_rooms_meet() -> None:
    """The cells of a place are those between the cuts that the room of a centre there meets, and both ends of them grow."""
    looked = 0
    for seed in range(200):
        problem = random_question(np.random.default_rng([43, seed]))
        for split in splits_of(problem, 4.0, 1, seed) if isinstance(problem.room, Box) else []:
            shares = split.shares
            n, count = problem.factual.size, len(shares.place_start) - 1
            for column in np.flatnonzero(problem.space.group_of < 0):
                start, size = int(shares.place_start[column]), int(np.diff(shares.place_start)[column])
                first, last = (a[start : start + size] for a in (shares.place_first, shares.place_last))
                assert (np.diff(first) >= 0).all() and (np.diff(last) >= 0).all() and (first <= last).all()
                for k in range(size):
                    cells = np.zeros(count, np.int64)
                    cells[column] = k
                    low, high = split.limits_of(cells, cells)
                    x = np.clip(problem.factual, *problem.centers)
                    x[column] = np.clip(x[column], low[column], high[column])
                    if not problem.centers[0][column] <= x[column] <= problem.centers[1][column]:
                        continue
                    if problem.space.whole_center[column] and x[column] != np.rint(x[column]):
                        continue
                    body, levels = problem.body(x[:n]), split._level[column]
                    meets = np.searchsorted(levels, [body.lower[column], body.upper[column]])
                    if first[k] < last[k]:
                        assert [first[k], last[k]] == meets.tolist()
                        looked += 1
    assert looked > 80


def test_policies_that_adapt_prove_more(monkeypatch: pytest.MonkeyPatch) -> None:
    gains = []
    for seed in range(5):
        problem = hard_question(seed)
        best = run_engine(Engine.BOXES, problem).distance
        bounds = []
        for patient in (10**9, 20):
            monkeypatch.setattr(module, "PATIENT_SWEEPS", patient)
            (split,) = splits_of(problem, 1.2 * best, 1)
            for _ in range(100):
                split.sweep(CLOCK)
            bounds.append(split.bound)
        assert bounds[1] <= best * (1.0 + 1e-9)
        gains.append(bounds[1] / bounds[0])
    assert min(gains) > 1.0 - 1e-6
    assert max(gains) > 1.2


def test_columns_whose_ends_do_not_grow_have_no_policy() -> None:
    column, cut = np.array([0, 0, 1, 1]), np.array([1.0, 2.0, 1.0, 2.0])
    below, above = np.array([-np.inf, -np.inf, 0.5, 0.4]), np.array([1.5, np.inf, 1.5, 2.5])
    assert monotone(column, cut, below, above, 3).tolist() == [True, False, True]


def test_all_columns_of_random_questions_grow() -> None:
    for seed in range(60):
        problem = random_question(np.random.default_rng([47, seed]))
        assert isinstance(problem.model, TreeEnsemble)
        for split in splits_of(problem, 4.0, 1, seed):
            inner = np.flatnonzero(split._forest.feature >= 0)
            asked, forest = split._asked, split._forest
            ends = asked.below[inner], asked.above[inner]
            assert monotone(forest.feature[inner], forest.cut[inner], *ends, forest.n_columns).all()
