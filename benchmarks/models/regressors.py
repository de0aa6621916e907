"""Regressors: not a class but at least, at most, or between two numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import (
    BayesianRidge,
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    PoissonRegressor,
    Ridge,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVR, LinearSVR
from sklearn.tree import DecisionTreeRegressor

from benchmarks.models.boosted import cat, lgbm, xgb
from benchmarks.models.case import Case, Family, Given
from benchmarks.models.fitting import fit
from benchmarks.models.tables import Table, rents
from elbowroom import Target

ENOUGH = 700.0


def _numbers() -> Table:
    return Table(rents().X.drop(columns="heating"), rents().y, None)


def at_least(make: Callable[[], Any], table: Callable[[], Table] = _numbers, **target: float) -> Callable[[], Given]:
    """The regressor fitted, and the least number that is wanted (or the most, or both)."""

    def build() -> Given:
        bounds: dict[str, Any] = dict(target or {"at_least": ENOUGH})
        low, high = bounds.get("at_least", -np.inf), bounds.get("at_most", np.inf)
        return fit(make(), table(), target=Target(**bounds), good=lambda told: (told >= low) & (told <= high))

    return build


def _raw(model: Any) -> Any:
    return make_pipeline(make_column_transformer((OneHotEncoder(), ["heating"]), remainder=StandardScaler()), model)


def cases() -> list[Case]:
    family = Family("regressors")
    net = MLPRegressor(hidden_layer_sizes=(12,), random_state=0, max_iter=400, learning_rate_init=0.05)
    logged = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
    unsaid = ("regressor|number", "at_least")
    return [
        family("LinearRegression, at_least", at_least(LinearRegression)),
        family("Ridge, at_most", at_least(Ridge, at_most=500.0)),
        family("Lasso, between", at_least(Lasso, at_least=600.0, at_most=800.0)),
        family("StandardScaler + ElasticNet", at_least(lambda: make_pipeline(StandardScaler(), ElasticNet(0.1)))),
        family("LinearSVR", at_least(lambda: make_pipeline(StandardScaler(), LinearSVR(C=100.0, random_state=0)))),
        family("SVR(linear)", at_least(lambda: make_pipeline(StandardScaler(), SVR(kernel="linear", C=100.0)))),
        family("DecisionTreeRegressor", at_least(lambda: DecisionTreeRegressor(max_depth=6, random_state=0))),
        family("RandomForestRegressor", at_least(lambda: RandomForestRegressor(50, random_state=0))),
        family("RandomForestRegressor, between", at_least(lambda: RandomForestRegressor(20, max_depth=6, random_state=0), at_least=600.0, at_most=800.0)),
        family("ExtraTreesRegressor", at_least(lambda: ExtraTreesRegressor(30, max_depth=7, random_state=0))),
        family("GradientBoostingRegressor", at_least(lambda: GradientBoostingRegressor(random_state=0))),
        family("HistGradientBoostingRegressor", at_least(lambda: HistGradientBoostingRegressor(max_iter=60, random_state=0))),
        family("MLPRegressor", at_least(lambda: make_pipeline(StandardScaler(), net))),
        family("OneHotEncoder + RandomForestRegressor", at_least(lambda: _raw(RandomForestRegressor(40, random_state=0)), rents)),
        family("OneHotEncoder + Ridge", at_least(lambda: _raw(Ridge()), rents)),
        family("XGBRegressor", at_least(lambda: xgb("XGBRegressor")), needs=("xgboost",)),
        family("LGBMRegressor", at_least(lambda: lgbm("LGBMRegressor")), needs=("lightgbm",)),
        family("CatBoostRegressor", at_least(lambda: cat("CatBoostRegressor")), needs=("catboost",)),
        family("HuberRegressor", at_least(lambda: make_pipeline(StandardScaler(), HuberRegressor()))),
        family("BayesianRidge", at_least(BayesianRidge)),
        family("GridSearchCV(RandomForestRegressor)", at_least(lambda: GridSearchCV(RandomForestRegressor(20, random_state=0), {"max_depth": [4, 6]}, cv=3))),
        family.either("PoissonRegressor", at_least(lambda: make_pipeline(StandardScaler(), PoissonRegressor())), "PoissonRegressor", "Ridge|LinearRegression|log"),
        family.either("BaggingRegressor", at_least(lambda: BaggingRegressor(n_estimators=20, random_state=0)), "BaggingRegressor", "RandomForestRegressor|forest"),
        family.either("VotingRegressor", at_least(lambda: VotingRegressor([("a", Ridge()), ("b", LinearRegression())])), "VotingRegressor", "one of|single|forest|Ridge"),
        family.either("AdaBoostRegressor", at_least(lambda: AdaBoostRegressor(random_state=0)), "AdaBoostRegressor", "GradientBoosting|forest"),
        family.either("TransformedTargetRegressor(log)", at_least(lambda: logged), "TransformedTargetRegressor", "regressor_|inner|log"),
        family.refuses("without a number", lambda: fit(Ridge(), _numbers(), good=lambda told: told >= ENOUGH), *unsaid),
        family.refuses("KNeighborsRegressor", at_least(KNeighborsRegressor), "KNeighborsRegressor", "tree|forest|boost"),
        family.refuses("GaussianProcessRegressor", at_least(GaussianProcessRegressor), "GaussianProcessRegressor", "tree|forest|boost"),
    ]  # fmt: skip
