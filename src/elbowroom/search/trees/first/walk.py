"""The walking adversary: is every point of a room good? Depth first over parts of it, a node per tree carried along.

A part is the room between some cuts: per column the nodes whose cuts limit it. Trees that have arrived at a leaf cost
nothing any more. A part whose sum of smallest values reaches the need is good, one whose sum of largest values misses it is
bad everywhere; otherwise the tree with the widest range of values is followed to both sides of its next cut. Bad parts are
kept: other rooms that meet them are bad as well. Splits by category are followed one by one, which may call a room bad that
is good (no category does what a part asks for), never the other way round; and the judge has the last word anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from elbowroom.kernels.bundle import Bundle, array, blank
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import Shorts, int64
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.first.asked import Asked
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.limits import LEVELS_BYTES, POOL
from elbowroom.search.trees.first.stand import Stand


class _Finding(NamedTuple):
    GOOD: int = 0
    BAD: int = 1
    LIMIT: int = 2  # not decided within the number of parts


FOUND: Final = _Finding()


@dataclass(frozen=True, eq=False)
class Walk(Bundle):
    """Parts that are still to be looked at, one per level; and bad parts of earlier rooms."""

    first: Shorts = array(
        "levels", "columns"
    )  # nodes whose cuts limit the part to the left and right; -1: the room does
    last: Shorts = array("levels", "columns")
    at: Shorts = array("levels", "trees")
    pool_first: Shorts = array("pool", "columns")
    pool_last: Shorts = array("pool", "columns")
    pool_center: Floats = array("pool", "columns")
    count: Ints = array(3)  # bad parts kept, ever found, parts looked at


def walk_for(forest: Forest) -> Walk:
    levels = int(np.clip(LEVELS_BYTES // (4 * (forest.n_trees + 2 * forest.n_columns)), 64, 2000))
    return blank(Walk, levels=levels, columns=forest.n_columns, trees=forest.n_trees, pool=POOL)


@inner_kernel
def _side(forest: Forest, asked: Asked, stand: Stand, walk: Walk, level: int, i: int) -> int:
    """0: the part lies left of the cut of node i; 1: right of it; 2: on both sides."""
    f = forest.feature[i]
    first, last, cut = walk.first[level, f], walk.last[level, f], forest.cut[i]
    if stand.x[f] <= asked.below[i]:
        return 0
    if stand.x[f] >= asked.above[i]:  # always one of both where the node is about the centre, whatever the part
        return 1
    if last >= 0 and forest.cut[last] <= cut:
        return 0
    if first >= 0 and forest.cut[first] >= cut:
        return 1
    return 2


@inner_kernel
def _ends(
    forest: Forest, asked: Asked, stand: Stand, walk: Walk, level: int, rival: int, root: int
) -> tuple[float, float]:
    """Smallest and largest value below a node that the part meets, in one walk."""
    stack, low, high = stand.stack, forest.low, forest.high
    least, most, top, seen = np.inf, -np.inf, 0, 0
    stack[0] = root
    while top >= 0:
        i = stack[top]
        top -= 1
        while low[rival, i] < least or high[rival, i] > most:
            seen += 1
            if forest.feature[i] < 0:
                least, most = min(least, low[rival, i]), max(most, high[rival, i])
                break
            side = _side(forest, asked, stand, walk, level, i)
            if side == 0:
                i = i + 1
            elif side == 1:
                i = int64(forest.right[i])
            else:
                top += 1
                stack[top] = forest.right[i]
                i = i + 1
    stand.work[0] += seen
    return least, most


@inner_kernel
def _look(forest: Forest, asked: Asked, stand: Stand, walk: Walk, rival: int, limit: int) -> int:
    """The room at the stand, for one rival; a bad part is left on the level walk.at that count[2] says."""
    n_columns, n_trees, need = walk.first.shape[1], forest.root.shape[0] - 1, forest.need[rival]
    top, visited = 0, 0
    for f in range(n_columns):
        walk.first[0, f] = walk.last[0, f] = -1
    for t in range(n_trees):
        walk.at[0, t] = forest.root[t]
    while top >= 0:
        visited += 1
        walk.count[2] += 1
        if visited > limit or top + 2 > walk.first.shape[0]:
            return FOUND.LIMIT
        least = most = forest.base[rival]
        spread, widest = 0.0, int64(-1)
        for t in range(n_trees):
            i = int64(walk.at[top, t])
            side = 0
            while forest.feature[i] >= 0 and side < 2:
                side = _side(forest, asked, stand, walk, top, i)
                if side == 0:
                    i = int64(i + 1)
                elif side == 1:
                    i = int64(forest.right[i])
            walk.at[top, t] = i
            if forest.feature[i] < 0:
                least += forest.low[rival, i]
                most += forest.low[rival, i]
                continue
            lowest, highest = _ends(forest, asked, stand, walk, top, rival, i)
            least += lowest
            most += highest
            if highest - lowest > spread:
                spread, widest = highest - lowest, t
        stand.work[0] += n_trees
        if most < need:
            _keep(stand, walk, top)
            return FOUND.BAD
        if least >= need or widest < 0:
            top -= 1
            continue
        i = int64(walk.at[top, widest])
        f = forest.feature[i]
        for g in range(n_columns):
            walk.first[top + 1, g], walk.last[top + 1, g] = walk.first[top, g], walk.last[top, g]
        for t in range(n_trees):
            walk.at[top + 1, t] = walk.at[top, t]
        below_left, _ = _ends(forest, asked, stand, walk, top, rival, i + 1)
        below_right, _ = _ends(forest, asked, stand, walk, top, rival, int64(forest.right[i]))
        right_level = top + 1 if below_right < below_left else top  # the worse side first
        walk.first[right_level, f] = i
        walk.last[top if below_right < below_left else top + 1, f] = i
        top += 1
    return FOUND.GOOD


@inner_kernel
def _keep(stand: Stand, walk: Walk, level: int) -> None:
    size = walk.pool_center.shape[0]
    j = walk.count[0] if walk.count[0] < size else walk.count[1] % size
    walk.count[1] += 1
    walk.count[0] = min(walk.count[0] + 1, size)
    for f in range(walk.first.shape[1]):
        walk.pool_first[j, f], walk.pool_last[j, f] = walk.first[level, f], walk.last[level, f]
        walk.pool_center[j, f] = stand.x[f]


@inner_kernel
def _meets(asked: Asked, stand: Stand, walk: Walk, j: int) -> bool:
    """True if the room at the stand meets a bad part of another room."""
    for f in range(walk.first.shape[1]):
        first, last, x, center = walk.pool_first[j, f], walk.pool_last[j, f], stand.x[f], walk.pool_center[j, f]
        width = asked.width[f] * (1.0 - 1e-9)
        if first >= 0:
            if x <= asked.below[first]:
                return False
        elif x < center - width or (width == 0.0 and x != center):
            return False
        if last >= 0:
            if x >= asked.above[last]:
                return False
        elif x > center + width or (width == 0.0 and x != center):
            return False
    return True


@inner_kernel
def ask(forest: Forest, asked: Asked, stand: Stand, walk: Walk, limit: int) -> int:
    """Is the room at the stand good? See `FOUND`; bad parts of earlier rooms are tried first."""
    for j in range(walk.count[0] - 1, -1, -1):
        if _meets(asked, stand, walk, j):
            return FOUND.BAD
    for r in range(forest.need.shape[0]):
        verdict = _look(forest, asked, stand, walk, r, limit)
        if verdict != FOUND.GOOD:
            return verdict
    return FOUND.GOOD
