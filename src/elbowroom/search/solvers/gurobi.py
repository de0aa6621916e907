"""Gurobi: mixed-integer programs with norm rows. A refused licence is a failed solve, and the next solver goes on."""

from __future__ import annotations

from typing import Any

import gurobipy
import numpy as np
from gurobipy import GRB

from elbowroom.numerics import Floats
from elbowroom.search.program import Program
from elbowroom.search.solvers.protocol import Answer, Claim
from elbowroom.search.solvers.tolerances import EPSILONS

_CLAIMS = {
    GRB.OPTIMAL: Claim.OPTIMAL,
    GRB.INFEASIBLE: Claim.INFEASIBLE,
    GRB.INF_OR_UNBD: Claim.INFEASIBLE,
    GRB.TIME_LIMIT: Claim.STOPPED,
    GRB.INTERRUPTED: Claim.STOPPED,
    GRB.NODE_LIMIT: Claim.STOPPED,
    GRB.SUBOPTIMAL: Claim.STOPPED,
}


class Gurobi:
    """One environment and one model object per program: no licence is held between two of them."""

    name = "Gurobi"
    takes_norms = True

    def solve(self, program: Program, time_limit: float, start: Floats | None = None) -> Answer:
        try:
            with gurobipy.Env(params={"OutputFlag": 0, "Threads": 1}) as environment:
                return self._solve(program, time_limit, start, environment)
        except gurobipy.GurobiError as error:
            return Answer(Claim.FAILED, None, -np.inf, f"Gurobi failed: {error}")

    def _solve(self, program: Program, time_limit: float, start: Floats | None, environment: gurobipy.Env) -> Answer:
        with gurobipy.Model(env=environment) as opened:
            model: Any = opened  # its stubs know no sparse matrices
            model.Params.TimeLimit = max(time_limit, 0.01)
            model.Params.FeasibilityTol = EPSILONS.feasibility
            model.Params.IntFeasTol = EPSILONS.feasibility
            model.Params.MIPGap = EPSILONS.mip_gap
            if program.most_nodes is not None:
                model.Params.NodeLimit = program.most_nodes
            kinds = np.where(program.whole, GRB.INTEGER, GRB.CONTINUOUS)
            x = model.addMVar(program.n_columns, lb=program.lower, ub=program.upper, obj=program.cost, vtype=kinds)
            low, high = np.isfinite(program.row_lower), np.isfinite(program.row_upper)
            if low.any():
                model.addMConstr(program.matrix[low], x, ">", program.row_lower[low])
            if high.any():
                model.addMConstr(program.matrix[high], x, "<", program.row_upper[high])
            for norm in program.norms:
                v = model.addMVar(norm.columns.size, lb=-GRB.INFINITY)
                model.addConstr(v == norm.weight * x[norm.columns.tolist()] - norm.offset)
                if norm.bound_column >= 0:
                    t = x[norm.bound_column]
                    model.addConstr(v @ v <= t * t)
                else:
                    model.addConstr(v @ v <= norm.bound**2)
            if start is not None:
                x.Start = np.where(np.isfinite(start), start, GRB.UNDEFINED)
            model.optimize()
            word = f"Gurobi says status {model.Status}"
            points = []
            for k in range(min(model.SolCount, 4) if program.whole.any() else min(model.SolCount, 1)):
                model.Params.SolutionNumber = k
                points.append(np.array(x.Xn if program.whole.any() else x.X))
            bound = -np.inf
            if program.whole.any() or model.Status == GRB.OPTIMAL:
                bound = float(model.ObjBound if program.whole.any() or program.norms else model.ObjVal)
            return Answer(
                _CLAIMS.get(model.Status, Claim.FAILED),
                points[0] if points else None,
                bound + program.constant,
                word,
                tuple(points[1:]),
            )
