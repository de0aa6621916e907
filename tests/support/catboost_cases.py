"""Small fitted CatBoost models of every kind that can be read, and rows on which a wrong copy shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from elbowroom.importers import ReadModel, open_model
from elbowroom.models import TreeEnsemble

COLOURS = tuple(f"colour {i}" for i in range(9))
QUIET = {"iterations": 100, "verbose": 0, "thread_count": 1, "allow_writing_files": False}


@dataclass(frozen=True, eq=False)
class Case:
    """A fitted model and the categories that its columns hold."""

    model: Any
    known: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    exact: bool = True  # its sums are those of the original to the last bit

    def opened(self, replay: bool = False) -> ReadModel:
        return open_model(self.model, known=self.known, replay=replay)


@cache
def numbers() -> tuple[np.ndarray, np.ndarray]:
    """Rows of very different scales, and what decides about them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6)) * [1, 10, 1e3, 1e-3, 1, 1] + [0, 5, 0, 0, 0, 0]
    X[:, 4] = rng.integers(0, 9, len(X))
    noise = 0.3 * rng.normal(size=len(X))
    return X, X[:, 0] + X[:, 1] / 10 + X[:, 2] / 1e3 * (X[:, 4] % 3 - 1) + X[:, 5] + noise


def words() -> np.ndarray:
    return np.array(["no", "yes"])[(numbers()[1] > 0.4).astype(int)]


def grades() -> np.ndarray:
    return np.digitize(numbers()[1], [0, 1]) * 10


def holes() -> np.ndarray:
    X = numbers()[0]
    return np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)


def coloured() -> pd.DataFrame:
    X = numbers()[0]
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(6)])
    return frame.assign(c4=np.array(COLOURS)[X[:, 4].astype(int)])


def classifier(**options: Any) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(**{**QUIET, **options})


def _one_hot(**options: Any) -> Case:
    model = classifier(one_hot_max_size=255, cat_features=["c4"], **options)
    return Case(model.fit(coloured(), words()), {"c4": COLOURS})


def _scaled() -> Case:
    model = classifier().fit(numbers()[0], words())
    model.set_scale_and_bias(0.7, 0.3)
    return Case(model, exact=False)


def _threshold() -> Case:
    model = classifier().fit(numbers()[0], words())
    model.set_probability_threshold(0.8)
    return Case(model)


def _early() -> Case:
    X = numbers()[0]
    model = classifier(iterations=400, early_stopping_rounds=5)
    return Case(model.fit(X, words(), eval_set=(X[::2] + 0.3, words()[::2])))


_MAKERS: dict[str, Callable[[], Case]] = {
    "oblivious": lambda: Case(classifier().fit(numbers()[0], words())),
    "NaN as least": lambda: Case(classifier().fit(holes(), words())),
    "NaN as most": lambda: Case(classifier(nan_mode="Max").fit(holes(), words())),
    "three classes": lambda: Case(classifier().fit(holes(), grades())),
    "depthwise": lambda: Case(classifier(grow_policy="Depthwise").fit(numbers()[0], words())),
    "lossguide": lambda: Case(classifier(grow_policy="Lossguide").fit(holes(), words())),
    "depthwise, three classes": lambda: Case(classifier(grow_policy="Depthwise").fit(numbers()[0], grades())),
    "one against all": lambda: Case(classifier(loss_function="MultiClassOneVsAll").fit(numbers()[0], grades())),
    "one-hot": _one_hot,
    "one-hot, lossguide": lambda: _one_hot(grow_policy="Lossguide"),
    "scale and bias": _scaled,
    "probability threshold": _threshold,
    "early stopping": _early,
}
CASES = tuple(_MAKERS)


@cache
def case(name: str) -> Case:
    """The models are shared between tests: none may change them."""
    return _MAKERS[name]()


def hostile_rows(opened: ReadModel, size: int, seed: int = 0) -> np.ndarray:
    """Inner rows: most have up to three numbers on a cut, or one of its float64 and float32 neighbours, or half way to the
    next float32; one entry in twenty is missing."""
    model, rng = opened.model, np.random.default_rng(seed)
    assert isinstance(model, TreeEnsemble)
    X = numbers()[0]
    inputs = opened.original.inputs
    places = inputs.starts[:-1][inputs.is_number]
    rows = np.zeros((size, inputs.width))
    low, high = X.min(axis=0), X.max(axis=0)
    usual = low + rng.uniform(-0.1, 1.1, (size, X.shape[1])) * (high - low)
    rows[:, places] = np.where(rng.random(usual.shape) < 0.5, X[rng.integers(len(X), size=size)], usual)[
        :, inputs.is_number
    ]
    pairs = np.array([(f, cut) for f in places for cut in model.cuts[f]])
    for _ in range(3):
        pick, use = rng.integers(len(pairs), size=size), rng.random(size) < 0.8
        near = _neighbours(pairs[pick, 1])[np.arange(size), rng.integers(8, size=size)]
        rows[np.flatnonzero(use), pairs[pick, 0].astype(int)[use]] = near[use]
    for members in inputs.groups:
        rows[:, members] = np.eye(members.size)[rng.integers(members.size, size=size)]
    gone = rng.random((size, places.size)) < 0.05
    rows[:, places] = np.where(gone, np.nan, rows[:, places])
    return rows


def _neighbours(cut: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        single = cut.astype(np.float32)
        up, down = np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf))
        half = cut + (up.astype(np.float64) - cut) / 2
        around = [cut, np.nextafter(cut, np.inf), np.nextafter(cut, -np.inf), single, up, down, half]
        around.append(np.nextafter(half, np.inf))
    return np.stack([np.asarray(a, dtype=np.float64) for a in around], axis=1)
