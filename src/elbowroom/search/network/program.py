"""Linear programs in one solver object, and lower bounds that do not trust the solver.

min c.x  s.t.  row_low <= G x <= row_high,  low <= x <= high.  Weak duality: for any multipliers y (positive ones on
finite row_low, negative ones on finite row_high) every feasible x has
c.x >= y.(row_low or row_high) + sum_i min over [low_i, high_i] of (c - y G)_i x_i.  With c = 0 a positive value proves
that no x exists. The solver only suggests y; wrong suggestions make the bound weak, never false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import highspy
import numpy as np

from elbowroom.numerics import Floats, Ints, gamma
from elbowroom.search.network.limits import FEASIBILITY, FEW_STEPS, MANY_STEPS, SMALLEST_COEFFICIENT

INFINITY = highspy.kHighsInf


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A sparse matrix by rows: row i holds ``values`` in ``columns`` from starts[i] to starts[i + 1]."""

    starts: Ints
    columns: Ints
    values: Floats

    @classmethod
    def of(cls, G: Floats) -> SparseRows:
        row, column = np.nonzero(G)
        return cls(np.searchsorted(row, np.arange(len(G) + 1)), column, G[row, column])

    @classmethod
    def join(cls, parts: Sequence[SparseRows]) -> SparseRows:
        """All rows of all parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        before = np.cumsum([0, *(part.columns.size for part in parts)])
        starts = [part.starts[:-1] + first for part, first in zip(parts, before, strict=False)]
        return cls(
            np.concatenate([*starts, before[-1:]]),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.values for part in parts]),
        )

    def __len__(self) -> int:
        return self.starts.size - 1

    @cached_property
    def row(self) -> Ints:
        """The row of every value."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def combined(self, y: Floats, width: int) -> tuple[Floats, Floats]:
        """y @ G and |y| @ |G|."""
        parts = y[self.row] * self.values
        combined = np.bincount(self.columns, parts, minlength=width)
        sizes = np.bincount(self.columns, np.abs(parts), minlength=width)
        return np.asarray(combined, dtype=np.float64), np.asarray(sizes, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Solved:
    """A proven lower bound of the program, and the solver's point (None: it gave none)."""

    bound: float
    x: Floats | None


class LinearProgram:
    """One program at a time: ``load``, then ``add_rows``, ``solve``, ``change_cost`` any number of times.

    ``low`` and ``high`` are proven limits of every interesting point and must be finite; the solver may be given
    ``open_high`` instead (inf where a limit is only implied), which keeps its programs easy.
    """

    def __init__(self) -> None:
        self.solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),  # the programs are small and solved many times
            ("solver", "simplex"),
            ("primal_feasibility_tolerance", FEASIBILITY),
            ("dual_feasibility_tolerance", FEASIBILITY),
            ("small_matrix_value", SMALLEST_COEFFICIENT),
        ):
            self.solver.setOptionValue(option, value)
        self.solves = 0
        self.duals = np.zeros(0)  # of the last solution, as the solver gave them

    def load(
        self, cost: Floats, low: Floats, high: Floats, G: Floats | SparseRows, row_low: Floats, row_high: Floats,
        open_high: Floats | None = None,
    ) -> None:  # fmt: skip
        self.cost, self.low, self.high = cost, low, high
        self.rows, self.row_low, self.row_high = G if isinstance(G, SparseRows) else SparseRows.of(G), row_low, row_high
        none = np.zeros(0, dtype=np.int32)
        self.solver.clearModel()  # then as arrays: an HighsLp is filled number by number
        self.solver.addCols(
            cost.size, cost, low, high if open_high is None else open_high, 0, none, none, np.zeros(0)
        )  # fmt: skip
        self.solver.addRows(
            len(self.rows), row_low, row_high, self.rows.values.size, self.rows.starts[:-1].astype(np.int32),
            self.rows.columns.astype(np.int32), self.rows.values,
        )  # fmt: skip
        empty = np.diff(self.rows.starts) == 0
        self._impossible = bool((empty & ((row_low > 0.0) | (row_high < 0.0))).any())

    def add_row(self, g: Floats, row_low: float, row_high: float = INFINITY) -> None:
        used = np.flatnonzero(g)
        self.rows = SparseRows.join([self.rows, SparseRows(np.array([0, used.size]), used, g[used])])
        self.row_low = np.append(self.row_low, row_low)
        self.row_high = np.append(self.row_high, row_high)
        self._impossible |= used.size == 0 and (row_low > 0.0 or row_high < 0.0)
        self.solver.addRow(float(row_low), float(row_high), used.size, used.astype(np.int32), g[used])

    def change_cost(self, cost: Floats) -> None:
        self.cost = cost
        self.solver.changeColsCost(cost.size, np.arange(cost.size, dtype=np.int32), cost)

    def solve(self, seconds: float = np.inf) -> Solved:
        if self._impossible:  # a row without coefficients that cannot hold: solvers fail on it
            return Solved(np.inf, None)
        solved = self._run(seconds)
        if solved is None and self.solver.getModelStatus() != highspy.HighsModelStatus.kTimeLimit:
            self.solver.clearSolver()  # numerical trouble: once more from scratch
            solved = self._run(seconds)
        return Solved(-np.inf, None) if solved is None else solved

    def narrowed(self, rows: Ints, row_high: Floats, columns: Ints, high: Floats) -> float:
        """A proven bound of the program with some upper limits lowered for the moment: a few steps from the last basis."""
        kept = self.row_high, self.high
        self.row_high, self.high = self.row_high.copy(), self.high.copy()
        self.row_high[rows], self.high[columns] = row_high, high
        self._tell(rows, columns)
        self.solver.setOptionValue("simplex_iteration_limit", FEW_STEPS)
        self.solver.run()
        self.solver.setOptionValue("simplex_iteration_limit", MANY_STEPS)
        bound = self._bound_so_far()
        self.row_high, self.high = kept
        self._tell(rows, columns)
        return bound

    def _bound_so_far(self) -> float:
        """What the solver's multipliers prove, whether or not it has finished."""
        if self.solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            return np.inf if self._proven_empty() else -np.inf
        return self.dual_bound(self.cost, np.asarray(self.solver.getSolution().row_dual))

    def _tell(self, rows: Ints, columns: Ints) -> None:
        """Hand the solver the limits of some rows and columns."""
        for i in rows:
            self.solver.changeRowBounds(int(i), float(self.row_low[i]), float(self.row_high[i]))
        for i in columns:
            self.solver.changeColBounds(int(i), float(self.low[i]), float(self.high[i]))

    def _run(self, seconds: float) -> Solved | None:
        if np.isfinite(seconds):  # the solver counts its run time over all programs
            self.solver.setOptionValue("time_limit", self.solver.getRunTime() + max(seconds, 0.0))
        self.solver.run()
        self.solves += 1
        match self.solver.getModelStatus():
            case highspy.HighsModelStatus.kOptimal:
                solution = self.solver.getSolution()
                x, self.duals = np.asarray(solution.col_value), np.asarray(solution.row_dual)
                bound = self.dual_bound(self.cost, self.duals)
                return Solved(bound, np.clip(x, self.low, self.high) if np.isfinite(x).all() else None)
            case highspy.HighsModelStatus.kInfeasible:
                return Solved(np.inf if self._proven_empty() else -np.inf, None)
        return None

    def _proven_empty(self) -> bool:
        """True if the solver's ray, or its negative, is a Farkas proof."""
        _, exists, ray = self.solver.getDualRay()  # type: ignore[attr-defined]
        ray = np.asarray(ray)
        if not exists or ray.size != len(self.rows) or not np.isfinite(ray).all() or not ray.any():
            return False
        ray = ray / np.abs(ray).max()
        return any(self.dual_bound(np.zeros(self.cost.size), sign * ray) > 0.0 for sign in (1.0, -1.0))

    def dual_bound(self, cost: Floats, y: Floats) -> float:
        """The weak duality bound of the multipliers, rounded down; -inf where they are useless."""
        if y.size != len(self.rows) or not np.isfinite(y).all():
            return -np.inf
        y = np.where((y > 0.0) & (self.row_low > -INFINITY) | (y < 0.0) & (self.row_high < INFINITY), y, 0.0)
        side = np.where(y > 0.0, self.row_low, np.where(y < 0.0, self.row_high, 0.0))
        priced, sizes = self.rows.combined(y, cost.size)
        reduced = cost - priced
        corner = np.where(reduced > 0.0, self.low, self.high)
        size = np.abs(y) @ np.abs(side) + (np.abs(cost) + sizes) @ np.abs(corner)
        bound = float(y @ side + reduced @ corner)
        return bound - gamma(y.size + cost.size + 8) * float(size)
