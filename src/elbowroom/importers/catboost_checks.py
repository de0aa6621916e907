"""Values of a file from outside, each refused by its place if it is not what it should be."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NoReturn

import numpy as np

from elbowroom.errors import UnsupportedModel

CURE: Final = "save the fitted model again"
_LARGEST: Final = float(np.finfo(np.float32).max)


def refuse(where: str, what: str) -> NoReturn:
    raise UnsupportedModel(f"this CatBoost model is damaged: {where} {what}; {CURE}")


def table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        refuse(where, f"is not a table but {type(value).__name__}")
    return value


def items(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        refuse(where, f"is not a list but {type(value).__name__}")
    return value


def one_of(choices: Collection[str], value: object, where: str) -> str:
    if not isinstance(value, str) or value not in choices:
        refuse(where, f"is {value!r}")
    return value


def whole(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**62) < value < 2**62:
        refuse(where, f"is {value!r}, no whole number")
    return value


def number(value: object, where: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or abs(value) > 1e300 or value != value:
        refuse(where, f"is {value!r}, no finite number")
    return float(value)


def single(value: object, where: str) -> float:
    """A number as the float32 that the library makes of it."""
    found = number(value, where)
    if abs(found) > _LARGEST:
        refuse(where, f"is {value!r}, too large for float32")
    return float(np.float32(found))
