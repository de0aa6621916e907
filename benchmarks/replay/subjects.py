"""What is asked: every library with its models, those of the tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from elbowroom.importers import ReadModel
from elbowroom.numerics import Floats

Rows = Callable[[ReadModel, int, int], Floats]


@dataclass(frozen=True)
class Subject:
    """One fitted model. ``known`` are categories of the caller's table, ``unseen`` those of them that training never saw;
    ``stored`` makes rows on the thresholds that the library itself stores, not on the cuts that the copy found."""

    name: str
    model: Any
    known: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    unseen: tuple[Any, ...] = ()
    data: Any = None
    stored: Rows | None = None


@dataclass(frozen=True)
class Library:
    """``distributions``: names under which its version is found, the first installed one counts."""

    distributions: tuple[str, ...]
    subjects: Callable[[], Iterator[Subject]]


def _xgboost() -> Iterator[Subject]:
    import xgboost
    from tests.support.xgboost_cases import CASES, LINEAR, NEEDS_STORED_CATEGORIES, fitted, hostile_rows, table_of

    from elbowroom.importers.xgboost_columns import learner_of

    stores = tuple(int(v) for v in xgboost.__version__.split(".")[:2]) >= (3, 1)
    unseen = (11, 40)
    codes = {"x4": (*range(9), *unseen, None)}

    def stored(opened: ReadModel, size: int, seed: int) -> Floats:
        model = opened.original.model
        return opened.original.inputs.inner(table_of(model, hostile_rows(learner_of(model), size, seed)))

    for case in (*CASES, *LINEAR):
        if stores or case not in NEEDS_STORED_CATEGORIES:
            by_codes = case in ("sets", "one-hot sets")
            known = {"known": codes, "unseen": unseen} if by_codes else {}
            yield Subject(case, fitted(case), **known, stored=None if case in LINEAR else stored)


def _lightgbm() -> Iterator[Subject]:
    from tests.support.lightgbm_cases import BY_CODES, MAKERS, hostile_rows, model

    from elbowroom.importers.lightgbm_columns import text_of

    def stored(by_codes: bool) -> Rows:
        return lambda opened, size, seed: opened.original.inputs.inner(
            hostile_rows(text_of(opened.original.model), size, seed, by_codes=by_codes, odd=False)
        )

    unseen = (41, 1000)
    for name in MAKERS:
        by_codes = name in BY_CODES
        known = {"known": {"x4": (*range(40), *unseen)}, "unseen": unseen} if by_codes else {}
        yield Subject(name, model(name), **known, stored=stored(by_codes))


def _catboost() -> Iterator[Subject]:
    from tests.support.catboost_cases import CASES, case, hostile_rows

    unseen = ("never seen", "")
    for name in CASES:
        known = {column: (*labels, *unseen) for column, labels in case(name).known.items()}
        yield Subject(name, case(name).model, known, unseen if known else (), stored=hostile_rows)


def _histogram() -> Iterator[Subject]:
    from tests.support.histogram_cases import cases

    for name, (model, rows) in cases().items():
        yield Subject(name, model, data=rows)


def _sklearn() -> Iterator[Subject]:
    from tests.support.importer_cases import MODELS, fitted_case
    from tests.support.wrapper_cases import CASES, fitted_wrapper

    for kind in MODELS:
        for data, piped in (("cancer", False), ("iris", True)):
            model, frame = fitted_case(kind, data, "0/1", piped)
            yield Subject(f"{kind}, {data}", model, data=frame)
    for kind, data in CASES:
        model, frame = fitted_wrapper(kind, data, False)
        yield Subject(f"{kind}, {data}", model, data=frame)


def _torch() -> Iterator[Subject]:
    from tests.support.torch_networks import NETWORKS, made

    for kind in NETWORKS:
        for double in (False, True):
            yield Subject(f"{kind}, {'float64' if double else 'float32'}", made(kind, double))


def _onnx() -> Iterator[Subject]:
    from tests.support.onnx_models import DOUBLE, FLOAT, SKLEARN, exported, layered

    for kind in SKLEARN:
        model, _, X = exported(kind)
        yield Subject(kind, model, data=X)
    yield Subject("layers of all kinds, float32", layered(FLOAT))
    yield Subject("layers of all kinds, float64", layered(DOUBLE))


def _keras() -> Iterator[Subject]:
    os.environ.setdefault("KERAS_BACKEND", "torch")
    from tests.support.keras_networks import NETWORKS, made

    for kind in NETWORKS:
        yield Subject(kind, made(NETWORKS[kind]()), data=np.random.default_rng(0).normal(size=(300, 4)))


LIBRARIES = {
    "XGBoost": Library(("xgboost-cpu", "xgboost"), _xgboost),
    "LightGBM": Library(("lightgbm",), _lightgbm),
    "CatBoost": Library(("catboost",), _catboost),
    "histogram boosting": Library(("scikit-learn",), _histogram),
    "scikit-learn": Library(("scikit-learn",), _sklearn),
    "torch": Library(("torch",), _torch),
    "ONNX": Library(("onnxruntime",), _onnx),
    "Keras": Library(("keras",), _keras),
}
