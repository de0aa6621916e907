"""The paper's one-leaf heuristic beside the exact answer; drawn from what ``python -m benchmarks heuristic`` stores."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.figures.style import BLUE, ORANGE, panels
from benchmarks.statistics import mean_and_error

PANELS = {"DT-5": "decision tree, depth 5", "RF-10": "random forest, 10 trees"}
LOOKS = {"exact": (BLUE, "-o", "exact"), "heuristic": (ORANGE, "--s", "one leaf")}


def draw(content: dict[str, Any]) -> Figure:
    figure, axes = panels(2, 2, (10, 6.4), sharex=True)
    for column, (model, title) in enumerate(PANELS.items()):
        both = [
            r for r in content["instances"]
            if r["model"] == model and r["exact_distance"] is not None and r["heuristic_distance"] is not None
        ]  # fmt: skip
        radii = sorted({r["rho"] for r in both})
        for axis, field, scale, label in (
            (axes[0][column], "distance", 1.0, "mean distance"),
            (axes[1][column], "s", 1e3, "mean time, milliseconds"),
        ):
            for name, (color, style, said) in LOOKS.items():
                values = [
                    mean_and_error([scale * r[f"{name}_{field}"] for r in both if r["rho"] == rho]) for rho in radii
                ]
                means, errors = np.array(values).T
                axis.fill_between(radii, means - errors, means + errors, color=color, alpha=0.2, linewidth=0)
                axis.plot(radii, means, style, color=color, markersize=4, label=said)
            axis.set_ylabel(label)
            axis.set_xlabel("radius of the box")
        axes[0][column].set_ylim(bottom=0.0)
        axes[1][column].set_yscale("log")
        axes[0][column].set_title(title)
        axes[0][column].legend(loc="upper left", fontsize=8)
    return figure
