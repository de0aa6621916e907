"""Categories in the user's own words: what a label may be, and what the inner 0/1 column of each is called."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.numerics import Floats, Ints
from elbowroom.problem.parsing import is_sequence
from elbowroom.visible import listed

Category: TypeAlias = "str | int | float | bool | None"  # None: the value is missing
MISSING_NAME = "missing"


def is_missing(value: object) -> bool:
    """None, NaN, pd.NA and NaT, each of which says that a table holds no value there."""
    return (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, (float, np.floating)) and value != value)
    )


def category(value: object, what: str) -> Category:
    """A category as a plain Python value."""
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, int, float)):
        return value
    raise InputError(
        f"{what}: {value!r} is a {type(value).__name__}; categories are text, numbers or truth values: "
        "turn the column into text with .astype(str)"
    )


def checked_labels(labels: object, count: int, what: str) -> tuple[Category, ...]:
    """One category per member, all different: 1, 1.0 and True are the same."""
    if not is_sequence(labels):
        raise InputError(f"{what}: labels={labels!r}: give a list of categories")
    plain = tuple(category(label, f"{what}, label") for label in labels)  # type: ignore[attr-defined]
    if len(plain) != count:
        raise InputError(f"{what}: {len(plain)} labels for {count} members; give one per member")
    if len(set(plain)) < len(plain):
        twice = [label for i, label in enumerate(plain) if label in plain[:i]]
        raise InputError(f"{what}: the labels {listed(twice)} occur more than once")
    return plain


def sorted_labels(values: Iterable[Category]) -> tuple[Category, ...]:
    """In ascending order, as encoders keep them, where they can be compared, else as they come; without None."""
    present = [value for value in values if value is not None]
    try:
        ordered = sorted(present)
    except TypeError:
        ordered = present
    return tuple(ordered)


def member_names(column: str, labels: Sequence[Category], taken: Collection[str] = ()) -> tuple[str, ...]:
    """The inner columns of a raw one: housing=own, housing=missing; unlike each other and unlike ``taken``."""
    plain = [f"{column}={MISSING_NAME if label is None else label}" for label in labels]
    names: list[str] = []
    for name, label in zip(plain, labels, strict=True):
        if plain.count(name) > 1 and label is not None:  # 1 and '1'
            name = f"{column}={label!r}"
        while name in taken or name in names:
            name += "'"
        names.append(name)
    return tuple(names)


def inner_names(columns: Sequence[tuple[str, Sequence[Category] | None]]) -> tuple[tuple[str, ...], ...]:
    """The inner columns of each raw column, given its name and its categories (None: a number)."""
    taken = {name for name, _ in columns}
    inner = []
    for name, labels in columns:
        names = (name,) if labels is None else member_names(name, labels, taken)
        taken |= set(names)
        inner.append(names)
    return tuple(inner)


def label_series(labels: Sequence[Category], codes: Ints, pandas_category: bool) -> pd.Series:
    """The labels with these positions as pandas would hold them, whatever subset of the labels occurs. A missing one is NaN,
    as in tables read from files and in the category dtype: encoders tell None from it."""
    if pandas_category:
        kept = [i for i, label in enumerate(labels) if label is not None]
        place = np.full(len(labels), -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        dtype = pd.CategoricalDtype([labels[i] for i in kept])
        return pd.Series(pd.Categorical.from_codes(place[codes], dtype=dtype))
    inexact = None in labels and any(isinstance(v, int) and abs(v) > 2**53 for v in labels)  # floats would round them
    values = [np.nan if label is None else label for label in labels]
    known = pd.Series(values, dtype=object) if inexact else pd.Series(values)
    return known.take(codes).reset_index(drop=True)


def positions_of(series: pd.Series, labels: Sequence[Category]) -> Ints:
    """The position of each value among the labels; -1 for a value that is none of them."""
    place = {label: i for i, label in enumerate(labels)}
    try:
        codes, values = pd.factorize(series, use_na_sentinel=True)
    except TypeError:  # a value that cannot be hashed
        return np.array([_place(value, place) for value in series], dtype=np.int64)
    return np.array([*(_place(value, place) for value in values), place.get(None, -1)], dtype=np.int64)[codes]


def position_of(value: object, labels: Sequence[Category]) -> int:
    """The position of a value among the labels, -1 if it is none of them; 1, 1.0 and True are the same."""
    return _place(value, {label: i for i, label in enumerate(labels)})


def _place(value: object, place: dict[Category, int]) -> int:
    if is_missing(value):
        return place.get(None, -1)
    if isinstance(value, np.generic):
        value = value.item()
    return place.get(value, -1) if isinstance(value, (str, bool, int, float)) else -1


def similar(value: object, labels: Sequence[Category]) -> str:
    """What to say about a value that is none of the labels: the closest of them, or all."""
    import difflib

    present = [label for label in labels if label is not None]
    for label in present:
        if str(label) == str(value) or (isinstance(value, str) and str(label).casefold() == value.strip().casefold()):
            return f"did you mean {label!r}?"
    close = difflib.get_close_matches(str(value), [str(label) for label in present], n=1)
    if close:
        return f"did you mean {next(label for label in present if str(label) == close[0])!r}?"
    return f"the categories are {listed(present)}"


def is_whole(values: Floats) -> bool:
    """Whole numbers only, and small enough that not every float is one."""
    return bool(((values == np.floor(values)) & (np.abs(values) < 2.0**53)).all())
