"""What moves cost beyond weight and scale: another price for each way, and prices that change with the length of a move.

The cost of a column at x is weight / scale * p(x - factual), where p is piecewise linear with p(0) = 0 and positive slopes
away from 0. ``Price(up=3, down=1)``: three times as dear upwards. ``Price(up=[(0, 1), (1000, 3)])``: from a move of 1000
on, every further unit costs three times as much.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.parsing import is_sequence, number

Slopes: TypeAlias = "float | Sequence[tuple[float, float]]"  # one slope, or (from which move on, slope), in order


@dataclass(frozen=True)
class Price:
    """Slopes for each way; see the module."""

    up: Slopes = 1.0
    down: Slopes = 1.0

    def __post_init__(self) -> None:
        for way in ("up", "down"):
            object.__setattr__(self, way, checked_slopes(getattr(self, way), f"Price {way}"))

    @property
    def is_plain(self) -> bool:
        """True if it changes nothing."""
        return self.up == 1.0 and self.down == 1.0

    @property
    def is_flat(self) -> bool:
        """True if each way has a single slope."""
        return isinstance(self.up, float) and isinstance(self.down, float)

    def slope(self, upwards: bool) -> float:
        """Of a flat price."""
        slope = self.up if upwards else self.down
        assert isinstance(slope, float)
        return slope

    def of(self, moves: Floats) -> Floats:
        """p(move), for signed moves in raw units."""
        moves = np.asarray(moves, dtype=np.float64)
        return np.where(
            moves >= 0.0, _priced(self.up, np.maximum(moves, 0.0)), _priced(self.down, np.maximum(-moves, 0.0))
        )

    @property
    def words(self) -> str:
        """up costs 3 times, down 1 time the weight."""
        return f"upwards {_words(self.up)}, downwards {_words(self.down)}"


def checked_slopes(given: object, what: str) -> float | tuple[tuple[float, float], ...]:
    """One positive number, or pairs (start, slope) whose starts rise from 0."""
    if isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool):
        return _positive(given, what)
    if not is_sequence(given) or not isinstance(given, Iterable):
        raise InputError(f"{what}={given!r}: give a positive number, or pairs such as [(0, 1.0), (1000, 3.0)]")
    pairs = []
    for pair in given:
        if not is_sequence(pair) or not isinstance(pair, Iterable) or len(parts := list(pair)) != 2:
            raise InputError(f"{what}: {pair!r} is no pair of a move and a slope")
        pairs.append((number(parts[0], what, "give a number"), _positive(parts[1], what)))
    starts = [start for start, _ in pairs]
    if not starts or starts[0] != 0.0 or not all(math.isfinite(s) for s in starts) or sorted(set(starts)) != starts:
        raise InputError(f"{what}: the moves {starts} must begin with 0 and rise, for example [(0, 1.0), (1000, 3.0)]")
    return pairs[0][1] if len(pairs) == 1 else tuple(pairs)


def _positive(value: object, what: str) -> float:
    slope = number(value, what, "give a number")
    if isinstance(value, bool) or not (math.isfinite(slope) and slope > 0.0):
        raise InputError(f"{what}: a price of {value!r} must be a positive number; a longer move never costs less")
    return slope


def _priced(slopes: Slopes, lengths: Floats) -> Floats:
    if isinstance(slopes, float):
        return np.asarray(slopes * lengths)
    total = np.zeros_like(lengths)
    ends = [*(start for start, _ in slopes[1:]), math.inf]
    for (start, slope), end in zip(slopes, ends, strict=True):
        total = total + slope * np.clip(lengths - start, 0.0, end - start)
    return total


def _words(slopes: Slopes) -> str:
    if isinstance(slopes, float):
        return f"{slopes:g}"
    return ", ".join(f"{slope:g}" + (f" from {start:g} on" if start else "") for start, slope in slopes)
