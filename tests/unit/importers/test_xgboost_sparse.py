"""XGBoost behind steps that hand it sparse tables, whose zeros it takes for missing numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("xgboost")

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

from elbowroom import Box, Explainer, Region, Space
from elbowroom.errors import ReplayMismatch, UnsupportedModel
from elbowroom.importers import open_model, xgboost_sparse
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.steps import hands_sparse
from elbowroom.models import TreeEnsemble
from tests.support.hostile import attack


@cache
def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Three numbers, two of which are often 0 and one of which has both signs; two columns of many words."""
    rng = np.random.default_rng(0)
    n = 900
    frame = pd.DataFrame(
        {
            "gain": np.where(rng.random(n) < 0.5, rng.lognormal(2, 1, n).round(2), 0.0),
            "change": np.where(rng.random(n) < 0.4, 0.0, rng.normal(size=n)),
            "age": rng.uniform(18, 80, n),
            "job": [f"job {k:02d}" for k in rng.integers(0, 12, n)],
            "land": [f"land {k:02d}" for k in rng.integers(0, 9, n)],
        }
    )
    job = rng.normal(size=12)[frame.job.str[4:].astype(int)]
    signal = np.log1p(frame.gain) - frame.change + job + (frame.age - 50) / 30 + 0.3 * rng.normal(size=n)
    return frame, (signal > signal.median()).astype(int).to_numpy()


@cache
def fitted(scaled: bool = False, threshold: float = 0.3) -> Any:
    from xgboost import XGBClassifier

    frame, y = table()
    numbers = StandardScaler(with_mean=False) if scaled else "passthrough"
    encoder = ColumnTransformer(
        [("words", OneHotEncoder(), ["job", "land"])], remainder=numbers, sparse_threshold=threshold
    )
    return make_pipeline(encoder, XGBClassifier(n_estimators=40, max_depth=4, n_jobs=1)).fit(frame, y)


@pytest.mark.parametrize("scaled", [False, True])
def test_sparse_tables_replay(scaled: bool) -> None:
    model = fitted(scaled)
    assert model[0].sparse_output_
    opened = open_model(model, data=table()[0])
    assert opened.report is not None and opened.report.points > 10_000 and opened.report.open_points == 0
    frame = table()[0]
    rows = opened.original.inputs.inner(frame)
    labels = opened.model.info.labels_of(opened.model.scores(rows))
    assert (labels == model.predict(frame)).all()


def test_zeros_read_as_numbers_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the replay said before: this file exists because of it."""
    before = Preprocessing.before
    monkeypatch.setattr(Preprocessing, "before", lambda self, *given: replace(before(self, *given), sparse=False))
    with pytest.raises(ReplayMismatch):
        open_model(fitted(), data=table()[0])


def test_zeros_of_a_dense_table_are_numbers() -> None:
    model = fitted(threshold=0.0)
    assert not model[0].sparse_output_
    opened = open_model(model)
    assert isinstance(opened.model, TreeEnsemble)
    assert 5e-324 not in np.abs(opened.model.cut)


def test_regions_around_zero_hold() -> None:
    frame, _ = table()
    model = fitted()
    explainer = Explainer(model, Space.from_frame(frame, immutable=["age"]))
    parsed = explainer.model
    assert isinstance(parsed, TreeEnsemble)
    asked = lambda rows: model.predict(explainer.space.table(rows)[list(frame.columns)])  # noqa: E731
    rows = frame[(model.predict(frame) == 0) & (frame.change == 0.0)].iloc[:4]
    holding_zero = 0
    for i in range(len(rows)):
        for room in (Box(0.0), Box({"change": 0.3})):
            answer = explainer.explain(rows.iloc[i], room, target=1, time_limit=30)
            if not isinstance(answer, Region):
                continue
            attack(asked, answer.body, 1, parsed.cuts)
            change = explainer.space.position["change"]
            low, high = answer.body.lower[change], answer.body.upper[change]
            if low <= 0.0 <= high:
                holding_zero += 1
                point = answer.body.center.copy()
                point[change] = 0.0
                assert asked(point[None])[0] == 1
    assert holding_zero


def test_trees_that_grow_too_large_are_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xgboost_sparse, "MOST_NODES", 20)
    with pytest.raises(UnsupportedModel, match=r"sparse_threshold=0"):
        open_model(fitted())


def test_who_hands_sparse_tables() -> None:
    frame, _ = table()
    words, numbers = frame[["job", "land"]], frame[["gain", "age"]]
    sparse, dense = OneHotEncoder().fit(words), OneHotEncoder(sparse_output=False).fit(words)
    assert hands_sparse([sparse]) and not hands_sparse([dense]) and not hands_sparse([])
    assert hands_sparse(["passthrough", sparse, "passthrough"])
    assert hands_sparse([make_pipeline(OneHotEncoder()).fit(words)])
    assert hands_sparse([FeatureUnion([("a", OneHotEncoder()), ("b", OneHotEncoder(sparse_output=False))]).fit(words)])
    assert not hands_sparse([StandardScaler().fit(numbers)])
    assert hands_sparse([KBinsDiscretizer(3, encode="onehot").fit(numbers)])
    assert not hands_sparse([KBinsDiscretizer(3, encode="onehot-dense").fit(numbers)])
