"""Distance and time against the radius: the paper's Pareto fronts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cases import Case
from benchmarks.data import load
from benchmarks.figures.style import BLUE, GREEN, RED, panels
from benchmarks.statistics import mean_and_error
from elbowroom import Box, Explainer

CASE, ROWS = Case("DT", 10), 20
RADII = [round(0.005 * k, 3) for k in range(1, 21)]


def compute() -> dict[str, Any]:
    """Every point as a fresh solve, and the same front by `Explainer.frontier`; the distances must agree."""
    X, y = load("diabetes")
    model = CASE.train(X, y)
    Explainer(model).explain(X[0], room=Box(RADII[0]))
    records = []
    for rho in RADII:
        explainer = Explainer(model)
        for row in range(ROWS):
            answer = explainer.explain(X[row], room=Box(rho))
            distance = answer.distance if answer else None
            records.append(
                {"rho": rho, "row": row, "status": answer.status.name, "distance": distance, "seconds": answer.seconds}
            )
    began = time.perf_counter()
    explainer = Explainer(model)
    fronts = [explainer.frontier(X[row], radii=RADII) for row in range(ROWS)]
    seconds = time.perf_counter() - began
    fresh = np.array([r["distance"] for r in records]).reshape(len(RADII), ROWS).T
    differs = float(np.abs(np.array([front["distance"] for front in fronts]) / fresh - 1.0).max())
    warm = np.array([front["seconds"] for front in fronts])
    for record in records:
        record["frontier_seconds"] = warm[record["row"], RADII.index(record["rho"])]
    return {
        "model": CASE.label,
        "frontier_total_s": seconds,
        "largest_relative_difference": differs,
        "records": records,
    }


def draw(content: dict[str, Any]) -> Figure:
    figure, (axes,) = panels(1, 2, (10, 4))
    radii = sorted({record["rho"] for record in content["records"]})
    for axis, field, scale, color, marker, label in (
        (axes[0], "distance", 1.0, BLUE, "-o", "mean distance, proven optimal"),
        (axes[1], "seconds", 1e3, RED, "-o", "fresh solve"),
        (axes[1], "frontier_seconds", 1e3, GREEN, "--s", "Explainer.frontier"),
    ):
        means, errors = np.array(
            [mean_and_error([scale * r[field] for r in content["records"] if r["rho"] == rho]) for rho in radii]
        ).T
        axis.fill_between(radii, means - errors, means + errors, color=color, alpha=0.2, linewidth=0)
        axis.plot(radii, means, marker, color=color, markersize=4, label=label)
        axis.set_xlabel("radius of the box")
        axis.set_ylim(bottom=0.0)
    axes[0].legend(loc="upper left", fontsize=8)
    axes[1].legend(loc="lower right", fontsize=8)
    axes[0].set_title("mean distance over 20 instances")
    axes[1].set_title(f"mean time; all 20 fronts of 20 radii: {content['frontier_total_s']:.1f} s")
    axes[0].set_ylabel("distance to the factual")
    axes[1].set_ylabel("milliseconds per instance")
    return figure
