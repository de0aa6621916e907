"""Small random models and regions, built from plain arrays, whose truth can be found by looking at every cell."""

from __future__ import annotations

from itertools import product

import numpy as np

from elbowroom.models import Affine, Decision, Link, ModelInfo, ReluNetwork, TreeEnsemble
from elbowroom.problem import Body, Shape, Walls


def info(n_features: int, n_classes: int = 2, decision: Decision = Decision.POSITIVE) -> ModelInfo:
    names = tuple(f"x{i}" for i in range(n_features))
    return ModelInfo(names, tuple(range(n_classes)), decision, Link.NONE, "made from arrays")


def random_trees(
    rng: np.random.Generator,
    n_features: int,
    n_trees: int,
    depth: int,
    cuts: list[np.ndarray],
    n_classes: int = 2,
    decision: Decision = Decision.POSITIVE,
    exact: bool = True,
    base: float = 0.0,
) -> TreeEnsemble:
    """``exact``: leaf values are small multiples of 1/4, so that sums are exact and ties occur."""
    n_scores = n_classes if decision is Decision.ARGMAX else 1
    feature: list[int] = []
    cut: list[float] = []
    left: list[int] = []
    right: list[int] = []
    value: list[np.ndarray] = []

    def grow(levels: int) -> int:
        node = len(feature)
        feature.append(-1), cut.append(0.0), left.append(-1), right.append(-1)
        value.append(rng.integers(-6, 7, n_scores) / 4 if exact else rng.normal(size=n_scores))
        if levels > 0 and rng.random() < 0.9:
            feature[node] = int(rng.integers(n_features))
            cut[node] = float(rng.choice(cuts[feature[node]]))
            left[node], right[node] = grow(levels - 1), grow(levels - 1)
        return node

    roots = [grow(depth) for _ in range(n_trees)]
    return TreeEnsemble(
        info(n_features, n_classes, decision),
        np.array(roots),
        np.array(feature),
        np.array(cut),
        np.array(left),
        np.array(right),
        np.array(value),
        np.full(n_scores, base),
    )


def random_network(
    rng: np.random.Generator,
    sizes: tuple[int, ...],
    n_classes: int = 2,
    decision: Decision = Decision.POSITIVE,
) -> ReluNetwork:
    """``sizes``: features, then hidden layers."""
    outputs = n_classes if decision is Decision.ARGMAX else 1
    layers = []
    for inputs, width in zip(sizes, (*sizes[1:], outputs), strict=True):
        layers.append(Affine.exact(rng.normal(size=(width, inputs)) / np.sqrt(inputs), 0.5 * rng.normal(size=width)))
    return ReluNetwork(info(sizes[0], n_classes, decision), tuple(layers))


def body_of(
    center: np.ndarray,
    shape: Shape,
    radius: np.ndarray | float,
    low: np.ndarray | float = -np.inf,
    high: np.ndarray | float = np.inf,
    whole: np.ndarray | None = None,
    free: tuple[np.ndarray, ...] = (),
) -> Body:
    n = center.size
    width = np.broadcast_to(np.asarray(radius, dtype=float), n).copy()
    walls = Walls(shape, width, width, tuple(range(len(free))))
    limits = (np.broadcast_to(np.asarray(b, dtype=float), n) for b in (low, high))
    return Body.around(center, walls, *limits, np.zeros(n, bool) if whole is None else whole, free)


def every_cell(model: TreeEnsemble, body: Body) -> np.ndarray:
    """At least one point of every cell of the body: all combinations of ends of cells, cuts, and the centre."""
    values = []
    for f in range(body.center.size):
        low, high, cuts = body.lower[f], body.upper[f], model.cuts[f]
        if body.whole[f]:
            values.append(np.arange(low, high + 1))
        else:
            some = np.concatenate([cuts, np.nextafter(cuts, np.inf), [low, high, body.center[f]]])
            values.append(np.unique(some[(some >= low) & (some <= high)]))
    points = np.array(list(product(*values)))
    return points[body.contains(points)]
