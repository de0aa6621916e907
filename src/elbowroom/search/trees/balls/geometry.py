"""Balls and diamonds in numbers: values at the ends of cells, semi-axes, and what moves cost.

A bad region is a closed box of floats (whole numbers in whole columns): first_f .. last_f are the smallest and largest
values of its cells. Its point nearest to a centre x is the clamped x, in every coordinate at once; with the gaps
g_f = max(first_f - x_f, x_f - last_f, 0) the room at x meets the region iff sum phi(g_f / r_f) <= 1, phi(g) = g^2 for
balls and g for diamonds. A column without room (r_f = 0) counts as infinitely far as soon as it has a gap; a member of
a free one-hot group has none.

A move by the length m (weight times raw length) of a column that has moved by p costs (p + m) - p for l1, its square
(p + m)^2 - p^2 for l2, where the total is the squared distance; for linf the total is the largest p + m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.numerics import EPS, Floats, Ints


class _Kind(NamedTuple):
    """Kinds of dimensions."""

    ROUND: int = 0  # shares the budget of the room
    STILL: int = 1  # no room: the region is left by the first value outside
    FREE: int = 2  # member of a free one-hot group: never left


class _Norm(NamedTuple):
    """Norms of the distance."""

    SUM: int = 0
    SQUARES: int = 1
    LARGEST: int = 2


KIND: Final = _Kind()
NORM: Final = _Norm()


@dataclass(frozen=True, eq=False)
class Geometry(Bundle):
    """What the kernels know about a question about balls or diamonds, besides `Question`."""

    home: Floats  # (dims,) the factual moved into the limits
    factual: Floats
    kind: Ints
    whole: Ints
    axis: Floats  # raw semi-axis, 0 unless KIND.ROUND
    rate: Floats  # what a raw unit of move costs; 0 for members of one-hot groups
    category_price: Floats  # (dims,) total cost of changing the category of a fixed one-hot group, on each member
    lower: Floats  # limits
    upper: Floats
    low_cell: Ints  # cells that meet the limits
    high_cell: Ints
    cell_start: Ints
    first: Floats  # flat: smallest and largest value of each cell, infinite at the ends
    last: Floats
    square: bool  # phi(g) = g^2, otherwise phi(g) = g: the two that kernels know, see `shapes.is_squared`
    norm: int


@inner_kernel
def phi(square: bool, gap: float) -> float:
    """What a gap, in units of the semi-axis, uses of the room."""
    return gap * gap if square else gap


@inner_kernel
def gap_for(square: bool, used: float) -> float:
    """Inverse of `phi`."""
    if used <= 0.0:
        return 0.0
    return math.sqrt(used) if square else used


@inner_kernel
def used_by(geometry: Geometry, d: int, x: float, first: float, last: float) -> float:
    """phi of the gap between x and first..last in one dimension."""
    kind = geometry.kind[d]
    gap = first - x if x < first else (x - last if x > last else 0.0)
    if gap <= 0.0 or kind == KIND.FREE:
        return 0.0
    if kind == KIND.STILL:
        return math.inf
    return phi(geometry.square, gap / geometry.axis[d])


@inner_kernel
def cell_at(last: Floats, begin: int, end: int, value: float) -> int:
    """The cell of a value, given the last values of cells begin .. end - 1: the first one that is not smaller."""
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) // 2
        if last[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low - begin


@inner_kernel
def after(whole: int, edge: float, upwards: bool) -> float:
    """The next value of a dimension beyond an edge."""
    step = np.nextafter(edge, math.inf if upwards else -math.inf)
    if whole == 1:
        return max(step, edge + 1.0) if upwards else min(step, edge - 1.0)
    return step


@inner_kernel
def guard(a: float, b: float) -> float:
    """More than the rounding of a sum or difference of two numbers and of what is made from it in a few steps."""
    return 8.0 * EPS * (abs(a) + abs(b))


@inner_kernel
def move_cost(norm: int, paid: float, move: float, base: float) -> float:
    """How much a move adds to a total of ``base`` when its column has moved by ``paid`` already."""
    if norm == NORM.SUM:
        return move
    if norm == NORM.SQUARES:
        return (2.0 * paid + move) * move
    return max(0.0, paid + move - base)


@inner_kernel
def longest_move(norm: int, paid: float, spare: float, base: float) -> float:
    """The longest move that adds no more than ``spare`` to a total of ``base``."""
    if spare == math.inf:
        return math.inf
    if norm == NORM.SUM:
        return spare
    if norm == NORM.SQUARES:
        return spare / (paid + math.sqrt(paid * paid + spare)) if spare > 0.0 else 0.0
    return max(0.0, base + spare - paid)
