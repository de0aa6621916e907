"""What rules come down to: the few kinds of condition that a search has to understand.

    rows          low <= a . x <= high                          a linear form of the centre lies between two numbers
    most_changes  #{features and groups that differ} <= k       few changes; several limits leave the smallest
    steps         x_f = origin + k * step, k whole              a column takes values on a grid
    clauses       x_f <= t  or  x_g >= s  or  ...               at least one of several half-lines of centres holds

Every rule is lowered to these once (`RecourseProblem.conditions`). An engine reads them instead of the rules and says
with `Takes` which kinds it knows; `Conditions.beyond` names the first one that it does not. All of them are about the
centre alone: the room around it is free to break them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Final

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem.space import Space

ROW_SLACK: Final = 1e-9  # a row may be missed by this share of the size of its terms, sum |a_f x_f|: their rounding
NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True, eq=False)
class Row:
    """low <= coefficients . x <= high, up to the rounding of its terms."""

    coefficients: Floats  # (columns,)
    low: float
    high: float
    source: str  # the rule that asks for it, by name and in words

    def holds(self, center: Floats) -> bool:
        slack = ROW_SLACK * float(np.abs(self.coefficients) @ np.abs(center))
        return self.low - slack <= float(self.coefficients @ center) <= self.high + slack


@dataclass(frozen=True)
class Grid:
    """x_column is the float nearest to origin + k * step for some whole k."""

    column: int
    origin: float
    step: float  # > 0
    source: str

    def holds(self, center: Floats) -> bool:
        value, origin, step = Fraction(float(center[self.column])), Fraction(self.origin), Fraction(self.step)
        return float(origin + round((value - origin) / step) * step) == float(value)


class Side(Enum):
    """On which side of its threshold a half-line lies; the threshold belongs to it."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


@dataclass(frozen=True)
class HalfLine:
    """x_column <= threshold, or x_column >= threshold."""

    column: int
    side: Side
    threshold: float

    def holds(self, center: Floats) -> bool:
        value = float(center[self.column])
        return value <= self.threshold if self.side is Side.AT_MOST else value >= self.threshold


@dataclass(frozen=True)
class Clause:
    """At least one of the half-lines holds."""

    options: tuple[HalfLine, ...]
    source: str

    def holds(self, center: Floats) -> bool:
        return any(option.holds(center) for option in self.options)


@dataclass(frozen=True)
class Takes:
    """Which kinds of condition an engine understands."""

    rows: bool = False
    most_changes: bool = False
    steps: bool = False
    clauses: bool = False


@dataclass(frozen=True, eq=False)
class Conditions:
    """All conditions on the centre besides limits, whole numbers and one-hot groups; see the module."""

    rows: tuple[Row, ...] = field(default=())
    most_changes: int | None = None
    steps: tuple[Grid, ...] = field(default=())
    clauses: tuple[Clause, ...] = field(default=())

    @classmethod
    def merged(cls, parts: Iterable[Conditions]) -> Conditions:
        """All of them together."""
        listed = list(parts)
        limits = [part.most_changes for part in listed if part.most_changes is not None]
        return cls(
            rows=tuple(row for part in listed for row in part.rows),
            most_changes=min(limits, default=None),
            steps=tuple(grid for part in listed for grid in part.steps),
            clauses=tuple(clause for part in listed for clause in part.clauses),
        )

    def broken_by(self, space: Space, factual: Floats, center: Floats) -> str | None:
        """The first condition that a centre breaks, in words; None if it obeys all. Exact; rows to rounding."""
        if self.most_changes is not None:
            changes = int(space.changed(factual, center).sum())
            if changes > self.most_changes:
                return f"{_source_of_limit(self.most_changes)} is broken: {changes} change"
        for row in self.rows:
            if not row.holds(center):
                return f"{row.source} is broken: the sum is {float(row.coefficients @ center)!r}"
        for grid in self.steps:
            if not grid.holds(center):
                return f"{grid.source} is broken by column {space.names[grid.column]!r}: {center[grid.column]}"
        for clause in self.clauses:
            if not clause.holds(center):
                columns = sorted({option.column for option in clause.options})
                there = ", ".join(f"{space.names[f]} = {center[f]}" for f in columns)
                return f"{clause.source} is broken: {there}"
        return None

    def beyond(self, takes: Takes) -> str | None:
        """What an engine does not take: the kind of condition and the rule that asks for it; None if it takes all."""
        return next(self._all_beyond(takes), None)

    def _all_beyond(self, takes: Takes) -> Iterator[str]:
        if not takes.most_changes and self.most_changes is not None:
            yield f"a limit on the number of changes: {_source_of_limit(self.most_changes)}"
        for name, taken, parts in (
            ("linear rows", takes.rows, self.rows),
            ("steps", takes.steps, self.steps),
            ("clauses", takes.clauses, self.clauses),
        ):
            if not taken:
                yield from (f"{name}: {part.source}" for part in parts)


def changes_in_words(most: int) -> str:
    """no feature changes; at most one feature changes; at most two features change."""
    if most == 0:
        return "no feature changes"
    number = NUMBERS[most - 1] if most <= len(NUMBERS) else f"{most:,}"
    return f"at most {number} {'feature changes' if most == 1 else 'features change'}"


def _source_of_limit(most: int) -> str:
    return f"AtMost ({changes_in_words(most)})"
