"""Numbers as users read them, rounded inwards: what is shown lies inside what is certified.

A shown interval [low', high'] satisfies low <= low' <= high' <= high, so that it carries the same certificate. A shown
ball or diamond has a rounded centre c' and semi-axes a' that are shorter by at least the rounding of the centre, in the
norm of the shape: ||(c' - c) / a|| + a'_f / a_f <= 1 for every f, so that it lies inside the certified one by the
triangle inequality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Final, assert_never

import numpy as np

from elbowroom.problem.body import Body
from elbowroom.problem.shapes import Shape, length, spent_exactly

EXACT: Final = Context(prec=2500, Emax=999_999, Emin=-999_999)  # enough for every float64 without rounding
DIGITS: Final = 2  # an interval is shown in steps of a hundredth of its width or finer
REACH_DIGITS: Final = 3  # significant digits of a semi-axis or a radius
SHORT: Final = 10  # an exact number of at most this many digits is shown as it is
DECIMAL_ROUNDING: Final = Fraction(1, 10**12)  # covers reading shown decimals back as floats


def show(number: Decimal) -> str:
    """With thousands separators; scientific only where a plain number would be unreadable."""
    if number == 0:
        return "0"
    if -7 <= number.adjusted() <= 14:
        text = format(number, ",f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return format(number.normalize(EXACT), "E").replace("E", "e")


def decimal_of(value: float) -> Decimal:
    """The shortest decimal that reads back as this float."""
    return Decimal(repr(float(value)))


def exact(value: float) -> str:
    """Reads back as exactly this float."""
    return show(decimal_of(value))


def about(value: float, digits: int = 6, short: int = SHORT) -> str:
    """A number that claims nothing: exact if it has no more than ``short`` digits, else rounded and marked."""
    if len(decimal_of(value).normalize(EXACT).as_tuple().digits) <= short:
        return exact(value)
    return "≈ " + show(Decimal(f"{float(value):.{digits}g}"))


@dataclass(frozen=True)
class ShownInterval:
    """Three texts with low <= center <= high, all of them inside the interval they stand for."""

    low: str
    center: str
    high: str


def interval(low: float, center: float, high: float, whole: bool = False, decimals: int | None = None) -> ShownInterval:
    """Round [low, high] inwards to a few digits more than its width needs, and the centre to the nearest step; with no
    more than ``decimals``, unless nothing is left then."""
    if whole or low == high:
        return ShownInterval(exact(low), exact(center), exact(high))
    width = Fraction(high) - Fraction(low)
    finest = _power_of_ten(width, DIGITS)
    step = finest if decimals is None else max(finest, Decimal(1).scaleb(-decimals))
    shown_low, shown_high = _round(low, step, ROUND_CEILING), _round(high, step, ROUND_FLOOR)
    while shown_low > shown_high and step > finest:  # as many digits as are needed, and no more
        step /= 10
        shown_low, shown_high = _round(low, step, ROUND_CEILING), _round(high, step, ROUND_FLOOR)
    shown_center = min(max(_round(center, step, ROUND_HALF_EVEN), shown_low), shown_high)
    return ShownInterval(show(shown_low), show(shown_center), show(shown_high))


@dataclass(frozen=True)
class ShownRound:
    """A ball or diamond as shown. ``shrink`` is the share of the certified radius that is left after rounding."""

    centers: dict[int, str]
    reaches: dict[int, str]
    lows: dict[int, str]
    highs: dict[int, str]
    shrink: Fraction


def round_body(body: Body, decimals: Sequence[int | None] = ()) -> ShownRound:
    """Rounded centre, shortened semi-axes and the extents of the shown set, per column that shares the budget; with no more
    than the ``decimals`` of each column, where something is left then."""
    least = {f: Decimal(1).scaleb(-d) for f, d in enumerate(decimals) if d is not None}
    columns = [int(f) for f in body.round_columns]
    share = math.ceil(length(body.shape, np.ones(len(columns))))  # how often the rounding of one column counts
    centers: dict[int, Decimal] = {}
    used: list[Fraction] = []
    for f in columns:
        axis = Fraction(float(body.axes[f]))
        center = decimal_of(body.center[f])
        if not body.whole[f] and len(center.normalize(EXACT).as_tuple().digits) > REACH_DIGITS + 3:
            rounded = _round(float(body.center[f]), _power_of_ten(axis / share, DIGITS), ROUND_HALF_EVEN)
            center = rounded if body.lower[f] <= float(rounded) <= body.upper[f] else center
        centers[f] = center
        used.append(abs(Fraction(float(center)) - Fraction(float(body.center[f]))) / axis)
    shrink = Fraction(1) - _norm_above(used, body.shape)
    reaches, lows, highs = {}, {}, {}
    for f in columns:
        reach = floor_digits(Fraction(float(body.axes[f])) * shrink, REACH_DIGITS)
        if f in least:
            reach = -_ceil(-Fraction(reach), least[f]) or reach
        reaches[f] = show(reach)
        center = centers[f]
        low = max(Fraction(center) - Fraction(reach), Fraction(float(body.lower[f])))
        high = min(Fraction(center) + Fraction(reach), Fraction(float(body.upper[f])))
        if body.whole[f]:
            lows[f], highs[f] = show(Decimal(math.ceil(low))), show(Decimal(math.floor(high)))
        else:
            step = max(_power_of_ten(high - low, DIGITS) if high > low else Decimal(1), least.get(f, Decimal(0)))
            lows[f] = show(min(_ceil(low, step), center))
            highs[f] = show(max(-_ceil(-high, step), center))
    return ShownRound({f: show(c) for f, c in centers.items()}, reaches, lows, highs, shrink)


def floor_digits(value: Fraction, digits: int) -> Decimal:
    """The largest decimal with this many significant digits that is not above a nonnegative value."""
    if value <= 0:
        return Decimal(0)
    step = _power_of_ten(value, digits - 1)
    return -_ceil(-value, step)


def below(value: float, digits: int) -> str:
    """A proven lower bound as shown: never above the value (negative and infinite ones as they are)."""
    if not math.isfinite(value) or value <= 0:
        return exact(value) if math.isfinite(value) else str(value)
    return show(floor_digits(Fraction(value), digits))


def above(value: float, digits: int) -> str:
    """A proven upper bound as shown: never below the value (negative and infinite ones as they are)."""
    if not math.isfinite(value) or value <= 0:
        return exact(value) if math.isfinite(value) else str(value)
    return show(_ceil(Fraction(value), _power_of_ten(Fraction(value), digits - 1)))


def percent(share: float) -> str:
    """A share as a percentage, exactly as the float reads: 0.7 is 70 %."""
    return f"{show(decimal_of(share) * 100)} %"


def percent_up(share: float) -> str:
    """A percentage that is not below the share, to two digits."""
    value = Fraction(share) * 100
    if value <= 0:
        return "0 %"
    return f"{show(_ceil(value, _power_of_ten(value, 1)))} %"


def _norm_above(parts: list[Fraction], shape: Shape) -> Fraction:
    """An upper bound on the l1 (diamond) or l2 (ball) norm; 0 exactly if nothing was rounded."""
    used = spent_exactly(shape, parts)
    if used == 0:
        return Fraction(0)
    match shape:
        case Shape.BOX | Shape.DIAMOND:
            return used + DECIMAL_ROUNDING
        case Shape.BALL:
            return Fraction(math.sqrt(float(used))) * (1 + DECIMAL_ROUNDING) + DECIMAL_ROUNDING
        case _:
            assert_never(shape)


def _power_of_ten(size: Fraction, digits: int) -> Decimal:
    """10^k with k = floor(log10(size)) - digits; the floating logarithm is corrected where it is off by one."""
    exponent = math.floor(math.log10(size.numerator) - math.log10(size.denominator))
    if Fraction(10) ** (exponent + 1) <= size:
        exponent += 1
    elif Fraction(10) ** exponent > size:
        exponent -= 1
    return Decimal(1).scaleb(exponent - digits)


def _round(value: float, step: Decimal, mode: str) -> Decimal:
    """To a multiple of the step; numbers that are as short as that already stay as they are."""
    short = decimal_of(value)
    decimals = max(0, -int(short.normalize(EXACT).as_tuple().exponent))
    if decimals <= max(0, -int(step.as_tuple().exponent)) and len(short.as_tuple().digits) <= SHORT:
        return short
    return Decimal(float(value)).quantize(step, rounding=mode, context=EXACT)


def _ceil(value: Fraction, step: Decimal) -> Decimal:
    return step * Decimal(math.ceil(value / Fraction(step)))
