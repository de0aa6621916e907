"""Random small linear questions over all rooms, distances, feature kinds, classes and rules."""

from __future__ import annotations

import numpy as np

from elbowroom.models import Affine, Decision, LinearModel, Link, ModelInfo
from elbowroom.problem import (
    AtMost,
    Ball,
    Box,
    Diamond,
    Feature,
    Group,
    LinearRule,
    RecourseProblem,
    Room,
    Rule,
    Space,
    Target,
)  # fmt: skip


def linear_model(
    W: np.ndarray, b: np.ndarray, names: tuple[str, ...] | None = None, link: Link = Link.NONE
) -> LinearModel:
    W, b = np.atleast_2d(np.asarray(W, dtype=float)), np.atleast_1d(np.asarray(b, dtype=float))
    names = names or tuple(f"x{i}" for i in range(W.shape[1]))
    one = len(W) == 1
    info = ModelInfo(
        names,
        tuple(range(2 if one else len(W))),
        Decision.POSITIVE if one else Decision.ARGMAX,
        link,
        "made from arrays",
    )
    return LinearModel(info, Affine.exact(W, b))


def random_problem(seed: int) -> RecourseProblem:
    rng = np.random.default_rng([20, seed])
    shape = ("box", "ball", "diamond")[seed % 3]
    discrete = rng.random() < 0.5
    clipped = rng.random() < 0.6
    n_real = int(rng.integers(1, 3 if discrete or (shape == "ball" and clipped) else 4))
    n_whole = int(rng.integers(0, 3)) if discrete else 0
    n_group = int(rng.integers(0, 2)) if discrete else 0
    features, row = _features(rng, n_real, n_whole, clipped)
    groups: tuple[Group, ...] = ()
    if n_group:
        size = int(rng.integers(2, 4))
        names = tuple(f"g{i}" for i in range(size))
        features += [Feature(name, "binary", immutable=rng.random() < 0.03) for name in names]
        row += list(np.eye(size)[rng.integers(size)])
        groups = (Group("g", names, float(rng.uniform(0.2, 2.0))),)
    if n_real == 1 and not n_whole and not n_group and rng.random() < 0.3:
        features, row = [*features, Feature("still", immutable=True)], [*row, float(rng.normal())]
    space = Space(tuple(features), groups)
    model, target = _model(rng, space)
    factual = np.array(row)
    if target is None:
        predicted = int(model.info.labels_of(model.scores(factual[None]))[0])
        others = [c for c in model.info.classes if c != predicted]
        target = Target(others[int(rng.integers(len(others)))] if rng.random() < 0.93 else predicted)
    distance = ("l1", "l2", "linf")[int(rng.integers(3))]
    return RecourseProblem.ask(
        model, space, factual, _room(rng, shape, space), target, distance, _rules(rng, space, factual)
    )


def _features(rng: np.random.Generator, n_real: int, n_whole: int, clipped: bool) -> tuple[list[Feature], list[float]]:
    features, row = [], []
    for i in range(n_real):
        value = float(rng.normal())
        low = value - float(rng.exponential(0.6)) if clipped and rng.random() < 0.6 else -np.inf
        high = value + float(rng.exponential(0.6)) if clipped and rng.random() < 0.6 else np.inf
        if clipped and np.isfinite(low) and rng.random() < 0.1:
            value = low - 0.3  # the factual itself is outside its bounds
        way = "any"
        if clipped and rng.random() < 0.15 and low <= value <= high:
            way = str(rng.choice(["increasing", "decreasing"]))
        frozen = bool(rng.random() < 0.08) and low <= value <= high
        scale, weight = float(np.exp(rng.normal(0, 0.7))), float(np.exp(rng.normal(0, 0.5)))
        features.append(
            Feature(f"r{i}", lower=low, upper=high, immutable=frozen, direction=way, scale=scale, weight=weight)
        )
        row.append(value)
    for i in range(n_whole):
        low, size = int(rng.integers(-3, 2)), int(rng.integers(1, 6))
        kind = "integer" if size > 1 else "binary"
        low = low if kind == "integer" else 0
        features.append(
            Feature(f"w{i}", kind, low, low + size, immutable=rng.random() < 0.05, scale=float(rng.choice([1.0, 2.0, 0.5])),
                    weight=float(np.exp(rng.normal(0, 0.5))))
        )  # fmt: skip
        row.append(float(rng.integers(low, low + size + 1)))
    return features, row


def _model(rng: np.random.Generator, space: Space) -> tuple[LinearModel, Target | None]:
    n = len(space.names)
    kind = rng.choice(["binary", "probability", "multi"], p=[0.55, 0.1, 0.35])
    k = 1 if kind != "multi" else int(rng.integers(3, 5))
    W = rng.normal(size=(k, n)) * (rng.random((k, n)) < 0.9)
    W[:, rng.integers(n)] += 0.3
    model = linear_model(W, rng.normal(size=k), space.names, Link.LOGISTIC if k == 1 else Link.SOFTMAX)
    if kind == "probability":
        return model, Target(int(rng.integers(2)), probability=float(rng.uniform(0.3, 0.9)))
    return model, None


def _room(rng: np.random.Generator, shape: str, space: Space) -> Room:
    n = len(space.names)
    free = {"g": "any"} if space.groups and rng.random() < 0.3 else None
    size = float(rng.choice([0.0, 0.05, 0.2, 0.5, 1.5], p=[0.1, 0.2, 0.3, 0.25, 0.15]))
    per_feature = tuple(float(v) for v in rng.exponential(0.6, n) * (rng.random(n) < 0.8))
    style = rng.random()
    if shape == "box":
        if style < 0.2:
            return Box(low=float(rng.exponential(0.2)), high=float(rng.exponential(0.2)), categories=free)
        return Box(per_feature if style < 0.5 else size, categories=free)
    radius = per_feature if style < 0.4 else size
    return Ball(radius, categories=free) if shape == "ball" else Diamond(radius, categories=free)


def _rules(rng: np.random.Generator, space: Space, row: np.ndarray) -> list[Rule]:
    rules: list[Rule] = []
    if rng.random() < 0.15:
        coefficients = {name: float(rng.normal()) for name in space.names if rng.random() < 0.7} or {
            space.names[0]: 1.0
        }
        value = sum(c * row[space.position[name]] for name, c in coefficients.items())
        rules.append(LinearRule(coefficients, value - float(rng.exponential(0.7)), value + float(rng.exponential(0.7))))
    if rng.random() < 0.15:
        rules.append(AtMost(int(rng.integers(1, 3))))
    return rules
