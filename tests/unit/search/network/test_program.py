"""Bounds that do not trust the solver."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.search.network.program import INFINITY, LinearProgram, SparseRows


def loaded(rng: np.random.Generator) -> LinearProgram:
    program = LinearProgram()
    G = rng.normal(size=(4, 5))
    inner = rng.uniform(0.2, 0.8, 5)
    program.load(rng.normal(size=5), np.zeros(5), np.ones(5), G, G @ inner - 0.1, np.full(4, INFINITY))
    return program


@pytest.mark.parametrize("seed", range(20))
def test_any_multipliers_give_a_valid_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = loaded(rng)
    solved = program.solve()
    assert solved.x is not None
    value = float(program.cost @ solved.x)
    assert solved.bound <= value + 1e-9
    assert solved.bound == pytest.approx(value, abs=1e-7)
    for _ in range(20):
        assert program.dual_bound(program.cost, rng.normal(size=4)) <= value + 1e-12
    assert program.dual_bound(program.cost, np.full(4, np.nan)) == -np.inf


def test_infeasibility_needs_a_proof() -> None:
    program = LinearProgram()
    G = np.array([[1.0, 1.0], [-1.0, -1.0]])
    program.load(np.ones(2), np.zeros(2), np.ones(2), G, np.array([1.5, -1.0]), np.full(2, INFINITY))
    assert program.solve().bound == np.inf
    assert program.dual_bound(np.zeros(2), np.array([1.0, 1.0])) > 0.0
    # a feasible program has no Farkas proof, whatever a solver claims
    program.load(np.ones(2), np.zeros(2), np.ones(2), G, np.array([0.5, -1.0]), np.full(2, INFINITY))
    rng = np.random.default_rng(0)
    assert all(program.dual_bound(np.zeros(2), y) <= 0.0 for y in rng.normal(size=(200, 2)))


def test_an_empty_row_that_cannot_hold() -> None:
    program = LinearProgram()
    program.load(np.ones(2), np.zeros(2), np.ones(2), np.zeros((1, 2)), np.array([1.0]), np.full(1, INFINITY))
    assert program.solve().bound == np.inf


@pytest.mark.parametrize("seed", range(10))
def test_sparse_rows_are_the_dense_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(k, 6)) * (rng.random((k, 6)) < 0.4) for k in (3, 0, 4, 1)]
    joined, dense = SparseRows.join([SparseRows.of(part) for part in parts]), np.vstack(parts)
    y = rng.normal(size=8)
    combined, sizes = joined.combined(y, 6)
    assert len(joined) == 8
    assert np.allclose(combined, y @ dense)
    assert np.allclose(sizes, np.abs(y) @ np.abs(dense))


@pytest.mark.parametrize("seed", range(20))
def test_limits_narrowed_for_the_moment(seed: int) -> None:
    """The bound is valid for the narrowed program, never below the wide one's by more than rounding once solved, and the
    program is afterwards what it was."""
    rng = np.random.default_rng(seed)
    program = loaded(rng)
    wide = program.solve()
    assert wide.x is not None
    column, row = int(rng.integers(5)), int(rng.integers(4))
    high, row_high = 0.5 * float(program.high[column]), float(program.row_low[row]) + 0.05
    bound = program.narrowed(np.array([row]), np.array([row_high]), np.array([column]), np.array([high]))
    other = LinearProgram()
    G = np.zeros((4, 5))
    G[program.rows.row, program.rows.columns] = program.rows.values
    highs, row_highs = program.high.copy(), program.row_high.copy()
    highs[column], row_highs[row] = high, row_high
    other.load(program.cost, program.low, highs, G, program.row_low, row_highs)
    truth = other.solve()
    if truth.x is None:
        assert truth.bound == np.inf
    else:
        assert wide.bound - 1e-7 <= bound <= float(program.cost @ truth.x) + 1e-9
    again = program.solve()
    assert again.bound == pytest.approx(wide.bound, abs=1e-9)
