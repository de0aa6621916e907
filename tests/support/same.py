"""Questions about eight families of models, to be asked of an explainer that has answered others and of a fresh one.

Every question ends by itself, and its answer is a text: equal texts are answers that are equal to the last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from elbowroom import AtMost, Ball, Box, Diamond, Explainer, Feature, LinearRule, Region, Space, read_model
from elbowroom.explainer.attempt import FAILED
from elbowroom.models import Model, ObliqueEnsemble, ReluNetwork, TreeEnsemble
from elbowroom.problem import Group, Room
from elbowroom.problem.rules import Rule
from tests.support.oblique_models import random_oblique

PATIENCE = 300.0  # seconds: every question ends by itself long before
NUMERIC = 4
NAMES = ("x0", "x1", "x2", "x3", "k", "a", "b", "c")


@dataclass(frozen=True, eq=False)
class Asked:
    """One question; ``kind`` is what is called."""

    family: str
    kind: str
    row: np.ndarray
    room: Room
    target: int
    distance: str
    rules: tuple[Rule, ...]
    method: str
    seed: int


def space() -> Space:
    """Numbers with limits, one of them one-way, a whole number, and three categories."""
    features = [Feature(f"x{f}", lower=-4.0, upper=4.0, weight=1.0 + f / 4) for f in range(NUMERIC - 1)]
    features += [Feature("x3", direction="increasing"), Feature("k", "integer", -4, 4)]
    features += [Feature(name, "binary") for name in "abc"]
    return Space(tuple(features), (Group("city", ("a", "b", "c"), 0.8),))


def small_space() -> Space:
    return Space((*(Feature(f"x{f}", lower=-3.0, upper=3.0) for f in range(2)), Feature("x2", "integer", -3, 3)))


def data(size: int = 500) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = np.column_stack(
        [rng.normal(size=(size, NUMERIC)), rng.integers(-3, 4, size), np.eye(3)[rng.integers(3, size=size)]]
    )
    score = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.4 * X[:, 3] + 0.3 * X[:, 4] + X[:, 5] - X[:, 7]
    return X, np.digitize(score + rng.normal(0.0, 0.3, size), [-0.8, 0.9])


def models() -> dict[str, tuple[Model, Space]]:
    """Fitted once and read once; two classes or three."""
    X, three = data()
    two = (three > 0).astype(int)
    fitted = {
        "linear": LogisticRegression().fit(X, three),
        "tree": DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, two),
        "random forest": RandomForestClassifier(30, max_depth=6, random_state=0).fit(X, three),
        "boosting": GradientBoostingClassifier(n_estimators=50, max_depth=3, random_state=0).fit(X, two),
        "histogram boosting": HistGradientBoostingClassifier(max_iter=15, max_leaf_nodes=8).fit(X, two),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a network that has not converged is a network
        fitted["network"] = MLPClassifier((5,), max_iter=300, random_state=0).fit(X, three)
        fitted["deep network"] = MLPClassifier((3, 3), max_iter=300, random_state=0).fit(X, two)
    known = {family: (read_model(model, names=NAMES), space()) for family, model in fitted.items()}
    return {**known, "oblique trees": (random_oblique(np.random.default_rng(3), 3, 1, 3), small_space())}


def questions(known: dict[str, tuple[Model, Space]], count: int) -> Iterator[Asked]:
    """``count`` questions in a random order: rows, rooms, targets, distances, rules and calls change all the time."""
    rng = np.random.default_rng(count)
    X, _ = data()
    names = list(known)
    often = [name for name in names if name != "deep network"]  # which takes a hundred times as long as the others
    for number in range(count):
        family = names[number % len(names)] if number < 5 * len(names) else str(rng.choice(often))
        model, where = known[family]
        row = X[rng.integers(30)] if len(where.names) == len(NAMES) else np.round(rng.uniform(-2, 2, 3), 1)
        row = np.where(where.whole_center, np.round(row), row)
        target = int(rng.integers(len(model.info.classes)))
        if rng.random() < 0.8:
            target = int(np.argmin(model.scores(row[None])[0])) if len(model.info.classes) > 2 else _other(model, row)
        yield Asked(
            family,
            _kind(rng, model),
            row,
            _room(rng, where),
            target,
            str(rng.choice(["l1", "l2", "linf"])),
            _rules(rng, model),
            "adversarial" if family == "tree" and rng.random() < 0.1 else "auto",
            int(rng.integers(3)),
        )


def _other(model: Model, row: np.ndarray) -> int:
    return 1 - int(model.info.labels_of(model.scores(row[None]))[0])


def _kind(rng: np.random.Generator, model: Model) -> str:
    if rng.random() < 0.85:
        return "explain"
    further = ["radius", "frontier", "widen"]
    return str(rng.choice([*further, "kept"] if isinstance(model, TreeEnsemble) else further))


def _room(rng: np.random.Generator, where: Space) -> Room:
    kind = (Box, Ball, Diamond)[int(rng.integers(3))]
    free = {"city": "any"} if where.groups and rng.random() < 0.15 else None
    return kind(float(rng.choice([0.02, 0.05, 0.1, 0.2])), categories=free)


def _rules(rng: np.random.Generator, model: Model) -> tuple[Rule, ...]:
    if rng.random() < 0.75:
        return ()
    if rng.random() < 0.5 or isinstance(model, TreeEnsemble | ObliqueEnsemble | ReluNetwork):
        return (AtMost(2),)
    return (LinearRule({"x0": 1.0, "x1": 0.5}, -3.0, 3.0),)


def answer(explainer: Explainer, asked: Asked) -> str:
    """What is answered, without what may differ: seconds, steps and counters."""
    about: dict[str, Any] = {"target": asked.target, "distance": asked.distance, "rules": asked.rules}
    run: dict[str, Any] = {"time_limit": PATIENCE, "seed": asked.seed}
    room = asked.room
    match asked.kind:
        case "radius":
            norm = {Box: "linf", Ball: "l2", Diamond: "l1"}[type(room)]  # type: ignore[index]
            found = explainer.radius(asked.row, norm, time_limit=PATIENCE)
            return f"{found.lower!r} {found.upper!r} {_bits(found.witness)}"
        case "frontier":
            unit = type(room)  # type: ignore[var-annotated]
            front = explainer.frontier(asked.row, [0.01, 0.04, 0.08], unit, **about, **run)
            return "\n".join(a.to_json(timings=False) for a in front.answers)
        case "widen" | "kept":
            region = explainer.explain(asked.row, Box(0.05), **about, **run)
            if not isinstance(region, Region):
                return region.to_json(timings=False)
            if asked.kind == "kept":
                kept = explainer.probability_kept(region, 0.1, tolerance=0.05, time_limit=PATIENCE)
                return f"{kept.lower!r} {kept.upper!r} {kept.inside!r}"
            wide = explainer.widen(region, time_limit=PATIENCE)
            sides = "\n".join(f"{side.end.name} {_bits(side.witness)}" for side in (*wide.lows, *wide.highs))
            return f"{wide.to_json(timings=False)}\n{sides}"
    found = explainer.explain(asked.row, room, **about, method=asked.method, **run)
    assert found.method != FAILED, found
    return found.to_json(timings=False)


def _bits(point: np.ndarray | None) -> str:
    return "" if point is None else point.tobytes().hex()
