"""Distance and certified radius per iteration of Algorithm 1 (the paper's convergence plots)."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.figure import Figure

from benchmarks.cases import Case
from benchmarks.data import load
from benchmarks.figures.style import BLUE, GREEN, RED, panels
from benchmarks.figures.watched import watch
from elbowroom import Box, Explainer

PANELS = [(Case("DT", 10), 0.05), (Case("RF", 50), 0.02), (Case("GBM", 50), 0.02), (Case("NN", (100,)), 0.05)]
LIMIT, ROWS = 60.0, 5
NAMES = {"DT-10": "decision tree, depth 10", "RF-50": "random forest, 50 trees", "GBM-50": "boosting, 50 trees",
         "NN-100": "network, 100 neurons"}  # fmt: skip


def compute() -> dict[str, Any]:
    """Of the first rows, the one with the most iterations among those that end within the limit."""
    X, y = load("diabetes")
    runs = []
    for case, rho in PANELS:
        explainer = Explainer(case.train(X, y))
        found = []
        for row in range(ROWS):
            run = watch(explainer, X[row], rho, LIMIT)
            found.append({"model": case.label, "row": row, **run})
            print(f"{case.label} row {row}: {len(run['iterates'])} iterations, content {run['certified']}", flush=True)
        best = max(found, key=lambda run: (run["certified"], len(run["iterates"])))
        answer = explainer.explain(X[best["row"]], room=Box(rho))
        best["optimum"], best["optimum_s"] = answer.distance if answer else None, answer.seconds
        for iterate in best["iterates"]:
            del iterate["center"]
        runs.append(best)
    return {"runs": runs}


def draw(content: dict[str, Any]) -> Figure:
    figure, axes = panels(2, 2, (10, 6.4))
    for axis, run in zip(axes.flat, content["runs"], strict=True):
        steps = range(1, len(run["iterates"]) + 1)
        (distance,) = axis.plot(
            steps,
            [i["distance"] for i in run["iterates"]],
            "-o",
            color=BLUE,
            markersize=4,
            label="distance of the master",
        )
        handles = [distance]
        if run["optimum"] is not None:
            handles.append(
                axis.axhline(
                    run["optimum"], color=GREEN, linestyle=":", label=f"optimum, proven in {run['optimum_s']:.3f} s"
                )
            )
        axis.set_title(f"{NAMES[run['model']]}, radius {run['rho']:g} ({run['seconds']:.1f} s)")
        axis.set_xlabel("iteration")
        axis.set_ylabel("distance to the factual", color=BLUE)
        axis.set_xticks(list(range(1, len(run["iterates"]) + 1, max(1, math.ceil(len(run["iterates"]) / 10)))))
        axis.set_ylim(bottom=0.0)
        twin = axis.twinx()
        twin.grid(visible=False)
        (radius,) = twin.plot(
            steps, [i["radius"] for i in run["iterates"]], "--s", color=RED, markersize=4, label="certified radius"
        )
        twin.axhline(run["rho"], color=RED, linewidth=0.6)
        twin.set_ylabel("certified radius", color=RED)
        twin.set_ylim(0.0, 1.15 * max(run["rho"], max(i["radius"] for i in run["iterates"])))
        axis.legend(handles=[*handles, radius], loc="lower right", fontsize=8)
    return figure
