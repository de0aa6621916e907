"""Learned bad regions as boxes of values.

Which of thousands of regions does the room at x meet? Every cell of every dimension has a bit per region, set where the
region is within a semi-axis of the cell: the bits of x, dimension by dimension, and-ed, leave few to be measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import Shorts, Words, int64, lowest
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.bad.store import bit_of, next_row, row_of
from elbowroom.search.trees.balls.geometry import KIND, Geometry, cell_at, used_by
from elbowroom.search.trees.balls.limits import WITHIN
from elbowroom.search.trees.cells.leaves import ONE, ZERO
from elbowroom.search.trees.limits import MET_BYTES


class _Row(NamedTuple):
    """In place of the row of a region."""

    NOTHING: int = -1  # no bad region is met
    UNSURE: int = -2  # the adversary needs a larger limit or stack
    PRUNED: int = -3  # the node holds no good centre within the budget
    MOVED: int = -4  # a move was forced: start again with the new nearest centre
    AGAIN: int = -5  # much was cut off, and more may be: put back


ROW: Final = _Row()


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
            low=low,
            high=high,
            first=first,
            last=last,
            rival=rival,
            uses=uses,
            count=count,
            near=near,
            around=around,
            cell=np.zeros(n_dims, np.int64),
            word=word,
            left=np.zeros(1, np.uint64),
            used=np.zeros(64),
        )


@kernel
def add_ball_region(regions: BallRegions, geometry: Geometry, low: Ints, high: Ints, rival: int, random: Words) -> int:
    """Store a region, in place of a random one if the store is full; return its row (-1: it misses the limits)."""
    for d in range(low.shape[0]):
        if low[d] > geometry.high_cell[d] or high[d] < geometry.low_cell[d]:
            return -1
    row = next_row(regions.count, regions.rival, regions.uses, rival, random)
    word, bit = row >> 6, bit_of(row)
    for d in range(low.shape[0]):
        begin, end = geometry.cell_start[d], geometry.cell_start[d + 1]
        first, last = geometry.first[begin + low[d]], geometry.last[begin + high[d]]
        regions.low[row, d], regions.high[row, d] = low[d], high[d]
        regions.first[row, d], regions.last[row, d] = first, last
        width = geometry.axis[d] * WITHIN
        for c in range(begin, end):
            regions.near[word, c] &= ~bit
            regions.around[word, c] &= ~bit
            if geometry.kind[d] == KIND.FREE or low[d] <= c - begin <= high[d]:
                regions.around[word, c] |= bit
            if geometry.kind[d] == KIND.FREE or not (
                geometry.first[c] - last > width or first - geometry.last[c] > width
            ):
                regions.near[word, c] |= bit
    return row


@inner_kernel
def used_up(regions: BallRegions, geometry: Geometry, row: int, x: Floats) -> float:
    """What the gaps between x and a region use of the room."""
    total = 0.0
    for d in range(x.shape[0]):
        first, last = regions.first[row, d], regions.last[row, d]
        total += used_by(geometry, d, x[d], first, last)
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
            row = row_of(word, i)
            first, last = regions.first[row, d], regions.last[row, d]
            used[i] += used_by(geometry, d, x[d], first, last)
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
        row, used = row_of(word, i), regions.used[i]
        left &= left - ONE
    regions.word[0], regions.left[0] = word, left
    return row, used
