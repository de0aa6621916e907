"""Trees behind PCA and TruncatedSVD: hyperplanes with a declared blur, against the pipeline's own predict."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Explainer, Region, Space, Target
from elbowroom.errors import ReplayMismatch, UnsupportedModel
from elbowroom.importers import open_model, replay
from elbowroom.importers.replay_errors import off_hyperplanes
from elbowroom.models import ObliqueEnsemble
from tests.support.hostile import attack
from tests.support.importer_cases import one_thread, table

__all__ = ["one_thread"]
pytestmark = pytest.mark.usefixtures("one_thread")


def _tree(depth: int = 3) -> Any:
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def _beside() -> Any:
    """Components of some numbers, other numbers as they are, and words."""
    numbers = ColumnTransformer(
        [("mixed", make_pipeline(StandardScaler(), PCA(2)), [0, 1, 2]), ("words", OneHotEncoder(), ["word"])],
        remainder="passthrough",
        sparse_threshold=0.0,
    )
    return make_pipeline(numbers, RandomForestClassifier(3, max_depth=3, random_state=0))


PIPELINES: dict[str, Any] = {
    "tree": lambda: make_pipeline(PCA(3), _tree()),
    "scaled tree": lambda: make_pipeline(StandardScaler(), PCA(3), StandardScaler(), _tree()),
    "whitened forest": lambda: make_pipeline(
        PCA(3, whiten=True), RandomForestClassifier(4, max_depth=3, random_state=0)
    ),
    "boosting": lambda: make_pipeline(TruncatedSVD(3), GradientBoostingClassifier(n_estimators=4, random_state=0)),
    "histogram boosting": lambda: make_pipeline(
        PCA(3), HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=6, random_state=0)
    ),
}


@cache
def _fitted(kind: str, data: str) -> tuple[Any, pd.DataFrame]:
    frame, y = table(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PIPELINES[kind]().fit(frame, y), frame


def _compared(model: Any, opened: Any, rows: np.ndarray, asked: Any) -> int:
    """Labels agree on every row off all hyperplanes; how many these are."""
    parsed = opened.model
    assert isinstance(parsed, ObliqueEnsemble)
    sure = off_hyperplanes(parsed, rows)
    ours = np.array(parsed.info.classes)[parsed.info.labels_of(parsed.scores(rows))]
    assert np.array_equal(ours[sure], np.asarray(model.predict(asked))[sure])
    return int(sure.sum())


@pytest.mark.parametrize("data", ["cancer", "iris"])
@pytest.mark.parametrize("kind", PIPELINES)
def test_labels_are_the_originals_off_the_hyperplanes(kind: str, data: str) -> None:
    model, frame = _fitted(kind, data)
    opened = open_model(model, replay=False)
    assert replay(opened.model, opened.original, data=frame, limit=2_000).points >= 500
    rng = np.random.default_rng(0)
    X = frame.to_numpy()
    rows = X[rng.integers(len(X), size=3_000)] + rng.normal(size=(3_000, X.shape[1])) * X.std(axis=0) * 0.3
    assert _compared(model, opened, rows, pd.DataFrame(rows, columns=frame.columns)) > 2_900


def test_the_blur_covers_rows_on_the_hyperplanes() -> None:
    """Rows projected onto splits, and steps of a few float32 units off them: where the copy is sure, it is right."""
    model, frame = _fitted("scaled tree", "cancer")
    opened = open_model(model, replay=False)
    parsed = opened.model
    assert isinstance(parsed, ObliqueEnsemble)
    rng = np.random.default_rng(1)
    X, rows = frame.to_numpy(), []
    for node in np.flatnonzero(parsed.left >= 0):
        w, t = parsed.weight[node], parsed.threshold[node]
        x = X[rng.integers(len(X), size=200)]
        onto = x - ((x @ w - t) / (w @ w))[:, None] * w
        step = rng.choice([0.0, 1e-12, 1e-8, 1e-7, 1e-6], (200, 1)) * rng.choice([-1.0, 1.0], (200, 1))
        rows.append(onto + step * w / np.sqrt(w @ w) * np.abs(onto).max(axis=1, keepdims=True))
    hit = np.concatenate(rows)
    sure = _compared(model, opened, hit, pd.DataFrame(hit, columns=frame.columns))
    assert len(hit) / 20 < sure < len(hit)  # both kinds are there


def test_a_wrong_copy_is_caught() -> None:
    from dataclasses import replace

    model, frame = _fitted("tree", "cancer")
    opened = open_model(model, replay=False)
    parsed = opened.model
    assert isinstance(parsed, ObliqueEnsemble)
    inner = parsed.left >= 0
    for wrong in (
        replace(parsed, threshold=np.where(inner, parsed.threshold * 1.01 + 0.1, 0.0)),
        replace(parsed, weight=-parsed.weight),
    ):
        with pytest.raises(ReplayMismatch):
            replay(wrong, opened.original, data=frame, limit=4_000)


@pytest.mark.parametrize(
    ("kind", "room"), [("tree", Box(0.02)), ("scaled tree", Box(0.01)), ("whitened forest", Box(0.0))]
)
def test_regions_hold(kind: str, room: Box) -> None:
    model, frame = _fitted(kind, "cancer")
    explainer = Explainer(model, Space.from_frame(frame))
    row = frame[model.predict(frame) == 0].iloc[3]
    answer = explainer.explain(row, room=room, target=1, time_limit=20)
    assert isinstance(answer, Region), answer

    def predict(rows: np.ndarray) -> np.ndarray:
        return np.asarray(model.predict(pd.DataFrame(rows, columns=frame.columns)))

    assert attack(predict, answer.body, 1) > 0


def test_words_and_plain_numbers_beside_components() -> None:
    frame, y = table("iris")
    rng = np.random.default_rng(0)
    frame = frame.assign(word=rng.choice(["a", "b", "c"], len(frame)))
    y = np.where(frame["word"] == "b", 0, y)
    model = _beside().fit(frame, y)
    opened = open_model(model, data=frame)
    inner = opened.original.inputs.inner(frame)
    assert _compared(model, opened, inner, frame) > 0.9 * len(frame)


def test_regressors_are_read_too() -> None:
    frame, y = table("cancer")
    model = make_pipeline(PCA(2), RandomForestRegressor(2, max_depth=2, random_state=0)).fit(frame, y * 10.0)
    explainer = Explainer(model, frame)
    row = frame[model.predict(frame) < 5].iloc[0]
    answer = explainer.explain(row, room=Box(0.0), target=Target(at_least=6.0), time_limit=20)
    assert isinstance(answer, Region), answer
    assert model.predict(answer.center.to_frame().T)[0] >= 6.0


def test_sums_in_float32_are_refused_with_a_cure() -> None:
    xgboost = pytest.importorskip("xgboost")
    frame, y = table("cancer")
    model = make_pipeline(PCA(3), xgboost.XGBClassifier(n_estimators=3)).fit(frame, y)
    with pytest.raises(UnsupportedModel, match=r"slanted.*LightGBM"):
        open_model(model)
