"""A CatBoost model as plain values.

Splits compare float32(x) with a border, or the hash of a category with another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from elbowroom.numerics import Floats

HASHES: Final = 2**32  # a hash is written unsigned, the value of a split signed
SIDE_OF_NAN: Final = {"AsIs": True, "AsFalse": True, "AsTrue": False}  # True: left


@dataclass(frozen=True)
class Split:
    """Right iff float32(x) > border, or iff the hash of the category is this one."""

    column: int  # position among all columns of the model
    border: float
    missing_left: bool
    category: int | None = None
    index: int = 0  # position in the library's own list of splits
    feature: int = 0  # position of its column among those of the same kind


@dataclass(frozen=True)
class Number:
    """A column of numbers."""

    column: int
    name: str  # empty: none
    borders: tuple[float, ...]  # float32 numbers, rising
    treatment: str  # of NaN
    has_nans: bool


@dataclass(frozen=True)
class Category:
    """A column of categories and the hashes that splits ask for."""

    column: int
    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Features:
    """All columns."""

    numbers: tuple[Number, ...]
    categories: tuple[Category, ...]

    @property
    def width(self) -> int:
        return len(self.numbers) + len(self.categories)

    @property
    def categorical(self) -> tuple[int, ...]:
        return tuple(feature.column for feature in self.categories)

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """The library's own list of splits: borders of all numbers, then values of all categories."""
        found: list[Split] = []
        for place, number in enumerate(self.numbers):
            left = SIDE_OF_NAN[number.treatment]
            found += [Split(number.column, b, left, None, len(found) + k, place) for k, b in enumerate(number.borders)]
        for place, category in enumerate(self.categories):
            values = enumerate(category.values)
            found += [Split(category.column, 0.0, True, v % HASHES, len(found) + k, place) for k, v in values]
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Symmetric:
    """The same split at every node of a level: bit i of a leaf's number is the answer of split i (1: right)."""

    splits: tuple[Split, ...]
    value: Floats  # (2 ** splits, K)


@dataclass(frozen=True, eq=False)
class Nested:
    """An ordinary tree, parents before children; ``split`` is None at leaves."""

    split: tuple[Split | None, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: Floats  # (nodes, K)


Tree: TypeAlias = Symmetric | Nested


@dataclass(frozen=True, eq=False)
class Description:
    """All that decides a score: (sum over trees) * scale + bias."""

    features: Features
    trees: tuple[Tree, ...]
    scale: float
    bias: Floats  # (K,)
    loss: str
    loss_params: dict[str, str]
    threshold: float  # of the probability of the second class
    hashes: dict[str, int]  # of category texts, where the export lists them
    class_params: dict[str, Any] | None  # names of the classes as the library keeps them; None: no classes
