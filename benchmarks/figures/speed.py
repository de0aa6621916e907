"""Mean seconds of every cell of tables 1 and 2: the paper's against ours. Drawn from the instances, nothing to compute."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.figures.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, panels
from benchmarks.published import LIMIT_SECONDS, paper_cells
from benchmarks.statistics import by_cell

LOOK = {"linear": (BLACK, "P", "linear"), "DT": (ORANGE, "o", "decision tree"), "RF": (GREEN, "s", "random forest"),
        "GBM": (BLUE, "^", "boosting"), "NN": (PURPLE, "D", "network")}  # fmt: skip
X_RANGE, Y_RANGE = (0.1, 1500.0), (1e-3, 300.0)


def paper_seconds(solved: float | None, early_stops: int, rows: int = 20) -> float:
    """Mean over all 20 instances of the paper, with the time limit for those that it did not solve (a lower bound)."""
    return ((rows - early_stops) * (solved or 0.0) + early_stops * LIMIT_SECONDS) / rows


def draw(records: list[dict[str, Any]]) -> Figure:
    figure, (axes,) = panels(1, 2, (10.5, 4.8), sharex=True, sharey=True)
    ours, paper = by_cell(records), paper_cells()
    for axis, norm in zip(axes, ("linf", "l2"), strict=True):
        for kind, (color, marker, label) in LOOK.items():
            keys = [key for key in ours if key[0] == norm and key[2].partition("-")[0] == kind and key in paper]
            if not keys:
                continue
            x = [paper_seconds(paper[key].seconds, paper[key].early_stops) for key in keys]
            y = [ours[key].seconds[0] for key in keys]
            axis.scatter(x, y, s=26, color=color, marker=marker, label=label, alpha=0.85, linewidth=0)
            stopped = [k for k, key in enumerate(keys) if paper[key].early_stops]
            axis.scatter(
                np.array(x)[stopped], np.array(y)[stopped], s=80, facecolor="none", edgecolor=RED, linewidth=0.9
            )
        line = np.array([X_RANGE[0], X_RANGE[1]])
        for factor, style in ((1.0, "-"), (1e-2, "--"), (1e-4, ":")):
            axis.plot(line, line * factor, style, color="#999999", linewidth=0.8)
            left = max(line[0], 1.5 * Y_RANGE[0] / factor)
            text = "equal" if factor == 1 else f"{1 / factor:,.0f} times faster"
            axis.annotate(
                text, (left, left * factor), fontsize=7, color="#666666", xytext=(6, -4), textcoords="offset points"
            )
        axis.set_xlim(*X_RANGE)
        axis.set_ylim(*Y_RANGE)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("the paper: mean seconds (early stops count 1000 s)")
        axis.set_title({"linf": "boxes", "l2": "balls"}[norm])
    axes[0].set_ylabel("elbowroom: mean seconds")
    looks = [
        axes[0].scatter([], [], s=26, color=color, marker=marker, label=label) for color, marker, label in LOOK.values()
    ]
    ring = axes[0].scatter([], [], s=80, facecolor="none", edgecolor=RED, label="the paper stopped early")
    axes[0].legend(handles=[*looks, ring], loc="upper left", fontsize=8)
    return figure
