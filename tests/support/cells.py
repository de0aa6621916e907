"""Small trees on three columns, one of them whole, and the points of their cells."""

from __future__ import annotations

import numpy as np

from elbowroom.models import Decision, TreeEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.problem import Feature, Space
from elbowroom.search.trees.cells.dimensions import Dimensions
from tests.support.small_models import random_trees


def small_trees(seed: int, depth: int = 4, classes: int = 2, trees: int = 5) -> TreeEnsemble:
    rng = np.random.default_rng(seed)
    cuts = [rng.choice(np.arange(-20, 21) / 4.0, 12), rng.normal(size=9), np.arange(-4, 5) / 2.0]
    decision = Decision.ARGMAX if classes > 2 else Decision.POSITIVE
    return random_trees(rng, 3, trees, depth, cuts, classes, decision, exact=False)


def small_space() -> Space:
    return Space((Feature("x0"), Feature("x1"), Feature("x2", "integer")))


def random_range(rng: np.random.Generator, dimensions: Dimensions) -> tuple[np.ndarray, np.ndarray]:
    low = np.array([rng.integers(0, c.size + 1) for c in dimensions.cuts], dtype=np.int64)
    high = np.array([rng.integers(a, c.size + 1) for a, c in zip(low, dimensions.cuts, strict=True)], dtype=np.int64)
    return low, high


def points_of(dimensions: Dimensions, low: np.ndarray, high: np.ndarray, n_columns: int) -> np.ndarray:
    """One point of every cell of a range."""
    axes = []
    for d, cuts in enumerate(dimensions.cuts):
        step = 1.0 if d == 2 else 1e-9
        values = np.append(cuts, cuts[-1] + step)
        axes.append(values[low[d] : high[d] + 1])
    points = np.zeros((int(np.prod([a.size for a in axes])), n_columns))
    points[:, dimensions.columns] = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(len(points), -1)
    return points


def leaf_values(model: TreeEnsemble, points: np.ndarray, rival: int) -> np.ndarray:
    """(points, trees) values of the leaf that each point reaches."""
    margins, leaves = tree_margins(model, 1), model.leaves
    reached = ((leaves.lower < points[:, None]) & (points[:, None] <= leaves.upper)).all(axis=2)
    return np.stack(
        [
            reached[:, a:b] @ margins.value[a:b, rival]
            for a, b in zip(leaves.offsets[:-1], leaves.offsets[1:], strict=True)
        ],
        axis=1,
    )
