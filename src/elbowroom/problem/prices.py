"""What moves cost beyond weight and scale: another price for each way, and prices that change with the length of a move.

The cost of a column at x is weight / scale * p(x - factual), where p is piecewise linear with p(0) = 0 and positive slopes
away from 0. ``Price(up=3, down=1)``: three times as dear upwards. ``Price(up=[(0, 1), (1000, 3)])``: from a move of 1000
on, every further unit costs three times as much. ``Price(change=0.2)``: any change costs weight * 0.2 besides, however short
it is; with distance "l1" this is l0 + l1.

``Price.of_percentiles(values)``: a move costs weight * |Q(x) - Q(factual)|, where Q(x) is the share of the values below x:
a value that is equal to some counts half of them, between two values Q is a straight line, and beyond the last ones it goes
on with its average slope.
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
from elbowroom.problem.pieces import Pieces

MOST_LEVELS = 101  # of a column's percentiles that a price keeps
Levels: TypeAlias = "tuple[tuple[float, float], ...]"  # (value, share of the rows below it), both rising
Slopes: TypeAlias = "float | Sequence[tuple[float, float]]"  # one slope, or (from which move on, slope), in order


@dataclass(frozen=True)
class Price:
    """What moves of a column cost beyond its weight and scale.

    Args:
        up: How many times as dear a move upwards is, or pairs (from which move on, how many times) such as
            ``[(0, 1), (1000, 3)]``: from a move of 1000 on, every further unit costs three times as much.
        down: The same downwards.
        change: What any change costs besides, times the weight.
        percentiles: Pairs (value, share of the rows below it): moves count in shares of rows; see `of_percentiles`.

    Examples:
        >>> dear = explainer.with_space(space.with_prices({"salary": Price(up=3, down=1)}))
        >>> round(dear.explain(row).distance / explainer.explain(row).distance, 6)
        3.0
    """

    up: Slopes = 1.0
    down: Slopes = 1.0
    change: float = 0.0
    percentiles: Levels | None = None

    def __post_init__(self) -> None:
        for way in ("up", "down"):
            object.__setattr__(self, way, checked_slopes(getattr(self, way), f"Price {way}"))
        object.__setattr__(self, "change", checked_change(self.change, "Price change"))
        if self.percentiles is not None:
            object.__setattr__(self, "percentiles", checked_levels(self.percentiles, "Price percentiles"))
            if self.up != 1.0 or self.down != 1.0:
                raise InputError("Price: percentiles say what moves cost; leave up and down out, or set a weight")

    @classmethod
    def of_percentiles(cls, values: object, change: float = 0.0) -> Price:
        """Moves count in shares of the rows that they pass, as in actionable recourse.

        Args:
            values: A column of data; what is missing in it does not count.
            change: What any change costs besides.

        Returns:
            A price that keeps at most 101 percentiles of the data.
        """
        try:
            found = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("Price.of_percentiles needs a column of numbers") from None
        found = found[np.isfinite(found)]
        distinct, counts = np.unique(found, return_counts=True)
        if distinct.size < 2:
            raise InputError("Price.of_percentiles needs a column with at least two different numbers")
        shares = (np.cumsum(counts) - counts / 2) / found.size
        if distinct.size > MOST_LEVELS:
            kept = np.unique(np.searchsorted(shares, np.linspace(shares[0], shares[-1], MOST_LEVELS)))
            distinct, shares = distinct[kept], shares[kept]
        return cls(change=change, percentiles=tuple(zip(distinct.tolist(), shares.tolist(), strict=True)))

    @property
    def is_plain(self) -> bool:
        """True if it changes nothing."""
        return self == Price()

    def pieces(self, factual: float, upwards: bool, weight: float, scale: float) -> Pieces:
        """What moves one way from the factual cost.

        Args:
            factual: The value of the row.
            upwards: Which way.
            weight: Of the column.
            scale: Of the column.

        Returns:
            What any change costs, where each piece begins, and its slope.
        """
        jump = weight * self.change
        if self.percentiles is not None:
            starts, slopes = _shares_passed(self.percentiles, factual, upwards)
            return Pieces(jump, starts, weight * slopes)
        given = self.up if upwards else self.down
        pairs = [(0.0, given)] if isinstance(given, float) else given
        return Pieces(jump, np.array([start for start, _ in pairs]), weight / scale * np.array([s for _, s in pairs]))

    @property
    def words(self) -> str:
        """up costs 3 times, down 1 time the weight."""
        besides = f", any change costs {self.change:g} besides" if self.change else ""
        if self.percentiles is not None:
            return f"the share of rows that it passes{besides}"
        return f"upwards {_words(self.up)}, downwards {_words(self.down)}{besides}"


def _shares_passed(levels: Levels, factual: float, upwards: bool) -> tuple[Floats, Floats]:
    """Starts and slopes of |Q(x) - Q(factual)| one way."""
    values, shares = (np.array(column) for column in zip(*levels, strict=True))
    average = (shares[-1] - shares[0]) / (values[-1] - values[0])
    slopes = np.concatenate([[average], np.diff(shares) / np.diff(values), [average]])  # left of each value, and behind
    if upwards:
        ahead = values > factual
        return np.append(0.0, values[ahead] - factual), slopes[np.append(ahead, True)]
    ahead = values < factual
    return np.append(0.0, factual - values[ahead][::-1]), slopes[np.append(True, ahead)][::-1]


def checked_change(given: object, what: str) -> float:
    """A finite number that is not negative."""
    change = number(given, what, "give a number")
    if isinstance(given, bool) or not (math.isfinite(change) and change >= 0.0):
        raise InputError(f"{what}={given!r}: give 0, or a positive number in units of the distance")
    return change


def checked_levels(given: object, what: str) -> Levels:
    """At least two pairs of finite numbers; both rise."""
    cure = "give at least two pairs (value, share of rows below it), both rising; Price.of_percentiles makes them"
    if not is_sequence(given) or not isinstance(given, Iterable):
        raise InputError(f"{what}={given!r}: {cure}")
    pairs: list[tuple[float, float]] = []
    for pair in given:
        if not is_sequence(pair) or not isinstance(pair, Iterable) or len(parts := list(pair)) != 2:
            raise InputError(f"{what}: {pair!r} is no pair; {cure}")
        pairs.append((number(parts[0], what, cure), number(parts[1], what, cure)))
    table = np.array(pairs).reshape(-1, 2)
    if len(pairs) < 2 or not np.isfinite(table).all() or not (np.diff(table, axis=0) > 0.0).all():
        raise InputError(f"{what}: {cure}")
    return tuple(pairs)


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


def _words(slopes: Slopes) -> str:
    if isinstance(slopes, float):
        return f"{slopes:g}"
    return ", ".join(f"{slope:g}" + (f" from {start:g} on" if start else "") for start, slope in slopes)
