"""Sets of inputs over which linear functions are minimized: sound lower bounds, whatever the rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import assert_never

import numpy as np

from elbowroom.numerics import EPS, TINY, Bools, Floats, Ints, gamma
from elbowroom.problem import Body, Shape
from elbowroom.problem.shapes import NO_BUDGET, is_round

_ROOM_FOR_ERRORS = 1.01  # error terms are sums of nonnegative floats: 1 % outweighs their own rounding
_BISECTIONS = 40


@dataclass(frozen=True, eq=False)
class InputSet:
    """The points of a body with lower <= x <= upper; whole columns are relaxed to intervals.

    In a ball or diamond x_f = center_f + axes_f y_f with sum y_f^2 <= 1 or sum |y_f| <= 1.
    """

    body: Body
    lower: Floats
    upper: Floats

    @classmethod
    def all_of(cls, body: Body, fixed: dict[int, float] | None = None) -> InputSet:
        """The whole body, with some columns fixed (the category of a free group)."""
        lower, upper = body.lower.copy(), body.upper.copy()
        for column, value in (fixed or {}).items():
            lower[column] = upper[column] = value
        return cls(body, lower, upper)

    def halves(self, column: int, at: float) -> tuple[InputSet, InputSet]:
        """The two parts of the set below and above a value; whole columns part between two whole numbers."""
        below, above = self.upper.copy(), self.lower.copy()
        if self.body.whole[column]:
            at = min(max(float(np.floor(at)), float(self.lower[column])), float(self.upper[column]) - 1.0)
            below[column], above[column] = at, at + 1.0
        else:
            below[column] = above[column] = at
        return replace(self, upper=below), replace(self, lower=above)

    @cached_property
    def magnitude(self) -> Floats:
        """max |x_f|."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    @cached_property
    def moving(self) -> Ints:
        return np.flatnonzero(self.lower < self.upper)

    @cached_property
    def round_columns(self) -> Ints:
        """Columns that use up the budget of the ball or diamond, including those that are fixed off the centre."""
        return self.body.round_columns if is_round(self.body.shape) else np.empty(0, dtype=np.int64)

    @cached_property
    def ranges(self) -> tuple[Floats, Floats]:
        """Bounds of y, rounded outwards."""
        columns = self.round_columns
        low = (self.lower - self.body.center)[columns] / self.body.axes[columns]
        high = (self.upper - self.body.center)[columns] / self.body.axes[columns]
        return low - 4 * EPS * np.abs(low) - TINY, high + 4 * EPS * np.abs(high) + TINY

    def minima(self, rows: Floats) -> Floats:
        """For each row w a proven lower bound on the minimum of w . x over the set."""
        corner = np.where(rows >= 0, self.lower, self.upper)
        parts = rows * corner
        error = gamma(rows.shape[1] + 4) * np.abs(parts).sum(axis=1) * _ROOM_FOR_ERRORS + TINY
        bound: Floats = parts.sum(axis=1) - error
        if not self.round_columns.size:
            return bound
        return np.asarray(np.fmax(bound, self._round_minima(rows)))

    def _round_minima(self, rows: Floats) -> Floats:
        """w . x = w . o + sum v_f y_f with v = w axes; for every multiplier mu >= 0 the minimum is at least
        w . o - mu + sum over f of min { v_f y + mu phi(y) : y in its range },  phi(y) = y^2 or |y|."""
        columns = self.round_columns
        low, high = self.ranges
        origin = self.lower.copy()  # columns outside the shape: as in a box
        origin[columns] = self.body.center[columns]
        straight = np.where(rows >= 0, origin, np.where(self._is_round, origin, self.upper))
        offset = rows * straight
        v = rows[:, columns] * self.body.axes[columns]
        best = np.full(len(rows), -np.inf)
        for mu in self._multipliers(v, low, high):
            parts, sizes = self._inner(v, mu, low, high)
            size = np.abs(offset).sum(axis=1) + sizes.sum(axis=1) + mu
            error = gamma(rows.shape[1] + columns.size + 12) * size * _ROOM_FOR_ERRORS + TINY * (columns.size + 4)
            best = np.fmax(best, offset.sum(axis=1) + parts.sum(axis=1) - mu - error)
        return best

    @cached_property
    def _is_round(self) -> Bools:
        inside = np.zeros(self.lower.size, dtype=bool)
        inside[self.round_columns] = True
        return inside

    def _inner(self, v: Floats, mu: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """min over y in [low, high] of v y + mu phi(y), entry by entry, and the size of its terms.

        Ball: taken at the rounded minimizer, which is too high by at most mu (eps y)^2: far below the error term.
        """
        mu, shape = mu[:, None], self.body.shape
        match shape:
            case Shape.BALL:
                y = np.clip(-v / np.maximum(2 * mu, TINY), low, high)
                return v * y + mu * y * y, np.abs(v * y) + mu * y * y
            case Shape.DIAMOND:
                zero = np.clip(0.0, low, high)
                values = [v * y + mu * np.abs(y) for y in (low, zero, high)]
                size = (np.abs(v) + mu) * np.maximum(np.abs(low), np.abs(high))
                return np.minimum(np.minimum(values[0], values[1]), values[2]), size
            case Shape.BOX:
                raise ValueError(NO_BUDGET)
            case _:
                assert_never(shape)

    def _multipliers(self, v: Floats, low: Floats, high: Floats) -> list[Floats]:
        """Good multipliers per row; any others would be sound as well."""
        shape = self.body.shape
        match shape:
            case Shape.BALL:
                return _ball_multipliers(v, low, high)
            case Shape.DIAMOND:
                return _diamond_multipliers(v, low, high)
            case Shape.BOX:
                raise ValueError(NO_BUDGET)
            case _:
                assert_never(shape)

    def minimizer(self, row: Floats) -> Floats:
        """`minimizers` of one row."""
        return np.asarray(self.minimizers(row[None])[0])

    def minimizers(self, rows: Floats) -> Floats:
        """Per row a point (almost) of the set where row . x is (almost) smallest: for attacks, proves nothing."""
        middle = np.clip(self.body.center, self.lower, self.upper)
        x = np.where(rows > 0, self.lower, np.where(rows < 0, self.upper, middle))
        columns = self.round_columns
        if not columns.size:
            return x
        low, high = self.ranges
        v, shape = rows[:, columns] * self.body.axes[columns], self.body.shape
        match shape:
            case Shape.BALL:
                mu = _ball_multipliers(v, low, high)[-1][:, None]
                y = np.clip(-v / np.maximum(2 * mu, TINY), low, high)
            case Shape.DIAMOND:
                y = np.array([_steepest_first(row, low, high) for row in v]).reshape(v.shape)
            case Shape.BOX:
                raise ValueError(NO_BUDGET)
            case _:
                assert_never(shape)
        x[:, columns] = self.body.center[columns] + self.body.axes[columns] * y
        return np.asarray(np.clip(x, self.lower, self.upper))


def _ball_multipliers(v: Floats, low: Floats, high: Floats) -> list[Floats]:
    """Half the norm of v, and where bounds of y clip the ball, the mu at which y = clip(-v / (2 mu)) has length 1."""
    norm = np.sqrt(np.square(v).sum(axis=1))
    unclipped = -v / np.maximum(norm[:, None], TINY)
    if ((unclipped >= low) & (unclipped <= high)).all():
        return [norm / 2]
    left, right = np.zeros(len(v)), norm / 2
    far = np.square(np.clip(-v / np.maximum(2 * right[:, None], TINY), low, high)).sum(axis=1) > 1.0
    right = np.where(far, 64.0 * norm, right)  # the range does not contain the centre
    for _ in range(_BISECTIONS):
        mu = (left + right) / 2
        y = np.clip(-v / np.maximum(2 * mu[:, None], TINY), low, high)
        outside = np.square(y).sum(axis=1) > 1.0
        left, right = np.where(outside, mu, left), np.where(outside, right, mu)
    return [norm / 2, right]


def _diamond_multipliers(v: Floats, low: Floats, high: Floats) -> list[Floats]:
    """The dual function is piecewise linear with kinks at |v_f|."""
    if (low > 0.0).any() or (high < 0.0).any():
        return [*np.abs(v).T, 4.0 * np.abs(v).max(axis=1)]
    order = np.argsort(-np.abs(v), axis=1)
    extent = np.take_along_axis(np.where(v > 0.0, -low, high), order, axis=1)
    full = np.cumsum(extent, axis=1) >= 1.0  # spend the budget on the steepest columns
    at = np.take_along_axis(order, np.argmax(full, axis=1)[:, None], axis=1)
    kink = np.abs(np.take_along_axis(v, at, axis=1))[:, 0]
    return [np.where(full.any(axis=1), kink, 0.0)]


def _steepest_first(v: Floats, low: Floats, high: Floats) -> Floats:
    """The y in the diamond, between low and high, with the smallest v . y: all to the steepest column, the rest to the
    next."""
    y = np.clip(0.0, low, high)
    left = 1.0 - float(np.abs(y).sum())
    for i in np.argsort(-np.abs(v)):
        goal = low[i] if v[i] > 0 else high[i]
        step = float(np.clip(goal - y[i], -max(left, 0.0), max(left, 0.0)))
        y[i] += step
        left -= abs(step)
    return y
