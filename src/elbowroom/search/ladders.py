"""Ladders of widths: the steps in which one side of a box can grow.

Rung 0 is the width at the start. All functions are about the upper side; a lower side is an upper side of the mirrored
axis. A box states its sides as widths w, and its ends are rounded inwards: the end is the largest float <= c + w.
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
    """Widths in ascending order, rung 0 .. last."""

    @property
    def last(self) -> int: ...

    def width(self, rung: int) -> float: ...

    def upto(self, width: float) -> int:
        """The last rung of at most this width; 0 if there is none."""
        ...


@dataclass(frozen=True, eq=False)
class Listed:
    """Finitely many widths, one by one."""

    widths: Floats

    @property
    def last(self) -> int:
        return self.widths.size - 1

    def width(self, rung: int) -> float:
        return float(self.widths[rung])

    def upto(self, width: float) -> int:
        return max(int(np.searchsorted(self.widths, width, side="right")) - 1, 0)


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

    def width(self, rung: int) -> float:
        return float(from_ordinal(self._origin + rung))

    def upto(self, width: float) -> int:
        return min(max(int(ordinal(width)) - self._origin, 0), self.last)


@dataclass(frozen=True)
class EveryWhole:
    """``first``, then every whole number up to ``final``."""

    first: float
    final: float

    @cached_property
    def last(self) -> int:
        return math.floor(self.final) - math.floor(self.first)

    def width(self, rung: int) -> float:
        return float(math.floor(self.first) + rung) if rung > 0 else self.first

    def upto(self, width: float) -> int:
        return min(max(math.floor(width) - math.floor(self.first), 0), self.last)


def horizon(center: float, width: float, whole: bool) -> float:
    """The largest width that is tried where a feature has no bound: the horizon, but within what models can take."""
    far = min(width, max(FARTHEST_VALUE - abs(center), 0.0))
    return float(math.floor(far)) if whole else far


def width_to(center: float, limit: float) -> float:
    """A width that reaches the limit; boxes are clipped to it."""
    return float(next_up(limit - center))


def cell_widths(cuts: Floats, sign: int, center: float, edge: float, limit: float, whole: bool) -> Floats:
    """For every cell between ``edge`` and ``limit`` (with the rest of the cell in which the edge lies, without the one
    that holds the limit): the largest width that ends in it.

    Cells are (a, b] between neighbouring cuts, so upper sides end at cuts and lower ones just above them. The largest
    width that does not reach beyond b is the last float w with c + w < next(b).
    """
    lasts = np.floor(cuts) if whole else cuts
    ends = lasts if sign > 0 else -next_value(lasts, whole)
    ends = np.unique(ends[(ends > edge) & (ends < limit)])
    if whole:
        return ends - center
    widths = np.asarray(next_up(ends) - center)
    for _ in range(2):  # the difference was rounded, and the next value is already too far
        _, reached = inner_interval(np.full(ends.size, center), np.zeros(ends.size), widths)
        widths = np.where(reached > ends, next_down(widths), widths)
    return widths
