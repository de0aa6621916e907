"""Linear programs in one solver object, and lower bounds that do not trust the solver.

min c.x  s.t.  row_low <= G x <= row_high,  low <= x <= high.  Weak duality: for any multipliers y (positive ones on
finite row_low, negative ones on finite row_high) every feasible x has
c.x >= y.(row_low or row_high) + sum_i min over [low_i, high_i] of (c - y G)_i x_i.  With c = 0 a positive value proves
that no x exists. The solver only suggests y; wrong suggestions make the bound weak, never false.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from elbowroom.numerics import Floats, gamma

INFINITY = highspy.kHighsInf


@dataclass(frozen=True, eq=False)
class Solved:
    """A proven lower bound of the program, and the solver's point (None: it gave none)."""

    bound: float
    x: Floats | None


class LinearProgram:
    """One program at a time: ``load``, then ``add_rows``, ``solve``, ``change_cost`` as often as wanted.

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
            ("primal_feasibility_tolerance", 1e-9),
            ("dual_feasibility_tolerance", 1e-9),
            ("small_matrix_value", 1e-12),
        ):
            self.solver.setOptionValue(option, value)
        self.solves = 0

    def load(
        self, cost: Floats, low: Floats, high: Floats, G: Floats, row_low: Floats, row_high: Floats,
        open_high: Floats | None = None,
    ) -> None:  # fmt: skip
        self.cost, self.low, self.high = cost, low, high
        self.G, self.row_low, self.row_high = G, row_low, row_high
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = cost.size, len(G)
        program.col_cost_, program.col_lower_ = cost, low
        program.col_upper_ = high if open_high is None else open_high
        program.row_lower_, program.row_upper_ = row_low, row_high
        where = np.nonzero(G)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.searchsorted(where[0], np.arange(len(G) + 1)).astype(np.int32)
        program.a_matrix_.index_ = where[1].astype(np.int32)
        program.a_matrix_.value_ = G[where]
        self.solver.passModel(program)
        empty = ~G.any(axis=1)
        self._impossible = bool((empty & ((row_low > 0.0) | (row_high < 0.0))).any())

    def add_row(self, g: Floats, row_low: float, row_high: float = INFINITY) -> None:
        self.G = np.vstack([self.G, g])
        self.row_low = np.append(self.row_low, row_low)
        self.row_high = np.append(self.row_high, row_high)
        used = np.flatnonzero(g)
        self._impossible |= used.size == 0 and (row_low > 0.0 or row_high < 0.0)
        self.solver.addRow(float(row_low), float(row_high), used.size, used.astype(np.int32), g[used])

    def change_cost(self, cost: Floats) -> None:
        self.cost = cost
        self.solver.changeColsCost(cost.size, np.arange(cost.size, dtype=np.int32), cost)

    def solve(self, seconds: float = np.inf) -> Solved:
        if self._impossible:  # a row without coefficients that cannot hold: solvers stumble over it
            return Solved(np.inf, None)
        solved = self._run(seconds)
        if solved is None:
            self.solver.clearSolver()  # numerical trouble: once more from scratch
            solved = self._run(seconds)
        return Solved(-np.inf, None) if solved is None else solved

    def _run(self, seconds: float) -> Solved | None:
        if np.isfinite(seconds):  # the solver counts its run time over all programs
            self.solver.setOptionValue("time_limit", self.solver.getRunTime() + max(seconds, 0.0))
        self.solver.run()
        self.solves += 1
        match self.solver.getModelStatus():
            case highspy.HighsModelStatus.kOptimal:
                solution = self.solver.getSolution()
                x = np.asarray(solution.col_value)
                bound = self.dual_bound(self.cost, np.asarray(solution.row_dual))
                return Solved(bound, np.clip(x, self.low, self.high) if np.isfinite(x).all() else None)
            case highspy.HighsModelStatus.kInfeasible:
                return Solved(np.inf if self._proven_empty() else -np.inf, None)
        return None

    def _proven_empty(self) -> bool:
        """True if the solver's ray, or its negative, is a Farkas proof."""
        _, exists, ray = self.solver.getDualRay()  # type: ignore[attr-defined]
        ray = np.asarray(ray)
        if not exists or ray.size != len(self.G) or not np.isfinite(ray).all() or not ray.any():
            return False
        ray = ray / np.abs(ray).max()
        return any(self.dual_bound(np.zeros(self.cost.size), sign * ray) > 0.0 for sign in (1.0, -1.0))

    def dual_bound(self, cost: Floats, y: Floats) -> float:
        """The weak duality bound of the multipliers, rounded down; -inf where they mean nothing."""
        if y.size != len(self.G) or not np.isfinite(y).all():
            return -np.inf
        y = np.where((y > 0.0) & (self.row_low > -INFINITY) | (y < 0.0) & (self.row_high < INFINITY), y, 0.0)
        side = np.where(y > 0.0, self.row_low, np.where(y < 0.0, self.row_high, 0.0))
        reduced = cost - y @ self.G
        corner = np.where(reduced > 0.0, self.low, self.high)
        size = np.abs(y) @ np.abs(side) + (np.abs(cost) + np.abs(y) @ np.abs(self.G)) @ np.abs(corner)
        bound = float(y @ side + reduced @ corner)
        return bound - gamma(y.size + cost.size + 8) * float(size)
