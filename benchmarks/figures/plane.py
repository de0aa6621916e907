"""Two features of iris as a plane: data, trees, and the pictures' background of predicted classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from benchmarks.data import unit_scaled
from benchmarks.figures.style import CLASSES

COLUMNS = {"sepal": [0, 1], "petal": [2, 3]}
RESOLUTION = 500


def iris(part: str) -> tuple[np.ndarray, np.ndarray]:
    """Length and width of the sepals or petals in [0, 1]; label 1 = virginica, 0 = versicolor.

    Petals tell the two apart almost perfectly, sepals do not: a deep tree on sepals is overfitted.
    """
    bunch = load_iris()
    two = bunch.target > 0
    return unit_scaled(bunch.data[two][:, COLUMNS[part]]), (bunch.target[two] == 2).astype(int)


def tree(part: str, depth: int) -> Any:
    X, y = iris(part)
    return DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)


def background(axis: Any, labels: np.ndarray, low: float, high: float, part: str) -> None:
    """White where the label is the wanted one, a light tint elsewhere."""
    axis.imshow(labels, origin="lower", extent=(low, high, low, high), cmap=CLASSES, vmin=0, vmax=1, aspect="auto",
                interpolation="nearest", zorder=0)  # fmt: skip
    axis.grid(visible=False)
    axis.set_xlim(low, high)
    axis.set_ylim(low, high)
    axis.set_xlabel(f"{part} length (scaled)")
    axis.set_ylabel(f"{part} width (scaled)")


def labels_on_grid(model: Any, low: float, high: float, wanted: int) -> np.ndarray:
    """1 where the model says the wanted class, on a square grid, row by row from below."""
    ticks = low + (high - low) * (np.arange(RESOLUTION) + 0.5) / RESOLUTION
    points = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    return np.asarray(model.predict(points) == wanted, dtype=np.int64).reshape(RESOLUTION, RESOLUTION)
