"""Files by strangers: JSON with bounds on everything, and numbers as whole multiples of the smallest positive float.

Every float64 is a whole number of units of 2^-1074, so sums and comparisons of floats are exact in Python's integers.
"""

from __future__ import annotations

import json
import math
import time
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

MOST_BYTES: Final = 40_000_000
MOST_MEMORY: Final = 250_000_000  # of both files, as `weight` counts
LONGEST_INTEGER: Final = 18  # digits
BITS: Final = 1074  # one unit is 2^-BITS
BIGGEST: Final = 1.7976931348623157e308


class Refused(Exception):  # noqa: N818 - what the checker says
    """The file is no proof of what it claims, and why."""


class Budget:
    """Seconds that a check may take."""

    def __init__(self, seconds: float) -> None:
        self._end, self.seconds = time.monotonic() + seconds, seconds

    def look(self) -> None:
        need(time.monotonic() <= self._end, f"not decided within {self.seconds:g} seconds; allow more with --seconds")


def need(holds: bool, why: str) -> None:
    if not holds:
        raise Refused(why)


def read(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise Refused(f"{path!r} cannot be read: {error}") from None


def weight(raw: bytes) -> int:
    """Bytes of memory that a JSON text may take, roughly: lists and objects are the heaviest for their length."""
    return 2 * len(raw) + 80 * raw.count(b"[") + 250 * raw.count(b"{") + 40 * raw.count(b",")


def parsed(raw: bytes) -> dict[str, Any]:
    need(len(raw) <= MOST_BYTES, f"the file is larger than {MOST_BYTES} bytes")
    hooks: Any = {"object_pairs_hook": _object, "parse_int": _integer, "parse_float": _float, "parse_constant": _float}
    try:
        return kind(json.loads(raw.decode("utf-8"), **hooks), dict, "the file")  # type: ignore[no-any-return]
    except (ValueError, RecursionError) as error:
        raise Refused(f"not a JSON file: {type(error).__name__}: {str(error)[:100]}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    need(len(dict(pairs)) == len(pairs), "a key occurs twice")
    return dict(pairs)


def _integer(text: str) -> int:
    need(len(text.lstrip("-")) <= LONGEST_INTEGER, f"an integer has more than {LONGEST_INTEGER} digits")
    return int(text)


def _float(text: str) -> float:
    need(math.isfinite(float(text)), f"{text[:40]} is not a float64")
    return float(text)


# ---- parts of a file ---------------------------------------------------------------------------------------------------
def part(of: Any, key: str) -> Any:
    need(isinstance(of, dict) and key in of, f"{key!r} is missing")
    return of[key]


def kind(value: Any, wanted: type, what: str) -> Any:
    """A list, an object, a text of at most 1000 characters, true or false."""
    need(
        type(value) is wanted and (not isinstance(value, str) or len(value) <= 1000), f"{what}: not a {wanted.__name__}"
    )
    return value


def number(value: Any, what: str, least: float = -BIGGEST) -> float:
    """A finite float64; integers count where they are floats as well."""
    need(type(value) in (int, float) and float(value) == value, f"{what}: {value!r} is not a number")
    need(value >= least, f"{what}: a number is negative")
    return float(value) + 0.0


def numbers(values: Any, size: int, what: str, least: float = -BIGGEST) -> list[float]:
    need(isinstance(values, list) and len(values) == size, f"{what}: not a list of {size} numbers")
    return [number(value, what, least) for value in values]


def index(value: Any, size: int, what: str) -> int:
    need(type(value) is int and 0 <= value < size, f"{what}: {value!r} is not one of {size}")
    return value  # type: ignore[no-any-return]


def indices(values: Any, size: int, what: str) -> list[int]:
    found = [index(value, size, what) for value in kind(values, list, what)]
    need(len(set(found)) == len(found), f"{what}: one occurs twice")
    return found


# ---- exact arithmetic --------------------------------------------------------------------------------------------------
@lru_cache(1 << 16)
def units(x: float) -> int:
    """x 2^1074, a whole number."""
    above, below = x.as_integer_ratio()
    return above << (BITS - below.bit_length() + 1)


ONE: Final = units(1.0)


def first(at: int, whole: bool) -> float:
    """The smallest float (whole number) that is at least ``at`` units; beyond all floats: inf or -inf."""
    if whole:
        at = -(-at // ONE) * ONE
    if abs(at) > units(BIGGEST):
        return math.copysign(math.inf, at)
    value = at / ONE
    return value if units(value) >= at else math.nextafter(value, math.inf)


def up(x: float, whole: bool) -> float:
    """The next value of a column after x: the next float, or the next whole number."""
    if whole and abs(x) < 2.0**52:
        return math.floor(x) + 1.0
    return math.nextafter(x, math.inf)


def down(x: float, whole: bool) -> float:
    return -up(-x, whole)
