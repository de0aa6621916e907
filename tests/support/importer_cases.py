"""Small fitted scikit-learn models of every kind that can be read, with all kinds of labels, bare and in pipelines."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn import linear_model
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from threadpoolctl import threadpool_limits

from elbowroom.models import Model, TreeEnsemble
from elbowroom.numerics import next_down, next_up

TREES: dict[str, Callable[[], Any]] = {
    "decision tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "extra tree": lambda: ExtraTreeClassifier(max_depth=5, random_state=0),
    "random forest": lambda: RandomForestClassifier(9, max_depth=5, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(9, max_depth=5, random_state=0),
    "gradient boosting": lambda: GradientBoostingClassifier(n_estimators=9, random_state=0),
    "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=9, min_samples_leaf=5, random_state=0),
}
OTHERS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: LogisticRegression(max_iter=60),
    "logistic, searched": lambda: LogisticRegressionCV(Cs=[1.0], cv=2, max_iter=20),
    "linear SVM": lambda: LinearSVC(max_iter=100, random_state=0),
    "stochastic gradient": lambda: SGDClassifier(loss="log_loss", max_iter=50, random_state=0),
    "ridge": lambda: RidgeClassifier(),
    "ridge, searched": lambda: RidgeClassifierCV(alphas=[0.1, 1.0]),
    "perceptron": lambda: Perceptron(max_iter=50, random_state=0),
    "discriminant": lambda: LinearDiscriminantAnalysis(),
    "network": lambda: MLPClassifier((8, 5), max_iter=30, random_state=0),
    "network without activation": lambda: MLPClassifier((6, 4), activation="identity", max_iter=30, random_state=0),
    "network without hidden layer": lambda: MLPClassifier((), activation="tanh", max_iter=30, random_state=0),
}
if hasattr(linear_model, "PassiveAggressiveClassifier"):  # on its way out of scikit-learn
    OTHERS["passive aggressive"] = lambda: linear_model.PassiveAggressiveClassifier(max_iter=50, random_state=0)
MODELS = {**TREES, **OTHERS}
LABELS: dict[str, list[Any]] = {
    "0/1": [0, 1, 2],
    "1/2": [1, 2, 3],
    "strings": ["approved", "refused", "undecided"],
    "bools": [False, True],
}
DATA = ("cancer", "iris", "wine")


@lru_cache
def table(data: str) -> tuple[pd.DataFrame, np.ndarray]:
    """A bundled data set: at most eight columns, classes 0, 1, ..."""
    loaded = {"cancer": load_breast_cancer, "iris": load_iris, "wine": load_wine}[data](as_frame=True)
    return loaded.data.iloc[::2, :8], loaded.target.to_numpy()[::2]


def relabelled(y: np.ndarray, labels: str) -> np.ndarray:
    """The classes renamed; bools are only possible for two classes."""
    return np.array(LABELS[labels])[y]


def preprocessing(frame: pd.DataFrame) -> ColumnTransformer:
    """Scalers of all kinds on chosen columns, by name; reordered, one column used twice, one dropped."""
    names = list(frame.columns)
    return ColumnTransformer(
        [
            ("nested", make_pipeline(MinMaxScaler((-1, 2)), RobustScaler()), [names[2], names[0]]),
            ("standard", StandardScaler(), [names[1], names[0]]),
            ("dropped", "drop", [names[3]] if len(names) > 4 else []),
        ],
        remainder=MaxAbsScaler(),
    )


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Tiny models train and predict faster without a team of threads, and those that ask for one without processes."""
    with threadpool_limits(1), parallel_config(backend="threading"):
        yield


def fitted(model: Any, X: Any, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short training on purpose
        return model.fit(X, y)


@cache
def fitted_case(kind: str, data: str, labels: str, piped: bool) -> tuple[Any, pd.DataFrame]:
    """One fitted model and its training rows. Bare models see plain arrays, pipelines see named columns.

    The models are shared between tests: none may change them.
    """
    frame, y = table(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes on their way out
        model = MODELS[kind]()
    if piped:
        model = Pipeline([("columns", preprocessing(frame)), ("nothing", "passthrough"), ("model", model)])
        return fitted(model, frame, relabelled(y, labels)), frame
    return fitted(model, frame.to_numpy(), relabelled(y, labels)), frame


def probing_rows(parsed: Model, frame: pd.DataFrame, size: int, seed: int = 0) -> np.ndarray:
    """Jittered training rows; for trees most of them have one entry on a cut or next to it."""
    rng = np.random.default_rng(seed)
    X = frame.to_numpy(dtype=np.float64)
    rows = X[rng.integers(len(X), size=size)] + rng.normal(size=(size, X.shape[1])) * X.std(axis=0) * 0.3
    if isinstance(parsed, TreeEnsemble):
        for i in range(0, size, 4):  # three of four rows
            f = int(rng.integers(X.shape[1]))
            if parsed.cuts[f].size:
                cut = rng.choice(parsed.cuts[f])
                single = np.float32(cut)
                toward = np.float32(rng.choice([-np.inf, np.inf]))
                rows[i, f], rows[i + 1, f] = cut, rng.choice([next_up(cut), next_down(cut), next_up(next_up(cut))])
                rows[i + 2, f] = rng.choice([single, np.nextafter(single, toward)])
    return rows


def asked(model: Any, frame: pd.DataFrame, rows: np.ndarray) -> Any:
    """The rows in the shape in which the model was fitted."""
    return pd.DataFrame(rows, columns=frame.columns) if hasattr(model, "feature_names_in_") else rows
