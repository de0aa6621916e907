"""``python -m benchmarks causal``: table 3 with causes. Actions on causes, beside the gradient method with the same causes.

The graph on diabetes is BMI -> glucose -> insulin. Each coefficient is the slope of a least-squares line with an intercept,
fitted on the rows in which all three were measured (the file writes 0 for "not measured"). It is an example of a graph and no
claim about the body. An action adds to columns, effects follow: x = factual + (I - A)^-1 a. Both methods minimise |a|_1, with
all columns open to actions and without limits; in both the ball is around the features that are reached.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.audit.judge import JUDGE_SECONDS, case_of
from benchmarks.audit.methods import STEPS
from benchmarks.baselines.gradient import Settings, robust_recourse
from benchmarks.cells import trained
from benchmarks.data import load
from elbowroom import Ball, Causal, Explainer, Region
from elbowroom.result import Certificate, Counterexample

DATA, MODELS, RADII, ROWS = "diabetes", ("linear",), (0.1, 0.2), 5
GLUCOSE, INSULIN, BMI = 1, 4, 5
EDGES = ((BMI, GLUCOSE), (GLUCOSE, INSULIN))  # from cause to effect


def effects_of(X: np.ndarray) -> np.ndarray:
    """A: what a unit of each column (in columns) adds to each other one, fitted on the rows that measured all of the graph."""
    measured = X[(X[:, [GLUCOSE, INSULIN, BMI]] > 0.0).all(axis=1)]
    A = np.zeros((X.shape[1], X.shape[1]))
    for cause, effect in EDGES:
        causes = np.column_stack([measured[:, cause], np.ones(len(measured))])
        A[effect, cause] = np.linalg.lstsq(causes, measured[:, effect], rcond=None)[0][0]
    return A


@dataclass(frozen=True, eq=False)
class Bench:
    """One model with its causes; the judge knows the model alone."""

    model: Any
    A: np.ndarray

    @cached_property
    def plain(self) -> Explainer:
        return Explainer(self.model)

    @cached_property
    def caused(self) -> Explainer:
        space = self.plain.space
        names = space.names
        graph = {names[c]: {names[e]: float(self.A[e, c])} for e, c in np.argwhere(self.A != 0.0)}
        return self.plain.with_space(replace(space, causes=Causal(graph)))

    def wanted(self, x: np.ndarray) -> Any:
        label = self.model.predict(x[None])[0]
        return next(c for c in self.model.classes_ if c != label)

    def gradient(self, x: np.ndarray, rho: float, step: float) -> np.ndarray:
        reach = np.linalg.inv(np.eye(x.size) - self.A)
        return robust_recourse(self.model, x, self.wanted(x), rho, Settings(step=step), reach)[0]

    def judged(self, x: np.ndarray, rho: float, center: np.ndarray | None) -> dict[str, Any]:
        """Valid, robust (None: not settled in time), and |a|_1 of the action that leads to the centre."""
        if center is None:
            return {"answered": False, "valid": False, "robust": False, "distance": None}
        wanted = self.wanted(x)
        valid = bool(self.model.predict(center[None])[0] == wanted)
        action = (np.eye(x.size) - self.A) @ (center - x)
        robust: bool | None = False
        if valid:
            verdict = self.plain.certify(center, Ball(rho), wanted, time_limit=JUDGE_SECONDS)
            robust = (
                True if isinstance(verdict, Certificate) else False if isinstance(verdict, Counterexample) else None
            )
        return {"answered": True, "valid": valid, "robust": robust, "distance": float(np.abs(action).sum())}


def run(rows: int = ROWS, limit: float = 20.0, models: Sequence[str] = MODELS) -> dict[str, Any]:
    """One record per model, radius, row and method; ``optimum`` is None where ours was not proven closest in time."""
    X, _ = load(DATA)
    A, findings = effects_of(X), []
    for label in models:
        bench = Bench(trained(DATA, case_of(label)), A)
        for rho in RADII:
            for row in range(rows):
                findings += _asked(bench, X[row], rho, limit, {"data": DATA, "model": label, "rho": rho, "row": row})
                print(findings[-3:], flush=True)
    graph = [{"cause": c, "effect": e, "coefficient": float(A[e, c])} for c, e in EDGES]
    return {"settings": asdict(Settings()), "graph": graph, "limit": limit, "instances": findings}


def _asked(bench: Bench, x: np.ndarray, rho: float, limit: float, where: dict[str, Any]) -> list[dict[str, Any]]:
    began = time.process_time()
    answer = bench.caused.explain(x, room=Ball(rho), time_limit=limit)
    seconds = time.process_time() - began
    center = answer.body.center if isinstance(answer, Region) else None
    found = bench.judged(x, rho, center)
    proven = isinstance(answer, Region) and answer.status.name == "OPTIMAL"
    optimum = answer.distance if isinstance(answer, Region) and proven else None
    records = [{**where, "method": "elbowroom", **found, "optimum": optimum, "seconds": seconds}]
    for step in STEPS:
        began = time.process_time()
        center = bench.gradient(x, rho, step)
        seconds = time.process_time() - began
        name = f"Dominguez-Olmedo 2022, step {step:g}"
        records.append(
            {**where, "method": name, **bench.judged(x, rho, center), "optimum": optimum, "seconds": seconds}
        )
    return records
