"""Small random oblique trees and questions about them, and the paper's Lipschitz stand-in."""

from __future__ import annotations

import numpy as np

from elbowroom.models import Decision, ObliqueEnsemble, TreeEnsemble
from elbowroom.problem import Ball, Box, Diamond, Feature, RecourseProblem, Space


def random_oblique(
    rng: np.random.Generator, n: int, n_trees: int, depth: int, n_classes: int = 2, axis_aligned: bool = False
) -> ObliqueEnsemble:
    weight: list[np.ndarray] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    value: list[np.ndarray] = []
    exact = rng.random() < 0.5

    def grow(levels: int) -> int:
        node = len(weight)
        weight.append(np.zeros(n)), threshold.append(0.0), left.append(-1), right.append(-1)
        value.append(rng.integers(-6, 7, n_classes) / 4 if exact else rng.normal(size=n_classes))
        if levels > 0 and rng.random() < 0.9:
            row = rng.normal(size=n) * (rng.random(n) < 0.8)
            if axis_aligned or not row.any():
                row = np.eye(n)[rng.integers(n)]
            weight[node], threshold[node] = row, float(rng.normal())
            left[node], right[node] = grow(levels - 1), grow(levels - 1)
        return node

    roots = [grow(depth) for _ in range(n_trees)]
    return ObliqueEnsemble.from_arrays(
        weight, threshold, left, right, value, roots=roots, classes=tuple(range(n_classes)), decision=Decision.ARGMAX
    )


def as_axis_aligned(model: ObliqueEnsemble) -> TreeEnsemble:
    """The same model where every split looks at one column with weight 1."""
    feature = np.where(model.left >= 0, np.argmax(model.weight != 0, axis=1), -1)
    return TreeEnsemble(
        model.info, model.roots, feature, model.threshold, model.left, model.right, model.value, model.base
    )


def plain_features(rng: np.random.Generator, n: int) -> tuple[Feature, ...]:
    features = []
    for f in range(n):
        low, high = (-np.inf, np.inf) if rng.random() < 0.5 else (-2.0, 2.0)
        features.append(
            Feature(
                f"x{f}",
                "integer" if rng.random() < 0.2 else "numeric",
                low,
                high,
                direction=str(rng.choice(["any", "any", "any", "increasing"])),
                scale=float(rng.choice([1.0, 0.5])),
                weight=float(rng.choice([1.0, 2.0])),
            )
        )
    return tuple(features)


def question_about(rng: np.random.Generator, model, shape: int) -> RecourseProblem:  # type: ignore[no-untyped-def]
    """A question with a box (0), ball (1) or diamond (2) about any model over x0, x1, ..."""
    space = Space(plain_features(rng, model.info.n_features))
    row = rng.uniform(-1.5, 1.5, model.info.n_features)
    row = np.where(space.whole_center, np.round(row), row)
    room = (Box, Ball, Diamond)[shape](float(rng.choice([0.0, 0.05, 0.2, 0.5])))
    predicted = int(model.info.labels_of(model.scores(row[None]))[0])
    target = int(rng.choice([c for c in model.info.classes if c != predicted]))
    return RecourseProblem.ask(model, space, row, room, target, str(rng.choice(["l1", "l2", "linf"])))


def oblique_question(seed: int, axis_aligned: bool = False) -> RecourseProblem:
    rng = np.random.default_rng([5, seed])
    n, classes = int(rng.integers(1, 4)), int(rng.choice([2, 2, 3]))
    model = random_oblique(rng, n, int(rng.integers(1, 4)), int(rng.integers(1, 4)), classes, axis_aligned)
    return question_about(rng, model, seed % 3)
