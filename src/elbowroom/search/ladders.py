"""Ladders of ends: the steps in which one side of a box can grow.

Rung 0 is the end at the start. All functions are about the upper side; a lower side is an upper side of the mirrored axis.
Ends, not widths: where an end is much smaller than the centre, no width reaches every float around it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from elbowroom.numerics import Floats, from_ordinal, inner_interval, next_down, next_up, next_value, ordinal

FAR: Final = 2.0**40  # in units of the scale: how far a side without a limit goes
FARTHEST_VALUE: Final = 2.0**120  # in raw units: models that compute in float32 still accept such numbers


class Ladder(Protocol):
    """Ends in ascending order, rung 0 .. last."""

    @property
    def last(self) -> int: ...

    def end(self, rung: int) -> float: ...

    def upto(self, end: float) -> int:
        """The last rung that ends here or before; 0 if there is none."""
        ...


@dataclass(frozen=True, eq=False)
class Listed:
    """Finitely many ends, one by one."""

    ends: Floats

    @property
    def last(self) -> int:
        return self.ends.size - 1

    def end(self, rung: int) -> float:
        return float(self.ends[rung])

    def upto(self, end: float) -> int:
        return max(int(np.searchsorted(self.ends, end, side="right")) - 1, 0)


@dataclass(frozen=True)
class EveryFloat:
    """Every float from ``first`` to ``final``."""

    first: float
    final: float

    @cached_property
    def _origin(self) -> int:
        return int(ordinal(self.first))

    @cached_property
    def last(self) -> int:
        return int(ordinal(self.final)) - self._origin

    def end(self, rung: int) -> float:
        return float(from_ordinal(self._origin + rung))

    def upto(self, end: float) -> int:
        return min(max(int(ordinal(end)) - self._origin, 0), self.last)


@dataclass(frozen=True)
class EveryWhole:
    """``first``, then every whole number up to ``final``."""

    first: float
    final: float

    @cached_property
    def last(self) -> int:
        return math.floor(self.final) - math.floor(self.first)

    def end(self, rung: int) -> float:
        return float(math.floor(self.first) + rung) if rung > 0 else self.first

    def upto(self, end: float) -> int:
        return min(max(math.floor(end) - math.floor(self.first), 0), self.last)


def horizon(center: float, width: float, whole: bool) -> float:
    """The largest width that is tried where a feature has no bound: the horizon, but within what models can take."""
    far = min(width, max(FARTHEST_VALUE - abs(center), 0.0))
    return float(math.floor(far)) if whole else far


def cell_ends(cuts: Floats, sign: int, edge: float, limit: float, whole: bool) -> Floats:
    """The ends of all cells between ``edge`` and ``limit`` (with the rest of the cell in which the edge lies, without the
    one that holds the limit). Cells are (a, b] between neighbouring cuts, so upper sides end at cuts and lower ones just
    above them."""
    lasts = np.floor(cuts) if whole else cuts
    ends = lasts if sign > 0 else -next_value(lasts, whole)
    return np.unique(ends[(ends > edge) & (ends < limit)])


def widths_within(center: Floats, ends: Floats) -> Floats:
    """The largest widths that do not reach beyond the ends (upper ones, >= center): the last float w with c + w < next(end),
    for the end of a room is the largest float <= c + w."""
    widths = np.maximum(np.asarray(next_up(ends) - center), 0.0)
    for _ in range(2):  # the difference was rounded, and the next value is already too far
        _, reached = inner_interval(center, np.zeros(ends.size), widths)
        widths = np.where(reached > ends, np.maximum(next_down(widths), 0.0), widths)
    return widths
