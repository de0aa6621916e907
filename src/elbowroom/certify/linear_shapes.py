"""The largest linear gain inside a clipped ball or diamond, bounded from above without trusting a rounding.

max { sum a_f t_f : sum (t_f / r_f)^2 <= 1 (ball) or sum t_f / r_f <= 1 (diamond), 0 <= t_f <= cap_f, some t_f whole }.

For any multiplier mu >= 0 the maximum is at most mu + sum_f max_{low_f <= t <= high_f} (a_f t - mu phi(t / r_f)), with
phi(z) = z^2 or z. The best mu comes from water filling in plain floats; the bound is evaluated at that mu and rounded
outwards, so a wrong mu can only make the judge refuse. Whole columns: branch and bound over their ranges.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

import numpy as np

from elbowroom.numerics import TINY, Bools, Floats, gamma
from elbowroom.problem.shapes import NO_BUDGET, Shape, phi_exactly, spent

MOST_NODES = 20_000
WHOLE_ENOUGH = 1e-9  # a relaxed shift this close to a whole number is tried as that number; never used in a proof


@dataclass(frozen=True, eq=False)
class ShiftProblem:
    gain: Floats  # a_f > 0
    axes: Floats  # r_f > 0
    cap: Floats
    whole: Bools
    shape: Shape


@dataclass(frozen=True, eq=False)
class ShiftVerdict:
    """``bound`` <= spare: proven. ``point``: the row fails there. Neither: see ``reason``."""

    bound: Fraction | None = None
    point: Floats | None = None
    reason: str = ""


def largest_gain(
    problem: ShiftProblem, spare: Fraction, failing_point: Callable[[Floats], Floats | None], deadline: float
) -> ShiftVerdict:
    """Is the largest gain at most ``spare``? ``failing_point(t)`` turns a shift into a failing point of the body."""
    proven = Fraction(0)
    if problem.gain.size == 0:
        point = None if spare >= 0 else failing_point(problem.cap)
        if point is None and spare < 0:
            return ShiftVerdict(reason="the centre is too close to the boundary to tell in float64")
        return ShiftVerdict(proven, point)
    stack = [(np.zeros_like(problem.cap), np.where(problem.whole, np.floor(problem.cap), problem.cap))]
    nodes = 0
    while stack:
        low, high = stack.pop()
        nodes += 1
        if nodes > MOST_NODES or time.perf_counter() > deadline:
            return ShiftVerdict(reason="the whole-number shifts inside the region could not all be checked in time")
        relaxed = _relaxation(problem, low, high)
        if relaxed is None:
            continue
        bound, shift = relaxed
        if Fraction(bound) <= spare:
            proven = max(proven, Fraction(bound))
            continue
        point = failing_point(shift)  # whole columns are rounded towards the centre
        if point is not None:
            return ShiftVerdict(point=point)
        open_columns = np.flatnonzero(problem.whole & (low < high))
        if open_columns.size == 0:
            return ShiftVerdict(reason="the region touches the boundary too closely to tell in float64")
        fraction = np.abs(shift[open_columns] - np.round(shift[open_columns]))
        f = int(open_columns[np.argmax(fraction)])
        below = np.floor(shift[f] + WHOLE_ENOUGH) if fraction.max() > WHOLE_ENOUGH else np.round(shift[f])
        below = min(max(below, low[f]), high[f] - 1.0)
        left_high, right_low = high.copy(), low.copy()
        left_high[f], right_low[f] = below, below + 1.0
        stack += [(low, left_high), (right_low, high)]
    return ShiftVerdict(proven)


def _budget(problem: ShiftProblem, low: Floats, fixed: Bools) -> Fraction:
    """What the fixed whole columns leave of 1, exactly: near 0 the square root would magnify any rounding."""
    budget = Fraction(1)
    for f in np.flatnonzero(fixed & (low > 0)):
        budget -= phi_exactly(problem.shape, Fraction(float(low[f])) / Fraction(float(problem.axes[f])))
    return budget


def _relaxation(problem: ShiftProblem, low: Floats, high: Floats) -> tuple[float, Floats] | None:
    """An upper bound on the gain over low <= t <= high, and the (float) shift that nearly reaches it; None: empty."""
    fixed = problem.whole & (low == high)
    exact_budget = _budget(problem, low, fixed)
    z_low = low[~fixed] / problem.axes[~fixed]
    least = float(spent(problem.shape, z_low))
    if exact_budget < 0 or least > float(exact_budget) + gamma(low.size + 8):
        return None
    budget = 0.0 if exact_budget == 0 else float(np.nextafter(float(exact_budget), np.inf))
    shift = low.copy()
    if budget == 0.0:  # the fixed columns use the whole shape, the others cannot move
        total, size = 0.0, 0.0
    else:
        z_high = high[~fixed] / problem.axes[~fixed]
        multiplier, z = _fill(problem.shape, problem.gain[~fixed] * problem.axes[~fixed], z_low, z_high, budget)
        shift[~fixed] = np.clip(z * problem.axes[~fixed], low[~fixed], high[~fixed])
        terms, sizes = _dual_terms(
            problem.shape, problem.gain[~fixed], problem.axes[~fixed], low[~fixed], high[~fixed], multiplier
        )
        total, size = multiplier * budget + float(terms.sum()), multiplier * budget + float(sizes.sum())
    sure = float((problem.gain[fixed] * low[fixed]).sum())
    rounding = gamma(low.size + 24) * (sure + size) + TINY
    return float(np.nextafter(total + sure + rounding, np.inf)), shift


def _dual_terms(
    shape: Shape, gain: Floats, axes: Floats, low: Floats, high: Floats, multiplier: float
) -> tuple[Floats, Floats]:
    """max over low <= t <= high of gain t - multiplier phi(t / axes), and the size of the numbers that were added."""
    match shape:
        case Shape.BALL:
            return _bent_terms(gain, multiplier / np.square(axes), low, high)
        case Shape.DIAMOND:
            penalty = multiplier / axes
            best = np.where(gain > penalty, high, low)
            return (gain - penalty) * best, (gain + penalty) * best
        case Shape.BOX:
            raise ValueError(NO_BUDGET)
        case _:
            assert_never(shape)


def _bent_terms(gain: Floats, penalty: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The same for gain t - penalty t^2."""
    curved = penalty > 0
    vertex = np.divide(gain, 2.0 * penalty, out=np.full_like(high, np.inf), where=curved)
    best = np.clip(vertex, low, high)
    ends = gain * best - penalty * np.square(best)
    peak = np.divide(np.square(gain), 4.0 * penalty, out=np.zeros_like(high), where=curved)
    inner = (vertex > low) & (vertex < high)  # a vertex within a rounding of an end differs to second order only
    return np.where(inner, peak, ends), gain * best + penalty * np.square(best) + np.where(inner, peak, 0.0)


def _fill(shape: Shape, value: Floats, low: Floats, high: Floats, budget: float) -> tuple[float, Floats]:
    """A good multiplier, and the z with sum phi(z) = budget that it stands for."""
    match shape:
        case Shape.BALL:
            return _fill_ball(value, low, high, budget)
        case Shape.DIAMOND:
            return _fill_diamond(value, low, high, budget)
        case Shape.BOX:
            raise ValueError(NO_BUDGET)
        case _:
            assert_never(shape)


def _fill_ball(value: Floats, low: Floats, high: Floats, budget: float) -> tuple[float, Floats]:
    """Water filling: z = clip(theta value, low, high) with sum z^2 = budget; the multiplier is 1 / (2 theta)."""
    if float(np.square(high).sum()) <= budget:
        return 0.0, high

    def water(theta: float) -> Floats:
        return np.clip(theta * value, low, high)

    kinks = np.unique(np.concatenate([low / value, high / value]))
    first, last = 0, kinks.size - 1  # the last kink fills everything, which is too much
    while last - first > 1:
        middle = (first + last) // 2
        if float(np.square(water(float(kinks[middle]))).sum()) <= budget:
            first = middle
        else:
            last = middle
    between = 0.5 * (float(kinks[first]) + float(kinks[last]))
    free = (between * value > low) & (between * value < high)
    rest = budget - float(np.square(water(between)[~free]).sum())
    steep = float(np.square(value[free]).sum())
    theta = float(np.sqrt(rest / steep)) if rest > 0 and steep > 0 else float(kinks[first])
    if theta <= 0:  # nothing is left beyond the lower ends: a large multiplier is loose but valid
        return 1e7 * float(value.max()), low
    return 1.0 / (2.0 * theta), water(theta)


def _fill_diamond(value: Floats, low: Floats, high: Floats, budget: float) -> tuple[float, Floats]:
    """Fractional knapsack: fill the columns of largest value first; the multiplier is the value of the last one."""
    left = budget - float(low.sum())
    z = low.copy()
    for f in np.argsort(-value):
        room = float(high[f] - low[f])
        if room > left:
            z[f] += max(left, 0.0)
            return float(value[f]), z
        z[f] = high[f]
        left -= room
    return 0.0, z
