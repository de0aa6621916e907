"""What a LightGBM model takes: numbers, categories of pandas columns, and codes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import comb
from typing import Any, Final

import numpy as np
import pandas as pd

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers.inputs import Column, Columns
from elbowroom.importers.lightgbm_model import TextModel, codes_of
from elbowroom.importers.lightgbm_text import LightGBMFile, parse
from elbowroom.numerics import Floats
from elbowroom.problem.labels import Category

_MOST_CHOICES: Final = 1_000


def text_of(model: Any, rounds: int | None = None) -> TextModel:
    """The model's own text, with the rounds that its predict uses (or only the first ``rounds``: the header is the same)."""
    if isinstance(model, LightGBMFile):
        return model.model
    booster = booster_of(model)
    best = int(booster.best_iteration)
    return parse(booster.model_to_string(num_iteration=rounds or (best if best > 0 else -1)), type(model).__name__)


def is_estimator(model: Any) -> bool:
    """True for LGBMClassifier and LGBMRegressor."""
    return hasattr(type(model), "booster_")


def booster_of(model: Any) -> Any:
    """The Booster of an estimator, or the Booster itself."""
    if not is_estimator(model):
        return model
    if getattr(model, "_Booster", None) is None:
        raise InputError(f"this {type(model).__name__} is not fitted; call fit first")
    return model.booster_


def columns(model: Any, known: Mapping[str, tuple[Category, ...]] | None = None) -> Columns:
    """Numbers, categories of pandas columns in the model's own order, and codes: those that training kept, and those of
    the caller's table (``known``), which the model takes for unseen ones."""
    text = text_of(model, rounds=1)
    stored = _pandas_columns(text)
    told = {name.replace(" ", "_"): labels for name, labels in (known or {}).items()}  # as LightGBM writes names
    found = []
    for j, (name, seen) in enumerate(zip(text.names, map(codes_of, text.infos), strict=True)):
        if j in stored:
            found.append(Column(name, (*stored[j], None), pandas_category=True))
        elif seen is None:
            found.append(Column(name))
        else:
            codes = {int(label) for label in told.get(name, told.get(f"x{j}", ())) if _is_code(label)}  # type: ignore[arg-type]
            found.append(Column(name, (*sorted({*seen, *codes}), None)))
    own_names = text.names != tuple(f"Column_{i}" for i in range(len(text.names)))
    return Columns(tuple(found), True, underscores=True) if own_names else Columns(tuple(_renamed(found)), False)


def _is_code(label: Category) -> bool:
    return isinstance(label, (int, float)) and 0 <= label < 2**31 and label == int(label)


def _renamed(found: list[Column]) -> list[Column]:
    return [Column(f"x{i}", column.categories, column.pandas_category) for i, column in enumerate(found)]


def codes(model: Any) -> dict[int, dict[Category, float]]:
    """Codes as they stand in the table are themselves; those of pandas columns are the positions of their categories."""
    text = text_of(model, rounds=1)
    known = _pandas_columns(text)
    seen = {j: codes_of(info) for j, info in enumerate(text.infos) if j not in known}
    return {j: {code: float(code) for code in found} for j, found in seen.items() if found is not None}


def categorical(model: Any) -> tuple[int, ...]:
    """Columns of codes: categories that look like numbers."""
    return tuple(codes(model))


def _pandas_columns(text: TextModel) -> dict[int, tuple[Category, ...]]:
    """Which columns the stored lists of categories belong to. The text says only in which order they stand."""
    lists = [tuple(column) for column in text.categories or ()]
    largest = {j: max(seen, default=0) for j, info in enumerate(text.infos) if (seen := codes_of(info)) is not None}
    asked = text.sets_asked if text.sets_asked is not None and set(largest) <= set(text.sets_asked) else tuple(largest)
    few = comb(len(asked), len(lists)) <= _MOST_CHOICES
    fitting = [
        chosen
        for chosen in (combinations(asked, len(lists)) if few else ())
        if all(largest.get(j, 0) < len(column) for j, column in zip(chosen, lists, strict=True))
    ]
    if len(fitting) != 1:
        raise UnsupportedModel(
            f"this LightGBM model stores the categories of {len(lists)} pandas columns and splits {len(asked)} columns by sets "
            "of codes; which is which cannot be told (an ordered category is split as a number): fit on unordered categories "
            "only, X[column].cat.as_unordered(), or on X[column].cat.codes"
        )
    return dict(zip(fitting[0], lists, strict=True))


def matrix(table: Any, text: TextModel) -> Floats:
    """Rows as the library sees them: categories of pandas columns become their positions, unknown ones NaN."""
    if not isinstance(table, pd.DataFrame):
        return np.asarray(table, dtype=np.float64)
    known = _pandas_columns(text)
    made = np.empty(table.shape)
    for j in range(table.shape[1]):
        column = table.iloc[:, j]
        if j in known:
            place = {label: float(i) for i, label in enumerate(known[j])}
            made[:, j] = [place.get(label, np.nan) for label in column.astype(object)]
        else:
            made[:, j] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return made
