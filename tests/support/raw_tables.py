"""Small tables with raw categories, models fitted on their inner columns, and the truth by trying everything."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from elbowroom import Space
from elbowroom.problem import RecourseProblem, allowed_categories

ROWS = 200
FAMILIES = ("forest", "linear", "network")


def raw_table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Whole numbers, three columns of categories (text, numbers as category dtype, one with missing values), labels."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "months": rng.integers(0, 6, ROWS),
            "housing": rng.choice(["own", "rent", "free"], ROWS),
            "grade": pd.Categorical(rng.choice([3, 1, 2, 4], ROWS), categories=[3, 1, 2, 4, 9]),
            "job": pd.Series(rng.choice(["clerk", "smith", ""], ROWS), dtype=object).replace({"": None}),
            "branch": ["the only one"] * ROWS,
        }
    )
    score = frame["months"] - 3.0 + 2.0 * (frame["housing"] == "own") - 1.5 * (frame["grade"] == 2).astype(float)
    score += 1.2 * (frame["job"] == "smith") - 0.8 * frame["job"].isna()
    return frame, np.where(score + rng.normal(scale=0.7, size=ROWS) > 0, "good", "bad")


def fitted(family: str, space: Space, frame: pd.DataFrame, labels: np.ndarray, seed: int) -> Any:
    """A model of the inner columns, named as the space names them."""
    inner = pd.DataFrame(space.inner(frame), columns=list(space.names))
    match family:
        case "forest":
            model: Any = RandomForestClassifier(n_estimators=7, max_depth=4, random_state=seed)
        case "linear":
            model = LogisticRegression()
        case _:
            model = MLPClassifier((6,), max_iter=150, random_state=seed)
    return model.fit(inner, labels)


def closest_by_trying(problem: RecourseProblem, predict: Any) -> float:
    """The distance of the closest centre of whole numbers whose room has the wanted class; inf if there is none."""
    space = problem.space
    axes = []
    for f in np.flatnonzero(space.group_of < 0):
        axes.append([((f,), (v,)) for v in np.arange(problem.lower[f], problem.upper[f] + 1)])
    for members in space.members:
        allowed = np.flatnonzero(allowed_categories(problem.lower[members], problem.upper[members]))
        axes.append([(tuple(members), tuple(np.eye(members.size)[c])) for c in allowed])
    centers = []
    for parts in product(*axes):
        center = np.zeros(len(space.names))
        for where, values in parts:
            center[list(where)] = values
        centers.append(center)
    if not centers:
        return float("inf")
    points = np.array(centers)
    good = predict(points) == problem.target.label
    best = np.inf
    for center in points:
        distance = problem.measure(center)
        if distance < best and good[problem.body(center).contains(points)].all():
            best = distance
    return float(best)
