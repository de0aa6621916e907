"""Files by strangers: JSON with bounds on everything."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any, Final

from elbowroom_checker.exact import BIGGEST

MOST_BYTES: Final = 40_000_000
MOST_MEMORY: Final = 250_000_000  # of both files, as `weight` counts
LONGEST_INTEGER: Final = 18  # digits


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


def kind(value: Any, wanted: type[Any], what: str, size: int | None = None) -> Any:
    """A list (of a size), an object, a text of at most 1000 characters, true or false."""
    need(type(value) is wanted and (wanted is not str or len(value) <= 1000), f"{what}: not a {wanted.__name__}")
    need(size is None or len(value) == size, f"{what}: not {size} of them")
    return value


def number(value: Any, what: str, least: float = -BIGGEST) -> float:
    """A finite float64; integers count where they are floats as well."""
    need(type(value) in (int, float) and float(value) == value, f"{what}: {value!r} is not a number")
    need(value >= least, f"{what}: a number is negative")
    return float(value) + 0.0


def numbers(values: Any, size: int, what: str, least: float = -BIGGEST) -> list[float]:
    return [number(value, what, least) for value in kind(values, list, what, size)]


def index(value: Any, size: int, what: str) -> int:
    need(type(value) is int and 0 <= value < size, f"{what}: {value!r} is not one of {size}")
    return value  # type: ignore[no-any-return]


def indices(values: Any, size: int, what: str) -> list[int]:
    found = [index(value, size, what) for value in kind(values, list, what)]
    need(len(set(found)) == len(found), f"{what}: one occurs twice")
    return found
