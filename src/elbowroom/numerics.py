"""Floating point without guessing: next-float steps, exact half lines, directed rounding, and promised tolerances.

All proofs of this package are about real numbers, all models compute in float64 or float32. This module is the bridge:

* a comparison ``cast(t(x)) <= threshold`` with monotone ``t`` is a half line of float64 numbers, found by bisection
  over the total order of floats (`last_float_where`);
* a sum of n products in any order, with or without fused multiply-add, is within ``gamma(n) * sum |a_i b_i|`` of the
  real sum (Higham 2002, Theorem 3.1);
* the closed real interval [c - r, c + r] contains exactly the floats of `inner_interval`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

EPS: Final = float(np.finfo(np.float64).eps)  # 2^-52, twice the unit roundoff: every use below is generous by 2
EPS32: Final = float(np.finfo(np.float32).eps)  # 2^-23, the same for float32
DIGITS: Final = 53  # binary digits of a float64
DIGITS32: Final = 24
TINY: Final = float(np.finfo(np.float64).tiny)
BIGGEST: Final = float(np.finfo(np.float64).max)
SMALLEST: Final = 5e-324  # the smallest positive float
NONZERO: Final = 1e-300  # in place of 0 where a number must be positive, such as a divisor; far from underflow
WHOLE_SPACING: Final = 2.0**52  # from here on neighbouring floats are whole numbers


@dataclass(frozen=True)
class Tolerances:
    """The tolerances that are promised to users; those of one engine or judge are in its own files.

    None of them can make a region valid: validity is decided by the judge alone.
    """

    optimal_gap: float = 1e-9  # relative gap up to which a discrete search calls its answer OPTIMAL
    continuous_gap: float = 1e-4  # the same for searches over continuous positions (balls on trees, networks)
    solver_feasibility: float = 1e-10  # asked of LP solvers; answers are repaired and judged afterwards
    radius_gap: float = 1e-6  # relative width at which a two-sided radius counts as found


TOLERANCES: Final = Tolerances()


def gamma(operations: int, eps: float = EPS) -> float:
    """Bound n u / (1 - n u) on the relative error of n roundings, in any order; u is taken as 2^-52 (float32: `EPS32`)."""
    bound = operations * eps
    if bound >= 0.5:
        raise ValueError(f"an error bound for {operations} roundings is meaningless")
    return bound / (1.0 - bound)


def next_up(x: npt.ArrayLike) -> Floats:
    """The next larger float64."""
    return np.asarray(np.nextafter(x, np.inf), dtype=np.float64)


def next_down(x: npt.ArrayLike) -> Floats:
    """The next smaller float64."""
    return np.asarray(np.nextafter(x, -np.inf), dtype=np.float64)


def next_value(x: npt.ArrayLike, whole: npt.ArrayLike) -> Floats:
    """The next value of a column after x: the next float, or the next whole number where the column is ``whole``."""
    x = np.asarray(x, dtype=np.float64)
    return np.where(np.asarray(whole) & (np.abs(x) < WHOLE_SPACING), np.floor(x) + 1.0, next_up(x))


def ordinal(x: npt.ArrayLike) -> Ints:
    """Map float64 to int64 such that order is kept and neighbours differ by one (-0.0 and 0.0 share 0)."""
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)


def from_ordinal(n: npt.ArrayLike) -> Floats:
    """Inverse of `ordinal`."""
    n = np.asarray(n, dtype=np.int64)
    bits = np.where(n >= 0, n, np.int64(-(2**63)) - n)
    return bits.view(np.float64)


_REACHES: Final = (4, 2**8, 2**16, 2**30)  # floats on either side of a guess


def last_float_where(
    holds: Callable[[Floats], Bools],
    size: int,
    low: float = -BIGGEST,
    high: float = BIGGEST,
    near: Floats | None = None,
) -> Floats:
    """For ``size`` non-increasing predicates at once: the largest float64 in [low, high] for which each one holds.

    ``holds(x)`` gets an array of ``size`` candidates and answers entry by entry; each entry's predicate is true on a
    half line (-inf, edge]. The answer is -inf where it fails even at ``low``, and +inf where it holds at ``high``.
    ``near`` are guesses (NaN: none). A good one saves most of some 64 questions, a bad one costs a few: it is only where
    the search begins.
    """
    left = np.full(size, int(ordinal(low)), dtype=np.int64)
    right = np.full(size, int(ordinal(high)), dtype=np.int64)
    at_low = holds(from_ordinal(left))
    at_high = holds(from_ordinal(right))
    if near is not None:
        left, right = _narrowed(holds, left, right, near)
    while True:  # invariant: the predicate holds at left and fails at right
        wide = right - 1 > left  # in this order: right - left may overflow int64
        if not wide.any():
            break
        middle = (left >> 1) + (right >> 1) + (left & right & 1)
        good = holds(from_ordinal(middle))
        left = np.where(wide & good, middle, left)
        right = np.where(wide & ~good, middle, right)
    edge = from_ordinal(left)
    return np.where(at_high, np.inf, np.where(at_low, edge, -np.inf))


def _narrowed(holds: Callable[[Floats], Bools], left: Ints, right: Ints, near: Floats) -> tuple[Ints, Ints]:
    """Closer ends for a bisection: ever farther neighbours of a guess are asked until they lie on both sides."""
    guessed = np.isfinite(near)
    start = np.where(guessed, ordinal(np.where(guessed, near, 0.0)), left)
    for reach in _REACHES:
        for step in (-reach, reach):
            place = np.where(guessed, np.clip(start + step, left, right), left)
            good = holds(from_ordinal(place))
            left = np.where(guessed & good, place, left)
            right = np.where(guessed & ~good, place, right)
        if (right - 2 * reach <= left)[guessed].all():
            break
    return left, right


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Knuth's TwoSum: a + b = s + e exactly, s the rounded sum."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def inner_interval(center: Floats, down: Floats, up: Floats) -> tuple[Floats, Floats]:
    """Smallest and largest float of the closed real interval [center - down, center + up]: rounded inwards, exactly."""
    low, low_error = two_sum(center, -down)
    high, high_error = two_sum(center, up)
    return np.where(low_error > 0, next_up(low), low), np.where(high_error < 0, next_down(high), high)


def room_ends(
    center: Floats, down: Floats, up: Floats, lower: Floats, upper: Floats, whole: Bools
) -> tuple[Floats, Floats]:
    """Smallest and largest value of a room around its centre, column by column: rounded inwards, clipped to [lower, upper],
    whole where declared. The centre is always inside its own room."""
    low, high = inner_interval(center, down, up)
    low, high = np.maximum(low, lower), np.minimum(high, upper)
    low, high = np.where(whole, np.ceil(low), low), np.where(whole, np.floor(high), high)
    return np.minimum(low, center), np.maximum(high, center)


def sums_are_exact(values: Floats, terms: int, digits: int = DIGITS) -> bool:
    """True if every sum of up to ``terms`` of these numbers, in any order, is computed without rounding.

    Sufficient: all are multiples of one power of two q, and terms * max|v| / q fits into the digits of the floats.
    """
    v = np.abs(np.asarray(values, dtype=np.float64).ravel())
    v = v[v > 0]
    if v.size == 0:
        return True
    quantum = float(smallest_quantum(v))
    return bool(terms * (float(v.max()) / quantum) < 2.0**digits)


def products_are_exact(factor: float, values: Floats) -> bool:
    """True if factor * v is computed without rounding for all given numbers: odd parts whose product fits into 53 bits."""
    v = np.append(np.abs(np.asarray(values, dtype=np.float64).ravel()), abs(factor))
    whole = (np.frexp(v[v > 0])[0] * 2.0**53).astype(np.int64)
    if whole.size == 0 or factor == 0.0:
        return True
    odd = (whole // (whole & -whole)).astype(np.float64)
    return bool(odd[:-1].max(initial=1.0) * odd[-1] < 2.0**53)


def smallest_quantum(values: Floats) -> float:
    """The largest power of two of which all given numbers are multiples (0.0 for no nonzero numbers)."""
    v = np.abs(np.asarray(values, dtype=np.float64).ravel())
    v = v[v > 0]
    if v.size == 0:
        return 0.0
    mantissa, exponent = np.frexp(v)
    whole = (mantissa * 2.0**53).astype(np.int64)
    trailing = whole & -whole  # lowest set bit, as a power of two
    return float(np.ldexp(trailing.astype(np.float64), exponent - 53).min())


def exact_dot(a: Floats, b: Floats) -> Fraction:
    """sum_i a_i b_i of finite numbers, exactly: products of whole mantissas, shifted to the smallest exponent."""
    (m, e), (n, f) = np.frexp(a), np.frexp(b)
    if not m.size:
        return Fraction(0)
    exponent = e.astype(np.int64) + f
    least = int(exponent.min())
    whole = ((part * 2.0**53).astype(np.int64).tolist() for part in (m, n))
    total = sum((x * y) << shift for x, y, shift in zip(*whole, (exponent - least).tolist(), strict=True))
    return Fraction(total) * Fraction(2) ** (least - 106)
