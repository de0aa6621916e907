"""The paper's one-leaf heuristic beside the exact answer: mean distance and time against the radius."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.cases import Case
from benchmarks.data import load
from benchmarks.figures.style import BLUE, ORANGE, panels
from benchmarks.statistics import mean_and_error
from elbowroom import Box, Explainer, Region

PANELS = [(Case("DT", 5), "decision tree, depth 5"), (Case("RF", 10), "random forest, 10 trees")]
RADII, ROWS, LIMIT = [round(0.01 * k, 2) for k in range(1, 11)], 20, 60.0
METHODS = {"exact": "auto", "one leaf": "one_leaf"}


def compute() -> dict[str, Any]:
    X, y = load("diabetes")
    records = []
    for case, _ in PANELS:
        explainer = Explainer(case.train(X, y))
        explainer.explain(X[0], room=Box(0.001))
        for rho in RADII:
            for row in range(ROWS):
                for name, method in METHODS.items():
                    answer = explainer.explain(X[row], room=Box(rho), method=method, time_limit=LIMIT)
                    records.append(
                        {"model": case.label, "rho": rho, "row": row, "method": name, "status": answer.status.name,
                         "distance": answer.distance if isinstance(answer, Region) else None, "seconds": answer.seconds}
                    )  # fmt: skip
            print(f"{case.label} radius {rho:g}", flush=True)
    return {"records": records}


def draw(content: dict[str, Any]) -> Figure:
    figure, axes = panels(2, 2, (10, 6.4), sharex=True)
    looks = {"exact": (BLUE, "-o"), "one leaf": (ORANGE, "--s")}
    for column, (case, title) in enumerate(PANELS):
        mine = [r for r in content["records"] if r["model"] == case.label]
        radii = sorted({r["rho"] for r in mine})
        answered = both_answered(mine)
        for line, (field, scale, label) in enumerate(
            (("distance", 1.0, "mean distance"), ("seconds", 1e3, "mean time, milliseconds"))
        ):
            axis = axes[line][column]
            for method, (color, style) in looks.items():
                values = [
                    mean_and_error(
                        [
                            scale * r[field]
                            for r in mine
                            if r["method"] == method and (r["rho"], r["row"]) in answered and r["rho"] == rho
                        ]
                    )
                    for rho in radii
                ]
                means, errors = np.array(values).T
                axis.fill_between(radii, means - errors, means + errors, color=color, alpha=0.2, linewidth=0)
                axis.plot(radii, means, style, color=color, markersize=4, label=method)
            axis.set_ylabel(label)
            axis.set_xlabel("radius of the box")
            axis.set_ylim(bottom=0.0)
        axes[1][column].set_yscale("log")
        axes[1][column].set_ylim(auto=True)
        axes[0][column].set_title(title)
        axes[0][column].legend(loc="upper left", fontsize=8)
    return figure


def both_answered(records: list[dict[str, Any]]) -> set[tuple[float, int]]:
    """Radius and row where both methods found a region: means are taken over the same instances."""
    missing = {(r["rho"], r["row"]) for r in records if r["distance"] is None}
    return {(r["rho"], r["row"]) for r in records} - missing
