"""Regions for XGBoost models, from the user's table to the user's table, judged by the model's own predict."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from elbowroom import Ball, Box, Explainer, Region, Target
from elbowroom.importers.xgboost_files import XGBoostFile
from elbowroom.importers.xgboost_models import predict
from tests.support.hostile import attack
from tests.support.xgboost_cases import CODES, NAMES, fitted, framed, rows

xgboost = pytest.importorskip("xgboost")
STORED = tuple(int(v) for v in xgboost.__version__.split(".")[:2]) >= (3, 1)
PLAIN = [f"x{i}" for i in range(6)]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def table(model: Any, X: np.ndarray) -> Any:
    """What the model itself is asked about, made here: nothing of the package stands between."""
    return framed(X) if named(model) else X


def named(model: Any) -> bool:
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    return booster.feature_names is not None


def numbers(region: Region) -> Callable[[np.ndarray], np.ndarray]:
    """Inner rows of a region as the six numbers of `rows`; the column of codes from its one-hot group."""
    inner = list(region.space.names)

    def of(points: np.ndarray) -> np.ndarray:
        found = np.empty((len(points), 6))
        for j, name in enumerate(region.space.columns):
            if name in inner:
                found[:, j] = points[:, inner.index(name)]
                continue
            members = [i for i, member in enumerate(inner) if member.startswith(f"{name}=")]
            codes = [inner[i].partition("=")[2].removeprefix("k") for i in members]
            values = np.array([np.nan if code == "missing" else float(code) for code in codes])
            found[:, j] = values[points[:, members].argmax(axis=1)]
        return found

    return of


def asked(case: str, lacking: int | None = None) -> tuple[Any, Explainer, np.ndarray]:
    """A model, its explainer with the table as the space, and a row of numbers of class 0."""
    model = fitted(case)
    X, holes, _, _ = rows()
    frame = framed(holes) if named(model) else pd.DataFrame(X, columns=PLAIN)
    start = X.copy()
    if lacking is not None:
        start[:, lacking] = np.nan
    first = int(np.flatnonzero(predict(model, table(model, start)) == 0)[3])
    return model, Explainer(model, frame), start[first]


CASES = ["binary", "three classes", "random forest", "dart", "vector leaves", "sets", "early stopping", "logitraw", "hinge",
         "softmax", "booster", "booster, dart", "gblinear"]  # fmt: skip


BALLS = ["binary", "gblinear"]
WORDS = ["pandas categories"] if STORED else []


@pytest.mark.parametrize(
    ("case", "room"),
    [*((case, Box(0.02)) for case in [*CASES, *WORDS]), *((case, Ball(0.05)) for case in [*BALLS, *WORDS])],
    ids=str,
)
def test_every_point_of_a_region_has_the_promised_label(case: str, room: Any) -> None:
    model, explainer, row = asked(case)
    target = Target(2) if len(explainer.model.info.classes) > 2 else Target(1)
    question = table(model, row[None])
    found = explainer.explain(question.iloc[0] if named(model) else row, room, target, time_limit=10.0)
    assert isinstance(found, Region), found
    back = numbers(found)
    cuts = getattr(explainer.model, "cuts", None)
    tried = attack(lambda points: predict(model, table(model, back(points))), found.body, target.label, cuts)
    assert tried > 200


@pytest.mark.parametrize("lacking", [1, 2])
def test_a_row_without_a_number_is_answered_without_it(lacking: int) -> None:
    model, explainer, row = asked("binary", lacking)
    found = explainer.explain(row, Box(0.02), time_limit=10.0)
    assert isinstance(found, Region)
    back = numbers(found)

    def with_hole(points: np.ndarray) -> np.ndarray:
        made = back(points)
        made[:, lacking] = np.nan
        return np.asarray(model.predict(made))

    assert attack(with_hole, found.body, 1, explainer.model.cuts) > 200  # type: ignore[union-attr]
    assert with_hole(explainer.space.without_missing(explainer.space.row(row, allow_missing=True))[0][None])[0] == 0


@pytest.mark.skipif(not STORED, reason="categories are not stored")
def test_a_missing_category_is_a_category_and_nothing_becomes_one() -> None:
    model, explainer, row = asked("pandas categories", CODES)
    question = table(model, row[None]).iloc[0]
    assert pd.isna(question["colour"])
    found = explainer.explain(question, Box(0.02), time_limit=10.0)
    assert isinstance(found, Region)
    back = numbers(found)
    attack(lambda points: predict(model, table(model, back(points))), found.body, 1, explainer.model.cuts)  # type: ignore[union-attr]
    _, _, start = asked("pandas categories")
    other = explainer.explain(
        table(model, start[None]).iloc[0], Box(0.02, categories={"colour": "any"}), time_limit=10.0
    )
    if isinstance(other, Region):
        points = numbers(other)(other.body.sample(500, 0))
        assert not np.isnan(points[:, CODES]).any() and len(np.unique(points[:, CODES])) > 1


@pytest.mark.parametrize("tau", [0.3, 0.7, 0.9, 0.99])
def test_a_probability_is_reached_in_float32_as_well(tau: float) -> None:
    model, explainer, row = asked("binary")
    found = explainer.explain(row, Box(0.01), Target(1, probability=tau), time_limit=10.0)
    assert isinstance(found, Region)
    back = numbers(found)
    cuts = explainer.model.cuts  # type: ignore[union-attr]
    attack(lambda points: model.predict_proba(back(points))[:, 1].astype(np.float64) >= tau, found.body, True, cuts)


def test_the_slack_of_a_probability_is_that_of_float32() -> None:
    """A float32 probability wavers by about 2^-24 of itself: more than a slack made for float64 covers."""
    from elbowroom.models.margins import contrast

    info = Explainer(fitted("binary")).model.info
    assert info.single
    scores = np.linspace(-8.0, 8.0, 20_001).astype(np.float32)
    with np.errstate(over="ignore"):
        p = np.float32(1) / (np.float32(1) + np.exp(-scores))
    for tau in (0.01, 0.3, 0.7, 0.99):
        for target, probability in ((1, p), (0, np.float32(1) - p)):
            row = contrast(info, target, tau)
            sure = row.matrix[0, 0] * scores.astype(np.float64) - row.threshold[0] >= row.slack[0]
            assert (probability[sure].astype(np.float64) >= tau).all()


def test_behind_a_pipeline_of_raw_columns() -> None:
    X, _, y, _ = rows()
    frame = framed(X).assign(colour=lambda f: f["colour"].astype(object))
    steps = ColumnTransformer([("numbers", StandardScaler(), NAMES[:4]), ("words", OneHotEncoder(), ["colour"])])
    model = Pipeline([("columns", steps), ("trees", xgboost.XGBClassifier(n_estimators=20, max_depth=4, n_jobs=1))])
    model.fit(frame, y)
    explainer = Explainer(model, frame)
    first = int(np.flatnonzero(model.predict(frame) == 0)[0])
    found = explainer.explain(frame.iloc[first], Box(0.02), time_limit=10.0)
    assert isinstance(found, Region)
    assert attack(lambda points: model.predict(found.space.table(points)), found.body, 1, explainer.model.cuts) > 200  # type: ignore[union-attr]


def test_a_file_answers_as_its_model_does(tmp_path: Any) -> None:
    model, explainer, row = asked("binary")
    path = tmp_path / "model.json"
    model.save_model(path)
    file = Explainer(XGBoostFile(path), pd.DataFrame(rows()[0], columns=PLAIN))
    ours, theirs = (e.explain(row, Box(0.02), time_limit=10.0) for e in (file, explainer))
    assert isinstance(ours, Region) and isinstance(theirs, Region)
    assert np.array_equal(ours.body.center, theirs.body.center)
    back = numbers(ours)
    attack(lambda points: model.predict(back(points)), ours.body, 1, explainer.model.cuts)  # type: ignore[union-attr]
