"""Least moves under rows and limits: against general solvers, with bounds that any multiplier keeps valid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from elbowroom.numerics import Floats
from elbowroom.problem import Box, Distance, Feature, Space
from elbowroom.search.linear import least
from elbowroom.search.linear.least import LeastMoves, Rows, _dual_bound
from elbowroom.search.solvers.highs import LpSolution, LpStatus
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import ask, proven_distance


class LyingSolver:
    """Stands in for the LP solver and answers with a fixed lie."""

    def __init__(self, status, x, dual):
        self.status, self.x, self.dual = status, x, dual

    def solve(self, cost, matrix, row_lower, column_lower, column_upper, time_limit):
        return LpSolution(self.status, np.full(cost.size, self.x), np.full(row_lower.size, self.dual))


@pytest.mark.parametrize("status", list(LpStatus))
@pytest.mark.parametrize("x", [0.0, 1e6, math.nan, math.inf])
@pytest.mark.parametrize("dual", [0.0, 1e-3, 1e9, math.nan])
def test_a_lying_solver_cannot_make_a_false_region_or_bound(monkeypatch, status, x, dual):
    model = linear_model([[1.0, 0.2], [-0.3, 1.0], [-1.0, -1.0]], [0.0, 0.1, 2.0])
    space = Space((Feature("x0", lower=-2, upper=2), Feature("x1", lower=-2, upper=2)))
    truth = proven_distance(ask(model, space, [-1.0, -1.0], Box(0.2), target=0))
    monkeypatch.setattr(least, "HighsLp", lambda: LyingSolver(status, x, dual))
    found = ask(model, space, [-1.0, -1.0], Box(0.2), target=0, seconds=0.3)
    assert found.lower_bound <= truth * (1 + 1e-12)
    if found.center is not None:
        assert found.distance >= truth * (1 - 1e-12)


def rows_of(A: Floats, b: Floats) -> Rows:
    return Rows(A, b, np.zeros(b.size), np.ones(b.size, dtype=bool), A)


def program(seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Rows and limits; mostly several rows, some columns without limits, sometimes limits that exclude 0."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    lower = np.where(rng.random(n) < 0.3, -np.inf, -rng.exponential(1.0, n))
    upper = np.where(rng.random(n) < 0.3, np.inf, rng.exponential(1.0, n))
    if seed % 4 == 0:
        lower[0], upper[0] = 0.1, 2.0
    return rng.normal(size=(m, n)), rng.normal(size=m) * 0.7, lower, upper


def truth(distance: Distance, A: Floats, b: Floats, lower: Floats, upper: Floats) -> float:
    """The least norm, by linear programs in v = p - q or by a general solver; inf if there is no point at all."""
    m, n = A.shape
    limits = list(zip(lower, upper, strict=True))
    start = linprog(np.zeros(n), A_ub=-A, b_ub=-b, bounds=limits)
    if start.status == 2:
        return math.inf
    if distance is Distance.L2:
        found = minimize(
            lambda v: 0.5 * float(v @ v), start.x, jac=lambda v: v, method="SLSQP", bounds=limits,
            constraints=[{"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A}],
            options={"ftol": 1e-15, "maxiter": 500},
        )  # fmt: skip
        return float(np.linalg.norm(found.x))
    # p, q >= 0 and, for linf, tau >= p + q
    cost = np.append(np.ones(2 * n), 0.0) if distance is Distance.L1 else np.append(np.zeros(2 * n), 1.0)
    both = np.hstack([np.eye(n), np.eye(n), -np.ones((n, 1))])
    move = np.hstack([np.eye(n), -np.eye(n), np.zeros((n, 1))])
    table, right = [np.hstack([-A, A, np.zeros((m, 1))])], [-b]
    for sign, end in ((1.0, upper), (-1.0, -lower)):
        real = np.isfinite(end)
        table.append(sign * move[real]), right.append(end[real])
    if distance is Distance.LINF:
        table.append(both), right.append(np.zeros(n))
    return float(linprog(cost, A_ub=np.vstack(table), b_ub=np.concatenate(right)).fun)


@pytest.mark.parametrize("distance", list(Distance))
def test_moves_and_bound_are_those_of_a_general_solver(distance: Distance) -> None:
    empty = moved = 0
    for seed in range(60):
        A, b, lower, upper = program(seed)
        wanted = truth(distance, A, b, lower, upper)
        found = LeastMoves(distance).solve(rows_of(A, b), lower, upper, 10.0)
        if math.isinf(wanted):
            empty += 1
            assert (found.moves, found.bound) == (None, math.inf)
            continue
        moved += wanted > 0
        assert found.moves is not None
        assert (A @ found.moves >= b - 1e-7).all()
        assert ((found.moves >= lower) & (found.moves <= upper)).all()
        assert distance.norm(np.abs(found.moves)) == pytest.approx(wanted, rel=1e-6, abs=1e-8)
        assert wanted * (1 - 1e-6) - 1e-8 <= found.bound <= wanted * (1 + 1e-6) + 1e-8
    assert empty > 3 and moved > 20


@pytest.mark.parametrize("distance", list(Distance))
def test_any_multiplier_gives_a_valid_bound(distance: Distance) -> None:
    useful = 0
    for seed in range(40):
        A, b, lower, upper = program(seed)
        wanted = truth(distance, A, b, lower, upper)
        rng = np.random.default_rng(seed)
        for _ in range(10):
            multiplier = rng.exponential(1.0, b.size) * (rng.random(b.size) < 0.7)
            price = np.ones(lower.size) if distance is not Distance.LINF else rng.exponential(1.0, lower.size)
            value = _dual_bound(distance, A, b, np.zeros(b.size), lower, upper, multiplier, price)[0]
            assert value <= wanted * (1 + 1e-6) + 1e-7
            useful += 0.0 < value < math.inf
    assert useful > 20


def test_rows_that_contradict_each_other_on_an_open_column() -> None:
    """v >= 1 and -v >= -0.5 in tenths: empty by exact cancellation; with -v >= -1 the point 1 is left."""
    A = np.array([[0.1, 0.3], [-0.1, -0.3]])
    for distance in Distance:
        limits = np.full(2, np.inf)
        gone = LeastMoves(distance).solve(rows_of(A, np.array([1.0, -0.5])), -limits, limits, 10.0)
        left = LeastMoves(distance).solve(rows_of(A, np.array([1.0, -1.0])), -limits, limits, 10.0)
        assert (gone.moves, gone.bound) == (None, math.inf)
        assert left.bound < math.inf


def test_slack_rows_can_be_forgotten() -> None:
    """Only the row that holds with equality is tight."""
    A, b = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([2.0, -3.0])
    found = LeastMoves(Distance.L1).solve(rows_of(A, b), np.full(2, -5.0), np.full(2, 5.0), 10.0)
    assert found.moves == pytest.approx([2.0, 0.0])
    assert found.tight.tolist() == [True, False]
