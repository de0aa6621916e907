"""Climb and shrink where the walking adversary decides, not the sum of smallest values.

The sum takes the worst leaf of every tree, which no single point may reach: it is a little too strict for rooms of some
width. Between home and where a column is, the places at which some tree steps are bisected: what is nearer to home than a bad
place is likely bad, too.
"""

from __future__ import annotations

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import int64, sort_by
from elbowroom.numerics import Floats
from elbowroom.search.trees.first.asked import Asked
from elbowroom.search.trees.first.climb import WAY, climb
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.profile import STEPS, Line, draw_line
from elbowroom.search.trees.first.stand import (
    Stand,
    choose,
    is_changed,
    look_at_all,
    look_at_block,
    place,
    send_home,
    total_without,
)
from elbowroom.search.trees.first.walk import FOUND, Walk, ask


@inner_kernel
def _places(forest: Forest, asked: Asked, stand: Stand, line: Line, block: int, places: Floats, costs: Floats) -> int:
    """Home, then the places between home and where a column is at which some tree steps, from home outwards."""
    f = asked.block_column[asked.block_start[block]]
    home, x = asked.home[f], stand.x[f]
    steps = draw_line(forest, asked, stand, line, block, stand.cost[block])
    places[0], costs[0] = home, asked.home_cost[f]
    n = int64(1)
    for k in range(steps):
        s = line.order[k] if x > home else line.order[steps - 1 - k]
        here, kind = line.place[s], line.kind[s]
        if line.cost[s] >= stand.cost[block] or here == places[n - 1]:
            continue
        if (kind == STEPS.LEAVING and home < here < x) if x > home else (kind == STEPS.ENTERING and x < here < home):
            places[n], costs[n] = here, line.cost[s]
            n += 1
    return n


@kernel
def exact_shrink(
    forest: Forest, asked: Asked, stand: Stand, line: Line, walk: Walk, places: Floats, costs: Floats, limit: int, most: int
) -> None:  # fmt: skip
    """Bring blocks towards home while the adversary finds nothing, ``limit`` parts per question and ``most`` in all."""
    n_blocks, moved, stop = asked.is_group.shape[0], True, walk.count[2] + most
    look_at_all(forest, asked, stand)
    while moved and walk.count[2] < stop:
        moved = False
        for b in range(n_blocks):
            stand.order[b] = b
            stand.factor[b] = -stand.cost[b]
        sort_by(stand.order, stand.factor, n_blocks)
        for k in range(n_blocks):
            b = stand.order[k]
            if not is_changed(asked, stand, b) or stand.ended[0] != 0:
                continue
            if asked.is_group[b] != 0:
                was = stand.choice[b]
                if asked.home_choice[b] < 0:
                    continue
                send_home(asked, stand, b)
                if ask(forest, asked, stand, walk, limit) == FOUND.GOOD:
                    moved = True
                else:
                    choose(asked, stand, b, was)
                look_at_block(forest, asked, stand, b)
                continue
            f = asked.block_column[asked.block_start[b]]
            n = _places(forest, asked, stand, line, b, places, costs)
            begin, end = int64(0), n
            here, price = stand.x[f], stand.cost[b]
            while begin < end and walk.count[2] < stop and stand.ended[0] == 0:
                middle = int64(0) if begin == 0 and end == n else (begin + end) // 2
                place(asked, stand, b, places[middle], costs[middle])
                if ask(forest, asked, stand, walk, limit) == FOUND.GOOD:
                    here, price, moved = places[middle], costs[middle], True
                    end = middle
                else:
                    begin = middle + 1
            place(asked, stand, b, here, price)
            look_at_block(forest, asked, stand, b)


@kernel
def exact_climb(
    forest: Forest, asked: Asked, stand: Stand, line: Line, walk: Walk, budget: float, noise: float, lazy: float,
    steps: int, every: int, limit: int,
) -> int:  # fmt: skip
    """`climb` that ends as soon as the adversary finds nothing; it is asked every few steps."""
    for _ in range(0, steps, every):
        way = climb(forest, asked, stand, line, budget, noise, lazy, every)
        if way == WAY.ARRIVED:
            return WAY.ARRIVED
        if total_without(asked, stand, int64(-1)) >= budget:
            return WAY.LOST
        if ask(forest, asked, stand, walk, limit) == FOUND.GOOD:
            return WAY.ARRIVED
        if way == WAY.LOST:
            return WAY.LOST
    return WAY.LOST
