"""Prices of one column both ways: envelopes, budgets and straight stretches against a fine grid."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.problem.pieces import Pieces
from elbowroom.search.linear.ladder import Ladder


def _ladder(rng: np.random.Generator) -> Ladder:
    ways = []
    for _ in range(2):
        starts = np.append(0.0, np.sort(rng.uniform(0.1, 4.0, int(rng.integers(0, 4)))))
        ways.append(Pieces(float(rng.choice([0.0, 0.5])), starts, rng.choice([0.1, 0.5, 1.0, 4.0], starts.size)))
    return Ladder.of(*ways)


@pytest.mark.parametrize("seed", range(30))
def test_envelopes_are_convex_below_the_price_and_touch_it(seed: int) -> None:
    rng = np.random.default_rng([72, seed])
    ladder = _ladder(rng)
    low, high = np.sort(rng.uniform(-5, 5, 2))
    envelope, grid = ladder.envelope(low, high), np.linspace(low, high, 401)
    below, price = np.array([envelope.of(v) for v in grid]), np.array([ladder.cost(v) for v in grid])
    assert (below <= price + 1e-12).all()
    assert np.diff(below, 2).min() >= -1e-12
    for slope in rng.normal(0, 2, 20):  # no convex function below the price is larger: the same minima under every form
        points, costs = ladder.points(low, high)
        least = float((costs - slope * points).min())
        assert least <= float((price - slope * grid).min()) + 1e-12
        assert least == pytest.approx(float((below - slope * grid).min()), abs=0.05)
        corners = [envelope.of(p) - slope * p for p in points]
        assert least == pytest.approx(min(corners), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_open_sides_end_with_the_last_slope_at_most(seed: int) -> None:
    ladder = _ladder(np.random.default_rng([73, seed]))
    envelope = ladder.envelope(-np.inf, np.inf)
    for way, pieces in ((envelope.up, ladder.up), (envelope.down, ladder.down)):
        assert way.slopes[-1] == pieces.slopes[-1] and np.isinf(way.lengths[-1])
        assert (np.diff(way.slopes) > 0).all()
    for v in np.linspace(-20, 20, 101):
        assert envelope.of(v) <= ladder.cost(v) + 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_a_budget_lasts_as_far_as_the_price_says(seed: int) -> None:
    rng = np.random.default_rng([74, seed])
    ladder = _ladder(rng)
    for budget in (0.0, 0.3, *rng.uniform(0, 5, 5)):
        down, up = ladder.reach(budget)
        assert ladder.cost(up * (1 + 1e-9) + 1e-9) > budget >= ladder.cost(up * (1 - 1e-9)) - 1e-9
        assert ladder.cost(down * (1 + 1e-9) - 1e-9) > budget >= ladder.cost(down * (1 - 1e-9)) - 1e-9


def test_a_column_at_home_stays_there_if_any_change_costs_something() -> None:
    jump, plain = Pieces(1.0, np.array([0.0, 2.0]), np.array([1.0, 3.0])), Pieces(0.0, np.array([0.0]), np.array([1.0]))
    ladder = Ladder.of(jump, plain)
    assert ladder.piece(0.0) == (-np.inf, 0.0)
    assert ladder.piece(1.0) == (0.0, 2.0)
    assert ladder.piece(2.0) == (0.0, np.inf)  # at a bend: both sides of it
    assert ladder.piece(-3.0) == (-np.inf, -0.0)


def test_slivers_do_not_make_slopes_infinite() -> None:
    ladder = Ladder.of(*[Pieces(1.0, np.array([0.0]), np.array([1.0]))] * 2)
    for low, high in ((0.0, 5e-324), (5e-324, 1.0), (-5e-324, 0.0), (0.0, 1e-310)):
        envelope = ladder.envelope(low, high)
        assert np.isfinite(np.concatenate([envelope.up.slopes, envelope.down.slopes])).all()
