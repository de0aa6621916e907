"""Honest models, tables and answers: what attackers start from.

All families, shapes of rooms, norms, kinds of features, rules, statuses and versions of files, small enough that a file
is checked in some milliseconds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from elbowroom import AtMost, Ball, Box, Diamond, Explainer, LinearRule, NoRegion, Region, Space, Status, Step, Target
from elbowroom.result.schema import _checksum

VERSION_1 = Path(__file__).parents[1] / "unit" / "result" / "version_1"
HOUSING = {"housing": ["housing_own", "housing_rent", "housing_free"]}


@cache
def applicants(rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, a whole number, a 0/1 column and a one-hot group; two classes in words."""
    rng = np.random.default_rng(7)
    kind = rng.integers(0, 3, rows)
    frame = pd.DataFrame(
        {
            "income": np.round(rng.uniform(10.0, 90.0, rows), 2),
            "debt": np.round(rng.uniform(0.0, 50.0, rows), 2),
            "children": rng.integers(0, 5, rows).astype(float),
            "phone": rng.integers(0, 2, rows).astype(float),
            **{name: (kind == k).astype(float) for k, name in enumerate(HOUSING["housing"])},
        }
    )
    score = frame["income"] - frame["debt"] - 2 * frame["children"] + 6 * (kind == 0) + 3 * frame["phone"]
    return frame, np.where(score > 20.0, "approved", "rejected")


@cache
def models() -> dict[str, Any]:
    """One fitted model of each family, and what makes files differ: names, several classes, other labels, values."""
    frame, label = applicants()
    several = np.digitize(frame["income"] - frame["debt"], (5.0, 30.0))
    return {
        "linear": LogisticRegression(max_iter=2000).fit(frame, label),
        "nameless": LogisticRegression(max_iter=2000).fit(frame.to_numpy(), label),
        "several": LogisticRegression(max_iter=2000).fit(frame, several),
        "tree": DecisionTreeClassifier(max_depth=4, random_state=0).fit(frame, label),
        "forest": RandomForestClassifier(6, max_depth=4, random_state=0).fit(frame, several),
        "boosting": GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0).fit(
            frame, label == "approved"
        ),
        "network": make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=3000, tol=1e-3, random_state=1)).fit(
            frame, label
        ),
        "values": Ridge().fit(frame, 10 * (frame["income"] - frame["debt"])),
        "forest of values": RandomForestRegressor(6, max_depth=4, random_state=0).fit(
            frame, 10 * (frame["income"] - frame["debt"])
        ),
    }


@dataclass(frozen=True)
class Saved:
    """An answer as it was written, and the model it is about."""

    name: str
    model: str
    document: dict[str, Any]
    answer: Region | NoRegion


@cache
def space() -> Space:
    frame, _ = applicants()
    units = {"income": "k DM", "debt": "k DM"}
    return Space.from_frame(frame, one_hot=HOUSING, integer=["children"], increasing=["children"], units=units)


def _impatient(step: Step) -> None:
    if math.isfinite(step.best_distance):
        raise KeyboardInterrupt


QUESTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("linear", {"room": Box(0.02)}),
    ("linear", {"room": Ball(0.05), "distance": "l2", "rules": [AtMost(2)]}),
    (
        "linear",
        {"room": Diamond({"income": 2.0, "debt": 1.0}), "rules": [LinearRule({"income": 1.0, "debt": 0.5}, 0.0, 90.0)]},
    ),
    ("linear", {"room": Box(0.02, categories={"housing": "any"}), "target": Target("approved", 0.7)}),
    ("linear", {"room": Box(5.0)}),
    ("nameless", {"room": Box(0.02), "distance": "linf"}),
    ("several", {"room": Box(low=0.0, high=0.03), "target": 2}),
    ("tree", {"room": Box(0.01)}),
    ("tree", {"room": Ball(0.02), "distance": "l2"}),
    ("tree", {"room": Box(5.0)}),
    ("forest", {"room": Box(0.01), "target": 2}),
    ("forest", {"room": Box(0.01), "target": 2, "on_progress": _impatient}),
    ("forest", {"room": Diamond(0.02), "target": 2, "rules": [AtMost(3)]}),
    ("forest", {"room": Ball(0.02), "target": 2, "time_limit": 0.0}),
    ("boosting", {"room": Box(0.01), "target": True}),
    ("network", {"room": Box(0.01)}),
    ("network", {"room": Ball(0.02), "distance": "l2"}),
    ("values", {"room": Box(0.02), "target": Target(at_least=200.0, at_most=400.5)}),
    ("values", {"room": Box(5.0), "target": Target(at_most=200.0)}),
    ("forest of values", {"room": Ball(0.02), "target": Target(at_least=250.0)}),
)


@cache
def saved() -> tuple[Saved, ...]:
    """Every question answered, as files of today and, where version 1 could say it, as files of version 1."""
    frame, _ = applicants()
    found = []
    explainers: dict[str, Explainer] = {}
    for number, (name, question) in enumerate(QUESTIONS):
        explainer = explainers.setdefault(name, Explainer(models()[name], space()))
        target = question.get("target", "approved")
        wanted = target if isinstance(target, Target) else Target(target)
        bad = np.flatnonzero([not wanted.is_met(said) for said in explainer.predict(frame.to_numpy())])
        answer = explainer.explain(frame.iloc[bad[number % len(bad)]], **{"target": target, **question})
        document = json.loads(answer.to_json(timings=False))
        found.append(Saved(f"{name} {number}", name, document, answer))
        found += [Saved(f"{name} {number}, version 1", name, old, answer) for old in _as_version_1(document)]
    assert {s.answer.status for s in found} == set(Status), "every status should occur"
    return tuple(found)


def _as_version_1(document: dict[str, Any]) -> list[dict[str, Any]]:
    """As the first release would have written it, which knew no rules and no values."""
    if document["rules"] or "at_least" in document["target"]:
        return []
    kind = "region" if document["kind"] == "region" else "no_region"
    pattern = json.loads((VERSION_1 / f"{kind}.json").read_text(encoding="utf-8"))
    return [sealed({**_like(document, pattern), "schema": 1})]


def _like(value: dict[str, Any], pattern: dict[str, Any]) -> dict[str, Any]:
    """Only the keys that the pattern has, in the document and in its certificate."""
    kept = {key: inner for key, inner in value.items() if key in pattern}
    if "certificate" in kept:
        kept["certificate"] = _like(kept["certificate"], pattern["certificate"])
    return kept


def sealed(document: dict[str, Any]) -> dict[str, Any]:
    """With a checksum that fits: anybody can compute it."""
    plain = {key: value for key, value in document.items() if key != "checksum"}
    try:
        return {**plain, "checksum": _checksum(plain)}
    except (ValueError, TypeError, RecursionError):
        return {**plain, "checksum": "0" * 64}


def write_models(folder: Path, change: Callable[[Any], Any] = lambda model: model) -> dict[str, Path]:
    """All models as files."""
    paths = {}
    for name, model in models().items():
        paths[name] = folder / f"{name}.joblib"
        joblib.dump(change(model), paths[name])
    return paths
