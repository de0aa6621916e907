"""The chance that several affine margins are positive together, by cells with bounds of second order.

The margins are linear in independent coordinates z_1, ..., z_d with known distributions and in one more, t, that is
normally distributed: margin_r = q_r(z) + l_r t. Given z, margin r is positive iff t lies on one side of a threshold,
and with u_r(z) = q_r(z) / |l_r|

    P(all positive | z) = (Phi(min of u_r over l_r > 0) + Phi(min of u_r over l_r < 0) - 1)^+.

A cell is a product of intervals. Over it, u_r has the mean m = u_r(mean of z) and a variance v of at most the sum of
a_j^2 v_j, and by Taylor's formula E Phi(u_r) = Phi(m) up to max |Phi''| v / 2: an error of second order in the width.
Where two rows of one side change places inside a cell, or the two sides meet, the error is of first order, but such
cells are one dimension fewer. The mean of a piece of the normal distribution is known in closed form, and its variance is
at most width^2 / pi^2 (the inequality of Payne and Weinberger: the density is log-concave).

Cells with the widest bounds are halved first; the truth lies between the two sums at every moment.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from elbowroom.certify.slips import DENSITY, PHI_ERROR, Slip
from elbowroom.numerics import EPS, Bools, Floats, Ints

TAIL: Final = 8.5  # standard deviations; what lies beyond is counted for the upper bound only
MOST_CELLS: Final = 2**20
MOST_AT_ONCE: Final = 2**15  # cells between two looks at the clock
STEEPEST: Final = 0.25  # |Phi''| is at most 0.242
SATURATED: Final = 8.0  # beyond it Phi is constant for the choice of the side that is halved


@dataclass(frozen=True, eq=False)
class Axis:
    """One independent coordinate: a standard normal one between two ends at which its mass gathers, or (with ``slip``)
    the steps of a whole column."""

    low: float
    high: float
    slip: Slip | None = None
    column: int = -1

    @property
    def pieces(self) -> list[tuple[float, float]]:
        """The intervals to begin with; ends at which mass gathers are intervals of width 0."""
        low, high = max(self.low, -TAIL), min(self.high, TAIL)
        if self.slip is not None:
            return [(self.low, self.high)]
        ends = [(end, end) for end in (self.low, self.high) if abs(end) <= TAIL]
        return [*ends, (low, high)] if low < high else ends

    @property
    def mass(self) -> float:
        """Of all pieces: 1 up to the tails."""
        ends = np.array(self.pieces)
        return float(self.measure(ends[:, 0], ends[:, 1])[0].sum())

    def measure(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats, Bools]:
        """Of intervals: probability, mean, a bound on the variance, and whether the mean is unknown."""
        if self.slip is not None:
            c, f = self.slip.center[self.column], self.column
            mass = self.slip.below(f, c + high) - self.slip.below(f, c + low - 1.0)
            return np.maximum(mass, 0.0), low, np.zeros(low.size), low < high
        inner = special.ndtr(high) - special.ndtr(low)
        gathered = np.where(low == self.low, special.ndtr(low), special.ndtr(-high))
        point = low == high
        mass = np.maximum(np.where(point, gathered, inner), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (np.exp(-0.5 * low * low) - np.exp(-0.5 * high * high)) / (math.sqrt(2.0 * math.pi) * inner)
        mean = np.where(point | ~np.isfinite(mean), 0.5 * (low + high), np.clip(mean, low, high))
        return mass, mean, np.square((high - low) / math.pi), np.zeros(low.size, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Rows:
    """Affine rows a z + c, each known up to ``blur``."""

    slope: Floats  # (rows, d)
    constant: Floats
    blur: Floats

    def least(self, low: Floats, high: Floats) -> Floats:
        """(cells, rows): the smallest value in each cell."""
        up, down = np.maximum(self.slope, 0.0), np.minimum(self.slope, 0.0)
        return np.asarray(low @ up.T + high @ down.T + (self.constant - self.blur))

    def most(self, low: Floats, high: Floats) -> Floats:
        return -Rows(-self.slope, -self.constant, self.blur).least(low, high)


@dataclass(frozen=True, eq=False)
class Question:
    """Coordinates and rows: those with l_r > 0, those with l_r < 0 (both divided by |l_r|), and those without t."""

    axes: tuple[Axis, ...]
    upward: Rows
    downward: Rows
    free: Rows


@dataclass(frozen=True, eq=False)
class Cells:
    """Products of intervals, with bounds on the probability of each one that is kept."""

    low: Floats  # (cells, d)
    high: Floats
    least: Floats
    most: Floats

    def taken(self, which: Bools) -> Cells:
        return Cells(self.low[which], self.high[which], self.least[which], self.most[which])

    def joined(self, other: Cells) -> Cells:
        pairs = zip(
            (self.low, self.high, self.least, self.most), (other.low, other.high, other.least, other.most), strict=True
        )
        return Cells(*(np.concatenate(pair) for pair in pairs))


def chance_of_all(question: Question, tolerance: float, deadline: float) -> tuple[float, float, str]:
    """Bounds on P(all rows positive), and why they are not within the tolerance (empty if they are)."""
    axes = question.axes
    ends = list(itertools.product(*(axis.pieces for axis in axes)))
    bounds = np.array(ends, dtype=np.float64).reshape(len(ends), len(axes), 2)
    cells = _judged(question, bounds[:, :, 0], bounds[:, :, 1])
    count, done_least, done_most, why = len(ends), 0.0, 0.0, ""
    while True:
        gap = cells.most - cells.least
        open_ = (gap > 0.0) & (cells.high > cells.low).any(axis=1)
        done_least += float(cells.least[~open_].sum())
        done_most += float(cells.most[~open_].sum())
        cells, gap = cells.taken(open_), gap[open_]
        if not gap.size or float(gap.sum()) + done_most - done_least <= tolerance:
            break
        if time.perf_counter() > deadline or count > MOST_CELLS:
            why = "time ran out" if count <= MOST_CELLS else f"{MOST_CELLS:,} cells were not enough"
            break
        order = np.argsort(-gap)
        enough = int(np.searchsorted(np.cumsum(gap[order]), 0.5 * float(gap.sum()))) + 1
        chosen = np.zeros(gap.size, dtype=np.bool_)
        chosen[order[: min(enough, MOST_AT_ONCE)]] = True
        halves = _halved(question, cells.taken(chosen))
        count += halves.least.size // 2
        cells = cells.taken(~chosen).joined(halves)
    # Every edge of a column may be off by PHI_ERROR, and each halving adds one; what the pieces do not cover may be kept.
    error = (2.0 * PHI_ERROR + 8.0 * EPS) * (count + 2) * (len(axes) + 1)
    lost = max(0.0, 1.0 - math.prod(axis.mass for axis in axes))
    least, most = done_least + float(cells.least.sum()), done_most + float(cells.most.sum())
    if not why and most - least > tolerance:
        why = "the margins are within rounding of a tie"
    return least - error, most + lost + error, why


def _halved(question: Question, cells: Cells) -> Cells:
    """Every cell in two, across the coordinate that moves some undecided row most."""
    low, high = cells.low, cells.high
    moved = np.zeros_like(low)
    for rows, limit in ((question.upward, SATURATED), (question.downward, SATURATED), (question.free, 0.0)):
        undecided = (rows.least(low, high) <= limit) & (rows.most(low, high) > -limit)
        for r in range(rows.constant.size):
            scale = np.abs(rows.slope[r]) / (
                1.0 if limit else max(float(np.abs(rows.slope[r]).max(initial=0.0)), 1e-300)
            )
            moved = np.maximum(moved, undecided[:, r, None] * scale)
    width = high - low
    side = np.argmax(np.where(width > 0.0, (moved + 1e-9) * width, -1.0), axis=1)
    each = np.arange(side.size)
    middle = 0.5 * (low[each, side] + high[each, side])
    whole = np.array([axis.slip is not None for axis in question.axes])[side]
    first = np.where(whole, np.floor(middle), middle)
    second = np.where(whole, first + 1.0, middle)
    upper_low, lower_high = low.copy(), high.copy()
    lower_high[each, side], upper_low[each, side] = first, second
    return _judged(question, np.concatenate([low, upper_low]), np.concatenate([lower_high, high]))


def _judged(question: Question, low: Floats, high: Floats) -> Cells:
    """Bounds on the probability of each cell that is kept."""
    count, d = low.shape
    mass, rough = np.ones(count), np.zeros(count, dtype=np.bool_)
    mean, spread, doubt = np.empty((count, d)), np.empty((count, d)), np.empty((count, d))
    for j, axis in enumerate(question.axes):
        share, mean[:, j], spread[:, j], unknown = axis.measure(low[:, j], high[:, j])
        mass *= share
        rough |= unknown
        doubt[:, j] = np.minimum(high[:, j] - low[:, j], 8.0 * PHI_ERROR / np.maximum(share, 1e-300))
    up = _side(question.upward, low, high, mean, spread, doubt)
    down = _side(question.downward, low, high, mean, spread, doubt)
    least = up.first_least + down.first_least - 1.0
    most = up.first_most + down.first_most - 1.0
    finer_least = up.least + down.least - 1.0
    finer_most = up.most + down.most - 1.0 + DENSITY * _overlap(question, up, down, low, high)
    least = np.where(rough, least, np.maximum(least, finer_least))
    most = np.where(rough, most, np.minimum(most, finer_most))
    lost = (question.free.most(low, high) <= 0.0).any(axis=1)
    unsure = (question.free.least(low, high) <= 0.0).any(axis=1)
    least = np.where(lost | unsure, 0.0, np.clip(least, 0.0, 1.0))
    most = np.where(lost, 0.0, np.clip(most, 0.0, 1.0))
    return Cells(low, high, mass * np.minimum(least, most), mass * most)


@dataclass(frozen=True, eq=False)
class _Side:
    """Bounds on E Phi(min of the rows) over each cell: from values at the ends, and of second order."""

    first_least: Floats
    first_most: Floats
    least: Floats
    most: Floats
    star: Ints  # (cells,): the row with the smallest mean


def _side(rows: Rows, low: Floats, high: Floats, mean: Floats, spread: Floats, doubt: Floats) -> _Side:
    count = low.shape[0]
    if rows.constant.size == 0:
        sure = np.ones(count)
        return _Side(sure, sure, sure, sure, np.zeros(count, dtype=np.int64))
    each = np.arange(count)
    least, most = rows.least(low, high), rows.most(low, high)
    middle = mean @ rows.slope.T + rows.constant
    star = np.argmin(middle, axis=1)
    slope, blur = rows.slope[star], rows.blur[star]
    near, far = least[each, star], most[each, star]
    closest = np.where(near > 1.0, near, np.where(far < -1.0, -far, 0.0))  # |u| is at least this
    steep = np.where(closest > 1.0, 0.4 * closest * np.exp(-0.5 * np.square(closest)), STEEPEST)
    error = 0.5 * steep * (np.square(slope) * spread).sum(axis=1) + PHI_ERROR
    error += DENSITY * (blur + (np.abs(slope) * doubt).sum(axis=1))
    passed = np.zeros(count)  # how far another row falls below the one with the smallest mean, anywhere in the cell
    for r in range(rows.constant.size):
        difference = slope - rows.slope[r]
        most_of_it = np.maximum(difference * low, difference * high).sum(axis=1)
        apart = most_of_it + (rows.constant[star] - rows.constant[r]) + blur + rows.blur[r]
        passed = np.maximum(passed, np.where(star == r, 0.0, apart))
    value = special.ndtr(middle[each, star])
    return _Side(
        special.ndtr(least.min(axis=1)) - PHI_ERROR,
        special.ndtr(most.min(axis=1)) + PHI_ERROR,
        value - error - DENSITY * passed,
        value + error,
        star,
    )


def _overlap(question: Question, up: _Side, down: _Side, low: Floats, high: Floats) -> Floats:
    """How far the two thresholds overtake each other anywhere in the cell: there the chance is 0, not negative."""
    first, second = question.upward, question.downward
    if first.constant.size == 0 or second.constant.size == 0:
        return np.zeros(low.shape[0])
    i, j = up.star, down.star
    slope = first.slope[i] + second.slope[j]
    smallest = np.minimum(slope * low, slope * high).sum(axis=1) + first.constant[i] + second.constant[j]
    return np.maximum(0.0, -(smallest - first.blur[i] - second.blur[j]))
