"""Many bad regions at once: what a centre must pay so that it leaves all of them (l1 only).

gain(c) / need <= a c with the chord a = gain(cap) / (need cap), so that every good centre satisfies, for every region R,
sum_j a_Rj c_j >= 1: a covering problem over the literals j of all regions, each of which gets a slot. Any y >= 0 with
load_j = sum_R a_Rj y_R <= 1 proves the extra cost sum_R y_R, and reduced prices 1 - load_j for whatever else is proven
about the same moves. Here a first y is made greedily; `simplex` finds the best one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import sort_by
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.balls.limits import MAX_MET, MAX_SIGNED, MAX_SLOTS, QUEUE, SAFE


@dataclass(frozen=True, eq=False)
class Cover(Bundle):
    """Rows sum_j chord_j move_j >= right, one per region, over the slots of literals; and the arrays of the linear program."""

    row: Ints  # (MAX_MET,) region
    value: Floats  # bound of the region alone
    need: Floats
    right: Floats
    size: Ints
    slot: Ints  # (MAX_MET, 2 dims)
    chord: Floats
    count: Ints  # (1,) slots in use
    slot_of: Ints  # (2 dims,) of the literal 2 d + up; -1: none
    literal: Ints  # (2 dims,) of a slot
    reach: Floats  # (2 dims,) longest raw move along a literal
    at: Floats  # (dims,) the centre that the program proposes
    order: Ints
    rank: Floats
    load: Floats  # (2 dims,) on each literal, of the greedy cover
    best_load: Floats  # of the linear program
    trial: Floats  # (slots,)
    basis: Ints  # (slots + 1,) row, or -1 for the slack of the slot; the last place is for an unbounded row
    level: Floats  # (slots + 1,) value of the basic column
    move: Floats  # (slots,) the program's prices: moves along the literals
    column: Floats
    nonzero: Ints
    queue: Ints  # (QUEUE,) rows that are looked at first
    missing: Floats
    inverse: Floats  # (slots, slots)

    @classmethod
    def of(cls, n_dims: int) -> Cover:
        n, sides = MAX_MET + MAX_SIGNED + 1, 2 * n_dims
        slots = min(sides, MAX_SLOTS)
        row, size, order = np.zeros((3, n), np.int64)
        value, need, right, rank = np.zeros((4, n))
        reach, load, best_load, trial = np.zeros((4, sides))
        move, column = np.zeros((2, slots))
        return cls(
            row=row,
            value=value,
            need=need,
            right=right,
            size=size,
            slot=np.zeros((n, sides), np.int64),
            chord=np.zeros((n, sides)),
            count=np.zeros(1, np.int64),
            slot_of=np.full(sides, -1, np.int64),
            literal=np.zeros(sides, np.int64),
            reach=reach,
            at=np.zeros(n_dims),
            order=order,
            rank=rank,
            load=load,
            best_load=best_load,
            trial=trial,
            basis=np.zeros(slots + 1, np.int64),
            level=np.zeros(slots + 1),
            move=move,
            column=column,
            nonzero=np.zeros(slots, np.int64),
            queue=np.zeros(QUEUE, np.int64),
            missing=np.zeros(QUEUE),
            inverse=np.zeros((slots, slots)),
        )


@inner_kernel
def forget_slots(cover: Cover) -> None:
    for j in range(cover.count[0]):
        cover.slot_of[cover.literal[j]] = -1
    cover.count[0] = 0


@inner_kernel
def slot_for(cover: Cover, literal: int) -> int:
    """The slot of a literal; a new one if it has none."""
    if cover.slot_of[literal] < 0:
        cover.slot_of[literal] = cover.count[0]
        cover.literal[cover.count[0]] = literal
        cover.count[0] += 1
    return cover.slot_of[literal]


@inner_kernel
def cover_bound(cover: Cover, n: int) -> float:
    """Greedy dual ascent, most expensive regions first, each as far as its literals allow; fills cover.load."""
    for i in range(n):
        cover.order[i] = i
        cover.rank[i] = -cover.value[i]
    sort_by(cover.order, cover.rank, n)
    slots, total = cover.count[0], 0.0
    for j in range(slots):
        cover.trial[j] = 0.0
    for t in range(n):
        r = cover.order[t]
        step = math.inf
        for j in range(cover.size[r]):
            rest = 1.0 - cover.trial[cover.slot[r, j]]
            if rest <= 1e-12:
                step = 0.0
                break
            step = min(step, rest / cover.chord[r, j])
        if step == 0.0 or step == math.inf:
            continue
        total += step
        for j in range(cover.size[r]):
            cover.trial[cover.slot[r, j]] += step * cover.chord[r, j]
    for j in range(cover.load.shape[0]):
        cover.load[j] = 0.0
    for j in range(slots):
        cover.load[cover.literal[j]] = cover.trial[j]
    return total * SAFE
