"""The user's own table and the floats inside: raw columns on one side, inner columns on the other.

A raw column of numbers is one inner column. A raw column of categories is a labelled group: one inner 0/1 column per
category, of which exactly one is 1. `table` and `inner` are inverse to each other on rows of the space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.numerics import Bools, Floats
from elbowroom.problem.features import Feature, Group
from elbowroom.problem.kinds import Kind
from elbowroom.problem.labels import is_missing, label_series, position_of, positions_of, similar
from elbowroom.problem.parsing import number
from elbowroom.visible import listed

NUMBERS: Final = (bool, np.bool_, int, float, np.integer, np.floating)
NO_MISSING: Final = (
    "fill it in, or drop the row; only a model that was fitted with missing values says what it makes of them"
)


@dataclass(frozen=True)
class RawColumn:
    """One column of the user's table: the inner columns [start, stop), and the group if these are its categories."""

    name: str
    start: int
    stop: int
    group: Group | None = None

    @property
    def labels(self) -> tuple[Any, ...]:
        return () if self.group is None or self.group.labels is None else self.group.labels


def raw_columns(names: Sequence[str], groups: Sequence[Group]) -> tuple[RawColumn, ...]:
    """The raw columns in table order; the members of a labelled group have to stand together, in their order."""
    position = {name: i for i, name in enumerate(names)}
    starts = {}
    for group in groups:
        if group.labels is None:
            continue
        places = [position[member] for member in group.members]
        if places != list(range(places[0], places[0] + len(places))):
            raise InputError(
                f"column {group.name!r}: the inner columns {listed(group.members)} of its categories must follow each "
                "other, in their order"
            )
        if group.name in position:
            raise InputError(f"column {group.name!r} has categories and is an inner column as well; rename one of them")
        starts[places[0]] = group
    raw, f = [], 0
    while f < len(names):
        labelled = starts.get(f)
        width = 1 if labelled is None else len(labelled.members)
        raw.append(RawColumn(names[f] if labelled is None else labelled.name, f, f + width, labelled))
        f += width
    return tuple(raw)


def to_table(raw: Sequence[RawColumn], X: Floats) -> pd.DataFrame:
    """Rows of inner floats as the user's table: numbers as float64, categories in the user's own words."""
    X = np.atleast_2d(np.asarray(X, dtype=np.float64))
    columns: dict[str, Any] = {}
    for column in raw:
        if column.group is None:
            columns[column.name] = X[:, column.start].copy()
            continue
        members = X[:, column.start : column.stop]
        one_hot = ((members == 0.0) | (members == 1.0)).all(axis=1) & (members.sum(axis=1) == 1.0)
        if not one_hot.all():
            i = int(np.argmin(one_hot))
            raise InputError(
                f"row {i}, column {column.name!r}: exactly one of its categories must be 1, here {members[i].tolist()}"
            )
        columns[column.name] = label_series(column.labels, members.argmax(axis=1), column.group.pandas_category)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(X)))


def to_inner(raw: Sequence[RawColumn], frame: pd.DataFrame) -> tuple[Floats, Bools]:
    """Inner floats of each row, and which raw values have a place in the space: numbers that are not, and categories
    that are unknown, have none. NaN stands for a missing number."""
    X = np.zeros((len(frame), raw[-1].stop))
    known = np.ones((len(frame), len(raw)), dtype=np.bool_)
    for c, column in enumerate(raw):
        series = frame[column.name]
        if column.group is None:
            X[:, column.start], known[:, c] = numbers_in(series)
            continue
        codes = positions_of(series, column.labels)
        known[:, c] = codes >= 0
        rows = np.flatnonzero(codes >= 0)
        X[rows, column.start + codes[rows]] = 1.0
    return X, known


def numbers_in(series: pd.Series) -> tuple[Floats, Bools]:
    """The values as float64, NaN where they are missing, and True where they are numbers or missing."""
    if pd.api.types.is_any_real_numeric_dtype(series) or pd.api.types.is_bool_dtype(series):
        return series.to_numpy(dtype=np.float64, na_value=np.nan), np.ones(len(series), dtype=np.bool_)
    values, known = np.full(len(series), np.nan), np.ones(len(series), dtype=np.bool_)
    for i, value in enumerate(series):
        if not is_missing(value):
            known[i] = isinstance(value, NUMBERS)
            if known[i]:
                values[i] = number(value, f"column {series.name!r}")
    return values, known


def one_row(raw: Sequence[RawColumn], values: Sequence[object], what: str) -> tuple[Floats, Bools]:
    """`to_inner` of a single row, given by its values in the order of the raw columns."""
    x, known = np.zeros((1, raw[-1].stop)), np.ones((1, len(raw)), dtype=np.bool_)
    for c, (column, value) in enumerate(zip(raw, values, strict=True)):
        if column.group is None:
            known[0, c] = is_missing(value) or isinstance(value, NUMBERS)
            x[0, column.start] = (
                np.nan if is_missing(value) or not known[0, c] else number(value, f"{what}, column {column.name!r}")
            )
            continue
        code = position_of(value, column.labels)
        known[0, c] = code >= 0
        x[0, column.start + max(code, 0)] = 1.0
    return x, known


@dataclass(frozen=True)
class Given:
    """What was handed in, for messages: where a value stands and what it is."""

    raw: tuple[RawColumn, ...]
    value: Callable[[int, int], object]  # of a row and a raw column, by position
    place: Callable[[int], str]  # of a row

    def error(self, i: int, c: int, text: str) -> InputError:
        return InputError(f"{self.place(i)}, column {self.raw[c].name!r}: {text}")


def check_values(
    features: Sequence[Feature], groups: Sequence[Group], given: Given, X: Floats, known: Bools, allow_missing: bool
) -> None:
    """Raise for the first value, column by column, that has no place in the space."""
    for c, column in enumerate(given.raw):
        for i in np.flatnonzero(~known[:, c])[:1]:
            value = given.value(i, c)
            text = (
                f"{value!r} is not a number; this column holds numbers"
                if column.group is None
                else _unseen(value, column)
            )
            raise given.error(i, c, text)
        if column.group is None:
            _check_numbers(features[column.start], X[:, column.start], given, c, allow_missing)
    position = {feature.name: f for f, feature in enumerate(features)}
    for group in groups:
        ones = X[:, [position[member] for member in group.members]].sum(axis=1)
        for i in np.flatnonzero(ones != 1.0)[:1]:
            raise InputError(
                f"{given.place(i)}, one-hot group {group.name!r}: exactly one of {listed(group.members)} must be 1, "
                f"here {ones[i]:g} are; an unseen category cannot be explained"
            )


def _check_numbers(feature: Feature, values: Floats, given: Given, c: int, allow_missing: bool) -> None:
    absent = np.isnan(values)
    for i in np.flatnonzero(np.isinf(values) | (absent & (not allow_missing)))[:1]:
        cure = NO_MISSING if absent[i] else "give a finite number"
        raise given.error(i, c, f"{values[i]} is not a finite number; {cure}")
    if feature.kind is Kind.NUMERIC:
        return
    for i in np.flatnonzero(~absent & (values != np.floor(values)))[:1]:
        raise given.error(i, c, f"{values[i]} is not a whole number; round it or declare the column numeric")
    if feature.kind is Kind.BINARY:
        for i in np.flatnonzero(~absent & (values != 0.0) & (values != 1.0))[:1]:
            raise given.error(i, c, f"{values[i]} is neither 0 nor 1; declare the column integer if it counts")


def _unseen(value: object, column: RawColumn) -> str:
    if is_missing(value):
        return (
            "the category is missing, and it was in no row that the space was made from; "
            f"give one of {listed(label for label in column.labels if label is not None)}"
        )
    return f"{value!r} is not one of its categories; {similar(value, column.labels)}"
