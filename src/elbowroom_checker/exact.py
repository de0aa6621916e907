"""Numbers as whole multiples of the smallest positive float: sums and comparisons of floats are exact in Python's integers."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

BITS: Final = 1074  # one unit is 2^-BITS
BIGGEST: Final = 1.7976931348623157e308


@lru_cache(1 << 16)
def units(x: float) -> int:
    """x 2^1074, a whole number."""
    above, below = x.as_integer_ratio()
    return above << (BITS - below.bit_length() + 1)


ONE: Final = units(1.0)


def first(at: int, whole: bool) -> float:
    """The smallest float (whole number) that is at least ``at`` units; beyond all floats: inf or -inf."""
    at = -(-at // ONE) * ONE if whole else at
    if abs(at) > units(BIGGEST):
        return math.copysign(math.inf, at)
    value = at / ONE
    return value if units(value) >= at else math.nextafter(value, math.inf)


def up(x: float, whole: bool = False) -> float:
    """The next value of a column after x: the next float, or the next whole number."""
    return math.floor(x) + 1.0 if whole and abs(x) < 2.0**52 else math.nextafter(x, math.inf)


def down(x: float, whole: bool = False) -> float:
    return -up(-x, whole)
