"""The whole box inside one leaf, against the optimal box that covers several leaves of the wanted class."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from benchmarks.figures.overfitting import pack, unpack
from benchmarks.figures.plane import background, iris, labels_on_grid, tree
from benchmarks.figures.style import BLACK, BLUE, GREEN, ORANGE, panels
from elbowroom import Box, Explainer

PART, DEPTH, RHO = "petal", 10, 0.08
LOW, HIGH = -0.1, 1.1


def compute() -> dict[str, Any]:
    """The versicolor row where the two answers differ most."""
    X, y = iris(PART)
    model = tree(PART, DEPTH)
    explainer = Explainer(model)
    found = []
    for row in np.flatnonzero((y == 0) & (model.predict(X) == 0)):
        heuristic = explainer.explain(X[row], room=Box(RHO), method="one_leaf")
        exact = explainer.explain(X[row], room=Box(RHO))
        if heuristic and exact:
            found.append((heuristic.distance - exact.distance, int(row), heuristic, exact))
    _, row, heuristic, exact = max(found, key=lambda entry: entry[:2])
    answers = [
        {"method": name, "center": a.body.center, "distance": a.distance, "status": a.status.name}
        for name, a in (("one leaf", heuristic), ("optimal", exact))
    ]
    boxes = leaf_boxes(model)
    return {"row": row, "factual": X[row], "rho": RHO, "depth": DEPTH, "answers": answers, "leaves": boxes,
            "grid": pack(labels_on_grid(model, LOW, HIGH, 1))}  # fmt: skip


def leaf_boxes(model: Any) -> list[list[float]]:
    """Every leaf of a tree on two features as [x low, y low, x high, y high], cut off at the picture's edge."""
    tree_, boxes = model.tree_, []

    def walk(node: int, box: list[float]) -> None:
        if tree_.children_left[node] < 0:
            boxes.append(box)
            return
        feature, threshold = tree_.feature[node], float(tree_.threshold[node])
        left, right = list(box), list(box)
        left[2 + feature], right[feature] = threshold, threshold
        walk(tree_.children_left[node], left)
        walk(tree_.children_right[node], right)

    walk(0, [LOW, LOW, HIGH, HIGH])
    return boxes


def draw(content: dict[str, Any]) -> Figure:
    figure, (axes,) = panels(1, 2, (10.5, 5))
    for axis, answer, color in zip(axes, content["answers"], (ORANGE, GREEN), strict=True):
        background(axis, unpack(content["grid"]), LOW, HIGH, PART)
        for left, below, right, above in content["leaves"]:
            axis.add_patch(Rectangle((left, below), right - left, above - below, fill=False, edgecolor="#999999",
                                     linewidth=0.7, zorder=1))  # fmt: skip
        center, rho = np.array(answer["center"]), content["rho"]
        axis.add_patch(Rectangle(center - rho, 2 * rho, 2 * rho, facecolor=color + "66", edgecolor=color, linewidth=1.8,
                                 zorder=3))  # fmt: skip
        axis.plot(*np.array([content["factual"], center]).T, color=BLUE, linewidth=1.0, linestyle="--", zorder=4)
        axis.scatter(*content["factual"], marker="*", s=130, color=BLACK, zorder=5, label="factual")
        axis.scatter(*center, marker="+", s=60, color=BLACK, zorder=5, label="centre")
        axis.set_title(f"{answer['method']}: distance {answer['distance']:.3f}")
        axis.legend(loc="lower right", fontsize=8)
    return figure
