"""Fitted XGBoost models of every kind that can be read, and rows on which a wrong copy shows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import numpy as np
import pandas as pd

from elbowroom.importers.xgboost_columns import learner_of
from elbowroom.importers.xgboost_document import Learner

CODES: Final = 4  # the column of codes
TYPES: Final = ["q", "q", "q", "q", "c", "q"]
NAMES: Final = ["age", "income", "debt", "rate", "colour", "grade"]
COLOURS: Final = [f"k{i}" for i in range(9)]
_FEW: Final[dict[str, Any]] = {"n_estimators": 40, "max_depth": 5, "n_jobs": 1, "tree_method": "hist"}


@cache
def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X, X with holes, two classes, three classes. Columns on scales from a thousandth to a thousand; one of codes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6)) * [1, 10, 1e3, 1e-3, 1, 1] + [0, 5, 0, 0, 0, 0]
    X[:, CODES] = rng.integers(0, 9, len(X))
    X[:, 5] = np.round(X[:, 5], 1)
    signal = X[:, 0] + X[:, 1] / 10 + X[:, 2] / 1e3 * (X[:, CODES] % 3 - 1) + 0.3 * rng.normal(size=len(X))
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    return X, holes, (signal > 0.4).astype(int), np.digitize(signal, [0, 1])


def framed(X: np.ndarray) -> pd.DataFrame:
    """The rows as a user has them: named columns, colours as pandas categories in an order of their own."""
    frame = pd.DataFrame(X, columns=NAMES)
    words = np.array([*COLOURS, None], dtype=object)
    known = np.isin(frame["colour"], np.arange(9))
    codes = np.where(known, frame["colour"], 9).astype(int)
    frame["colour"] = pd.Categorical(words[codes], categories=COLOURS[::-1])
    return frame


def _classifier(target: int, holes: bool = True, frame: bool = False, **more: Any) -> Any:
    from xgboost import XGBClassifier

    X, missing, y, y3 = rows()
    table: Any = missing if holes else X
    return XGBClassifier(**{**_FEW, **more}).fit(framed(table) if frame else table, (y, y3)[target])


def _forest() -> Any:
    from xgboost import XGBRFClassifier

    X, _, y, _ = rows()
    return XGBRFClassifier(n_estimators=30, max_depth=6, n_jobs=1).fit(X, y)


def _stopped() -> Any:
    from xgboost import XGBClassifier

    X, _, y, _ = rows()
    model = XGBClassifier(**{**_FEW, "n_estimators": 400, "early_stopping_rounds": 5})
    return model.fit(X, y, eval_set=[(X[::2] + 0.3, y[::2])], verbose=False)


def _booster(target: int, frame: bool = False, **params: Any) -> Any:
    from xgboost import DMatrix, train

    X, holes, y, y3 = rows()
    table: Any = framed(holes) if frame else X if params.get("booster") == "gblinear" else holes
    matrix = DMatrix(table, (y, y3)[target], enable_categorical=True)
    return train({"max_depth": 4, "nthread": 1, **params}, matrix, 20)


_SETS: Final[dict[str, Any]] = {"feature_types": TYPES, "enable_categorical": True}
CASES: Final[dict[str, Callable[[], Any]]] = {
    "binary": lambda: _classifier(0),
    "three classes": lambda: _classifier(1),
    "random forest": _forest,
    "boosted forest": lambda: _classifier(1, False, n_estimators=8, num_parallel_tree=4),
    "dart": lambda: _classifier(0, False, booster="dart", rate_drop=0.3),
    "vector leaves": lambda: _classifier(1, False, multi_strategy="multi_output_tree"),
    "sets": lambda: _classifier(0, max_cat_to_onehot=2, **_SETS),
    "one-hot sets": lambda: _classifier(1, False, max_cat_to_onehot=99, **_SETS),
    "early stopping": _stopped,
    "missing by name": lambda: _classifier(0, False, missing=np.nan, frame=True, enable_categorical=True),
    "base 0.9, exact": lambda: _classifier(0, tree_method="exact", base_score=0.9),
    "dart, three classes": lambda: _classifier(1, booster="dart", rate_drop=0.3, n_estimators=20),
    "pandas categories": lambda: _classifier(0, frame=True, enable_categorical=True, max_cat_to_onehot=2),
    "hinge": lambda: _classifier(0, objective="binary:hinge"),
    "logitraw": lambda: _classifier(0, objective="binary:logitraw"),
    "softmax": lambda: _classifier(1, objective="multi:softmax", n_estimators=20),
    "pruned": lambda: _classifier(0, tree_method="exact", gamma=3.0),
    "booster": lambda: _booster(0, objective="binary:logistic"),
    "booster, three classes": lambda: _booster(1, objective="multi:softprob", num_class=3),
    "booster, dart": lambda: _booster(0, objective="binary:logistic", booster="dart", rate_drop=0.3),
    "booster, logitraw": lambda: _booster(0, objective="binary:logitraw"),
    "booster, pandas categories": lambda: _booster(0, True, objective="binary:logistic"),
}
LINEAR: Final[dict[str, Callable[[], Any]]] = {
    "gblinear": lambda: _classifier(0, False, booster="gblinear", n_estimators=10),
    "gblinear, three classes": lambda: _classifier(1, False, booster="gblinear", n_estimators=10),
    "booster, gblinear": lambda: _booster(0, objective="binary:logistic", booster="gblinear"),
}
NEEDS_STORED_CATEGORIES: Final = {"missing by name", "pandas categories", "booster, pandas categories"}


@cache
def fitted(case: str) -> Any:
    """Shared between tests: none may change it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {**CASES, **LINEAR}[case]()


def hostile_rows(learner: Learner, size: int, seed: int = 0) -> np.ndarray:
    """Rows of numbers: most have up to three entries at a threshold of some tree, at its float32 neighbours, or at the
    float64 numbers on either side of where the cast to float32 jumps; 5 % of all entries are missing, codes are known.

    They are made from the thresholds that the model stores, not from the cuts that the copy found.
    """
    X, _, _, _ = rows()
    rng = np.random.default_rng(seed)
    low, high = X.min(axis=0), X.max(axis=0)
    made = low + rng.uniform(-0.1, 1.1, (size, X.shape[1])) * (high - low)
    made = np.where(rng.random(made.shape) < 0.5, X[rng.integers(len(X), size=size)], made)
    pairs = {
        (int(f), float(t))
        for tree in learner.trees
        for f, t in zip(tree.feature, tree.threshold, strict=True)
        if f >= 0
    }
    at = np.array(sorted(pairs)).reshape(-1, 2)
    if len(at):
        near = _near(at[:, 1].astype(np.float32))
        for _ in range(3):
            some = np.flatnonzero(rng.random(size) < 0.8)
            pick = rng.integers(len(at), size=some.size)
            made[some, at[pick, 0].astype(int)] = near[pick, rng.integers(near.shape[1], size=some.size)]
    made[:, CODES] = rng.integers(0, 9, size)
    return np.where(rng.random(made.shape) < 0.05, np.nan, made)


def _near(threshold: np.ndarray) -> np.ndarray:
    down, up = np.nextafter(threshold, np.float32(-np.inf)), np.nextafter(threshold, np.float32(np.inf))
    exact, below, above = (a.astype(np.float64) for a in (threshold, down, up))
    jump, jump_up = (exact + below) / 2, (exact + above) / 2  # here the cast is a tie between two float32 numbers
    values = [exact, below, above, jump, jump_up]
    values += [np.nextafter(v, way) for v in (exact, jump, jump_up) for way in (-np.inf, np.inf)]
    return np.stack(values, axis=1)


def table_of(model: Any, numbers: np.ndarray) -> Any:
    """The rows in the form in which the model was fitted."""
    return framed(numbers) if learner_of(model).names else numbers
