"""Small fitted regressors of every kind that can be read."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn import ensemble, linear_model
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, LinearSVR
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from elbowroom.problem import Target
from tests.support.hostile import attack
from tests.support.importer_cases import fitted, preprocessing

LINEAR: dict[str, Callable[[], Any]] = {
    name: getattr(linear_model, name)
    for name in (
        "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV", "Lars", "HuberRegressor",
        "TheilSenRegressor", "QuantileRegressor", "BayesianRidge", "ARDRegression", "OrthogonalMatchingPursuit",
    )
}  # fmt: skip
LINEAR["SGDRegressor"] = lambda: linear_model.SGDRegressor(random_state=0)
LINEAR["LinearSVR"] = lambda: LinearSVR(random_state=0, max_iter=200)
LINEAR["SVR"] = lambda: SVR(kernel="linear")
if hasattr(linear_model, "PassiveAggressiveRegressor"):  # on its way out of scikit-learn
    LINEAR["PassiveAggressiveRegressor"] = lambda: linear_model.PassiveAggressiveRegressor(random_state=0)
LINKED: dict[str, Callable[[], Any]] = {
    "Poisson": linear_model.PoissonRegressor,
    "Gamma": linear_model.GammaRegressor,
    "Tweedie": lambda: linear_model.TweedieRegressor(power=1.5),
    "histogram, poisson": lambda: ensemble.HistGradientBoostingRegressor(loss="poisson", max_iter=9, random_state=0),
    "histogram, gamma": lambda: ensemble.HistGradientBoostingRegressor(loss="gamma", max_iter=9, random_state=0),
    "forest of log1p": lambda: TransformedTargetRegressor(
        ensemble.RandomForestRegressor(5, max_depth=4, random_state=0), func=np.log1p, inverse_func=np.expm1
    ),
    "ridge of log": lambda: TransformedTargetRegressor(
        make_pipeline(StandardScaler(), linear_model.Ridge()), func=np.log, inverse_func=np.exp
    ),
}
TREES: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeRegressor(max_depth=5, random_state=0),
    "extra tree": lambda: ExtraTreeRegressor(max_depth=5, random_state=0),
    "random forest": lambda: ensemble.RandomForestRegressor(9, max_depth=5, random_state=0),
    "extra trees": lambda: ensemble.ExtraTreesRegressor(9, max_depth=5, random_state=0),
    "boosting": lambda: ensemble.GradientBoostingRegressor(n_estimators=9, random_state=0),
    "boosting, absolute error": lambda: ensemble.GradientBoostingRegressor(
        loss="absolute_error", n_estimators=9, init="zero", random_state=0
    ),
    "boosting, huber": lambda: ensemble.GradientBoostingRegressor(loss="huber", n_estimators=9, random_state=0),
    "histogram boosting": lambda: ensemble.HistGradientBoostingRegressor(max_iter=9, random_state=0),
    "histogram boosting, quantile": lambda: ensemble.HistGradientBoostingRegressor(
        loss="quantile", quantile=0.8, max_iter=9, random_state=0
    ),
    "unchanged target": lambda: TransformedTargetRegressor(DecisionTreeRegressor(max_depth=4, random_state=0)),
}
NETWORKS: dict[str, Callable[[], Any]] = {
    "network": lambda: MLPRegressor(hidden_layer_sizes=(6, 4), max_iter=100, random_state=0),
    "network without activation": lambda: MLPRegressor(
        hidden_layer_sizes=(4,), activation="identity", max_iter=100, random_state=0
    ),
}
REGRESSORS = {**LINEAR, **LINKED, **TREES, **NETWORKS}


@cache
def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Five columns of the diabetes data; the target is between 25 and 346."""
    loaded = load_diabetes(as_frame=True, scaled=False)
    return loaded.data.iloc[::2, [0, 2, 3, 4, 8]], loaded.target.to_numpy()[::2]


@cache
def fitted_regressor(kind: str, piped: bool = False) -> tuple[Any, pd.DataFrame]:
    """One fitted model and its training rows; bare models see plain arrays, pipelines see named columns."""
    frame, y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes on their way out
        model = REGRESSORS[kind]()
    if piped:
        return fitted(make_pipeline(preprocessing(frame), model), frame, y), frame
    return fitted(model, frame.to_numpy(), y), frame


def attack_values(predict: Callable[[np.ndarray], np.ndarray], body: Any, target: Target, cuts: Any = None) -> int:
    """`attack`, where the model's own values are judged: each must lie in the wanted range."""
    wanted = target.values
    assert wanted is not None
    return attack(lambda X: wanted.contains(np.asarray(predict(X), dtype=np.float64).reshape(-1)), body, True, cuts)
