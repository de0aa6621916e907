"""One region for many rows: against every centre, on a real model, in words, as a file, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from elbowroom import Ball, Box, Causal, CommonRegion, Explainer, Feature, InputError, Region, Space, Status
from elbowroom.present.checking import check_region
from elbowroom.present.findings import Outcome
from elbowroom.search.group import meeting as module
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model
from tests.support.meeting_truth import meeting


@pytest.mark.parametrize(("family", "count"), [("linear", 25), ("trees", 25), ("oblique", 12), ("network", 5)])
def test_common_regions_equal_enumeration(family: str, count: int) -> None:
    found = [meeting(seed, family) for seed in range(count)]
    assert {"region", "none"} <= set(found) and "refused" not in found


@pytest.fixture(scope="module")
def asked() -> tuple[object, pd.DataFrame, Explainer]:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {"a": rng.normal(size=300).round(3), "b": rng.normal(size=300).round(3), "n": rng.integers(0, 9, 300)}
    )
    X["job"] = rng.choice(["none", "part", "full"], 300)
    y = (X.a + X.b + (X.job == "full") + 0.1 * X.n > 1.0).astype(int)
    steps = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(steps, RandomForestClassifier(8, max_depth=4, random_state=0)).fit(X, y)
    return model, X, Explainer(model, Space.from_frame(X, increasing=["n"]))


def test_a_forest_with_categories(asked: tuple, tmp_path: Path) -> None:
    model, X, explainer = asked
    rows = X[model.predict(X) == 0].head(6)
    answer = explainer.common_region(rows, Box(0.02))
    assert isinstance(answer, CommonRegion) and answer.status is Status.OPTIMAL and answer.gap <= 1e-9
    region = answer.region
    assert isinstance(region, Region) and region.center["n"] >= rows.n.max()  # no row may go down
    attack(lambda T: model.predict(region.space.table(T)), region.body, 1)
    table = answer.intervals.set_index("feature")
    assert table.loc["job", "outside"] == (rows.job != region.center["job"]).sum()
    assert answer.distances.mean() == answer.distance and len(answer.distances) == 6
    assert "Whichever of six rows comes to" in answer.sentence() and "proven" in str(answer)
    assert "CommonRegion OPTIMAL" in repr(answer) and "<table" in answer._repr_html_()
    region.to_json(tmp_path / "region.json")
    joblib.dump(model, tmp_path / "model.joblib")
    assert check_region(tmp_path / "region.json", tmp_path / "model.joblib", True).outcome is Outcome.VALID
    alone = explainer.common_region(rows.head(1), Box(0.02))
    assert alone.distance == pytest.approx(explainer.explain(rows.iloc[0], Box(0.02)).distance, rel=1e-9)
    assert "the ball of the table" in explainer.common_region(rows, Ball(0.02)).sentence()


def test_rows_that_share_no_place(asked: tuple) -> None:
    model, X, _ = asked
    frozen = Explainer(model, Space.from_frame(X, immutable=["job"]))
    rows = pd.concat([X[X.job == "none"].head(2), X[X.job == "full"].head(1)])
    answer = frozen.common_region(rows, Box(0.02), 1)
    assert answer.status is Status.NONE_EXISTS and math.isinf(answer.lower_bound) and not answer
    assert "'job'" in answer.reason and "exists, and this is proven" in answer.sentence()
    assert answer.intervals.empty and "NONE_EXISTS" in repr(answer)
    assert frozen.common_region(rows.head(2), Box(0.02), 1).status is Status.OPTIMAL


def test_rows_that_are_there_already() -> None:
    explainer = Explainer(
        linear_model(np.array([[1.0]]), np.array([0.0])), Space((Feature("x0", lower=-9.0, upper=9.0),))
    )
    answer = explainer.common_region(np.array([[3.0], [3.0]]), Box(0.5), 1)
    assert answer.distance == 0.0 and answer.status is Status.OPTIMAL and "already" in answer.sentence()
    even = explainer.common_region(np.array([[-4.0], [3.0]]), Box(0.5), 1)  # level between them: 3.5 each on average
    assert even.status is Status.OPTIMAL and even.distance == pytest.approx(3.5, rel=1e-9)
    unknown = explainer.common_region(np.array([[-4.0], [-3.0]]), Box(0.5), 1, time_limit=0.0)
    assert unknown.lower_bound <= 4.0 + 1e-9


def test_what_is_refused(asked: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    _, X, explainer = asked
    rows = X.head(3)
    for wrong in ({"room": Box(0.1, on="changed")}, {"room": Box(0.1, categories={"job": "any"})}, {"seed": -1}):
        with pytest.raises(InputError):
            explainer.common_region(rows, target=1, **wrong)
    with pytest.raises(InputError, match="at least one row"):
        explainer.common_region([], target=1)
    plain = Space.plain(("x0", "x1"))
    caused = Explainer(
        linear_model(np.array([[1.0, 1.0]]), np.zeros(1)), replace(plain, causes=Causal({"x0": {"x1": 1.0}}))
    )
    with pytest.raises(InputError, match="causes"):
        caused.common_region(np.zeros((2, 2)), target=1)
    monkeypatch.setattr(module, "MOST_CATEGORIES", 2)
    with pytest.raises(InputError, match="combination of categories"):
        explainer.common_region(rows, target=1)
