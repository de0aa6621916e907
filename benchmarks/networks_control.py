"""The control for networks: the paper's master and adversary as it states them, on HiGHS, beside the product.

Master: the paper's encoding of one full copy of the network per scenario, a binary per neuron, big-M = 100. Adversary: the
same encoding over the box around the master's answer. Its shift joins the scenarios until the worst score is (almost) not
negative. Boxes only: HiGHS knows no quadratic rows. Nothing of the product is used here but its answer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import highspy
import numpy as np

from benchmarks.cases import Case
from benchmarks.data import available, paper_data
from elbowroom import Box, Explainer, Region

BIG_M = 100.0
ENOUGH = -1e-6  # the adversary's score at which the paper's loop counts a centre as robust
SAME = 3e-4  # relative difference up to which two distances are equal
INSTANCES = [
    (data, layers, rho, row)
    for layers in ((10,), (50,))
    for data in ("banknote", "diabetes", "ionosphere")
    for rho in (0.01, 0.05)
    for row in (0, 1)
]


@dataclass
class _Program:
    """Rows and columns of a mixed-integer program in the making."""

    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    rows: list[tuple[np.ndarray, np.ndarray, float, float]] = field(default_factory=list)

    def columns(self, count: int, low: float, high: float, cost: float = 0.0, whole: bool = False) -> np.ndarray:
        first = len(self.low)
        self.low += [low] * count
        self.high += [high] * count
        self.cost += [cost] * count
        if whole:
            self.whole += range(first, first + count)
        return np.arange(first, first + count)

    def row(self, columns: Any, values: Any, low: float, high: float = np.inf) -> None:
        self.rows.append((np.asarray(columns), np.asarray(values, dtype=float), low, high))

    def network(
        self, weights: list[np.ndarray], biases: list[np.ndarray], x: np.ndarray, shift: np.ndarray
    ) -> np.ndarray:
        """A copy of the hidden layers at x + shift; the columns of the last one."""
        before = x
        for k, (weight, bias) in enumerate(zip(weights[:-1], biases[:-1], strict=True)):
            bias = bias + weight @ shift if k == 0 else bias
            v = self.columns(bias.size, 0.0, np.inf)
            binary = self.columns(bias.size, 0.0, 1.0, whole=True)
            for j in range(bias.size):
                self.row([*before, v[j]], [*-weight[j], 1.0], bias[j])
                self.row([v[j], binary[j]], [1.0, -BIG_M], -np.inf, 0.0)
                self.row([*before, v[j], binary[j]], [*-weight[j], 1.0, BIG_M], -np.inf, bias[j] + BIG_M)
            before = v
        return before

    def solve(self, seconds: float) -> np.ndarray | None:
        """The optimum, or None if the solver does not claim one in time."""
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.low), len(self.rows)
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.array(self.cost), np.array(self.low), np.array(self.high)
        lp.row_lower_ = np.array([row[2] for row in self.rows])
        lp.row_upper_ = np.array([row[3] for row in self.rows])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.concatenate([[0], np.cumsum([row[0].size for row in self.rows])]).astype(np.int32)
        lp.a_matrix_.index_ = np.concatenate([row[0] for row in self.rows]).astype(np.int32)
        lp.a_matrix_.value_ = np.concatenate([row[1] for row in self.rows])
        kinds = [highspy.HighsVarType.kContinuous] * len(self.low)
        for column in self.whole:
            kinds[column] = highspy.HighsVarType.kInteger
        lp.integrality_ = kinds
        solver = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("time_limit", max(seconds, 0.01))):
            solver.setOptionValue(option, value)
        solver.passModel(lp)
        solver.run()
        optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return np.array(solver.getSolution().col_value) if optimal else None


def paper_loop(model: Any, x: np.ndarray, rho: float, limit: float) -> dict[str, Any]:
    """Master and adversary in turn; the distance is that of the last master."""
    began = time.perf_counter()
    sign = 1.0 if model.predict(x[None])[0] == model.classes_[0] else -1.0
    weights, biases = [w.T for w in model.coefs_], list(model.intercepts_)
    out, constant = sign * weights[-1][0], sign * float(biases[-1][0])
    scenarios = [np.zeros(x.size)]
    while True:
        master = _Program()
        center = master.columns(x.size, -np.inf, np.inf)
        part = master.columns(x.size, 0.0, np.inf, cost=1.0)
        for i in range(x.size):
            master.row([center[i], part[i]], [1.0, 1.0], x[i])
            master.row([center[i], part[i]], [-1.0, 1.0], -x[i])
        for shift in scenarios:
            master.row(master.network(weights, biases, center, shift), out, -constant)
        solution = master.solve(limit - (time.perf_counter() - began))
        seconds = time.perf_counter() - began
        if solution is None:
            return {
                "control_solved": False,
                "control_s": seconds,
                "scenarios": len(scenarios),
                "control_distance": None,
            }
        found, distance = solution[center], float(solution[part].sum())
        adversary = _Program()
        move = adversary.columns(x.size, -rho, rho)
        last = adversary.network(weights, biases, move, found)
        for column, value in zip(last, out, strict=True):
            adversary.cost[column] = value
        solution = adversary.solve(limit - (time.perf_counter() - began))
        seconds = time.perf_counter() - began
        if solution is None:
            return {
                "control_solved": False,
                "control_s": seconds,
                "scenarios": len(scenarios),
                "control_distance": distance,
            }
        if float(out @ solution[last]) + constant >= ENOUGH:
            return {
                "control_solved": True,
                "control_s": seconds,
                "scenarios": len(scenarios),
                "control_distance": distance,
            }
        scenarios.append(solution[move])


def run_control(limit: float = 60.0) -> list[dict[str, Any]]:
    records = []
    trained: dict[tuple[str, Any], tuple[Any, np.ndarray, Explainer]] = {}
    for data, layers, rho, row in INSTANCES:
        if not available(data):
            continue
        if (data, layers) not in trained:
            X, y = paper_data(data)
            model = Case("NN", layers).train(X, y)
            explainer = Explainer(model)
            explainer.explain(X[0], room=Box(0.001), time_limit=1.0)
            trained[data, layers] = model, X, explainer
        model, X, explainer = trained[data, layers]
        answer = explainer.explain(X[row], room=Box(rho), time_limit=limit)
        control = paper_loop(model, X[row], rho, limit)
        record = {"data": data, "layers": layers, "rho": rho, "row": row, "status": answer.status.name}
        record |= {"seconds": answer.seconds, "distance": None, "same": None, **control}
        if isinstance(answer, Region):
            record["distance"] = answer.distance
            if control["control_solved"]:
                record["same"] = abs(answer.distance - control["control_distance"]) <= SAME * answer.distance
        record["ratio"] = record["control_s"] / record["seconds"]
        records.append(record)
        print(
            f"{data:10s} {layers!s:9s} {rho:<5g} row {row}: {record['status']:9s} {record['seconds']:7.3f} s, control "
            f"{'solved' if record['control_solved'] else 'open  '} {record['control_s']:7.2f} s "
            f"({record['scenarios']} scenarios), same distance: {record['same']}",
            flush=True,
        )
    return records


def summary_control(records: list[dict[str, Any]]) -> dict[str, Any]:
    solved = [r for r in records if r["control_solved"]]
    return {
        "instances": len(records),
        "optimal": sum(r["status"] == "OPTIMAL" for r in records),
        "control_solved": len(solved),
        "same_distance": sum(r["same"] is True for r in solved),
        "median_ratio": float(np.median([r["ratio"] for r in records])),
        "least_ratio": float(min(r["ratio"] for r in records)),
    }
