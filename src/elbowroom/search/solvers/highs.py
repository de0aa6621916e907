"""HiGHS for linear programs: arrays in, arrays out. No modelling inside.

Nothing here is trusted: callers recompute bounds from the duals by weak duality and repair or judge the points.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import highspy
import numpy as np
import scipy.sparse

from elbowroom.numerics import TOLERANCES, Floats


class LpStatus(Enum):
    """What the solver says; a claim, not a proof."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    OTHER = "stopped early or in trouble"


@dataclass(frozen=True, eq=False)
class LpSolution:
    """min cost.x with multipliers of the rows (nonnegative where a row's lower side is tight)."""

    status: LpStatus
    x: Floats
    row_dual: Floats

    @property
    def usable(self) -> bool:
        """The solver claims success and its numbers are numbers."""
        finite = bool(np.isfinite(self.x).all() and np.isfinite(self.row_dual).all())
        return self.status is LpStatus.OPTIMAL and finite


class HighsLp:
    """One solver object, used again for every program of a search."""

    def __init__(self) -> None:
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("primal_feasibility_tolerance", TOLERANCES.solver_feasibility),
            ("dual_feasibility_tolerance", TOLERANCES.solver_feasibility),
            ("small_matrix_value", 1e-12),
        ):
            self._highs.setOptionValue(option, value)

    def solve(
        self,
        cost: Floats,
        matrix: scipy.sparse.csc_array,
        row_lower: Floats,
        column_lower: Floats,
        column_upper: Floats,
        time_limit: float,
    ) -> LpSolution:
        """min cost.x subject to matrix x >= row_lower and column_lower <= x <= column_upper."""
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = cost.size, row_lower.size
        program.col_cost_, program.col_lower_, program.col_upper_ = cost, column_lower, column_upper
        program.row_lower_, program.row_upper_ = row_lower, np.full(row_lower.size, highspy.kHighsInf)
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_ = matrix.indptr
        program.a_matrix_.index_ = matrix.indices
        program.a_matrix_.value_ = matrix.data
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + max(time_limit, 0.01))
        self._highs.passModel(program)
        self._highs.run()
        solution = self._highs.getSolution()
        match self._highs.getModelStatus():
            case highspy.HighsModelStatus.kOptimal:
                status = LpStatus.OPTIMAL
            case highspy.HighsModelStatus.kInfeasible:
                status = LpStatus.INFEASIBLE
            case _:
                status = LpStatus.OTHER
        return LpSolution(status, np.array(solution.col_value), np.array(solution.row_dual))
