"""Raw columns and inner columns: what the original takes, and what the parsed model computes with.

The original takes a table: numbers, and categories in the user's own words. The parsed model takes *inner* columns, all
float64. A number is one inner column of the same name. A column with C categories is a one-hot group of C inner columns
``housing=own``, ``housing=rent``, ... of which exactly one is 1. `Inputs.table` leads back: inner rows become the table that
the original's own ``predict`` is asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.problem.labels import Category, inner_names, label_series, positions_of


@dataclass(frozen=True)
class Column:
    """One raw column: a number, or one of some categories as they stand in the table (None: a missing one)."""

    name: str
    categories: tuple[Category, ...] | None = None
    pandas_category: bool = False  # the original wants pandas' category dtype


@dataclass(frozen=True)
class Columns:
    """What an original expects: its raw columns; ``own_names`` if it was fitted on a frame and knows them by name.
    ``underscores``: its library wrote one for every blank in a name."""

    columns: tuple[Column, ...]
    own_names: bool
    underscores: bool = False

    @classmethod
    def numbers(cls, count: int, names: tuple[str, ...] | None) -> Columns:
        """Numbers only, named by the original or x0, x1, ..."""
        return cls(tuple(Column(name) for name in names or (f"x{i}" for i in range(count))), names is not None)

    @property
    def count(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def named(self, names: object) -> Columns:
        """With the given names where the original has none of its own."""
        if names is None:
            return self
        given = tuple(str(name) for name in _listed(names))
        if len(given) != self.count:
            raise InputError(f"{len(given)} names for a model with {self.count} columns; give one name per column")
        if self.own_names and given != self.names and self.as_written(given) != given:
            position = next(i for i, (a, b) in enumerate(zip(given, self.names, strict=True)) if a != b)
            raise InputError(
                f"column {position}: the given name {given[position]!r} is not the model's own {self.names[position]!r}; "
                "leave names out, or give the columns in the order in which the model was fitted"
            )
        renamed = (replace(c, name=name) for c, name in zip(self.columns, given, strict=True))
        return replace(self, columns=tuple(renamed))

    def as_written(self, given: Iterable[object]) -> tuple[str, ...]:
        """The names, with the blanks that a table has in them."""
        written = {str(name).replace(" ", "_"): str(name) for name in given} if self.underscores else {}
        exact = set(written.values())
        return tuple(name if name in exact else written.get(name, name) for name in self.names)

    def with_categories(self, known: Mapping[str, tuple[Category, ...]]) -> Columns:
        """Columns that the original takes for numbers, but the caller for categories: their labels are numbers, or the
        original does not look at them (see `refuse_words`)."""
        told = []
        for column in self.columns:
            labels = known.get(column.name)
            if column.categories is None and labels is not None:
                column = replace(column, categories=labels)
            told.append(column)
        return replace(self, columns=tuple(told))

    def refuse_words(self, original: Columns, used: set[int]) -> None:
        """Raise if a column that the original takes for a number, and looks at, holds words."""
        for v, (column, own) in enumerate(zip(self.columns, original.columns, strict=True)):
            wrong = [label for label in column.categories or () if not _is_number(label)]
            if own.categories is None and wrong and v in used:
                raise InputError(
                    f"column {column.name!r}: the model takes it for a number, the table holds the category "
                    f"{wrong[0]!r}; give the table that the model was fitted on"
                )

    def without_missing(self, position: int) -> Columns:
        """The same, but one column has no category for a missing value."""
        columns = list(self.columns)
        labels = columns[position].categories or ()
        columns[position] = replace(columns[position], categories=tuple(label for label in labels if label is not None))
        return replace(self, columns=tuple(columns))


def _is_number(label: Category) -> bool:
    return label is None or isinstance(label, (bool, int, float, np.integer, np.floating, np.bool_))


def _listed(names: object) -> list[object]:
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise InputError(f"names={names!r}: give a list with one name per column")
    return list(names)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The raw columns with their places among the inner ones. ``as_frame``: the original is handed a frame."""

    columns: tuple[Column, ...]
    as_frame: bool

    @classmethod
    def of(cls, columns: Columns) -> Inputs:
        return cls(columns.columns, columns.own_names or any(c.pandas_category for c in columns.columns))

    @classmethod
    def numbers(cls, names: tuple[str, ...]) -> Inputs:
        """Numbers of these names, handed over as an array."""
        return cls(tuple(Column(name) for name in names), as_frame=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the inner columns."""
        inside = inner_names([(c.name, c.categories) for c in self.columns])
        return tuple(name for names in inside for name in names)

    @cached_property
    def starts(self) -> Ints:
        """Inner columns of raw column v: starts[v] : starts[v + 1]."""
        sizes = [1 if c.categories is None else len(c.categories) for c in self.columns]
        return np.cumsum([0, *sizes], dtype=np.int64)

    @property
    def width(self) -> int:
        """Number of inner columns."""
        return len(self.names)

    @cached_property
    def is_number(self) -> Bools:
        """For every raw column."""
        return np.array([c.categories is None for c in self.columns], dtype=np.bool_)

    @cached_property
    def plain(self) -> bool:
        """True if raw and inner columns are the same."""
        return bool(self.is_number.all())

    @cached_property
    def groups(self) -> tuple[Ints, ...]:
        """Inner columns of every raw column with categories."""
        return tuple(self.members(int(v)) for v in np.flatnonzero(~self.is_number))

    def members(self, variable: int) -> Ints:
        """Inner columns of one raw column."""
        return np.arange(self.starts[variable], self.starts[variable + 1])

    def table(self, X: Floats) -> Any:
        """The rows as the original saw them at fitting: a fresh frame or array (some scalers overwrite their input)."""
        fresh = np.array(X, dtype=np.float64)
        if self.plain:
            return pd.DataFrame(fresh, columns=[c.name for c in self.columns]) if self.as_frame else fresh
        made = {c.name: self._raw(v, c, fresh) for v, c in enumerate(self.columns)}
        if self.as_frame:
            return pd.DataFrame(made, copy=False)
        arrays = [np.asarray(column) for column in made.values()]
        numbers = all(array.dtype.kind in "fiub" for array in arrays)
        stacked = np.empty((len(fresh), len(arrays)), dtype=np.float64 if numbers else object)
        for v, array in enumerate(arrays):
            stacked[:, v] = array
        return stacked

    def _raw(self, variable: int, column: Column, X: Floats) -> pd.Series:
        if column.categories is None:
            return pd.Series(X[:, self.starts[variable]])
        chosen = np.argmax(X[:, self.members(variable)], axis=1)
        return label_series(column.categories, chosen, column.pandas_category)

    def settled(self, X: Floats) -> Floats:
        """The rows with every group made one-hot: its largest entry becomes the 1."""
        X = np.array(X, dtype=np.float64)
        for members in self.groups:
            chosen = np.argmax(X[:, members], axis=1)
            X[:, members] = np.eye(members.size)[chosen]
        return X

    def inner(self, rows: object) -> Floats:
        """Inner rows of a table; rows with a category that the model does not know are left out."""
        table = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(np.atleast_2d(np.asarray(rows)))
        found, known = np.zeros((len(table), self.width)), np.ones(len(table), dtype=np.bool_)
        for v, column in enumerate(self.columns):
            series = table.iloc[:, v]
            if column.categories is None:
                found[:, self.starts[v]] = pd.to_numeric(series).to_numpy(dtype=np.float64, na_value=np.nan)
                continue
            codes = positions_of(series, column.categories)
            known &= codes >= 0
            found[np.arange(len(table)), self.starts[v] + np.maximum(codes, 0)] = 1.0
        return found[known]
