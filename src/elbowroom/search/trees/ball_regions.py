"""Learned bad regions as boxes of values, and the ways out of them.

For a region R that the room at x meets, ``need`` = 1 - sum phi(gap) is what the room must still be pushed away. Each
dimension and side is a literal: a move by the length c gains nothing up to the dead length d, and then

    gain(c) = phi(g + (c - d) / (w r)) - phi(g),

where g is the gap in that dimension at x, w the price of a raw unit and r the semi-axis. ``full`` is the length that
gains all of ``need``. A dimension without room gains all of it at its first value outside.

Which of thousands of regions does the room at x meet? Every cell of every dimension has a bit per region, set where the
region is within a semi-axis of the cell: the bits of x, dimension by dimension, and-ed, leave few to be measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import Shorts, Words, int64, lowest, random_below
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.ball_geometry import (
    FREE,
    LARGEST,
    ROUND,
    STILL,
    Geometry,
    after,
    cell_at,
    gap_for,
    longest_move,
    move_cost,
    phi,
    used_by,
)  # fmt: skip
from elbowroom.search.trees.bits import ONE, ZERO
from elbowroom.search.trees.regions import NEWEST

MET_BYTES = 64 * 2**20  # for the bits of all cells
WITHIN = 1.0 + 1e-6  # semi-axes: what is farther away than this is met by no room that anybody asks about
TARGET = 1.0 - 1e-12  # a good centre has sum phi(gap) > 1 for every bad region; less than that by more than rounding


@dataclass(frozen=True, eq=False)
class BallRegions(Bundle):
    """Rows 0 .. count[0] - 1 are regions, as cells and as values, with a cursor over those that a room meets."""

    low: Shorts  # (capacity, dims)
    high: Shorts
    first: Floats  # (capacity, dims)
    last: Floats
    rival: Ints
    uses: Ints
    count: Ints
    near: Words  # (words, cells): which regions are within a semi-axis of a cell along its dimension, newest lowest
    around: Words  # (words, cells): which regions hold the cell along its dimension
    cell: Ints  # (dims,) flat cells of the room's centre
    word: Ints  # (1,) that the cursor is at
    left: Words  # (1,) bits of it that are left
    used: Floats  # (64,) what the gaps between its regions and the centre use of the room

    @classmethod
    def of(cls, capacity: int, geometry: Geometry) -> BallRegions:
        """An empty store; for models with very many cells a smaller one."""
        n_dims, cells = geometry.home.size, geometry.first.size
        capacity = min(capacity, max(64, MET_BYTES // (cells + 1) * 4))
        shape = (capacity, n_dims)
        low, high, first, last = np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape), np.zeros(shape)
        rival, uses = np.zeros((2, capacity), np.int64)
        near, around = np.zeros((2, (capacity + 63) // 64, cells), np.uint64)
        count, word = np.zeros((2, 1), np.int64)
        return cls(
            low, high, first, last, rival, uses, count, near, around, np.zeros(n_dims, np.int64),
            word, np.zeros(1, np.uint64), np.zeros(64),
        )  # fmt: skip


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
    word, bit = row >> 6, NEWEST >> np.uint64(row & 63)
    for d in range(low.shape[0]):
        begin, end = geometry.cell_start[d], geometry.cell_start[d + 1]
        first, last = geometry.first[begin + low[d]], geometry.last[begin + high[d]]
        regions.low[row, d], regions.high[row, d] = low[d], high[d]
        regions.first[row, d], regions.last[row, d] = first, last
        width = geometry.axis[d] * WITHIN
        for c in range(begin, end):
            regions.near[word, c] &= ~bit
            regions.around[word, c] &= ~bit
            if geometry.kind[d] == FREE or low[d] <= c - begin <= high[d]:
                regions.around[word, c] |= bit
            if geometry.kind[d] == FREE or not (geometry.first[c] - last > width or first - geometry.last[c] > width):
                regions.near[word, c] |= bit
    regions.rival[row] = rival
    regions.uses[row] = 0
    return row


@inner_kernel
def used_up(regions: BallRegions, geometry: Geometry, row: int, x: Floats) -> float:
    """What the gaps between x and a region use of the room."""
    total = 0.0
    for d in range(x.shape[0]):
        first, last = regions.first[row, d], regions.last[row, d]
        total += used_by(geometry.kind[d], geometry.axis[d], geometry.square, x[d], first, last)
    return total


@inner_kernel
def look_around(regions: BallRegions, geometry: Geometry, x: Floats) -> None:
    """Put the cursor before the regions that the room at x meets."""
    for d in range(x.shape[0]):
        begin, end = geometry.cell_start[d], geometry.cell_start[d + 1]
        regions.cell[d] = begin + cell_at(geometry.last, begin, end, x[d])
    regions.word[0], regions.left[0] = (regions.count[0] + 63) >> 6, ZERO


@inner_kernel
def _met_in(regions: BallRegions, geometry: Geometry, x: Floats, threshold: float, word: int) -> np.uint64:
    """Which regions of a word the room meets; fills regions.used. Most have a gap in one or two dimensions only."""
    cell, near, around, used = regions.cell, regions.near, regions.around, regions.used
    left = ~ZERO
    for d in range(x.shape[0]):
        left &= near[word, cell[d]]
        if left == ZERO:
            return ZERO
    for i in range(64):
        used[i] = 0.0
    for d in range(x.shape[0]):
        apart = left & ~around[word, cell[d]]
        while apart != ZERO:
            i = int64(lowest(apart))
            row = 64 * word + 63 - i
            first, last = regions.first[row, d], regions.last[row, d]
            used[i] += used_by(geometry.kind[d], geometry.axis[d], geometry.square, x[d], first, last)
            if used[i] >= threshold:
                left &= ~(apart & (ZERO - apart))
            apart &= apart - ONE
    return left


@inner_kernel
def next_met(regions: BallRegions, geometry: Geometry, x: Floats, threshold: float) -> tuple[int, float]:
    """The next region, newest first, that a room of phi(radius) < threshold around x meets, and what its gaps use (-1:
    there is none). ``threshold`` is at most phi(WITHIN)."""
    word, left = int64(regions.word[0]), regions.left[0]
    while left == ZERO and word > 0:
        word -= 1
        left = _met_in(regions, geometry, x, threshold, word)
    row, used = int64(-1), 0.0
    if left != ZERO:
        i = int64(lowest(left))
        row, used = 64 * word + 63 - i, regions.used[i]
        left &= left - ONE
    regions.word[0], regions.left[0] = word, left
    return row, used


@inner_kernel
def list_literals(
    geometry: Geometry, node: Node, first: Floats, last: Floats, need: float, base: float, budget: float,
    literals: Literals,
) -> int:  # fmt: skip
    """List the literals of a region that node and budget leave alive, given its ``need``; their number."""
    n_dims, count = node.x.shape[0], int64(0)
    kinds, axes, rates, square, norm = geometry.kind, geometry.axis, geometry.rate, geometry.square, geometry.norm
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
    return count


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
