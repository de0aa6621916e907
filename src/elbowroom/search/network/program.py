"""The linear program over moves, kept in one solver object, and lower bounds that do not trust the solver.

min ||v||  s.t.  G v >= h,  low <= v <= high.  l1: the cost of v is its distance. linf and l2: a column tau with rows
tau >= u_k . blocks(v), ||u_k||_* <= 1 (unit vectors; tangents for l2).

Weak duality: for any multipliers y >= 0 of G v >= h and any price vector r^ = cost * (sum_k pi_k u_k) with dual norm at
most 1, every feasible v has  ||v|| >= y . h + sum_i min over [low_i, high_i] of (r^_i - (y G)_i) v_i.  The solver only
suggests y and pi; wrong ones make the bound weak, never false.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from elbowroom.numerics import Floats, gamma
from elbowroom.problem import Distance
from elbowroom.search.network.moves import Moves

INFINITY = highspy.kHighsInf


def quiet_solver(feasibility: float = 1e-9) -> highspy.Highs:
    """One thread, no output, no presolve (the programs are small and solved many times)."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("solver", "simplex")
    solver.setOptionValue("primal_feasibility_tolerance", feasibility)
    solver.setOptionValue("dual_feasibility_tolerance", feasibility)
    return solver


def pass_dense(
    solver: highspy.Highs, cost: Floats, low: Floats, high: Floats, rows: Floats, row_low: Floats, row_high: Floats
) -> None:
    """Hand a program with a dense matrix to the solver (zeros are left out)."""
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = cost.size, len(rows)
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, low, high
    program.row_lower_, program.row_upper_ = row_low, row_high
    where = np.nonzero(rows)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.searchsorted(where[0], np.arange(len(rows) + 1)).astype(np.int32)
    program.a_matrix_.index_ = where[1].astype(np.int32)
    program.a_matrix_.value_ = rows[where]
    solver.passModel(program)


@dataclass(frozen=True, eq=False)
class Solved:
    """The solver's point (None: it says there is none) and the proven lower bound of the program."""

    bound: float
    v: Floats | None


class MoveProgram:
    """The program of one search. ``load`` starts a node, ``cut`` adds a row, ``solve`` runs and bounds."""

    def __init__(self, moves: Moves) -> None:
        self.moves = moves
        self.solver = quiet_solver()
        self.solves = 0
        self._norm = moves.distance
        self._columns = np.arange(moves.size + (self._norm is not Distance.L1), dtype=np.int32)
        self._tangents: list[Floats] = []
        if self._norm is not Distance.L1:
            for b in range(moves.n_blocks):
                self._tangents.append(np.eye(moves.n_blocks)[b])

    def load(self, G: Floats, h: Floats, low: Floats, high: Floats) -> None:
        """Start afresh with these rows, the rows of groups and rules, and these limits on the moves."""
        m = self.moves.size
        self.low, self.high = low, high
        self.G = np.vstack([self.moves.rows, G.reshape(-1, m)])
        self.h = np.concatenate([self.moves.row_low, h])
        if self._norm is Distance.L1:
            pass_dense(self.solver, self.moves.cost, low, high, self.G, self.h, np.full(len(self.h), INFINITY))
            return
        self._fixed_rows = len(self._tangents)
        norm_rows = np.array([np.append(-self._spread(u), 1.0) for u in self._tangents])
        rows = np.vstack([norm_rows, np.hstack([self.G, np.zeros((len(self.G), 1))])])
        pass_dense(
            self.solver, np.append(np.zeros(m), 1.0), np.append(low, 0.0), np.append(high, INFINITY), rows,
            np.concatenate([np.zeros(len(norm_rows)), self.h]), np.full(len(rows), INFINITY),
        )  # fmt: skip
        self._is_norm = [True] * len(norm_rows) + [False] * len(self.h)
        self._used = list(self._tangents)

    def _spread(self, u: Floats) -> Floats:
        """Coefficients of u . blocks(v) on the moves."""
        return np.asarray(u[self.moves.block] * self.moves.cost)

    def cut(self, g: Floats, h: float) -> None:
        self.G = np.vstack([self.G, g])
        self.h = np.append(self.h, h)
        row = g if self._norm is Distance.L1 else np.append(g, 0.0)
        self.solver.addRow(float(h), INFINITY, row.size, self._columns, row)
        if self._norm is not Distance.L1:
            self._is_norm.append(False)

    def solve(self, reach: float) -> Solved:
        """Solve; ``reach`` is the distance beyond which nothing matters: every |v_i| is at most reach."""
        if self._norm is not Distance.L2:
            return self._solve_once(reach)
        solved = self._solve_once(reach)
        for _ in range(60):  # tangents of the Euclidean length until the point's own length is reached
            if solved.v is None or solved.bound > reach:
                return solved
            length = self.moves.measure(solved.v)
            if length <= solved.bound * (1.0 + 1e-7) + 1e-15:
                return solved
            blocks = np.bincount(self.moves.block, solved.v * self.moves.cost, minlength=self.moves.n_blocks)
            self._add_tangent(blocks / np.sqrt(np.square(blocks).sum()))
            solved = self._solve_once(reach)
        return solved

    def _add_tangent(self, u: Floats) -> None:
        row = np.append(-self._spread(u), 1.0)
        self.solver.addRow(0.0, INFINITY, row.size, self._columns, row)
        self._is_norm.append(True)
        self._used.append(u)

    def _solve_once(self, reach: float) -> Solved:
        m = self.moves.size
        self.solver.run()
        self.solves += 1
        status = self.solver.getModelStatus()
        solution = self.solver.getSolution()
        if status == highspy.HighsModelStatus.kOptimal:
            dual = np.asarray(solution.row_dual)
            v = np.clip(np.asarray(solution.col_value)[:m], self.low, self.high)
            return Solved(self._bound(dual, reach), v if np.isfinite(v).all() else None)
        if status == highspy.HighsModelStatus.kInfeasible:
            return Solved(self._infeasible(reach), None)
        self.solver.clearSolver()
        self.solver.run()
        solution = self.solver.getSolution()
        dual = np.asarray(solution.row_dual)
        bound = self._bound(dual, reach) if dual.size else -np.inf
        if self.solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            bound = self._infeasible(reach)
        return Solved(bound, None)

    def _infeasible(self, reach: float) -> float:
        """inf if the solver's ray proves that no v within reach satisfies the rows, else -inf (nothing proven).

        Farkas: y >= 0 with y . h > max over the limits of (y G) v.
        """
        _, exists, ray = self.solver.getDualRay()
        if not exists:
            return -np.inf
        ray = np.asarray(ray)
        for sign in (1.0, -1.0):
            y = np.maximum(sign * self._row_part(ray), 0.0)
            total = float(np.abs(y).sum())
            if not np.isfinite(total) or total == 0.0:
                continue
            y = y / total
            if self._lagrangian(y, np.zeros(self.moves.size), reach) > 0.0:
                return np.inf
        return -np.inf

    def _row_part(self, dual: Floats) -> Floats:
        return dual if self._norm is Distance.L1 else dual[~np.array(self._is_norm)]

    def _bound(self, dual: Floats, reach: float) -> float:
        if dual.size == 0 or not np.isfinite(dual).all():
            return -np.inf
        y = np.maximum(self._row_part(dual), 0.0)
        if self._norm is Distance.L1:
            return self._lagrangian(y, self.moves.cost, reach)
        pi = np.maximum(dual[np.array(self._is_norm)], 0.0)
        mixed = pi @ np.array(self._used)
        length = mixed.sum() if self._norm is Distance.LINF else float(np.sqrt(np.square(mixed).sum()))
        return self._lagrangian(y, self._spread(mixed / max(1.0, length * (1.0 + 1e-14))), reach)

    def _lagrangian(self, y: Floats, price: Floats, reach: float) -> float:
        """y . h + sum_i min over [low_i, min(high_i, reach)] of (price_i - (y G)_i) v_i, rounded down."""
        reduced = price - y @ self.G
        high = np.where(self.moves.cost > 0.0, np.minimum(self.high, reach), self.high)
        high = np.maximum(high, self.low)
        terms = np.where(reduced > 0.0, reduced * self.low, reduced * high)
        size = np.abs(y) @ np.abs(self.h) + (np.abs(price) + np.abs(y) @ np.abs(self.G)) @ np.where(
            reduced > 0.0, self.low, high
        )
        return float(y @ self.h + terms.sum() - gamma(self.h.size + terms.size + 8) * size)
