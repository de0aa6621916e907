"""SCIP: mixed-integer programs with norm rows."""

from __future__ import annotations

import numpy as np
import pyscipopt

from elbowroom.numerics import Floats
from elbowroom.search.program import Program
from elbowroom.search.solvers.protocol import Answer, Claim
from elbowroom.search.solvers.tolerances import EPSILONS

_CLAIMS = {
    "optimal": Claim.OPTIMAL,
    "gaplimit": Claim.OPTIMAL,
    "infeasible": Claim.INFEASIBLE,
    "inforunbd": Claim.INFEASIBLE,
    "timelimit": Claim.STOPPED,
    "userinterrupt": Claim.STOPPED,
    "nodelimit": Claim.STOPPED,
}


class Scip:
    """One model object per program."""

    name = "SCIP"
    takes_norms = True
    POOL = 4
    ROOT_ROUNDS = 10  # of cuts: without a limit it spends seconds at the root of programs with a hundred rows

    def solve(self, program: Program, time_limit: float, start: Floats | None = None) -> Answer:
        model = pyscipopt.Model()
        model.hideOutput()
        model.setParam("limits/time", max(time_limit, 0.01))
        model.setParam("numerics/feastol", EPSILONS.feasibility_scip)
        model.setParam("limits/gap", EPSILONS.mip_gap)
        model.setParam("separating/maxroundsroot", self.ROOT_ROUNDS)
        if program.most_nodes is not None:
            model.setParam("limits/nodes", program.most_nodes)
        columns = self._columns(model, program)
        self._rows(model, program, columns)
        if start is not None:
            guess = model.createPartialSol()
            for column, value in zip(columns, start, strict=True):
                if np.isfinite(value):
                    model.setSolVal(guess, column, float(value))
            model.addSol(guess)
        try:
            model.optimize()
        except Exception as error:  # its binding raises bare ones, with this prefix, for SCIP's own failures
            if not str(error).startswith("SCIP:"):
                raise
            return Answer(Claim.FAILED, None, -np.inf, f"SCIP failed: {error}")
        status = str(model.getStatus())
        points = [
            np.array([model.getSolVal(solution, column) for column in columns])
            for solution in model.getSols()[: self.POOL]
        ]
        return Answer(
            _CLAIMS.get(status, Claim.FAILED),
            points[0] if points else None,
            float(model.getDualbound()) + program.constant,
            f"SCIP says {status!r}",
            tuple(points[1:]),
        )

    @staticmethod
    def _columns(model: pyscipopt.Model, program: Program) -> list[pyscipopt.Variable]:
        def end(value: float) -> float | None:
            return float(value) if np.isfinite(value) else None

        return [
            model.addVar(vtype="I" if whole else "C", lb=end(low), ub=end(high), obj=float(cost))
            for low, high, whole, cost in zip(program.lower, program.upper, program.whole, program.cost, strict=True)
        ]

    @staticmethod
    def _rows(model: pyscipopt.Model, program: Program, columns: list[pyscipopt.Variable]) -> None:
        matrix = program.matrix
        for i, (low, high) in enumerate(zip(program.row_lower, program.row_upper, strict=True)):
            part = slice(matrix.indptr[i], matrix.indptr[i + 1])
            terms = zip(matrix.data[part], matrix.indices[part], strict=True)
            total = pyscipopt.quicksum(float(v) * columns[j] for v, j in terms) + 0.0 * columns[0]
            if low == high:
                model.addCons(total == float(low))
                continue
            if np.isfinite(low):
                model.addCons(total >= float(low))
            if np.isfinite(high):
                model.addCons(total <= float(high))
        for norm in program.norms:
            parts = [
                float(w) * columns[j] - float(o) for w, j, o in zip(norm.weight, norm.columns, norm.offset, strict=True)
            ]
            square = pyscipopt.quicksum(part * part for part in parts)
            if norm.bound_column >= 0:
                t = columns[norm.bound_column]
                model.addCons(square <= t * t)
            else:
                model.addCons(square <= norm.bound**2)
