"""HiGHS for linear programs: arrays in, arrays out. No modelling inside.

Nothing here is trusted: callers recompute bounds from the duals by weak duality and repair or judge the points.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import highspy
import numpy as np

from elbowroom.numerics import TOLERANCES, Floats, Ints
from elbowroom.search.solvers.tolerances import EPSILONS


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
        """The solver claims success and its entries are finite."""
        finite = bool(np.isfinite(self.x).all() and np.isfinite(self.row_dual).all())
        return self.status is LpStatus.OPTIMAL and finite


@dataclass(frozen=True, eq=False)
class Triplets:
    """A sparse matrix: values[i] is at (rows[i], columns[i]); no place occurs twice."""

    rows: Ints
    columns: Ints
    values: Floats

    @classmethod
    def of(cls, dense: Floats, first_column: int = 0) -> Triplets:
        rows, columns = np.nonzero(dense)
        return cls(rows, columns + first_column, dense[rows, columns])

    @classmethod
    def together(cls, *parts: Triplets) -> Triplets:
        return cls(
            np.concatenate([p.rows for p in parts]),
            np.concatenate([p.columns for p in parts]),
            np.concatenate([p.values for p in parts]),
        )


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
            ("small_matrix_value", EPSILONS.smallest_coefficient),
        ):
            self._highs.setOptionValue(option, value)

    def solve(
        self,
        cost: Floats,
        matrix: Triplets,
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
        order = np.lexsort((matrix.rows, matrix.columns))
        per_column = np.bincount(matrix.columns, minlength=cost.size)
        program.a_matrix_.start_ = np.concatenate([[0], np.cumsum(per_column)]).astype(np.int32)
        program.a_matrix_.index_ = matrix.rows[order].astype(np.int32)
        program.a_matrix_.value_ = matrix.values[order]
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
