"""Regions of ensembles of parts and of wrappers, attacked through the wrapper's own predict, on numbers and raw frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Explainer, Region, Space
from elbowroom.models import TreeEnsemble
from tests.support.hostile import attack
from tests.support.wrapper_cases import CASES, fitted_wrapper, forest

ROWS = (3, 40, 77)


@pytest.mark.parametrize(("kind", "data"), [c for i, c in enumerate(CASES) if c[1] == "cancer" or i % 3 == 0])
def test_every_point_of_a_region_gets_the_promised_label(kind: str, data: str) -> None:
    model, frame = fitted_wrapper(kind, data, True)
    explainer = Explainer(model, Space.from_frame(frame))
    cuts = explainer.model.cuts if isinstance(explainer.model, TreeEnsemble) else None
    found = 0
    for number, row in enumerate(ROWS):
        label = model.predict(frame.iloc[[row]])[0]
        others = [c for c in model.classes_.tolist() if c != label]
        answer = explainer.explain(frame.iloc[row], Box(0.01), others[number % len(others)], time_limit=2)
        if isinstance(answer, Region):
            attack(explainer.predict, answer.body, answer.target.label, cuts)
            found += 1
            break
    assert found, f"no region at all for {kind}"


@pytest.fixture(scope="module")
def raw() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "months": rng.integers(6, 60, 400),
            "amount": rng.normal(3000, 900, 400).round(2),
            "housing": rng.choice(["own", "rent", "free"], 400),
            "purpose": rng.choice(["car", "radio", "house", "tools"], 400),
        }
    )
    score = (
        frame["amount"] / 900 - frame["months"] / 20 + 2.0 * (frame["housing"] == "own") - (frame["purpose"] == "car")
    )
    return frame, np.where(score + rng.normal(size=400) > 1.4, "good", "bad")


def encoded(model: Any, encoder: Any) -> Any:
    return make_pipeline(
        make_column_transformer((encoder, ["housing", "purpose"]), (StandardScaler(), ["months", "amount"])), model
    )


def one_hot() -> Any:
    return OneHotEncoder(sparse_output=False)


RAW: dict[str, Any] = {
    "search": lambda: GridSearchCV(encoded(forest(5), one_hot()), {"randomforestclassifier__max_depth": [3, 4]}, cv=2),
    "soft voting": lambda: VotingClassifier(
        [("a", encoded(forest(5), one_hot())), ("b", encoded(DecisionTreeClassifier(max_depth=4), OrdinalEncoder()))],
        voting="soft",
    ),
    "hard voting": lambda: VotingClassifier(
        [
            ("a", encoded(LogisticRegression(), one_hot())),
            ("b", encoded(DecisionTreeClassifier(max_depth=3), OrdinalEncoder())),
            ("c", encoded(LogisticRegression(C=0.01), one_hot())),
        ]
    ),
    "bagging behind the encoder": lambda: encoded(BaggingClassifier(n_estimators=5, random_state=0), OrdinalEncoder()),
}


@pytest.mark.parametrize("kind", RAW)
def test_raw_frames(kind: str, raw: tuple[pd.DataFrame, np.ndarray]) -> None:
    frame, y = raw
    model = RAW[kind]().fit(frame, y)
    explainer = Explainer(model, frame)
    assert "housing=own" in explainer.model.info.names
    found = 0
    for row in ROWS:
        wanted = "good" if model.predict(frame.iloc[[row]])[0] == "bad" else "bad"
        answer = explainer.explain(
            frame.iloc[row], Box({"amount": 50}, categories={"housing": "any"}), wanted, time_limit=5
        )
        if isinstance(answer, Region):
            attack(explainer.predict, answer.body, wanted)
            table = answer.space.table(answer.body.sample(300))
            assert (model.predict(table[frame.columns]) == wanted).all() and set(table["housing"]) <= {
                "own",
                "rent",
                "free",
            }
            found += 1
    assert found
