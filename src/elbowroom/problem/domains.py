"""Which values a single column may take: a closed set, asked for the nearest of its values on either side.

A domain is a union of closed intervals (points are intervals, too) and, perhaps, of a grid origin + k * step. Numbers of
a grid are meant as they are written: 0, 0.1, 0.2, 0.3 and so on are the floats of these decimals, not multiples of the
float 0.1. Several domains of one column, and whole numbers, leave what all of them hold: `Values`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats, next_value

Range: TypeAlias = "tuple[float, float]"  # closed; its ends belong to it
MOST_STEPS: Final = 20_000  # from one domain of a column to another, until they meet


def decimal(value: float) -> Fraction:
    """A float as it is written: the shortest decimal that reads back equal."""
    return Fraction(repr(float(value)))


@dataclass(frozen=True)
class Grid:
    """The floats nearest to origin + k * step for whole k, both read as decimals."""

    origin: float
    step: float  # > 0

    def at_or_below(self, x: float) -> float:
        return self._nearest(x, -1)

    def at_or_above(self, x: float) -> float:
        return self._nearest(x, 1)

    def _nearest(self, x: float, sign: int) -> float:
        if not math.isfinite(x):
            return x
        origin, step = decimal(self.origin), decimal(self.step)
        k = round((Fraction(x) - origin) / step)
        while (_float(origin + k * step) - x) * sign >= 0.0:  # rounding may have moved a value past x
            k -= sign
        while (_float(origin + k * step) - x) * sign < 0.0:
            k += sign
        return _float(origin + k * step)


def _float(value: Fraction) -> float:
    try:
        return float(value) + 0.0
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@dataclass(frozen=True)
class Domain:
    """x_column lies in one of the ranges or on the grid; with ``everywhere``, so does every value of the room."""

    column: int
    ranges: tuple[Range, ...]
    grid: Grid | None
    source: str  # the rule that asks for it, by name and in words
    everywhere: bool = False

    def at_or_below(self, x: float) -> float:
        """The largest value up to x; -inf if there is none."""
        found = [min(x, high) for low, high in self.ranges if low <= x]
        return max(found + ([] if self.grid is None else [self.grid.at_or_below(x)]), default=-math.inf)

    def at_or_above(self, x: float) -> float:
        """The smallest value from x on; inf if there is none."""
        found = [max(x, low) for low, high in self.ranges if x <= high]
        return min(found + ([] if self.grid is None else [self.grid.at_or_above(x)]), default=math.inf)

    def holds(self, x: float) -> bool:
        return self.at_or_below(x) == x

    def covers(self, low: float, high: float, whole: bool) -> bool:
        """True if every value from low to high belongs to it; of a grid only single values can."""
        if low == high:
            return self.holds(low)
        if not whole or self.grid is None:
            return any(a <= low and high <= b for a, b in merged(self.ranges, whole))
        x = low
        while x <= high and high - low <= MOST_STEPS and self.holds(x):
            x += 1.0
        return x > high


def merged(ranges: Iterable[Range], whole: bool) -> tuple[Range, ...]:
    """The same values in as few ranges as possible, in order: neighbouring values of a column join."""
    found: list[Range] = []
    for low, high in sorted(ranges):
        if whole:
            low, high = _rounded(low, math.ceil), _rounded(high, math.floor)
        if low > high:
            continue
        if found and (low <= found[-1][1] or low <= float(next_value(found[-1][1], whole))):
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low + 0.0, high + 0.0))
    return tuple(found)


def _rounded(value: float, way: object) -> float:
    return float(way(value)) if math.isfinite(value) and callable(way) else value


@dataclass(frozen=True)
class Values:
    """What all domains of a column have in common; without any, every float, or every whole number."""

    domains: tuple[Domain, ...]
    whole: bool = False

    def at_or_below(self, x: float, least: float = -math.inf) -> float:
        """The largest common value in [least, x]; -inf if there is none."""
        for _ in range(MOST_STEPS):
            y = float(math.floor(x)) if self.whole and math.isfinite(x) else x
            y = min([y, *(domain.at_or_below(y) for domain in self.domains)])
            if y < least:
                return -math.inf
            if y == x or not math.isfinite(y):
                return y
            x = y
        raise self._apart(x)

    def at_or_above(self, x: float, most: float = math.inf) -> float:
        """The smallest common value in [x, most]; inf if there is none."""
        for _ in range(MOST_STEPS):
            y = float(math.ceil(x)) if self.whole and math.isfinite(x) else x
            y = max([y, *(domain.at_or_above(y) for domain in self.domains)])
            if y > most:
                return math.inf
            if y == x or not math.isfinite(y):
                return y
            x = y
        raise self._apart(x)

    def nearest_of(self, places: Floats, above: bool, limit: float) -> Floats:
        """`at_or_above` (or below) of many finite places: all places up to the next allowed value share it, so that this asks as
        often as there are values, not places."""
        found, order = np.empty(places.size), np.argsort(places if above else -places, kind="stable")
        ahead, i = (places if above else -places)[order], 0
        while i < order.size:
            x = float(places[order[i]])
            value = self.at_or_above(x, limit) if above else self.at_or_below(x, limit)
            end = int(np.searchsorted(ahead, value if above else -value, "right"))
            found[order[i:end]] = value
            i = end
        return found

    def holds(self, x: float) -> bool:
        return (not self.whole or x == math.floor(x)) and all(domain.holds(x) for domain in self.domains)

    def _apart(self, x: float) -> InputError:
        rules = " and ".join(domain.source for domain in self.domains)
        return InputError(f"{rules}: no value near {x:g} obeys all of them; choose steps that meet")
