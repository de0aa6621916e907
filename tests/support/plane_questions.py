"""Random small questions in two continuous columns, some with a whole column or a one-hot group, for every family."""

from __future__ import annotations

from enum import Enum

import numpy as np

from elbowroom.models import Decision, Model
from elbowroom.problem import Ball, Box, Diamond, Feature, Group, RecourseProblem, Space
from tests.support.linear_problems import linear_model
from tests.support.oblique_models import random_oblique
from tests.support.small_models import random_network, random_trees


class Family(Enum):
    """The families of models."""

    LINEAR = "linear"
    TREE = "tree"
    ENSEMBLE = "ensemble"
    OBLIQUE = "oblique"
    RELU = "ReLU"


ROOMS = {"linf": Box, "l2": Ball, "l1": Diamond}
_DRAWS = 2  # of models, until two classes are seen; so that most questions have an answer, and some have none


def plane_question(family: Family, norm: str, number: int) -> RecourseProblem:
    """Question ``number`` of a family and a norm of the room; always the same one."""
    rng = np.random.default_rng([71, list(Family).index(family), list(ROOMS).index(norm), number])
    features, groups = [_numeric(rng, f"x{f}") for f in range(2)], ()
    if rng.random() < 0.35:
        features.append(Feature("x2", "integer", -2, 2, scale=float(rng.choice([1.0, 6.3])), weight=_weight(rng)))
    if rng.random() < 0.2:
        names = tuple(f"x{len(features) + k}" for k in range(int(rng.integers(2, 4))))
        features += [Feature(name, "binary") for name in names]
        groups = (Group("kind", names, float(rng.uniform(0.2, 1.5))),)
    space = Space(tuple(features), groups)
    row = _rows(rng, space, 1)[0]
    for _ in range(_DRAWS):
        model = _model(rng, family, space)
        if np.unique(model.info.labels_of(model.scores(_rows(rng, space, 100)))).size > 1:
            break
    categories = {g.name: str(rng.choice(["any", "fixed", "fixed"])) for g in groups} or None
    room = ROOMS[norm](float(rng.choice([0.05, 0.13, 0.31])), categories=categories)
    predicted = int(model.info.labels_of(model.scores(row[None]))[0])
    target = int(rng.choice([c for c in model.info.classes if c != predicted]))
    return RecourseProblem.ask(model, space, row, room, target, str(rng.choice(["l1", "l2", "linf"])))


def _rows(rng: np.random.Generator, space: Space, count: int) -> np.ndarray:
    low, high = np.maximum(space.lower, -1.5), np.minimum(space.upper, 1.5)
    rows = rng.uniform(low, high, (count, low.size))
    rows = np.where(space.whole_center, np.round(rows), rows)
    for members in space.members:
        rows[:, members] = np.eye(members.size)[rng.integers(members.size, size=count)]
    return np.asarray(rows + 0.0)


def _weight(rng: np.random.Generator) -> float:
    return float(rng.choice([1.0, 2.3]))


def _numeric(rng: np.random.Generator, name: str) -> Feature:
    low, high = (-np.inf, np.inf) if rng.random() < 0.5 else (-2.0 - rng.random(), 2.0 + rng.random())
    direction = str(rng.choice(["any", "any", "any", "increasing"]))
    return Feature(
        name, "numeric", low, high, direction=direction, scale=float(rng.choice([1.0, 0.6])), weight=_weight(rng)
    )


def _model(rng: np.random.Generator, family: Family, space: Space) -> Model:
    n = len(space.names)
    classes = int(rng.choice([2, 2, 3]))
    decision = Decision.ARGMAX if classes == 3 else Decision.POSITIVE
    match family:
        case Family.LINEAR:
            rows = 1 if classes == 2 else 3
            return linear_model(rng.normal(size=(rows, n)), rng.normal(size=rows))
        case Family.TREE:
            return random_trees(rng, n, 1, 3, _cuts(rng, space, 4), classes, decision, exact=False)
        case Family.ENSEMBLE:
            return random_trees(
                rng, n, int(rng.integers(2, 5)), 2, _cuts(rng, space, 3), classes, decision, exact=False
            )
        case Family.OBLIQUE:
            return random_oblique(rng, n, int(rng.integers(1, 3)), 2, classes)
        case Family.RELU:
            hidden = ((3,), (4,), (2, 2))[int(rng.integers(3))]
            return random_network(rng, (n, *hidden), classes, decision)


def _cuts(rng: np.random.Generator, space: Space, count: int) -> list[np.ndarray]:
    return [
        rng.integers(-2, 2, count) + 0.5 if space.whole_center[f] else rng.normal(0.0, 1.2, count)
        for f in range(len(space.names))
    ]
