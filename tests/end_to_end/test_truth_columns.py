"""Columns of True and False: behind encoders, passed through, and for models that take nothing but truth values there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from elbowroom import Box, Explainer, Region, Space
from elbowroom.errors import ElbowroomError
from tests.support.importer_cases import one_thread

__all__ = ["one_thread"]
pytestmark = pytest.mark.usefixtures("one_thread")

rng = np.random.default_rng(0)
N = 300
FRAME = pd.DataFrame(
    {
        "income": rng.normal(50, 20, N),
        "foreign": rng.choice([True, False], N),
        "purpose": rng.choice(["car", "tv", "home"], N),
    }
)
SIGNAL = FRAME.income / 20 - 3 * FRAME.foreign + (FRAME.purpose == "car") + rng.normal(0, 0.2, N)
LABELS = np.where(SIGNAL > 1.5, "good", "bad")


def _encoded(encoder: Any, columns: list[str]) -> ColumnTransformer:
    return ColumnTransformer([("words", encoder, columns)], remainder="passthrough")


def _boosted(**more: Any) -> Any:
    return HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5, random_state=0, **more)


def _forest() -> Any:
    return RandomForestClassifier(7, max_depth=4, random_state=0)


MODELS: dict[str, tuple[Any, type]] = {
    "one-hot": (make_pipeline(_encoded(OneHotEncoder(), ["foreign", "purpose"]), _forest()), bool),
    "ordinal": (make_pipeline(_encoded(OrdinalEncoder(), ["foreign", "purpose"]), _forest()), bool),
    "passed through": (make_pipeline(_encoded(OneHotEncoder(), ["purpose"]), _forest()), float),
    "passed through, linear": (make_pipeline(_encoded(OneHotEncoder(), ["purpose"]), LogisticRegression(max_iter=500)), float),
    "histograms by index": (make_pipeline(_encoded(OrdinalEncoder(), ["purpose"]), _boosted(categorical_features=[0])), bool),
    "histograms by index, truth too": (
        make_pipeline(_encoded(OrdinalEncoder(), ["purpose"]), _boosted(categorical_features=[0, 2])), bool,
    ),
}  # fmt: skip


def _row(model: Any) -> pd.Series:
    return FRAME[(model.predict(FRAME) == "bad") & FRAME.foreign & (FRAME.income > 40)].iloc[0]


@pytest.mark.parametrize("kind", MODELS)
def test_regions_hold_for_the_models_own_predict(kind: str) -> None:
    model, dtype = MODELS[kind]
    model.fit(FRAME, LABELS)
    explainer = Explainer(model, FRAME)
    row = _row(model)
    assert isinstance(row["foreign"], (bool, np.bool_))  # given as it stands in the table
    region = explainer.explain(row, room=Box(0.01), time_limit=20)
    assert isinstance(region, Region), region
    assert (model.predict(region.sample(500)) == "good").all()
    assert model.predict(region.center.to_frame().T.astype({"income": float, "foreign": bool}))[0] == "good"
    said = {bool: "foreign becomes False instead of True", float: "foreign becomes no instead of yes"}[dtype]
    moved = Explainer(
        model,
        Space.from_frame(FRAME, immutable=["income", "purpose"], categorical=["foreign"] if dtype is bool else []),
    )
    answer = moved.explain(row, room=Box(0.0), time_limit=20)
    if isinstance(answer, Region):
        assert said in answer.sentence()


def test_a_space_without_the_declaration_names_the_cure() -> None:
    model = MODELS["histograms by index"][0].fit(FRAME, LABELS)
    try:
        Explainer(model, Space.from_frame(FRAME))
    except ElbowroomError as error:
        assert "categorical=['foreign']" in str(error)
    else:
        pytest.skip("this release of scikit-learn takes numbers there")
    assert Explainer(model, Space.from_frame(FRAME, categorical=["foreign"])).space.groups
