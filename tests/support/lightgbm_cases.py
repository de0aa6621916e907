"""Fitted LightGBM models of every kind that is read, and rows on which a wrong copy shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from elbowroom.importers.lightgbm_model import ZERO, TextModel

SCALE = np.array([1, 10, 1e3, 1e-3, 1, 1])
CODES = 4  # this column holds whole numbers 0 .. 39
ZEROS = 5  # and this one many zeros
TINY = (0.0, 1e-35, -1e-35, 1e-36, ZERO, -ZERO, np.nextafter(ZERO, 1.0), -np.nextafter(ZERO, 1.0), 1e-300, 5e-324)
ODD_CODES = (-0.5, 0.5, -1e-12, 1e-12, -1.0, -1e-3, 30.0, 1e3, 1e6, -1e6, 2.0**31, 2.0**33, -(2.0**33))


@cache
def data(rows: int = 1500) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, two classes (text), three classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 6)) * SCALE + [0, 5, 0, 0, 0, 0]
    X[:, CODES] = rng.integers(0, 40, rows)
    X[:, ZEROS] = np.where(rng.random(rows) < 0.4, 0, X[:, ZEROS])
    signal = X[:, 0] + X[:, 1] / 10 + X[:, 2] / 1e3 * (X[:, CODES] % 3 - 1) + X[:, ZEROS] + 0.3 * rng.normal(size=rows)
    return X, np.array(["no", "yes"])[(signal > 0.4).astype(int)], np.digitize(signal, [0, 1]) * 10


@cache
def holes() -> np.ndarray:
    X = data()[0]
    return np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)


def _classifier(**more: Any) -> Any:
    import lightgbm

    usual = {
        "n_estimators": 30,
        "n_jobs": 1,
        "verbose": -1,
        "max_cat_to_onehot": 2,
        "min_data_per_group": 5,
        "cat_smooth": 1,
    }
    return lightgbm.LGBMClassifier(**{**usual, **more})


def _stopped() -> Any:
    import lightgbm

    X, y, _ = data()
    stop = [lightgbm.early_stopping(5, verbose=False)]
    return _classifier(n_estimators=400).fit(X, y, eval_set=[(X[::2] + 0.3, y[::2])], callbacks=stop)


def _two(**more: Any) -> Any:
    return _classifier(**more).fit(data()[0], data()[1])


def _goss() -> Any:
    import lightgbm

    new = int(lightgbm.__version__.split(".")[0]) >= 4
    return _two(sigmoid=2.0, **({"data_sample_strategy": "goss"} if new else {"boosting_type": "goss"}))


MAKERS: dict[str, Callable[[], Any]] = {
    "NaN as missing": lambda: _classifier().fit(holes(), data()[1]),
    "no NaN seen": _two,
    "three classes": lambda: _classifier().fit(holes(), data()[2]),
    "one against all": lambda: _classifier(objective="multiclassova").fit(data()[0], data()[2]),
    "zero_as_missing": lambda: _two(zero_as_missing=True),
    "use_missing=False": lambda: _classifier(use_missing=False).fit(holes(), data()[1]),
    "sets": lambda: _classifier().fit(holes(), data()[1], categorical_feature=[CODES]),
    "sets, three classes": lambda: _classifier().fit(data()[0], data()[2], categorical_feature=[CODES]),
    "random forest": lambda: _two(boosting_type="rf", bagging_freq=1, bagging_fraction=0.6),
    "dart": lambda: _two(boosting_type="dart"),
    "goss, sigmoid=2": _goss,
    "early stopping": _stopped,
}
BY_CODES = ("sets", "sets, three classes")


@cache
def model(name: str) -> Any:
    """A fitted model; shared, to be left as it is."""
    return MAKERS[name]()


def hostile_rows(text: TextModel, size: int, seed: int = 0, by_codes: bool = False, odd: bool = True) -> np.ndarray:
    """Rows of the data and beyond; 4 of 5 have three entries on thresholds or their float64 and float32 neighbours; 1 of 20
    entries is NaN, 1 of 20 rows shrinks to tiny numbers; codes are odd in 1 of 5 rows if ``odd``."""
    rng = np.random.default_rng(seed)
    X = data()[0]
    low, high = X.min(axis=0), X.max(axis=0)
    rows = low + rng.uniform(-0.1, 1.1, (size, X.shape[1])) * (high - low)
    rows = np.where(rng.random(rows.shape) < 0.5, X[rng.integers(len(X), size=size)], rows)
    splits = [
        (f, t)
        for tree in text.trees
        for f, t, s in zip(tree.feature, tree.threshold, tree.by_set, strict=True)
        if not s
    ]
    pairs = np.unique(np.array(splits, dtype=float), axis=0)
    near = _neighbours(pairs[:, 1])
    which = np.arange(size * 4 // 5)
    for turn in range(3):
        pick = which % len(pairs) if not turn else rng.integers(len(pairs), size=which.size)
        form = (which // len(pairs)) % near.shape[1] if not turn else rng.integers(near.shape[1], size=which.size)
        rows[which, pairs[pick, 0].astype(int)] = near[pick, form]
    if by_codes:
        rows[:, CODES] = rng.integers(0, 40, size)
        strange = rows[:, CODES] + rng.choice(ODD_CODES, size)
        rows[:, CODES] = np.where(odd & (rng.random(size) < 0.2), strange, rows[:, CODES])
    tiny = rng.random(size) < 0.05
    columns = [f for f in range(X.shape[1]) if f != CODES or not by_codes or odd]
    rows[np.ix_(tiny, columns)] = rng.choice(TINY, (int(tiny.sum()), len(columns)))
    return np.where(rng.random(rows.shape) < 0.05, np.nan, rows)


def _neighbours(cut: np.ndarray) -> np.ndarray:
    single = cut.astype(np.float32)
    step = [cut, np.nextafter(cut, np.inf), np.nextafter(cut, -np.inf), np.nextafter(np.nextafter(cut, np.inf), np.inf)]
    up, down = np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf))
    step += [a.astype(np.float64) for a in (single, up, down, np.nextafter(down, np.float32(-np.inf)))]
    return np.stack(step, axis=1)
