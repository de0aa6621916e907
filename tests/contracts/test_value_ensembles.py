"""Bagging, Voting and Stacking of regressors against the original's own predict: values, regions under attack, refusals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from elbowroom import Box, Explainer, Region, ReplayMismatch, Space, Target, UnsupportedModel
from elbowroom.importers import open_model, replay
from elbowroom.importers.replay import values_agree
from elbowroom.models import LinearModel, TreeEnsemble
from tests.support.importer_cases import asked, fitted, one_thread, preprocessing, probing_rows
from tests.support.regressors import attack_values, table

__all__ = ["one_thread"]
pytestmark = pytest.mark.usefixtures("one_thread")


def _tree(depth: int = 3) -> Any:
    return DecisionTreeRegressor(max_depth=depth, random_state=0)


def _forest() -> Any:
    return RandomForestRegressor(3, max_depth=3, random_state=0)


def _scaled() -> Any:
    return make_pipeline(StandardScaler(), Ridge())


ENSEMBLES: dict[str, Callable[[], Any]] = {
    "bagged trees": lambda: BaggingRegressor(_tree(), 5, max_features=0.6, random_state=0),
    "bagged forests": lambda: BaggingRegressor(_forest(), 3, random_state=0),
    "bagged linear": lambda: BaggingRegressor(_scaled(), 4, max_features=0.6, random_state=0),
    "voting trees": lambda: VotingRegressor(
        [("a", _tree()), ("b", GradientBoostingRegressor(n_estimators=4, random_state=0)), ("c", _forest())]
    ),
    "voting trees, weighed": lambda: VotingRegressor(
        [("a", _tree()), ("b", HistGradientBoostingRegressor(max_iter=4, random_state=0))], weights=[0.3, 2.0]
    ),
    "voting linear": lambda: VotingRegressor([("a", Ridge()), ("b", _scaled())], weights=[1, 2]),
    "stacked trees": lambda: StackingRegressor([("a", _tree()), ("b", _forest())], cv=2),
    "stacked linear": lambda: StackingRegressor([("a", Ridge()), ("b", LinearRegression())], cv=2),
    "stacked linear, passthrough": lambda: StackingRegressor([("a", Ridge())], Ridge(), cv=2, passthrough=True),
    "nested": lambda: VotingRegressor([("a", BaggingRegressor(_tree(2), 2, random_state=0)), ("b", _tree())]),
}


@cache
def _fitted(kind: str, piped: bool) -> tuple[Any, pd.DataFrame]:
    frame, y = table()
    model = ENSEMBLES[kind]()
    if piped:
        return fitted(make_pipeline(preprocessing(frame), model), frame, y), frame
    return fitted(model, frame.to_numpy(), y), frame


@pytest.mark.parametrize("piped", [False, True], ids=["bare", "piped"])
@pytest.mark.parametrize("kind", ENSEMBLES)
def test_values_equal_the_originals(kind: str, piped: bool) -> None:
    model, frame = _fitted(kind, piped)
    opened = open_model(model, replay=False)
    parsed = opened.model
    assert isinstance(parsed, LinearModel if "linear" in kind else TreeEnsemble)
    assert replay(parsed, opened.original, data=frame, limit=2_000).points >= 200
    rows = probing_rows(parsed, frame, 1_000)
    theirs = model.predict(asked(model, frame, rows))
    assert values_agree(parsed, rows, theirs).all()
    assert not values_agree(parsed, rows, theirs * (1 + 1e-9) + 1e-9).any()  # a wrong value shows


@pytest.mark.parametrize("kind", ["bagged trees", "voting trees", "stacked trees", "voting linear"])
def test_regions_hold_under_attack(kind: str) -> None:
    model, frame = _fitted(kind, True)
    explainer, values = Explainer(model, Space.from_frame(frame)), model.predict(frame)
    target = Target(at_least=float(np.quantile(values, 0.6)))
    region = explainer.explain(frame.iloc[int(np.argmin(values))], Box(0.01), target, time_limit=20.0)
    assert isinstance(region, Region), region
    cuts = explainer.model.cuts if isinstance(explainer.model, TreeEnsemble) else None
    attack_values(lambda X: model.predict(pd.DataFrame(X, columns=frame.columns)), region.body, target, cuts)


def test_wrong_copies_are_noticed() -> None:
    model, frame = _fitted("voting trees, weighed", False)
    opened = open_model(model, replay=False)
    parsed = opened.model
    assert isinstance(parsed, TreeEnsemble)
    for wrong in (replace(parsed, value=parsed.value * (1 + 1e-6)), replace(parsed, base=parsed.base + 1e-6)):
        with pytest.raises(ReplayMismatch):
            replay(wrong, opened.original, data=frame, limit=2_000)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (VotingRegressor([("a", Ridge()), ("b", _tree())]), "several families.*linear regressors as all"),
        (VotingRegressor([("a", PoissonRegressor()), ("b", Ridge())]), "no plain sum.*without a transformed target"),
        (BaggingRegressor(KNeighborsRegressor(), 2), "BaggingRegressor holds a part that cannot be read.*use"),
        (StackingRegressor([("a", Ridge())], _forest(), cv=2), "final_estimator is not linear.*RidgeCV"),
        (StackingRegressor([("a", _tree())], Ridge(), cv=2, passthrough=True), "passthrough=False"),
        (
            VotingRegressor([("a", TransformedTargetRegressor(_tree(), func=np.log, inverse_func=np.exp))]),
            "no plain sum",
        ),
    ],
)
def test_what_is_not_exact_is_refused_with_a_cure(model: Any, words: str) -> None:
    frame, y = table()
    with pytest.raises(UnsupportedModel, match=words):
        open_model(fitted(model, frame.to_numpy(), y))
