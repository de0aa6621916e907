"""A checked walk through parsed JSON: every step knows where it is, every surprise is an `InputError` that says so."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.visible import brief

E = TypeVar("E", bound=Enum)
INFINITE = {"inf": math.inf, "-inf": -math.inf}


def number_out(value: float) -> float | str:
    """A float as JSON: itself if finite (Python writes the shortest decimal that reads back equal), else its name."""
    if math.isnan(value):
        raise InputError("nan cannot be written; an answer holds only numbers")
    return float(value) if math.isfinite(value) else repr(float(value))


@dataclass(frozen=True)
class Reader:
    """One JSON value and the path that leads to it."""

    value: Any
    path: str
    where: str

    @classmethod
    def parse(cls, text: str, where: str) -> Reader:
        try:
            value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: this is not valid JSON ({error})") from None
        reader = cls(value, "", where)
        reader.mapping()
        return reader

    def wrong(self, wanted: str) -> InputError:
        return InputError(f"{self.where}: {self.path or 'the document'} should be {wanted}")

    def mapping(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.wrong(f"an object, not {type(self.value).__name__}")
        return self.value

    def at(self, key: str) -> Reader:
        values = self.mapping()
        path = brief(f"{self.path}.{key}" if self.path else key)
        if key not in values:
            raise InputError(f"{self.where}: {path} is missing")
        return Reader(values[key], path, self.where)

    def optional(self, key: str) -> Any:
        return self.mapping().get(key)

    def items(self, size: int | None = None) -> list[Reader]:
        if not isinstance(self.value, list):
            raise self.wrong(f"a list, not {type(self.value).__name__}")
        if size is not None and len(self.value) != size:
            raise self.wrong(f"a list of {size} entries, not {len(self.value)}")
        return [Reader(v, f"{self.path}[{i}]", self.where) for i, v in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong(f"text, not {self.value!r:.60}")
        return self.value

    def truth(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong(f"true or false, not {self.value!r:.60}")
        return self.value

    def whole(self, low: int | None = None, high: int | None = None) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.wrong(f"a whole number, not {self.value!r:.60}")
        if (low is not None and self.value < low) or (high is not None and self.value > high):
            raise self.wrong(f"a whole number between {low} and {high}, not {self.value}")
        return self.value

    def number(self, infinite: bool = False) -> float:
        value = INFINITE.get(self.value) if isinstance(self.value, str) else self.value
        if value is None or isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.wrong(f"a number, not {self.value!r:.60}")
        try:
            number = float(value)
        except OverflowError:
            raise self.wrong("a number in the range of float64") from None
        if not infinite and not math.isfinite(number):
            raise self.wrong(f"a finite number, not {self.value!r:.60}")
        return number

    def floats(self, size: int) -> Floats:
        return np.array([entry.number() for entry in self.items(size)], dtype=np.float64)

    def choice(self, enum: type[E]) -> E:
        for member in enum:
            if member.value == self.value:
                return member
        raise self.wrong(f"one of {[m.value for m in enum]}, not {self.value!r:.60}")

    def name_of(self, enum: type[E], allowed: Sequence[E]) -> E:
        for member in allowed:
            if member.name == self.value:
                return member
        raise self.wrong(f"one of {[m.name for m in allowed]}, not {self.value!r:.60}")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("the same key occurs twice in one object")
    return values


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
