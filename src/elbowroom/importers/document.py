"""Parts of a foreign document (JSON or the like), each checked when it is taken: kind, length, range.

A file from outside may say anything. Whatever a reader takes through a `Part` is of the kind and size that it asked for,
or an `UnsupportedModel` names the place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from elbowroom.errors import UnsupportedModel
from elbowroom.numerics import Floats, Ints
from elbowroom.visible import brief

LARGEST_INDEX: Final = 2**31 - 1


@dataclass(frozen=True)
class Part:
    """A named piece of a document; ``where`` is its place, such as learner.gradient_booster.model.trees[3]."""

    value: Any
    where: str

    def damaged(self, why: str) -> UnsupportedModel:
        return UnsupportedModel(
            f"the model is damaged: {self.where} {why}; save the fitted model again, with the library that made it"
        )

    # ---- containers --------------------------------------------------------------------------------------------------
    def has(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def part(self, key: str) -> Part:
        if not isinstance(self.value, dict):
            raise self.damaged(f"should hold {key!r}, and is no object")
        if key not in self.value:
            raise self.damaged(f"lacks {key!r}")
        return Part(self.value[key], f"{self.where}.{key}")

    def parts(self, key: str) -> Iterator[Part]:
        listed = self.part(key)
        if not isinstance(listed.value, list):
            raise listed.damaged("is no list")
        return (Part(value, f"{listed.where}[{i}]") for i, value in enumerate(listed.value))

    # ---- single values -----------------------------------------------------------------------------------------------
    def text(self, key: str) -> str:
        part = self.part(key)
        if not isinstance(part.value, str):
            raise part.damaged("is no text")
        return part.value

    def texts(self, key: str) -> tuple[str, ...]:
        found = tuple(part.value for part in self.parts(key))
        if not all(isinstance(value, str) for value in found):
            raise self.part(key).damaged("does not hold texts alone")
        return found

    def count(self, key: str, most: int, otherwise: int | None = None) -> int:
        """A whole number from 0 to ``most``, as a number or as text."""
        if otherwise is not None and not self.has(key):
            return otherwise
        part = self.part(key)
        text = part.value if isinstance(part.value, str) else repr(part.value)
        digits = text.removeprefix("-")
        if type(part.value) not in (int, str) or not (digits.isascii() and digits.isdigit() and len(digits) < 20):
            raise part.damaged(f"is {brief(text)}, and should be a whole number")
        if not 0 <= int(text) <= most:
            raise part.damaged(f"is {brief(text)}; 0 to {most} is possible")
        return int(text)

    # ---- arrays ------------------------------------------------------------------------------------------------------
    def indices(self, key: str, size: int | None = None, least: int = -1, most: int = LARGEST_INDEX) -> Ints:
        """Whole numbers from ``least`` to ``most``, ``size`` of them."""
        array = self._array(key, "iub", size).astype(np.int64)
        if array.size and not (least <= array.min() and array.max() <= most):
            odd = array[(array < least) | (array > most)][0]
            raise self.part(key).damaged(f"holds {odd}; {least} to {most} is possible")
        return array

    def numbers(self, key: str, size: int | None = None) -> Floats:
        """Numbers of any kind, not necessarily finite."""
        return self._array(key, "iuf", size).astype(np.float64)

    def _array(self, key: str, kinds: str, size: int | None) -> npt.NDArray[Any]:
        part = self.part(key)
        if not isinstance(part.value, (list, np.ndarray)):
            raise part.damaged("is no list of numbers")
        if size is not None and len(part.value) != size:
            raise part.damaged(f"has {len(part.value)} entries, and should have {size}")
        if not len(part.value):
            return np.zeros(0, np.int64)
        try:
            array = np.asarray(part.value)
        except (ValueError, OverflowError):
            raise part.damaged("is no list of numbers") from None
        if array.ndim != 1 or array.dtype.kind not in kinds:
            raise part.damaged("does not hold numbers of one kind alone")
        if array.dtype == np.uint64 and array.max() > LARGEST_INDEX:
            raise part.damaged(f"holds {array.max()}, which is too large")
        return array
