"""Where a search stands: a centre, the smallest value that its room meets in every tree, and what it costs.

S_r(x) = base_r + sum over trees of the smallest value that the room at x meets is a lower bound on the margin of rival r at
every point of the room: S_r >= need_r for all r makes the room good. What is lacking is sum_r max(0, need_r - S_r).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.bundle import Bundle, array, blank
from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import Words
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.first.asked import Asked
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.question.question import COSTS


@dataclass(frozen=True, eq=False)
class Stand(Bundle):
    """One centre with what is known about it, and the scratch arrays of everything that moves it."""

    x: Floats = array("columns")
    choice: Ints = array("blocks")  # of groups
    cost: Floats = array("blocks")
    current: Floats = array("rivals", "trees")
    sums: Floats = array("rivals")
    trial: Floats = array("rivals")
    rate: Floats = array("blocks")  # of the best move of a block when it was last looked at
    factor: Floats = array("blocks")
    order: Ints = array("blocks")
    stack: Ints = array("nodes")
    work: Ints = array(1)  # nodes walked
    ended: Ints = array(1)  # not 0 once the time is over: kernels give up what they are doing
    random: Words = array(1)


def stand_at_home(forest: Forest, asked: Asked, seed: int) -> Stand:
    """Fresh arrays; the centre is home."""
    made = blank(
        Stand, columns=forest.n_columns, blocks=asked.n_blocks, rivals=len(forest.need), trees=forest.n_trees,
        nodes=forest.most_nodes + 2,
    )  # fmt: skip
    made.random[0] = np.uint64(seed % 2**63)
    go_home(asked, made)
    return made


def go_home(asked: Asked, stand: Stand) -> None:
    """All blocks at home."""
    stand.x[:] = asked.home
    stand.choice[:] = np.maximum(asked.home_choice, 0)
    for b in range(asked.n_blocks):
        if asked.is_group[b]:
            stand.cost[b] = asked.choice_cost[asked.choice_start[b] + stand.choice[b]]
        else:
            stand.cost[b] = asked.home_cost[asked.block_column[asked.block_start[b]]]


@inner_kernel
def smallest(forest: Forest, asked: Asked, stand: Stand, rival: int, root: int) -> float:
    """The smallest value below a root that the room meets: the worse side first, subtrees that cannot beat it skipped."""
    feature, right, low, stack = forest.feature, forest.right, forest.low, stand.stack
    below, above, x = asked.below, asked.above, stand.x
    best, top, seen = np.inf, 0, 0
    stack[0] = root
    while top >= 0:
        i = stack[top]
        top -= 1
        while low[rival, i] < best:
            seen += 1
            f = feature[i]
            if f < 0:
                best = low[rival, i]
                break
            if x[f] <= below[i]:
                i = i + 1
            elif x[f] >= above[i]:
                i = right[i]
            else:
                first, second = i + 1, right[i]
                if low[rival, second] < low[rival, first]:
                    first, second = second, first
                top += 1
                stack[top] = second
                i = first
    stand.work[0] += seen
    return best


@inner_kernel
def sum_up(forest: Forest, stand: Stand) -> float:
    """S of every rival from the trees' values; returns what is lacking."""
    lack = 0.0
    for r in range(forest.need.shape[0]):
        total = forest.base[r]
        for t in range(forest.root.shape[0] - 1):
            total += stand.current[r, t]
        stand.sums[r] = total
        lack += max(0.0, forest.need[r] - total)
    return lack


@inner_kernel
def look_at_all(forest: Forest, asked: Asked, stand: Stand) -> float:
    """All trees anew; returns what is lacking."""
    for r in range(forest.need.shape[0]):
        for t in range(forest.root.shape[0] - 1):
            stand.current[r, t] = smallest(forest, asked, stand, r, forest.root[t])
    return sum_up(forest, stand)


@inner_kernel
def look_at_block(forest: Forest, asked: Asked, stand: Stand, block: int) -> float:
    """The trees that split on a block anew; returns what is lacking."""
    for r in range(forest.need.shape[0]):
        for u in range(asked.user_start[block], asked.user_start[block + 1]):
            t = asked.user[u]
            stand.current[r, t] = smallest(forest, asked, stand, r, forest.root[t])
    return sum_up(forest, stand)


@inner_kernel
def total_without(asked: Asked, stand: Stand, block: int) -> float:
    """Total cost of all blocks but one (-1: none)."""
    total = asked.constant
    for b in range(asked.is_group.shape[0]):
        if b != block:
            total = total + stand.cost[b] if asked.norm == COSTS.ADDITIVE else max(total, stand.cost[b])
    return total


@inner_kernel
def with_block(asked: Asked, others: float, cost: float) -> float:
    """Total cost once a block costs so much."""
    return others + cost if asked.norm == COSTS.ADDITIVE else max(others, cost)


@inner_kernel
def is_changed(asked: Asked, stand: Stand, block: int) -> bool:
    """True if a block is not at home."""
    if asked.is_group[block] != 0:
        return stand.choice[block] != asked.home_choice[block]
    f = asked.block_column[asked.block_start[block]]
    return stand.x[f] != asked.home[f]


@inner_kernel
def changes_without(asked: Asked, stand: Stand, block: int) -> int:
    """How many blocks count as changed, leaving one out."""
    changes = 0
    for b in range(asked.is_group.shape[0]):
        if b != block and is_changed(asked, stand, b):
            changes += asked.counts[b]
    return changes


@inner_kernel
def choose(asked: Asked, stand: Stand, block: int, choice: int) -> None:
    """Put a group at one of its choices."""
    begin, end = asked.block_start[block], asked.block_start[block + 1]
    at = asked.choice_at[block] + choice * (end - begin)
    for k in range(begin, end):
        stand.x[asked.block_column[k]] = asked.choice_value[at + k - begin]
    stand.choice[block] = choice
    stand.cost[block] = asked.choice_cost[asked.choice_start[block] + choice]


@inner_kernel
def place(asked: Asked, stand: Stand, block: int, value: float, cost: float) -> None:
    """Put a single column at a value."""
    stand.x[asked.block_column[asked.block_start[block]]] = value
    stand.cost[block] = cost


@inner_kernel
def send_home(asked: Asked, stand: Stand, block: int) -> None:
    """Put a block at home."""
    if asked.is_group[block] != 0:
        choose(asked, stand, block, max(asked.home_choice[block], 0))
    else:
        f = asked.block_column[asked.block_start[block]]
        place(asked, stand, block, asked.home[f], asked.home_cost[f])


@kernel
def send_blocks_home(asked: Asked, stand: Stand, blocks: Ints) -> None:
    """Put some blocks at home."""
    for k in range(blocks.shape[0]):
        send_home(asked, stand, blocks[k])


@kernel
def total_cost(asked: Asked, stand: Stand) -> float:
    """Total cost where the stand is: squares for the Euclidean distance."""
    return total_without(asked, stand, -1)
