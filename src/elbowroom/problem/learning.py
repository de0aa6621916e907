"""A space from data: which columns are numbers and which are categories, their bounds, scales and labels.

Columns of numbers (also where pandas holds them as objects) become features; bounds and scales come from the values that
are there. Columns of text, of pandas' category dtype and of mixed objects become labelled groups, with one category per
value seen and, if a value is missing in the data, a last one for that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from elbowroom.errors import InputError, warn
from elbowroom.numerics import Floats
from elbowroom.problem.decimals import learned_decimals
from elbowroom.problem.declared import NO_OWN_BOUNDS, Declared, limits_of
from elbowroom.problem.features import Feature, Group
from elbowroom.problem.kinds import Kind, Missing
from elbowroom.problem.labels import Category, category, inner_names, is_missing, is_whole, sorted_labels
from elbowroom.problem.one_hot import AUTO, CURE, FOUND, check_groups, declared_groups, found_groups
from elbowroom.problem.parsing import by_name, known_names, parse_enum
from elbowroom.problem.scales import Scale
from elbowroom.problem.tables import NUMBERS, numbers_in
from elbowroom.visible import listed

FEW_ROWS: Final = 20
DATES: Final = 'turn it into a number first, for example days since a fixed day: (frame["{}"] - pd.Timestamp("2000-01-01")).dt.days'


@dataclass(frozen=True)
class Wishes:
    """What a user says beside the data, as `Space.from_frame` takes it."""

    immutable: Iterable[str]
    increasing: Iterable[str]
    decreasing: Iterable[str]
    integer: Iterable[str]
    binary: Iterable[str]
    numeric: Iterable[str]
    categorical: Iterable[str]
    one_hot: object
    bounds: object
    scale: object
    weights: object
    units: object
    missing: object


@dataclass(frozen=True)
class Learnt:
    """What a table and the user's wishes come to."""

    features: tuple[Feature, ...]
    groups: tuple[Group, ...]
    notes: dict[str, str]  # on columns and groups
    measure: Scale | None  # None: the user gave scales of his own


def learn(frame: pd.DataFrame, wishes: Wishes) -> Learnt:
    names = _names_of(frame)
    if len(frame) == 0:
        raise InputError("the frame has no rows; bounds and scales cannot be read from it")
    said = known_names(wishes.categorical, names, "categorical")
    series = {name: frame.iloc[:, c].infer_objects() for c, name in enumerate(names)}
    labels = {
        name: labels_of(values, name) for name, values in series.items() if name in said or is_categorical(values, name)
    }
    one_hot = declared_groups(wishes.one_hot, names)
    found = _find_groups(wishes, names, series, labels) if isinstance(wishes.one_hot, str) else {}
    declared = Declared.of(
        names,
        one_hot | found,
        fixed=wishes.immutable,
        increasing=wishes.increasing,
        decreasing=wishes.decreasing,
        integer=wishes.integer,
        binary=wishes.binary,
        numeric=wishes.numeric,
        categorical=labels,
    )
    reading = _Reading.of(names, declared, wishes)
    features: list[Feature] = []
    groups = [Group(g, members, reading.price(g)) for g, members in declared.groups.items()]
    inner = inner_names([(name, labels.get(name)) for name in names])
    for name, members in zip(names, inner, strict=True):
        if name in labels:
            features += reading.members(name, members)
            dtype = isinstance(series[name].dtype, pd.CategoricalDtype)
            groups.append(Group(name, members, reading.price(name), labels[name], dtype))
        else:
            features.append(reading.feature(name, series[name]))
    if one_hot:
        numbers = {name: numbers_in(s)[0] for name, s in series.items() if name not in labels}
        check_groups(one_hot, numbers, frame.index)
    _remarks(features, series, reading)
    measure = None if reading.scales else reading.scale
    return Learnt(tuple(features), tuple(groups), dict.fromkeys(found, FOUND), measure)


def _find_groups(
    wishes: Wishes, names: Sequence[str], series: Mapping[str, pd.Series], labels: Mapping[str, object]
) -> dict[str, tuple[str, ...]]:
    """One-hot groups among the columns of which nothing else was said."""
    if wishes.one_hot != AUTO:
        raise InputError(f"one_hot={wishes.one_hot!r}: {CURE}")
    said = {
        name
        for what in ("integer", "numeric", "increasing", "decreasing")
        for name in known_names(getattr(wishes, what), names, what)
    }
    free = {name: numbers_in(s)[0] for name, s in series.items() if name not in labels and name not in said}
    return found_groups(free, names)


@dataclass(frozen=True)
class _Reading:
    """The wishes, checked against the names of the columns."""

    declared: Declared
    is_open: bool
    bounds: Mapping[str, Any]
    scale: Scale
    scales: Mapping[str, Any]
    prices: Mapping[str, Any]
    units: Mapping[str, Any]
    missing: Mapping[str, Missing]

    @classmethod
    def of(cls, names: Sequence[str], declared: Declared, wishes: Wishes) -> _Reading:
        bounds, scale = wishes.bounds, wishes.scale
        if not isinstance(bounds, Mapping) and bounds not in ("data", "none"):
            raise InputError(
                f'bounds={bounds!r} is unknown; use "data", "none" or a mapping from column to (low, high)'
            )
        own_bounds = by_name({} if isinstance(bounds, str) else bounds, names, "bounds")
        own_scale = by_name({} if isinstance(scale, (str, Scale)) else scale, names, "scale")
        for what, given, cure in (
            ("bounds", own_bounds, "leave it out"),
            ("scale", own_scale, "weights= says what a change of it costs"),
        ):
            for name in sorted(set(given) & declared.categorical):
                raise InputError(f"{what}: column {name!r} holds categories and has no {what}; {cure}")
        return cls(
            declared=declared,
            is_open=bounds == "none",
            bounds=own_bounds,
            scale=_scale(scale) if isinstance(scale, (str, Scale)) else Scale.USUAL,
            scales=own_scale,
            prices=by_name(wishes.weights or {}, [*names, *declared.groups], "weights"),
            units=by_name(wishes.units or {}, names, "units"),
            missing=_missing(wishes.missing, names),
        )

    def price(self, name: str) -> float:
        """What a change of category, or of a yes or no, costs."""
        return self.prices.get(name, self.scale.category_price)  # type: ignore[no-any-return]

    def feature(self, name: str, series: pd.Series) -> Feature:
        """A column of numbers; what is missing in it tells nothing."""
        values = present_numbers(series, name)
        kind = self.declared.kind(name, series, values)
        low, high = limits_of(name, kind, values, self.is_open, self.bounds.get(name, NO_OWN_BOUNDS))
        spread = self.scale.spread(values)
        return Feature(
            name,
            kind,
            low,
            high,
            immutable=name in self.declared.fixed,
            direction=self.declared.direction(name),
            scale=self.scales.get(name, spread if spread > 0 and math.isfinite(spread) else 1.0),
            weight=self.price(name) if kind is Kind.BINARY else self.prices.get(name, 1.0),
            unit=self.units.get(name),
            missing=self.missing[name],
            typical=_typical(values) if self.missing[name] is Missing.FILL else None,
            decimals=learned_decimals(values, spread) if kind is Kind.NUMERIC else None,
        )

    def members(self, name: str, inner: Sequence[str]) -> list[Feature]:
        """The 0/1 columns of a column of categories; the only category there is stays what it is."""
        return [
            Feature(
                member,
                Kind.BINARY,
                1.0 if len(inner) == 1 else 0.0,
                1.0,
                immutable=name in self.declared.fixed,
                unit=self.units.get(name),
                missing=self.missing[name],
            )
            for member in inner
        ]


def _names_of(frame: object) -> list[str]:
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            f"Space.from_frame takes a pandas DataFrame, not {type(frame).__name__}; for an array use Space.plain(names)"
        )
    names = [str(c) for c in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if twice:
        raise InputError(f"column names must differ; {twice} occur more than once")
    return names


def _scale(given: str | Scale) -> Scale:
    try:
        return Scale(given)
    except ValueError:
        known = ", ".join(f'"{scale.value}"' for scale in Scale)
        raise InputError(f"scale={given!r} is unknown; use {known} or a mapping from column to number") from None


def _missing(given: object, names: Sequence[str]) -> dict[str, Missing]:
    if isinstance(given, Mapping):
        own = {
            name: parse_enum(Missing, how, f"missing[{name!r}]")
            for name, how in by_name(given, names, "missing").items()
        }
        return {name: own.get(name, Missing.KEEP) for name in names}
    if not isinstance(given, (str, Missing)):
        raise InputError(f'missing={given!r}: use "keep", "may be filled" or a mapping from column to one of them')
    return dict.fromkeys(names, parse_enum(Missing, given, "missing"))


# ---- columns of data ------------------------------------------------------------------------------------------------
def is_categorical(series: pd.Series, name: str) -> bool:
    """False for numbers, True for categories; times and the like are refused."""
    types = pd.api.types
    if isinstance(series.dtype, pd.CategoricalDtype) or types.is_bool_dtype(series):
        return isinstance(series.dtype, pd.CategoricalDtype)
    if types.is_any_real_numeric_dtype(series):
        return False
    present = [value for value in distinct_values(series) if not is_missing(value)]
    if types.is_datetime64_any_dtype(series) or any(hasattr(value, "toordinal") for value in present):
        raise InputError(f"column {name!r} holds dates ({series.dtype}); {DATES.format(name)}")
    if not (types.is_object_dtype(series) or types.is_string_dtype(series)):
        cure = (
            "turn it into a number first, for example .dt.total_seconds()"
            if types.is_timedelta64_dtype(series)
            else ("turn it into numbers or text first")
        )
        raise InputError(f"column {name!r} holds {series.dtype} values; {cure}")
    if not present:
        raise InputError(f"column {name!r} holds no value at all, every row is missing; leave it out")
    return any(isinstance(value, (bool, np.bool_)) or not isinstance(value, NUMBERS) for value in present)


def distinct_values(series: pd.Series) -> list[Any]:
    """The values that occur, each once, in the order of their first occurrence; all of them if they cannot be hashed."""
    try:
        return list(pd.unique(series))
    except TypeError:
        return list(series)


def labels_of(series: pd.Series, name: str) -> tuple[Category, ...]:
    """The categories of a column: those that occur, in the order of their dtype or sorted; None last if one is missing."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        counts = series.value_counts(sort=False)
        seen = [value for value in series.cat.categories if counts[value] > 0]
        labels = tuple(category(value, f"column {name!r}") for value in seen)
    else:
        try:
            labels = sorted_labels(dict.fromkeys(category(value, "") for value in distinct_values(series)))
        except InputError:
            for place, value in zip(series.index, series, strict=True):
                category(value, f"column {name!r}, row {place!r}")
            raise
    if not labels:
        raise InputError(f"column {name!r} holds no value at all, every row is missing; leave it out")
    return (*labels, None) if bool(series.isna().any()) else labels


def present_numbers(series: pd.Series, name: str) -> Floats:
    """The values that are there, all finite."""
    values, _ = numbers_in(series)
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        i = infinite[0]
        raise InputError(
            f"column {name!r}, row {series.index[i]!r}: {values[i]} is not a finite number; leave the row out"
        )
    present = values[~np.isnan(values)]
    if present.size == 0:
        raise InputError(f"column {name!r} holds no value at all, every row is missing; leave it out")
    return present


def _typical(values: Floats) -> float:
    """The median of what is there; one of the values, so that whole numbers stay whole."""
    return float(np.quantile(values, 0.5, method="lower"))


# ---- what is seldom meant -------------------------------------------------------------------------------------------
def _remarks(features: Sequence[Feature], series: Mapping[str, pd.Series], reading: _Reading) -> None:
    rows = len(next(iter(series.values())))
    if rows < FEW_ROWS and not reading.is_open:
        learnt = [
            f.name for f in features if f.name in series and f.kind is not Kind.BINARY and f.name not in reading.bounds
        ]
        if learnt:
            warn(
                f"the bounds of {listed(learnt)} are learned from {rows} rows only, so answers stay within them; "
                'give more rows, or bounds={"name": (low, high)}, or bounds="none"'
            )
    said = reading.declared.integer | reading.declared.numeric
    whole = [
        f.name
        for f in features
        if f.kind is Kind.NUMERIC
        and not f.immutable
        and f.name not in said
        and f.lower < f.upper
        and is_whole(present_numbers(series[f.name], f.name))
    ]
    if whole:
        warn(
            f"the columns {listed(whole)} hold whole numbers as floats and are taken as numbers with decimals, so that an "
            f"answer may say 2.5; declare integer={listed(whole)}, or numeric={listed(whole)} if decimals are meant"
        )
