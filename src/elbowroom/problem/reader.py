"""A checked walk through parsed JSON: every step knows where it is, every surprise is an `InputError` that says so."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.visible import brief

E = TypeVar("E", bound=Enum)
V = TypeVar("V")
INFINITE = {"inf": math.inf, "-inf": -math.inf}
DIGEST = re.compile(r"[0-9a-f]{64}")


def number_out(value: float) -> float | str:
    """A float as JSON: itself if finite (Python writes the shortest decimal that reads back equal), else its name."""
    if math.isnan(value):
        raise InputError("nan cannot be written; an answer holds only numbers")
    return float(value) if math.isfinite(value) else repr(float(value))


@dataclass(frozen=True)
class Reader:
    """One JSON value and the path that leads to it. ``asked`` holds what was read so far of the whole document: the
    object and the key, so that a key which nobody asked for can be named at the end."""

    value: Any
    path: str
    where: str
    asked: set[tuple[int, str]] = field(default_factory=set, compare=False, repr=False)

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
        self.asked.add((id(values), key))
        return Reader(values[key], path, self.where, self.asked)

    def maybe(self, key: str) -> Reader | None:
        """The value of a key; None where it is absent or null."""
        if key not in self.mapping():
            return None
        entry = self.at(key)
        return None if entry.value is None else entry

    def finish(self) -> None:
        """Refuse a document that holds a key which was never asked for: nobody would know what it means."""
        pile = [self]
        while pile:
            here = pile.pop()
            if isinstance(here.value, list):
                pile.extend(here.items())
            elif isinstance(here.value, dict):
                unknown = [key for key in here.value if (id(here.value), key) not in self.asked]
                if unknown:
                    path = f"{here.path}.{unknown[0]}" if here.path else unknown[0]
                    raise InputError(f"{self.where}: {path} is not a field of this version of the format")
                pile.extend(here.at(key) for key in here.value)

    def items(self, size: int | None = None) -> list[Reader]:
        if not isinstance(self.value, list):
            raise self.wrong(f"a list, not {type(self.value).__name__}")
        if size is not None and len(self.value) != size:
            raise self.wrong(f"a list of {size} entries, not {len(self.value)}")
        return [Reader(v, f"{self.path}[{i}]", self.where, self.asked) for i, v in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong(f"text, not {self.value!r:.60}")
        return self.value

    def digest(self) -> str:
        """A SHA-256 as this package writes it."""
        if DIGEST.fullmatch(self.text()) is None:
            raise self.wrong(f"a SHA-256 of 64 digits 0 to 9 and a to f, not {self.value!r:.60}")
        return self.text()

    def parsed(self, read: Callable[[str], V], write: Callable[[V], str], wanted: str) -> V:
        """Text that ``read`` understands and ``write`` writes in the same way."""
        try:
            value = read(self.text())
        except ValueError:
            raise self.wrong(f"{wanted}, not {self.value!r:.60}") from None
        if write(value) != self.value:
            raise self.wrong(f"{wanted}, written as {write(value)!r:.60}, not {self.value!r:.60}")
        return value

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
