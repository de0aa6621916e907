"""The linear relaxation whose multipliers prove bounds: points, multipliers, rays, changed bounds, refused programs."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.numerics import Floats
from elbowroom.search.program import Builder, Program
from elbowroom.search.solvers.highs_mip import HighsMip, HighsRelaxation
from elbowroom.search.solvers.protocol import Claim


def program(seed: int = 0) -> Program:
    """Rows with two sides, whole columns that the relaxation makes real."""
    rng = np.random.default_rng(seed)
    builder = Builder()
    x = builder.columns(4, -3.0, 3.0, [True, True, False, False], cost=rng.normal(size=4))
    for _ in range(3):
        low = float(rng.normal() - 1.0)
        builder.row(x, rng.normal(size=4), low, low + 2.0)
    return builder.program()


def gap_of(table: Program, y: Floats, lower: Floats, upper: Floats, cost: Floats) -> float:
    """min over the box of cost.x + y.(sides - A x): the Lagrangian, where each y takes the side that its sign allows."""
    reduced = cost - table.matrix.T @ y
    sides = np.where(y > 0, table.row_lower, table.row_upper)
    return float(
        (y * np.where(y == 0, 0.0, sides)).sum() + np.where(reduced > 0, reduced * lower, reduced * upper).sum()
    )


def test_multipliers_prove_the_optimum_of_the_relaxation() -> None:
    solved = 0
    for seed in range(20):
        table = program(seed)
        x, y = HighsRelaxation(table).solve(table.lower, table.upper, 10.0)
        if x is None or y is None:
            continue
        solved += 1
        values = table.matrix @ x
        assert (values >= table.row_lower - 1e-7).all() and (values <= table.row_upper + 1e-7).all()
        assert gap_of(table, y, table.lower, table.upper, table.cost) == pytest.approx(float(table.cost @ x), abs=1e-7)
        whole = HighsMip().solve(table, 10.0)
        if whole.x is not None:
            assert float(table.cost @ x) <= float(table.cost @ whole.x) + 1e-7
    assert solved > 5


def test_a_ray_proves_emptiness_and_changed_bounds_count() -> None:
    """x >= y + 1 and 2 y >= x + 1 leave x >= 3, by twice the first row and the second one: not in [0, 2]^2, but in [0, 5]^2."""
    builder = Builder()
    columns = builder.columns(2, 0.0, 2.0, cost=[1.0, 2.0])
    builder.row(columns, [1.0, -1.0], low=1.0)
    builder.row(columns, [-1.0, 2.0], low=1.0)
    table = builder.program()
    relaxation = HighsRelaxation(table)
    x, ray = relaxation.solve(table.lower, table.upper, 10.0)
    assert x is None and ray is not None
    proofs = [gap_of(table, sign * ray, table.lower, table.upper, np.zeros(2)) for sign in (1.0, -1.0)]
    assert max(p for p in proofs if np.isfinite(p)) > 0.0  # 0 = 0.x can not be positive: no point exists
    x, y = relaxation.solve(table.lower, np.full(2, 5.0), 10.0)
    assert x == pytest.approx([3.0, 2.0])
    assert y == pytest.approx([4.0, 3.0])
    x, _ = relaxation.solve(table.lower, table.upper, 10.0)
    assert x is None


def test_a_program_that_cannot_be_read_is_a_failed_solve() -> None:
    builder = Builder()
    builder.row(builder.columns(1, 0.0, 1.0, cost=1.0), [1e20], low=0.0)  # larger than HiGHS takes
    answer = HighsMip().solve(builder.program(), 1.0)
    assert answer.claim is Claim.FAILED
    assert answer.x is None and answer.bound == -np.inf
    assert "refused" in answer.word


def test_no_state_survives() -> None:
    solver = HighsMip()
    first, again = solver.solve(program(1), 10.0), HighsMip().solve(program(1), 10.0)
    solver.solve(program(2), 10.0)
    later = solver.solve(program(1), 10.0)
    assert first.claim is again.claim is later.claim
    assert first.bound == again.bound == later.bound
