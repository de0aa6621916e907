"""What lies between the raw columns and a model: scalers, encoders and column selections, folded exactly.

`Trace` says what every transformed column is made of. Cuts on a column that depends on one raw number become cuts on that
number by bisection through the original's own ``transform``; cuts on a column that depends on one raw category become sets
of categories; weights are multiplied out, with every rounding counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Column, Inputs
from elbowroom.importers.midway import category_rows, missing_rows, neutral_row
from elbowroom.importers.stages import Stage, inside, last_inside, rank_within, steps_back, through
from elbowroom.importers.trace import Trace, Way
from elbowroom.models.linear import Affine
from elbowroom.numerics import BIGGEST, Bools, Floats, Ints, gamma, last_float_where, next_up
from elbowroom.problem.labels import Category


@dataclass(frozen=True, eq=False)
class Preprocessing:
    """The raw columns and the stages in front of the model that is being read.

    ``takes`` are the columns of that model; a column of categories that reaches it as it is becomes the library's own code:
    that of ``codes``, else the position among the categories that the model knows, else the number that the label is.
    """

    inputs: Inputs
    stages: tuple[Stage, ...] = ()
    takes: tuple[Column, ...] | None = None
    codes: Mapping[int, Mapping[Category, float]] = field(default_factory=dict)
    sparse: bool = False  # the model is handed a sparse table, whose zeros some libraries take for missing numbers

    @classmethod
    def of_numbers(cls, names: tuple[str, ...]) -> Preprocessing:
        """Nothing between raw numbers and the model."""
        return cls(Inputs.numbers(names))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the inner columns."""
        return self.inputs.names

    @property
    def width(self) -> int:
        return self.inputs.width

    def behind(self, stage: Stage) -> Preprocessing:
        return replace(self, stages=(*self.stages, stage))

    def before(self, takes: tuple[Column, ...], codes: Mapping[int, Mapping[Category, float]]) -> Preprocessing:
        """In front of a model with these columns."""
        return replace(self, takes=takes, codes=codes)

    @cached_property
    def trace(self) -> Trace:
        trace = Trace.of(self.inputs)
        for stage in self.stages:
            trace = through(stage, trace)
        return trace

    @property
    def untouched(self) -> bool:
        """True if the model sees the inner columns as they are."""
        return not self.stages and self.inputs.plain

    def apply(self, X: Floats) -> Floats:
        """The transformed rows of inner rows, by the original's own transforms."""
        if self.untouched:
            return X
        table = self.inputs.table(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown categories and overflow are expected here
            for stage in self.stages:
                table = stage.apply(table)
        return self._numbers(table)

    def _numbers(self, table: Any) -> Floats:
        if hasattr(table, "toarray"):
            table = table.toarray()
        if isinstance(table, np.ndarray) and table.dtype != object:
            return np.asarray(table, dtype=np.float64)
        frame = pd.DataFrame(table)
        found = [self._column(j, frame.iloc[:, j]) for j in range(frame.shape[1])]
        return np.stack(found, axis=1) if found else np.empty((len(frame), 0))

    def _column(self, j: int, series: pd.Series) -> Floats:
        takes = None if self.takes is None or j >= len(self.takes) else self.takes[j]
        known = self.codes.get(j)
        if known is None and takes is not None and takes.categories is not None:
            known = {label: float(i) for i, label in enumerate(takes.categories) if label is not None}
        if known is not None:
            return np.array([known.get(label, np.nan) for label in series.astype(object)], dtype=np.float64)
        return pd.to_numeric(series.astype(object)).to_numpy(dtype=np.float64, na_value=np.nan)

    def source_name(self, model: object) -> str:
        """What was read, human-readable."""
        package = type(model).__module__.partition(".")[0]
        parts = [stage.description for stage in self.stages]
        name = type(model).__name__
        return f"{package} Pipeline({', '.join([*parts, name])})" if parts else f"{package} {name}"

    @cached_property
    def neutral(self) -> Floats:
        """An inner row that all stages accept: the same usual number everywhere, the first category of every column."""
        return neutral_row(self.inputs, lambda row: self._inside(row) and bool(np.isfinite(self.apply(row)).all()))

    @cached_property
    def tables(self) -> Floats:
        """(inner columns, transformed columns): the transformed row of each category, other columns being neutral; rows
        of numbers are not meant."""
        return self.apply(category_rows(self.inputs, self.neutral))

    def values_of(self, column: int) -> Floats:
        """What a transformed column holds for every category, or every bin, of its raw column."""
        v = int(self.trace.variable[column])
        if self.trace.way[column] == Way.LOOKED:
            return np.asarray(self.tables[self.inputs.members(v), column])
        return np.asarray(self._by_bin(v)[:, column])

    def _by_bin(self, variable: int) -> Floats:
        if variable not in self._bin_rows:
            cuts = self.trace.bins_of(variable, self.inputs.columns[variable].name)
            inside = np.append(cuts, next_up(cuts[-1]) if cuts.size else self.neutral[self.inputs.starts[variable]])
            rows = np.broadcast_to(self.neutral, (inside.size, self.width)).copy()
            rows[:, self.inputs.starts[variable]] = inside
            self._bin_rows[variable] = self.apply(rows)
        return self._bin_rows[variable]

    @cached_property
    def _bin_rows(self) -> dict[int, Floats]:
        return {}

    @cached_property
    def at_missing(self) -> Floats | None:
        """(raw columns, transformed columns): the transformed row where one raw number is missing; None if the stages
        refuse missing numbers. A number that stays missing is NaN."""
        try:
            return self.apply(missing_rows(self.inputs, self.neutral))
        except ValueError:
            return None

    @cached_property
    def domain(self) -> tuple[Floats, Floats]:
        """The smallest and largest number of every inner column at which all stages have a value: a logarithm has none
        below 0."""
        ends = np.full(self.width, -np.inf), np.full(self.width, np.inf)
        for v in np.unique(self.trace.variable[self.trace.way == Way.CURVE]):
            place = int(self.inputs.starts[v])
            for end, far in zip(ends, (-BIGGEST, BIGGEST), strict=True):
                end[place] = last_inside(self._inside, self.neutral, place, far)
        return ends

    def _inside(self, row: Floats) -> bool:
        """True if all stages have a value at one row."""
        table = self.inputs.table(row)
        for stage in self.stages:
            if not bool(inside(stage, table)[0]):
                return False
            table = stage.apply(table)
        return True

    def affine(self, weight: Floats, bias: Floats, model: str = "this model") -> Affine:
        """W t + b as a map of the inner columns."""
        if self.untouched:
            return Affine.exact(weight, bias)
        tables = self.tables if self.inputs.groups else np.empty((0, 0))
        folded = self.trace.affine(weight, bias, self.inputs, tables, model)
        return replace(folded, **self._missing_shares(np.asarray(weight, dtype=np.float64)))

    def _missing_shares(self, weight: Floats) -> dict[str, Any]:
        """What a missing number adds to W t + b instead of its own share."""
        values = self.at_missing
        mixed = self.trace.rows_of_mixtures
        if values is None or not self.stages or any(row.missing_value is None for row in mixed.values()):
            return {}
        share, error = np.full((2, len(weight), self.width), np.nan)
        slack = gamma(2 * weight.shape[1] + 16)
        for v in np.flatnonzero(self.inputs.is_number):
            mine = np.flatnonzero(self.trace.variable == v)
            offset = self.trace.offset[mine]  # of these columns is part of the bias
            share[:, self.inputs.starts[v]] = (weight[:, mine] * (values[v, mine] - offset)).sum(axis=1)
            size = np.abs(weight[:, mine]) * (np.abs(values[v, mine]) + np.abs(offset))
            error[:, self.inputs.starts[v]] = slack * size.sum(axis=1)
        for j, row in mixed.items():
            assert row.missing_value is not None and row.missing_error is not None
            share += weight[:, [j]] * row.missing_value
            error += np.abs(weight[:, [j]]) * (row.missing_error + slack * np.abs(row.missing_value))
        return {"missing_value": share, "missing_error": error} if np.isfinite(share).any() else {}

    def _guesses(
        self, columns: Ints, thresholds: Floats, goes_left: Callable[[Floats, Floats], Bools]
    ) -> Floats | None:
        """Where cuts on straight columns lie, up to rounding."""
        if not self.stages:
            return None
        seen = last_float_where(lambda t: goes_left(t, thresholds), len(columns))
        with np.errstate(divide="ignore"):
            guess = (seen - self.trace.offset[columns]) / self.trace.factor[columns]
        return np.where(self.trace.way[columns] == Way.STRAIGHT, guess, np.nan)

    def cuts(
        self, column: Ints, threshold: Floats, goes_left: Callable[[Floats, Floats], Bools]
    ) -> tuple[Ints, Floats, Bools]:
        """Inner column, exact cut and sense of every split on a column that depends on one raw number: x <= cut iff
        goes_left(transformed x, threshold), or iff not, where the column falls (``swapped``).

        All distinct splits are bisected at once. Candidates of different raw columns share the rows of one matrix,
        because every such column depends on its own raw column alone.
        """
        if not len(column):
            return column, threshold, np.zeros(0, dtype=np.bool_)
        pairs, where = np.unique(np.stack([column.astype(np.float64), threshold]), axis=1, return_inverse=True)
        columns, thresholds = pairs[0].astype(np.int64), pairs[1]
        raw = self.inputs.starts[self.trace.variable[columns]]
        falls = self.trace.sense[columns] < 0
        row = rank_within(raw)
        matrix = np.broadcast_to(self.neutral, (int(row.max()) + 1, self.width)).copy()

        def holds(candidate: Floats) -> Bools:
            if not self.stages:  # numbers reach the model as they are
                return goes_left(candidate, thresholds)
            matrix[row, raw] = candidate
            seen = self.apply(matrix)[row, columns]
            seen = np.where(np.isnan(seen), -BIGGEST, seen)  # below the domain of a logarithm or a root
            return np.asarray(goes_left(seen, thresholds) ^ falls)

        with np.errstate(over="ignore", invalid="ignore"):
            edge = last_float_where(holds, len(columns), near=self._guesses(columns, thresholds, goes_left))
            curved = np.flatnonzero((self.trace.way[columns] == Way.CURVE) & np.isfinite(edge))
            wrong = steps_back(holds, edge, curved)
        if wrong is not None:
            j = int(columns[wrong])
            raise UnsupportedModel(
                f"{self.trace.by[j]} is not monotone in floating point about a split on column "
                f"{self.inputs.columns[self.trace.variable[j]].name!r}; fit the model on the transformed column"
            )
        where = where.ravel()
        return raw[where], edge[where], falls[where]
