"""Iterates of Algorithm 1 as boxes in the plane, for a shallow and an overfitted tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from benchmarks.figures.plane import background, iris, labels_on_grid, tree
from benchmarks.figures.style import BLACK, BLUE, GREEN, ORANGE, panels
from benchmarks.figures.watched import watch
from elbowroom import Explainer

PART, DEPTHS, RHO, LIMIT = "sepal", (3, 10), 0.05, 30.0
LOW, HIGH = -0.1, 1.1


def compute() -> dict[str, Any]:
    """The versicolor row for which the deep tree needs the most iterations."""
    X, y = iris(PART)
    models = {depth: tree(PART, depth) for depth in DEPTHS}
    explainers = {depth: Explainer(model) for depth, model in models.items()}
    both = np.all([model.predict(X) == 0 for model in models.values()], axis=0)
    rows = np.flatnonzero((y == 0) & both)
    deep = {int(row): len(watch(explainers[DEPTHS[1]], X[row], RHO, LIMIT, radii=False)["iterates"]) for row in rows}
    row = max(deep, key=lambda r: (deep[r], -r))
    runs = [{"depth": depth, **watch(explainers[depth], X[row], RHO, LIMIT)} for depth in DEPTHS]
    grids = [pack(labels_on_grid(models[depth], LOW, HIGH, 1)) for depth in DEPTHS]
    return {"row": row, "factual": X[row], "X": X, "y": y, "runs": runs, "grids": grids}


def pack(grid: Any) -> list[str]:
    """Every row of a 0/1 grid as run lengths: '0:120 1:380'."""
    packed = []
    for line in np.asarray(grid):
        edges = np.flatnonzero(np.diff(line)) + 1
        starts, ends = [0, *edges], [*edges, len(line)]
        packed.append(" ".join(f"{line[a]}:{b - a}" for a, b in zip(starts, ends, strict=True)))
    return packed


def unpack(packed: list[str]) -> np.ndarray:
    return np.array(
        [[int(part[0]) for part in line.split() for _ in range(int(part[2:]))] for line in packed], dtype=np.int8
    )


def draw(content: dict[str, Any]) -> Figure:
    figure, (axes,) = panels(1, 2, (10.5, 5))
    X, y = np.array(content["X"]), np.array(content["y"])
    for axis, run, grid in zip(axes, content["runs"], content["grids"], strict=True):
        background(axis, unpack(grid), LOW, HIGH, PART)
        axis.scatter(*X[y == 0].T, s=10, color=ORANGE, marker="o", label="versicolor", zorder=2)
        axis.scatter(*X[y == 1].T, s=12, color=BLUE, marker="^", label="virginica", zorder=2)
        centers, rho = np.array([i["center"] for i in run["iterates"]]), run["rho"]
        for k, center in enumerate(centers):
            last = k == len(centers) - 1
            axis.add_patch(
                Rectangle(center - rho, 2 * rho, 2 * rho, fill=last, facecolor=GREEN + "55",
                          edgecolor=GREEN if last else BLACK, linewidth=1.8 if last else 0.8, zorder=3)
            )  # fmt: skip
        axis.plot(*centers.T, color=BLACK, linewidth=0.8, marker=".", markersize=4, zorder=4, label="iterates")
        axis.scatter(*content["factual"], marker="*", s=130, color=BLACK, zorder=5, label="factual")
        axis.set_title(f"depth {run['depth']}: {len(centers)} iterations, distance {run['distance']:.3f}")
    axes[0].legend(loc="lower right", fontsize=8)
    return figure
