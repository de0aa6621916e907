"""From any centre to a good room, and back towards home as far as it stays good.

Climb: again and again the move of one block that lowers what is lacking most per cost. Shrink: bring every changed block to
its cheapest place at which nothing is lacking, the dearest block first. Both look along whole lines at once (`profile`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import int64, random_below, sort_by
from elbowroom.search.trees.first.asked import Asked
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.limits import SAME
from elbowroom.search.trees.first.profile import STEPS, Line, draw_line
from elbowroom.search.trees.first.stand import (
    Stand,
    changes_without,
    choose,
    is_changed,
    look_at_all,
    look_at_block,
    place,
    send_home,
    total_without,
    with_block,
)
from elbowroom.search.trees.question.question import COSTS


class _Way(NamedTuple):
    """How `climb` stopped."""

    LOST: int = 0  # no move helps
    ARRIVED: int = 1  # nothing is lacking
    CLIMBING: int = 2  # the steps are used up


WAY: Final = _Way()


@inner_kernel
def _rate(gain: float, rise: float) -> float:
    return gain / rise if rise > 0.0 else 1e100 * gain


@inner_kernel
def _lack_of(forest: Forest, stand: Stand) -> float:
    """What is lacking with the sums on trial."""
    lack = 0.0
    for r in range(forest.need.shape[0]):
        lack += max(0.0, forest.need[r] - stand.trial[r])
    return lack


@inner_kernel
def _best_choice(
    forest: Forest, asked: Asked, stand: Stand, block: int, lack: float, total: float, others: float, budget: float,
    may_change: bool,
) -> tuple[float, int]:  # fmt: skip
    """Rate of a group's best category, and which it is."""
    now, best, chosen = stand.choice[block], 0.0, -1
    for k in range(asked.choices[block]):
        after = with_block(asked, others, asked.choice_cost[asked.choice_start[block] + k])
        if k == now or after >= budget or (not may_change and k != asked.home_choice[block]):
            continue
        choose(asked, stand, block, k)
        gain = lack - look_at_block(forest, asked, stand, block)
        if gain > SAME * lack and _rate(gain, after - total) > best:
            best, chosen = _rate(gain, after - total), k
    choose(asked, stand, block, now)
    look_at_block(forest, asked, stand, block)
    return best, chosen


@inner_kernel
def _best_place(
    forest: Forest, asked: Asked, stand: Stand, line: Line, block: int, lack: float, total: float, others: float,
    budget: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Rate of a column's best move, where it goes, and what that place costs."""
    f = asked.block_column[asked.block_start[block]]
    limit = budget - others if asked.norm == COSTS.ADDITIVE else budget
    steps, home = draw_line(forest, asked, stand, line, block, limit), asked.home[f]
    for r in range(forest.need.shape[0]):
        stand.trial[r] = line.start[r]
    best, where, price = 0.0, stand.x[f], stand.cost[block]
    k = int64(0)
    while k < steps:
        s = line.order[k]
        here, kind, cost = line.place[s], line.kind[s], line.cost[s]
        gain = lack - _lack_of(forest, stand) if kind == STEPS.ENTERING else 0.0
        while k < steps and line.place[line.order[k]] == here and line.kind[line.order[k]] == kind:
            stand.trial[line.rival[line.order[k]]] += line.rise[line.order[k]]
            k += 1
        if kind == STEPS.LEAVING:
            gain = lack - _lack_of(forest, stand)
        after = with_block(asked, others, cost)
        if (here <= home if kind == STEPS.LEAVING else here >= home) or after >= budget or gain <= SAME * lack:
            continue
        if here == stand.x[f]:
            continue
        if _rate(gain, after - total) > best:
            best, where, price = _rate(gain, after - total), here, cost
    return best, where, price


@kernel
def climb(
    forest: Forest, asked: Asked, stand: Stand, line: Line, budget: float, noise: float, lazy: float, steps: int
) -> int:
    """Greedy moves from where the stand is, while the total cost stays < budget; see `WAY`.

    Lazy: blocks are looked at in the order of the rates that they had last time, and the search for the best move ends as
    soon as the best fresh rate beats all stale ones by this factor (inf: all blocks are looked at).
    """
    n_blocks = asked.is_group.shape[0]
    lack = look_at_all(forest, asked, stand)
    for b in range(n_blocks):
        stand.rate[b] = np.inf
        stand.factor[b] = 1.0 + noise * (random_below(stand.random, int64(1 << 20)) / (1 << 20) - 0.5)
    for _ in range(steps):
        total = total_without(asked, stand, int64(-1))
        if lack <= 0.0:
            return WAY.ARRIVED if total < budget else WAY.LOST
        for b in range(n_blocks):
            stand.order[b] = b
            stand.rate[b] = -stand.rate[b]
        sort_by(stand.order, stand.rate, n_blocks)
        for b in range(n_blocks):
            stand.rate[b] = -stand.rate[b]
        best, block, where, price, chosen = 0.0, int64(-1), 0.0, 0.0, int64(-1)
        for k in range(n_blocks):
            b = stand.order[k]
            if best > 0.0 and best > lazy * stand.rate[b]:
                break
            if stand.ended[0] != 0:
                return WAY.LOST
            others = total_without(asked, stand, b)
            may_change = changes_without(asked, stand, b) + asked.counts[b] <= asked.changes
            rate, to, cost, choice = 0.0, 0.0, 0.0, int64(-1)
            if asked.is_group[b] != 0:
                rate, choice = _best_choice(forest, asked, stand, b, lack, total, others, budget, may_change)
            elif may_change:
                rate, to, cost = _best_place(forest, asked, stand, line, b, lack, total, others, budget)
            rate *= stand.factor[b]
            stand.rate[b] = rate
            if rate > best:
                best, block, where, price, chosen = rate, b, to, cost, choice
        if block < 0:
            return WAY.LOST
        if asked.is_group[block] != 0:
            choose(asked, stand, block, chosen)
        else:
            place(asked, stand, block, where, price)
        lack = look_at_block(forest, asked, stand, block)
    return WAY.CLIMBING


@inner_kernel
def cheapest_place(forest: Forest, asked: Asked, stand: Stand, line: Line, block: int) -> tuple[float, float]:
    """The cheapest place of a column at which nothing is lacking, and its cost; where it is if there is none."""
    f = asked.block_column[asked.block_start[block]]
    limit = np.nextafter(stand.cost[block], np.inf)
    steps, home = draw_line(forest, asked, stand, line, block, limit), asked.home[f]
    for r in range(forest.need.shape[0]):
        stand.trial[r] = line.start[r]
    best, where = stand.cost[block], stand.x[f]
    k, at_home = int64(0), False
    while k <= steps:
        s = line.order[k] if k < steps else int64(-1)
        beyond = s < 0 or line.place[s] > home or (line.place[s] == home and line.kind[s] == STEPS.ENTERING)
        if beyond and not at_home:
            at_home = True
            if asked.home_cost[f] < best and _lack_of(forest, stand) <= 0.0:
                best, where = asked.home_cost[f], home
        if s < 0:
            break
        here, kind, cost = line.place[s], line.kind[s], line.cost[s]
        lack = _lack_of(forest, stand)
        while k < steps and line.place[line.order[k]] == here and line.kind[line.order[k]] == kind:
            stand.trial[line.rival[line.order[k]]] += line.rise[line.order[k]]
            k += 1
        if kind == STEPS.LEAVING:
            lack = _lack_of(forest, stand)
        wrong_side = here <= home if kind == STEPS.LEAVING else here >= home
        if lack <= 0.0 and cost < best and not wrong_side:
            best, where = cost, here
    return where, best


@kernel
def shrink(forest: Forest, asked: Asked, stand: Stand, line: Line) -> None:
    """Bring blocks back towards home while nothing is lacking, until no block moves any more."""
    n_blocks, moved = asked.is_group.shape[0], True
    look_at_all(forest, asked, stand)
    while moved:
        moved = False
        for b in range(n_blocks):
            stand.order[b] = b
            stand.factor[b] = -stand.cost[b]
        sort_by(stand.order, stand.factor, n_blocks)
        for k in range(n_blocks):
            b = stand.order[k]
            if not is_changed(asked, stand, b) or stand.ended[0] != 0:
                continue
            f = asked.block_column[asked.block_start[b]]
            was, cost, choice = stand.x[f], stand.cost[b], stand.choice[b]
            if asked.is_group[b] != 0:
                if asked.home_choice[b] < 0:
                    continue
                send_home(asked, stand, b)
            else:
                where, price = cheapest_place(forest, asked, stand, line, b)
                if where == was:
                    continue
                place(asked, stand, b, where, price)
            if look_at_block(forest, asked, stand, b) <= 0.0:
                moved = True
                continue
            if asked.is_group[b] != 0:  # another category is needed, or rounding spoke against it: stay
                choose(asked, stand, b, choice)
            else:
                place(asked, stand, b, was, cost)
            look_at_block(forest, asked, stand, b)
