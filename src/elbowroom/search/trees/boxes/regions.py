"""Learned bad regions, as clauses over positions.

A bad region R (cells low_f .. high_f in every dimension) forbids every centre whose room meets it: a good centre has,
for some dimension f, its room left of R (position <= below_f) or right of R (position >= above_f).

Which of a thousand regions does the room at x meet? Every position of every dimension has a bit per region, set where
the room at that position meets the region's range: the bits of x, dimension by dimension, and-ed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import Shorts, Words, int64, lowest
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.bad.store import bit_of, next_row, row_of
from elbowroom.search.trees.boxes.limits import MAX_LEARNED
from elbowroom.search.trees.cells.leaves import ONE, ZERO
from elbowroom.search.trees.limits import GREED, MET_BYTES
from elbowroom.search.trees.question.question import COSTS, Question, extra


@dataclass(frozen=True, eq=False)
class Regions(Bundle):
    """Rows 0 .. count[0] - 1 are regions."""

    low: Shorts  # (capacity, dims) cells
    high: Shorts
    below: Shorts  # (capacity, dims) positions
    above: Shorts
    rival: Ints
    uses: Ints
    count: Ints
    met: Words  # (words, positions): which regions the room at a position of a dimension meets along it, newest lowest

    @classmethod
    def of(cls, question: Question, capacity: int = MAX_LEARNED) -> Regions:
        """An empty store; for models with very many positions a smaller one."""
        positions = int(question.pos_start[-1])
        capacity = min(capacity, max(64, MET_BYTES // (positions + 1) * 8))
        shape = (capacity, question.home.size)
        low, high, below, above = (np.zeros(shape, np.int32) for _ in range(4))
        rival, uses = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
        met = np.zeros(((capacity + 63) // 64, positions), np.uint64)
        return cls(
            low=low,
            high=high,
            below=below,
            above=above,
            rival=rival,
            uses=uses,
            count=np.zeros(1, np.int64),
            met=met,
        )


@kernel
def add_region(regions: Regions, question: Question, low: Ints, high: Ints, rival: int, random: Words) -> int:
    """Store a region and its clause, in place of a random one if the store is full; return its row."""
    row = next_row(regions.count, regions.rival, regions.uses, rival, random)
    word, bit = row >> 6, bit_of(row)
    for d in range(low.shape[0]):
        o = question.edge_start[d] + 1
        below, above = question.last_high[o + low[d] - 1], question.first_low[o + high[d] + 1]
        regions.low[row, d], regions.high[row, d] = low[d], high[d]
        regions.below[row, d], regions.above[row, d] = below, above
        o = question.pos_start[d]
        for p in range(question.pos_start[d + 1] - o):
            regions.met[word, o + p] &= ~bit
            if below < p < above:
                regions.met[word, o + p] |= bit
    return row


def forbid_positions(regions: Regions, question: Question, below: Ints, above: Ints) -> None:
    """Store what a rule forbids: all positions with below < p < above in every dimension. No rival wins there: rival -1.
    A full store forgets the region that was of use least often. Not compiled: it is called once per candidate at most."""
    row, capacity = int(regions.count[0]), regions.rival.size
    if row < capacity:
        regions.count[0] += 1
    else:
        row = int(np.argmin(regions.uses))
    regions.rival[row], regions.uses[row] = -1, 0
    regions.low[row], regions.high[row] = 0, 0
    regions.below[row], regions.above[row] = below, above
    met, bit = regions.met[row >> 6], np.uint64(1 << (63 - (row & 63)))
    met &= ~bit
    for d, (first, last) in enumerate(zip(below.tolist(), above.tolist(), strict=True)):
        o = int(question.pos_start[d])
        met[o + first + 1 : o + last] |= bit


@inner_kernel
def literal_cost(question: Question, paid: Floats, member: Ints, d: int, position: int) -> float:
    """What it costs to satisfy a literal; leaving a category costs both halves of the group's price."""
    cost = extra(question, paid, d, position)
    return 2.0 * cost if member[d] == 1 and question.norm == COSTS.ADDITIVE else cost


@inner_kernel
def met_regions(
    regions: Regions, question: Question, x: Ints, low: Ints, high: Ints, paid: Floats, member: Ints, base: float,
    budget: float, found: Ints, weight: Floats,
) -> int:  # fmt: skip
    """List stored regions that the room at x meets in found[:n], those with the fewest cheap live literals first.

    A literal weighs exp(-GREED cost / remaining budget). If a region has no live literal left, it is the only entry
    of the list, with weight 0: the node holds no good centre.
    """
    n_dims, hits = x.shape[0], int64(0)
    additive = question.norm == COSTS.ADDITIVE
    scale = GREED / (budget - base) if budget < math.inf and budget > base else 0.0
    word, met = (regions.count[0] + 63) >> 6, ZERO
    while hits < found.shape[0]:
        while met == ZERO and word > 0:
            word -= 1
            met = ~ZERO
            for d in range(n_dims):
                met &= regions.met[word, question.pos_start[d] + x[d]]
                if met == ZERO:
                    break
        if met == ZERO:
            break
        r = row_of(word, int64(lowest(met)))
        met &= met - ONE
        total_weight, alive = 0.0, 0
        for d in range(n_dims):
            for side in range(2):
                p = int64(regions.below[r, d] if side == 0 else regions.above[r, d])
                if (p >= low[d]) if side == 0 else (p <= high[d]):
                    cost = literal_cost(question, paid, member, d, p)
                    total = base + cost if additive else max(base, cost)
                    if total < budget:
                        total_weight += math.exp(-scale * (total - base))
                        alive += 1
        if alive == 0:
            found[0], weight[0] = r, 0.0
            return int64(1)
        i = hits
        while i > 0 and weight[i - 1] > max(total_weight, 1e-300):
            found[i], weight[i] = found[i - 1], weight[i - 1]
            i -= 1
        found[i], weight[i] = r, max(total_weight, 1e-300)
        hits += 1
    return hits
