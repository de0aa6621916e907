"""Many bad regions at once: what a centre must pay so that it leaves all of them (l1 only).

gain(c) / need <= a c with the chord a = gain(cap) / (need cap), so that every good centre satisfies, for every region R,
sum_j a_Rj c_j >= 1: a covering problem over the literals j of all regions, each of which gets a slot. Any y >= 0 with
load_j = sum_R a_Rj y_R <= 1 proves the extra cost sum_R y_R, and reduced prices 1 - load_j for whatever else is proven
about the same moves. Here a first y is made greedily; `simplex` finds the best one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from elbowroom.kernels.bundle import Bundle, array
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import sort_by
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.balls.limits import QUEUE, SAFE


@dataclass(frozen=True, eq=False)
class Cover(Bundle):
    """Rows sum_j chord_j move_j >= right, one per region, over the slots of literals; and the arrays of the linear program."""

    row: Ints = array("rows")  # region
    value: Floats = array("rows")  # bound of the region alone
    need: Floats = array("rows")
    right: Floats = array("rows")
    size: Ints = array("rows")
    slot: Ints = array("rows", "sides")
    chord: Floats = array("rows", "sides")
    count: Ints = array(1)  # slots in use
    slot_of: Ints = array("sides", fill=-1)  # of the literal 2 d + up; -1: none
    literal: Ints = array("sides")  # of a slot
    reach: Floats = array("sides")  # longest raw move along a literal
    at: Floats = array("dims")  # the centre that the program proposes
    order: Ints = array("rows")
    rank: Floats = array("rows")
    load: Floats = array("sides")  # on each literal, of the greedy cover
    best_load: Floats = array("sides")  # of the linear program
    trial: Floats = array("sides")
    basis: Ints = array("slots_and_one")  # row, or -1 for the slack of the slot; the last is for an unbounded row
    level: Floats = array("slots_and_one")  # value of the basic column
    move: Floats = array("slots")  # the program's prices: moves along the literals
    column: Floats = array("slots")
    nonzero: Ints = array("slots")
    queue: Ints = array(QUEUE)  # rows that are looked at first
    missing: Floats = array(QUEUE)
    inverse: Floats = array("slots", "slots")


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
