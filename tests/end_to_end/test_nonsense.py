"""Nonsense that looks like a question: refused in words, never computed with, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from elbowroom import (
    AtMost,
    Ball,
    Box,
    Diamond,
    Explainer,
    Feature,
    Group,
    InputError,
    LinearRule,
    Nearby,
    Price,
    Region,
    Retrained,
    Space,
    Status,
    Target,
)


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    category = rng.integers(0, 3, 200)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=200),
            "b": rng.integers(0, 50, 200),
            "c": rng.integers(0, 2, 200),
            **{f"h_{name}": (category == k).astype(int) for k, name in enumerate("xyz")},
        }
    )
    return X, np.asarray(X.a + X.b / 25 + X.h_x > 1.2).astype(int)


HOUSING = {"h": ["h_x", "h_y", "h_z"]}


@pytest.fixture(scope="module")
def explainer(table: tuple[pd.DataFrame, np.ndarray]) -> Explainer:
    X, y = table
    return Explainer(LogisticRegression().fit(X, y), Space.from_frame(X, one_hot=HOUSING))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"one_hot": HOUSING, "weights": {"h": -1}}, "weight -1.0 must be a positive number"),
        ({"one_hot": HOUSING, "weights": {"h": float("nan")}}, "weight nan"),
        ({"weights": {"a": "x"}}, "'x' is not a number"),
        ({"weights": {"a": None}}, "None is not a number"),
        ({"weights": ["a"]}, "mapping"),
        ({"scale": {"a": None}}, "None is not a number"),
        ({"scale": 3}, "scale=3"),
        ({"bounds": 3}, "bounds=3"),
        ({"bounds": None}, "bounds=None"),
        ({"immutable": None}, "immutable=None"),
        ({"immutable": 3}, "immutable=3"),
        ({"one_hot": ["h_x", "h_y"]}, "no column starts with 'h_x_'"),
        ({"one_hot": {"h": "h_x"}}, "mapping from group"),
        ({"one_hot": {"h": None}}, "mapping from group"),
        ({"numeric": ["b"], "integer": ["b"]}, "two kinds"),
        ({"units": {"a": 3}}, "unit=3"),
    ],
)
def test_spaces_from_frames(table: tuple[pd.DataFrame, np.ndarray], keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Space.from_frame(table[0], **keywords)


def test_frames_that_cannot_be_read(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X = table[0]
    with pytest.raises(InputError, match="more than once"):
        Space.from_frame(pd.concat([X, X[["a"]]], axis=1))
    with pytest.raises(InputError, match="complex"):
        Space.from_frame(pd.DataFrame({"a": np.array([1 + 2j, 3])}))


def test_declared_bounds_of_a_binary_column_count(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    feature = Space.from_frame(table[0], bounds={"c": (1, 1)}).features[2]
    assert (feature.lower, feature.upper) == (1.0, 1.0)


BITS = tuple(Feature(name, kind="binary") for name in "pqrs")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Feature("a", immutable="no"), "True or False"),  # type: ignore[arg-type]
        (lambda: Feature(3), "must be text"),  # type: ignore[arg-type]
        (lambda: Feature("a", lower=10**400), "beyond float64"),
        (lambda: Group("g", "pq"), "list of column names"),  # type: ignore[arg-type]
        (lambda: Group("g", ("p", "q"), 0), "weight 0.0"),
        (lambda: Group("g", ("p", "q"), "x"), "not a number"),  # type: ignore[arg-type]
        (lambda: Space(BITS, (Group("g", ("p", "q")), Group("g", ("r", "s")))), "must differ"),
        (lambda: Space(("a", "b")), "Feature and Group"),  # type: ignore[arg-type]
        (lambda: Space.plain("ab"), "list of column names"),
        (lambda: Space.plain(3), "list of column names"),  # type: ignore[arg-type]
        (lambda: Ball(None), "Ball radius"),  # type: ignore[arg-type]
        (lambda: Diamond(None), "Diamond radius"),  # type: ignore[arg-type]
        (lambda: Box(True), "must be a number"),
        (lambda: Box(10**400), "beyond float64"),
        (lambda: LinearRule(None), "mapping"),  # type: ignore[arg-type]
        (lambda: LinearRule({"a": 1}, low="x"), "not a number"),  # type: ignore[arg-type]
        (lambda: LinearRule({"a": 1}, low=float("inf")), "no number lies between"),
        (lambda: Target([1]), "class label"),  # type: ignore[arg-type]
        (lambda: Target(np.array([1, 0])), "class label"),  # type: ignore[arg-type]
    ],
)
def test_parts_of_a_question(make: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"rules": None}, "rules=None"),
        ({"rules": 5}, "rules=5"),
        ({"rules": [AtMost(1), None]}, "rule None is unknown"),
        ({"on_progress": 3}, "on_progress=3"),
        ({"seed": "x"}, "seed='x'"),
        ({"seed": -1}, "seed=-1"),
        ({"room": Box(0.1, categories=["h"])}, "mapping from one-hot group"),  # type: ignore[arg-type]
        ({"target": Target(1, 1e-300)}, "not reliable below"),
        ({"target": Target(1, 0.9999999999999999)}, "not reliable below"),
    ],
)
def test_questions(
    explainer: Explainer, table: tuple[pd.DataFrame, np.ndarray], keywords: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        explainer.explain(table[0].iloc[0], **keywords)


def test_a_room_wider_than_all_floats_is_a_room_of_everything(
    explainer: Explainer, table: tuple[pd.DataFrame, np.ndarray]
) -> None:
    assert explainer.explain(table[0].iloc[0], Box(1e308)).status is Status.NONE_EXISTS


def test_the_norm_of_a_radius(explainer: Explainer, table: tuple[pd.DataFrame, np.ndarray]) -> None:
    with pytest.raises(InputError, match="norm="):
        explainer.radius(table[0].iloc[0], ["l1"])  # type: ignore[arg-type]


def test_a_series_that_names_a_column_twice(explainer: Explainer, table: tuple[pd.DataFrame, np.ndarray]) -> None:
    with pytest.raises(InputError, match="more than once"):
        explainer.explain(pd.concat([table[0].iloc[0], pd.Series({"a": 5.0})]))


def test_numbered_values_are_positions_in_any_order() -> None:
    space = Space.plain(["x0", "x1", "x2"])
    assert space.row(pd.Series([3.0, 1.0, 2.0], index=[2, 0, 1])).tolist() == [1.0, 2.0, 3.0]
    assert space.row(pd.Series([1.0, 2.0, 3.0], index=[10, 20, 30])).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(InputError, match="neither column names nor positions"):
        space.row(pd.Series([1.0, 2.0, 3.0], index=[30, 10, 20]))


def test_regions_answer_only_sensible_requests(explainer: Explainer, table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X = table[0]
    region = explainer.explain(X.iloc[0])
    assert isinstance(region, Region)
    for wrong in (-1, 1.5, "x", True):
        with pytest.raises(InputError, match="number of points"):
            region.sample(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must differ"):
        region.contains(pd.concat([X, X[["a"]]], axis=1))


# ---- answers that were once wrong -----------------------------------------------------------------------------------
def test_a_share_of_votes_that_meets_the_probability_is_good_enough() -> None:
    """Truth by the model's own probabilities on the corners of all cells: no bound may lie above it."""
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 1, (60, 2))
    y = (X.sum(axis=1) + rng.normal(size=60) * 0.3 > 1).astype(int)
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    explainer = Explainer(model, Space((Feature("x0", lower=0, upper=1), Feature("x1", lower=0, upper=1))))
    factual = X[np.flatnonzero(model.predict(X) == 0)[0]]
    axes = [np.unique([factual[f], *cuts, *np.nextafter(cuts, 2)]) for f, cuts in enumerate(explainer.model.cuts)]  # type: ignore[union-attr]
    corners = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    share, distance = model.predict_proba(corners)[:, 1], np.abs(corners - factual).sum(axis=1)
    for tau in (0.3, 0.5, 0.7):
        region = explainer.explain(factual, Box(0), Target(1, tau))
        assert region.status is Status.OPTIMAL
        assert region.distance == pytest.approx(distance[share >= tau].min(), abs=1e-12)  # type: ignore[union-attr]


def test_boosting_that_learned_nothing_has_one_class_only() -> None:
    """Balanced labels and no split: the score is exactly 0 everywhere, and that is the second class."""
    X, y = np.full((10, 1), 3.5), np.arange(10) % 2
    model = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    assert model.predict(X).tolist() == [1] * 10
    explainer = Explainer(model)
    assert explainer.explain([3.5], Box(0)).status is Status.NONE_EXISTS
    assert explainer.certify([3.5], Box(0.1), 1)
    assert not explainer.certify([3.5], Box(0.1), 0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda _, __: Price.of_percentiles(["cheap", "dear"]), "needs a column of numbers"),
        (lambda e, X: e.space.with_covariance(X[["a"]]), "the table lacks the columns"),
        (lambda e, X: e.space.with_covariance(X.assign(a="x")), "must be columns of numbers"),
        (lambda e, X: e.space.with_covariance(X.to_numpy()), "give a table"),
        (lambda e, X: Nearby(e, weights=True), "Nearby weights=True: a truth value is not a number"),
        (lambda e, X: Nearby(e, weights="much"), "is not a number; give a plain number"),
        (lambda e, X: Retrained(LogisticRegression().fit(X, X.c), X, X.c, share=True), "share=True: a truth value"),
        (lambda e, X: e.explain_group(X.head(2), share=True), "share=True: a truth value"),
        (lambda e, X: e.explain(X.iloc[0], proof="no"), "proof='no' must be True or False"),
    ],
)
def test_words_and_truth_values_where_numbers_and_tables_belong(
    asked: Callable[[Explainer, pd.DataFrame], Any],
    message: str,
    explainer: Explainer,
    table: tuple[pd.DataFrame, np.ndarray],
) -> None:
    with pytest.raises(InputError, match=message):
        asked(explainer, table[0])
