"""Tables half way: what arrives between two steps of a pipeline, and rows that show it.

A step that mixes columns (PCA) needs to know what its columns hold for every category, and where a number is missing. Rows
that differ in one category, or lack one number, are passed through the originals' own transforms up to that step.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from elbowroom.importers.inputs import Inputs
from elbowroom.numerics import Floats

_USUAL: Final = (0.0, 1.0, 0.5, -1.0)  # tried as a row that every step accepts


def neutral_row(inputs: Inputs, accepted: Callable[[Floats], bool]) -> Floats:
    """An inner row that is accepted: the same usual number everywhere, the first category of every column."""
    for number in _USUAL:
        row = np.zeros(inputs.width)
        row[inputs.starts[:-1]] = np.where(inputs.is_number, number, 1.0)
        try:
            if accepted(row[None]):
                return row
        except ValueError:
            continue
    return row


def category_rows(inputs: Inputs, neutral: Floats) -> Floats:
    """(inner columns, inner columns): for every category the neutral row with it; rows of numbers are not meant."""
    rows = np.broadcast_to(neutral, (inputs.width, inputs.width)).copy()
    for members in inputs.groups:
        rows[np.ix_(members, members)] = np.eye(members.size)
    return rows


def missing_rows(inputs: Inputs, neutral: Floats) -> Floats:
    """(raw columns, inner columns): for every number the neutral row without it; rows of categories are not meant."""
    rows = np.broadcast_to(neutral, (len(inputs.columns), inputs.width)).copy()
    numbers = np.flatnonzero(inputs.is_number)
    rows[numbers, inputs.starts[numbers]] = np.nan
    return rows


def _then(table: Callable[[Floats], Any], change: Callable[[Any], Any], rows: Floats) -> Any:
    return change(table(rows))


@dataclass(frozen=True, eq=False)
class Midway:
    """``table``: what arrives here of inner rows."""

    inputs: Inputs
    table: Callable[[Floats], Any]

    def behind(self, change: Callable[[Any], Any]) -> Midway:
        """Behind one more step, or a choice of columns."""
        return Midway(self.inputs, partial(_then, self.table, change))  # not a closure: explainers travel

    def numbers(self, rows: Floats) -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown categories and overflow are expected here
            table = self.table(rows)
        return np.asarray(table.toarray() if hasattr(table, "toarray") else table, dtype=np.float64)

    @cached_property
    def _neutral(self) -> Floats:
        return neutral_row(self.inputs, lambda row: bool(np.isfinite(self.numbers(row)).all()))

    @cached_property
    def by_category(self) -> Floats:
        """(inner columns, columns here): what every category becomes."""
        return self.numbers(category_rows(self.inputs, self._neutral))

    @cached_property
    def at_missing(self) -> Floats | None:
        """(raw columns, columns here): what a missing number becomes; None if the steps so far refuse it."""
        try:
            return self.numbers(missing_rows(self.inputs, self._neutral))
        except ValueError:
            return None
