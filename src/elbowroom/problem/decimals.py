"""How many decimals the numbers of a column have: as many as its values show, and no noise of floating point."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from elbowroom.numerics import Floats

MOST: Final = 6  # more decimals than these are taken for noise, or for a result of computing
SIGNIFICANT: Final = 4  # digits of the scale that are shown of such numbers
ODD_ONES: Final = 0.01  # share of the values that may have more
LARGEST: Final = 15  # decimals of a float64 that mean anything at all


def learned_decimals(values: Floats, spread: float) -> int:
    """The fewest decimals that nearly all values are written with, up to the rounding of float64, or of float32 if all of
    them are such numbers: 20.299999237060547 is 20.3. Where that is more than anybody writes, so many that the scale has
    four digits."""
    with np.errstate(over="ignore", invalid="ignore"):  # beside the largest number there is no next one
        allowed = 4.0 * np.spacing(np.abs(values))
        single = values.astype(np.float32)
    if bool((single.astype(np.float64) == values).all()):
        with np.errstate(over="ignore", invalid="ignore"):
            allowed = np.spacing(np.abs(single)).astype(np.float64)
    for decimals in range(MOST + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            written = np.abs(values - np.round(values, decimals)) <= allowed
        if 1.0 - float(written.mean()) <= ODD_ONES:
            return decimals
    return decimals_for(spread)


def decimals_for(spread: float) -> int:
    """So many that a number of this size has four digits."""
    if not (math.isfinite(spread) and spread > 0.0):
        return MOST
    return min(max(SIGNIFICANT - 1 - math.floor(math.log10(spread)), 0), LARGEST)


def as_written(value: float, decimals: int | None) -> float:
    """The number that was meant: what float32 makes of a short number is that number, everything else is as it is."""
    if decimals is None or abs(value) > 1e30:
        return value
    short = round(value, decimals)
    same = np.float32(short) == np.float32(value) and float(np.float32(value)) == value
    return float(short) if same else value
