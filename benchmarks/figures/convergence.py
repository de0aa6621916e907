"""Distance and certified radius per iteration of Algorithm 1 (the paper's convergence plots)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cases import Case
from benchmarks.data import load
from benchmarks.figures.style import BLUE, GREEN, RED, panels
from benchmarks.figures.watched import watch
from elbowroom import Box, Explainer
from elbowroom.search.solvers.protocol import SolverName

PANELS = [(Case("DT", 10), 0.05), (Case("RF", 50), 0.02), (Case("GBM", 50), 0.02), (Case("NN", (50,)), 0.05)]
LIMIT, ROWS = 90.0, 5
SAME = 2e-4  # relative difference up to which Algorithm 1 has reached the proven optimum
NAMES = {"DT-10": "decision tree, depth 10", "RF-50": "random forest, 50 trees", "GBM-50": "boosting, 50 trees",
         "NN-50": "network, 50 neurons"}  # fmt: skip


def compute() -> dict[str, Any]:
    """Of the first rows, the one with the most iterations among those whose last iterate is the optimum."""
    X, y = load("diabetes")
    runs = []
    for case, rho in PANELS:
        explainer = Explainer(case.train(X, y))
        explainer.explain(X[0], room=Box(0.001), time_limit=1.0)
        found = [_run(explainer, case, X[row], row, rho) for row in range(ROWS)]
        runs.append(max(found, key=lambda run: (run["reached"], len(run["iterates"]))))
    return {"limit_s": LIMIT, "runs": runs}


def _run(explainer: Explainer, case: Case, x: np.ndarray, row: int, rho: float) -> dict[str, Any]:
    run = watch(explainer, x, rho, LIMIT, solver=SolverName.SCIP)
    answer = explainer.explain(x, room=Box(rho))
    best = answer.distance if answer else None
    reached = bool(run["certified"] and best and abs(run["iterates"][-1]["distance"] / best - 1.0) <= SAME)
    print(f"{case.label} row {row}: {len(run['iterates'])} iterations, optimum reached: {reached}", flush=True)
    for iterate in run["iterates"]:
        del iterate["center"]
    return {"model": case.label, "row": row, "optimum": best, "optimum_s": answer.seconds, "reached": reached, **run}


def draw(content: dict[str, Any]) -> Figure:
    figure, axes = panels(2, 2, (10, 7))
    for axis, run in zip(axes.flat, content["runs"], strict=True):
        steps = np.arange(1, len(run["iterates"]) + 1)
        (distance,) = axis.plot(steps, [i["distance"] for i in run["iterates"]], "-o", color=BLUE, markersize=4)
        optimum = axis.axhline(run["optimum"], color=GREEN, linestyle=":")
        ended = f"{run['seconds']:.1f} s" if run["reached"] else f"stopped at {content['limit_s']:g} s"
        axis.set_title(
            f"{NAMES[run['model']]}, radius {run['rho']:g}\nAlgorithm 1: {ended}; exact engine: {run['optimum_s']:.3f} s"
        )
        axis.set_xlabel("iteration")
        axis.set_ylabel("distance to the factual", color=BLUE)
        axis.set_xticks(steps[:: math.ceil(len(steps) / 10)])
        axis.set_ylim(bottom=0.0)
        twin = axis.twinx()
        twin.grid(visible=False)
        (radius,) = twin.plot(steps, [i["radius"] for i in run["iterates"]], "--s", color=RED, markersize=4)
        wanted = twin.axhline(run["rho"], color=RED, linewidth=0.7)
        twin.set_ylabel("certified radius", color=RED)
        twin.set_ylim(0.0, 1.15 * max(run["rho"], max(i["radius"] for i in run["iterates"])))
    figure.legend(
        handles=[distance, optimum, radius, wanted],
        labels=[
            "distance of the master's answer",
            "proven optimum",
            "certified radius of that answer",
            "wanted radius",
        ],
        loc="outside lower center",
        ncols=4,
        fontsize=9,
    )
    return figure
