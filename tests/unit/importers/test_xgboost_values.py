"""XGBoost's regressors: values to the bit, and regions of wanted values judged by the model's own predict."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from elbowroom import Box, Explainer, Region, Target
from elbowroom.errors import ReplayMismatch, UnsupportedModel
from elbowroom.importers import open_model, xgboost_base, xgboost_files, xgboost_models
from elbowroom.importers.xgboost_columns import learner_of
from elbowroom.importers.xgboost_files import XGBoostFile
from elbowroom.models import Link, TreeEnsemble
from tests.support.hostile import attack
from tests.support.xgboost_cases import hostile_rows, rows

xgboost = pytest.importorskip("xgboost")
PLAIN = [f"x{i}" for i in range(6)]
OBJECTIVES = {
    "reg:squarederror": Link.IDENTITY,
    "reg:pseudohubererror": Link.IDENTITY,
    "reg:absoluteerror": Link.IDENTITY,
    "reg:squaredlogerror": Link.IDENTITY,
    "reg:quantileerror": Link.IDENTITY,
    "count:poisson": Link.EXPONENTIAL,
    "reg:gamma": Link.EXPONENTIAL,
    "reg:tweedie": Link.EXPONENTIAL,
}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@cache
def regressor(objective: str, kind: str = "XGBRegressor", **more: Any) -> Any:
    X, holes, _, _ = rows()
    y = np.exp(X[:, 0] / 2) + np.abs(X[:, 1]) / 10 + 0.1
    if objective == "reg:quantileerror":
        more["quantile_alpha"] = 0.4
    model = getattr(xgboost, kind)(n_estimators=20, max_depth=4, n_jobs=1, objective=objective, **more)
    return model.fit(holes if more.get("booster") != "gblinear" else X, y)


MODELS = [*((objective, "XGBRegressor") for objective in OBJECTIVES), ("reg:squarederror", "XGBRFRegressor")]


@pytest.mark.parametrize(("objective", "kind"), MODELS)
def test_scores_and_values_are_the_originals(objective: str, kind: str) -> None:
    model = regressor(objective, kind)
    opened = open_model(model)
    assert opened.report is not None and opened.report.points > 2_000
    assert opened.model.info.is_regressor and opened.model.info.link is OBJECTIVES[objective]
    Z = hostile_rows(learner_of(model), 20_000, 3)
    scores = opened.model.scores(Z)
    assert np.array_equal(scores, xgboost_models.raw_scores(model, Z))
    if OBJECTIVES[objective] is Link.IDENTITY:
        assert np.array_equal(scores[:, 0], model.predict(Z))
    assert len(np.unique(scores)) > 50
    booster = open_model(model.get_booster())
    assert np.array_equal(booster.predict(Z[:500]), model.predict(Z[:500]))


@pytest.mark.parametrize("booster", ["dart", "gblinear"])
def test_other_boosters(booster: str) -> None:
    more = {"rate_drop": 0.3} if booster == "dart" else {}
    assert open_model(regressor("reg:squarederror", booster=booster, **more)).report


def test_a_wrong_leaf_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model = regressor("reg:squarederror")

    def wrong(of: Any) -> Any:
        learner = learner_of(of)
        value = learner.trees[0].value * np.float32(1.001)
        return dataclasses.replace(
            learner, trees=(dataclasses.replace(learner.trees[0], value=value), *learner.trees[1:])
        )

    monkeypatch.setattr(xgboost_models, "learner_of", wrong)
    with pytest.raises(ReplayMismatch):
        open_model(model)


def test_values_of_another_kind_are_refused_by_name() -> None:
    X, _, y, _ = rows()
    with pytest.raises(UnsupportedModel, match="reg:logistic"):
        open_model(xgboost.XGBRegressor(n_estimators=2, objective="reg:logistic").fit(X, y))
    with pytest.raises(UnsupportedModel, match="2 outputs"):
        open_model(xgboost.XGBRegressor(n_estimators=2).fit(X, X[:, :2]))


@pytest.mark.parametrize("kind", ["json", "ubj"])
@pytest.mark.parametrize("objective", ["reg:squarederror", "count:poisson"])
def test_files(objective: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, path = regressor(objective), tmp_path / f"model.{kind}"
    model.save_model(path)
    file = XGBoostFile(path)
    Z = hostile_rows(learner_of(model), 2_000, 5)
    assert np.array_equal(file.predict(Z), model.predict(Z))
    assert open_model(file).model.fingerprint == open_model(model).model.fingerprint
    for module in (xgboost_files, xgboost_base):
        monkeypatch.setattr(module, "has_library", lambda: False)
    alone = XGBoostFile(path)
    assert open_model(alone).report
    assert np.allclose(alone.predict(Z), model.predict(Z), rtol=1e-5)


@pytest.mark.parametrize("objective", ["reg:squarederror", "count:poisson"])
def test_every_point_of_a_region_has_a_wanted_value(objective: str) -> None:
    model = regressor(objective)
    X, _, _, _ = rows()
    explainer = Explainer(model, pd.DataFrame(X, columns=PLAIN))
    values = model.predict(X)
    row = X[int(np.argsort(values)[len(values) // 4])]
    low, high = float(np.quantile(values, 0.6)), float(np.quantile(values, 0.9))
    for target in (Target(at_least=low), Target(at_least=low, at_most=high)):
        found = explainer.explain(row, Box(0.02), target, time_limit=10.0)
        assert isinstance(found, Region)
        assert isinstance(explainer.model, TreeEnsemble)
        top = np.inf if target.at_most is None else target.at_most

        def wanted(points: np.ndarray, top: float = top) -> np.ndarray:
            value = model.predict(points).astype(np.float64)
            return np.asarray((value >= low) & (value <= top))

        assert attack(wanted, found.body, True, explainer.model.cuts) > 200
