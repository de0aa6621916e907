"""HiGHS for mixed-integer programs, and for the linear relaxations whose multipliers prove bounds."""

from __future__ import annotations

import highspy
import numpy as np

from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.search.program import Program
from elbowroom.search.solvers.protocol import Answer, Claim
from elbowroom.search.solvers.tolerances import EPSILONS

_CLAIMS = {
    highspy.HighsModelStatus.kOptimal: Claim.OPTIMAL,
    highspy.HighsModelStatus.kInfeasible: Claim.INFEASIBLE,
    highspy.HighsModelStatus.kTimeLimit: Claim.STOPPED,
    highspy.HighsModelStatus.kInterrupt: Claim.STOPPED,
    highspy.HighsModelStatus.kSolutionLimit: Claim.STOPPED,
    highspy.HighsModelStatus.kUnboundedOrInfeasible: Claim.INFEASIBLE,
}


def _passed(program: Program, relaxed: bool) -> highspy.HighsLp:
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = program.n_columns, program.row_lower.size
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = program.cost, program.lower, program.upper
    lp.row_lower_, lp.row_upper_ = program.row_lower, program.row_upper
    lp.offset_ = program.constant
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = program.matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = program.matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = program.matrix.data
    if not relaxed and program.whole.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(w)] for w in program.whole]
    return lp


def _quiet(**options: bool | int | float | str) -> highspy.Highs:
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    settings: dict[str, bool | int | float | str] = {"output_flag": False, "threads": 1, **options}
    for option, value in settings.items():
        highs.setOptionValue(option, value)
    return highs


POOL = 4  # further solutions that are handed on


class HighsMip:
    """One fresh solver object per program: no state survives."""

    name = "HiGHS"
    takes_norms = False

    def solve(self, program: Program, time_limit: float, start: Floats | None = None) -> Answer:
        highs = _quiet(
            mip_rel_gap=EPSILONS.mip_gap,
            mip_abs_gap=EPSILONS.mip_gap_absolute,
            mip_feasibility_tolerance=EPSILONS.feasibility,
            primal_feasibility_tolerance=EPSILONS.feasibility,
            dual_feasibility_tolerance=EPSILONS.feasibility,
            small_matrix_value=EPSILONS.smallest_coefficient,
            mip_improving_solution_save=True,
            time_limit=max(time_limit, 0.01),
        )
        if program.most_nodes is not None:
            highs.setOptionValue("mip_max_nodes", program.most_nodes)
        if highs.passModel(_passed(program, relaxed=False)) == highspy.HighsStatus.kError:
            return Answer(Claim.FAILED, None, -np.inf, "HiGHS refused the program")
        if start is not None:
            known = np.flatnonzero(np.isfinite(start)).astype(np.int32)
            highs.setSolution(known.size, known, start[known])
        highs.run()
        status = highs.getModelStatus()
        word = f"HiGHS says {highs.modelStatusToString(status)!r}"
        info = highs.getInfo()
        has_point = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        x = np.array(highs.getSolution().col_value) if has_point else None
        is_mip = bool(program.whole.any())
        bound = float(info.mip_dual_bound) if is_mip else float(info.objective_function_value)
        if not is_mip and status != highspy.HighsModelStatus.kOptimal:
            bound = -np.inf
        saved = highs.getSavedMipSolutions() if is_mip and x is not None else []
        pool = tuple(np.array(other.col_value) for other in saved[-1 - POOL : -1])[::-1]
        return Answer(_CLAIMS.get(status, Claim.FAILED), x, bound, word, pool)


class HighsRelaxation:
    """The linear relaxation of one program, solved again and again under changed column bounds."""

    def __init__(self, program: Program) -> None:
        self._highs = _quiet(
            presolve="off",
            solver="simplex",
            small_matrix_value=EPSILONS.smallest_coefficient,
            primal_feasibility_tolerance=TOLERANCES.solver_feasibility,
            dual_feasibility_tolerance=TOLERANCES.solver_feasibility,
        )
        self._highs.passModel(_passed(program, relaxed=True))
        self._all = np.arange(program.n_columns, dtype=np.int32)

    def solve(self, lower: Floats, upper: Floats, time_limit: float) -> tuple[Floats | None, Floats | None]:
        """The point and the multipliers of the rows; without a point, a ray that may prove emptiness (or nothing)."""
        highs = self._highs
        highs.changeColsBounds(self._all.size, self._all, lower, upper)
        highs.setOptionValue("time_limit", highs.getRunTime() + max(time_limit, 0.01))
        highs.run()
        if highs.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            solution = highs.getSolution()
            return np.array(solution.col_value), np.array(solution.row_dual)
        if highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            ray = highs.getDualRay()  # type: ignore[attr-defined]
            if ray[1]:
                return None, np.array(ray[2])
        return None, None
