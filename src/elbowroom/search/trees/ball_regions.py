"""Learned bad regions as boxes of values, and the ways out of them.

For a region R that the room at x meets, ``need`` = 1 - sum phi(gap) is what the room must still be pushed away. Each
dimension and side is a literal: a move by the length c gains nothing up to the dead length d, and then

    gain(c) = phi(g + (c - d) / (w r)) - phi(g),

where g is the gap in that dimension at x, w the price of a raw unit and r the semi-axis. ``full`` is the length that
gains all of ``need``. A dimension without room gains all of it at its first value outside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.ball_geometry import (
    FREE,
    LARGEST,
    ROUND,
    STILL,
    Geometry,
    after,
    gap_for,
    longest_move,
    move_cost,
    phi,
    used_by,
)  # fmt: skip
from elbowroom.search.trees.bundle import Bundle
from elbowroom.search.trees.compiled import Shorts, Words, inner_kernel, int64, kernel, random_below

TARGET = 1.0 - 1e-12  # a good centre has sum phi(gap) > 1 for every bad region; less than that by more than rounding


@dataclass(frozen=True, eq=False)
class BallRegions(Bundle):
    """Rows 0 .. count[0] - 1 are regions, as cells and as values."""

    low: Shorts  # (capacity, dims)
    high: Shorts
    first: Floats  # (capacity, dims)
    last: Floats
    rival: Ints
    uses: Ints
    count: Ints

    @classmethod
    def of(cls, capacity: int, n_dims: int) -> BallRegions:
        shape = (capacity, n_dims)
        low, high, first, last = np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape), np.zeros(shape)
        return cls(
            low, high, first, last, np.zeros(capacity, np.int64), np.zeros(capacity, np.int64), np.zeros(1, np.int64)
        )


@dataclass(frozen=True, eq=False)
class Node(Bundle):
    """A range of values per dimension, its centre nearest to the factual, and what that one has paid."""

    low: Floats
    high: Floats
    x: Floats
    paid: Floats  # length of the move at x
    unpaid: Ints  # 1 for members of a fixed one-hot group whose change is not paid yet

    @classmethod
    def of(cls, n_dims: int) -> Node:
        low, high, x, paid = np.zeros((4, n_dims))
        return cls(low, high, x, paid, np.zeros(n_dims, np.int64))


@inner_kernel
def copy_range(source: Node, target: Node) -> None:
    for d in range(source.low.shape[0]):
        target.low[d], target.high[d] = source.low[d], source.high[d]


@dataclass(frozen=True, eq=False)
class Literals(Bundle):
    """Ways out of one region, entries 0 .. n - 1; lengths are moves in units of cost (l1)."""

    dim: Ints
    up: Ints
    dead: Floats
    gap: Floats
    cap: Floats  # longest move that node and budget allow, at most ``full``
    gain: Floats  # at ``cap``
    full: Floats
    price: Floats  # cost of ``full``; infinite if it cannot be had
    way: Floats  # dimensions without room: the first value outside

    @classmethod
    def of(cls, n_dims: int) -> Literals:
        n = 2 * n_dims
        return cls(np.zeros(n, np.int64), np.zeros(n, np.int64), *(np.zeros(n) for _ in range(7)))


@kernel
def add_ball_region(regions: BallRegions, geometry: Geometry, low: Ints, high: Ints, rival: int, random: Words) -> int:
    """Store a region, in place of a random one if the store is full; return its row (-1: it misses the limits)."""
    for d in range(low.shape[0]):
        if low[d] > geometry.high_cell[d] or high[d] < geometry.low_cell[d]:
            return -1
    if regions.count[0] < regions.rival.shape[0]:
        row = regions.count[0]
        regions.count[0] += 1
    else:
        row = random_below(random, regions.rival.shape[0])
    for d in range(low.shape[0]):
        regions.low[row, d], regions.high[row, d] = low[d], high[d]
        regions.first[row, d] = geometry.first[geometry.cell_start[d] + low[d]]
        regions.last[row, d] = geometry.last[geometry.cell_start[d] + high[d]]
    regions.rival[row] = rival
    regions.uses[row] = 0
    return row


@inner_kernel
def meets(regions: BallRegions, geometry: Geometry, row: int, x: Floats, threshold: float) -> bool:
    """True if a room of phi(radius) < threshold around x meets the region."""
    return _meets(regions.first, regions.last, geometry.kind, geometry.axis, geometry.square, row, x, threshold)


@inner_kernel
def _meets(
    firsts: Floats, lasts: Floats, kind: Ints, axis: Floats, square: bool, row: int, x: Floats, threshold: float
) -> bool:
    total = 0.0
    for d in range(x.shape[0]):
        first, last = firsts[row, d], lasts[row, d]
        if x[d] < first or x[d] > last:
            total += used_by(kind[d], axis[d], square, x[d], first, last)
            if total >= threshold:
                return False
    return True


@inner_kernel
def next_met(regions: BallRegions, geometry: Geometry, row: int, x: Floats, threshold: float) -> int:
    """The next region below ``row`` that the room meets (-1: none)."""
    firsts, lasts, kind, axis, square = regions.first, regions.last, geometry.kind, geometry.axis, geometry.square
    for candidate in range(row - 1, -1, -1):
        if _meets(firsts, lasts, kind, axis, square, candidate, x, threshold):
            return candidate
    return -1


@inner_kernel
def list_literals(
    geometry: Geometry, node: Node, first: Floats, last: Floats, target: float, base: float, budget: float,
    literals: Literals,
) -> tuple[int, float]:  # fmt: skip
    """List the literals of a region that node and budget leave alive; their number, and ``need`` = target - used."""
    n_dims, used, count = node.x.shape[0], 0.0, int64(0)
    kinds, axes, rates, square, norm = geometry.kind, geometry.axis, geometry.rate, geometry.square, geometry.norm
    for d in range(n_dims):
        used += used_by(kinds[d], axes[d], square, node.x[d], first[d], last[d])
    need = target - used
    spare = budget - base
    for d in range(n_dims):
        x, low, high, kind = node.x[d], node.low[d], node.high[d], kinds[d]
        if kind == FREE or low == high:
            continue
        for side in range(2):
            edge = last[d] if side == 1 else first[d]
            if (edge >= high) if side == 1 else (edge <= low):
                continue
            if kind == STILL:
                way = after(geometry.whole[d], edge, side == 1)
                if way > high or way < low:
                    continue
                if rates[d] == 0.0:
                    price = geometry.category_price[d] if node.unpaid[d] == 1 else 0.0
                    if norm == LARGEST:
                        price = max(0.0, price - base)
                    move = price / 2.0
                else:
                    move = rates[d] * abs(way - x)
                    price = move_cost(norm, node.paid[d], move, base)
                if price >= spare:
                    continue
                literals.dead[count] = literals.full[count] = literals.cap[count] = move
                literals.gap[count], literals.gain[count], literals.way[count] = 0.0, need, way
            else:
                unit = axes[d] * rates[d]
                below, above = max(0.0, first[d] - x), max(0.0, x - last[d])
                gap = max(below, above) / axes[d]
                dead = 0.0
                if (above if side == 1 else below) == 0.0:
                    dead = rates[d] * abs(edge - x) + gap * unit
                full = dead + (gap_for(square, need + phi(square, gap)) - gap) * unit
                cap = rates[d] * (high - x if side == 1 else x - low)
                cap = min(cap, longest_move(norm, node.paid[d], spare, base), full)
                if cap <= dead:
                    continue
                literals.dead[count], literals.gap[count] = dead, gap
                literals.cap[count], literals.full[count] = cap, full
                price = math.inf
                if cap >= full:
                    price = move_cost(norm, node.paid[d], full, base)
                    literals.gain[count] = need
                else:
                    literals.gain[count] = phi(square, gap + (cap - dead) / unit) - phi(square, gap)
            literals.dim[count], literals.up[count], literals.price[count] = d, side, price
            count += 1
    return count, need


@inner_kernel
def gain_at(geometry: Geometry, literals: Literals, i: int, move: float, need: float) -> float:
    """What a move along a literal gains."""
    d = literals.dim[i]
    if geometry.kind[d] != ROUND:
        return need if move >= literals.full[i] else 0.0
    if move <= literals.dead[i]:
        return 0.0
    gap, unit = literals.gap[i], geometry.axis[d] * geometry.rate[d]
    return min(need, phi(geometry.square, gap + (move - literals.dead[i]) / unit) - phi(geometry.square, gap))
