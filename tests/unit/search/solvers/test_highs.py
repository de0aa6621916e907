"""The adapter for linear programs: optimum with multipliers, emptiness, endless programs, time, and use again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from elbowroom.search.solvers.highs import HighsLp, LpSolution, LpStatus, Triplets


def test_optimum_and_multipliers_are_those_of_the_program() -> None:
    """Strong duality: cost.x = y.row_lower + what the bounds of the columns add, with y >= 0."""
    solver = HighsLp()  # one object for all of them
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A, b, cost = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=4)
        lower, upper = -rng.exponential(1.0, 4), rng.exponential(1.0, 4)
        wanted = linprog(cost, A_ub=-A, b_ub=-b, bounds=list(zip(lower, upper, strict=True)))
        found = solver.solve(cost, Triplets.of(A), b, lower, upper, 10.0)
        if wanted.status == 2:
            assert found.status is LpStatus.INFEASIBLE
            assert not found.usable
            continue
        assert found.usable
        assert float(cost @ found.x) == pytest.approx(float(wanted.fun), abs=1e-9)
        assert (A @ found.x >= b - 1e-7).all()
        assert (found.row_dual >= -1e-9).all()
        reduced = cost - A.T @ found.row_dual
        dual = float(found.row_dual @ b + np.where(reduced > 0, reduced * lower, reduced * upper).sum())
        assert dual == pytest.approx(float(wanted.fun), abs=1e-7)


def test_empty_and_endless_programs_are_not_usable() -> None:
    solver, free = HighsLp(), np.array([np.inf])
    table = Triplets.of(np.array([[1.0], [-1.0]]))
    empty = solver.solve(np.zeros(1), table, np.array([1.0, 0.0]), -free, free, 10.0)  # x >= 1 and x <= 0
    assert empty.status is LpStatus.INFEASIBLE and not empty.usable
    endless = solver.solve(-np.ones(1), Triplets.of(np.array([[1.0]])), np.zeros(1), np.zeros(1), free, 10.0)
    assert endless.status is LpStatus.OTHER and not endless.usable


def test_no_time_is_not_an_optimum_and_the_next_program_has_its_own_time() -> None:
    rng = np.random.default_rng(0)
    n = 600
    A, cost = rng.random((n, n)), rng.random(n)
    solver, zeros, ones = HighsLp(), np.zeros(n), np.ones(n)
    spent = solver.solve(cost, Triplets.of(A), 0.4 * A.sum(axis=1), zeros, ones, 0.0)
    assert spent.status is LpStatus.OTHER and not spent.usable
    small = solver.solve(np.ones(1), Triplets.of(np.array([[2.0]])), np.ones(1), np.zeros(1), np.ones(1), 10.0)
    assert small.usable
    assert small.x == pytest.approx([0.5])
    assert small.row_dual == pytest.approx([0.5])


def test_tables_are_put_together_from_parts() -> None:
    dense = np.array([[1.0, 0.0], [0.0, 3.0]])
    both = Triplets.together(Triplets.of(dense), Triplets.of(np.array([[7.0]]), first_column=2))
    made = np.zeros((2, 3))
    made[both.rows, both.columns] = both.values
    assert made.tolist() == [[1.0, 0.0, 7.0], [0.0, 3.0, 0.0]]
    assert both.values.size == 3  # zeros are left out


def test_numbers_that_are_none_are_not_usable() -> None:
    good = np.ones(1)
    assert LpSolution(LpStatus.OPTIMAL, good, good).usable
    assert not LpSolution(LpStatus.OPTIMAL, np.array([np.nan]), good).usable
    assert not LpSolution(LpStatus.OPTIMAL, good, np.array([np.inf])).usable
    assert not LpSolution(LpStatus.OTHER, good, good).usable
