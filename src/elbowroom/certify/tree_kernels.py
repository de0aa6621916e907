"""Compiled loops of the judge for trees. Plain arrays in, plain arrays out; the meaning is in `cells` and `trees`.

The arrays come in tuples with names instead of a `Bundle`: a verdict on a small region takes a few hundred microseconds, and
making bundles for each would be a third of that.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.numerics import Floats, Ints

# How `descend` stopped.
FINISHED: Final = 0  # every range was proven good
FOUND: Final = 1  # a range is bad everywhere; it lies in low[depth + 1], high[depth + 1]
PAUSED: Final = 2  # the share of work was done; call again
CROWDED: Final = 3  # the pool is too small; call again with a larger one


@inner_kernel
def _first_above(values: Floats, begin: int, end: int, x: float) -> int:
    """The first index in begin..end whose value is > x."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] > x:
            end = middle
        else:
            begin = middle + 1
    return begin


class CellArrays(NamedTuple):
    """What `descend` reads of a region in cells; see `cells.Cells`, whose fields these are."""

    start: Ints
    cost: Floats
    home: Ints
    group_start: Ints
    group_member: Ints
    entry_start: Ints  # with one more leaf that covers everything
    entry_column: Ints
    entry_low: Ints
    entry_high: Ints


class Stack(NamedTuple):
    """Where `descend` is. Level d: ranges low[d], high[d]; the leaves of tree k that meet them are
    pool[begin[d, k] : begin[d, k + 1]], in ascending order of value; position[d] is the next leaf of tree branch[d] to look
    into. ``depth`` and ``margin`` hold one number each: the level reached, and the smallest margin seen."""

    low: Ints
    high: Ints
    pool: Ints
    begin: Ints
    branch: Ints
    position: Ints
    depth: Ints
    margin: Floats


class Meeting(NamedTuple):
    """A region and the last values of its cells (see `cells.Cells`); then, filled by `restrict_leaves`, the leaves that meet
    it and where they cover only part of it."""

    lower: Floats
    upper: Floats
    columns: Ints
    start: Ints
    last: Floats
    tree_start: Ints
    rows: Ints
    entry_start: Ints
    entries: Ints  # (3, room for entries): active column, first and last cell


class Trees(NamedTuple):
    """The nodes of a model, and the place of every leaf among its leaves (-1: no float reaches it)."""

    feature: Ints
    cut: Floats
    left: Ints
    right: Ints
    leaf: Ints


class Path(NamedTuple):
    """Nodes that are still to be looked at, one per level, with the ends (low, high] that the way to them sets in every
    active column."""

    node: Ints
    low: Floats
    high: Floats


@inner_kernel
def _enter(found: Meeting, low: Floats, high: Floats, n_entries: int) -> int:
    """Write down where a leaf covers only a part of the cells; the number of entries after it, or -1 if no value of a
    column lies in this leaf: it is between two neighbouring whole numbers."""
    for i in range(found.columns.size):
        begin, end = found.start[i], found.start[i + 1]
        first_cell = _first_above(found.last, begin, end, low[i]) - begin
        last_cell = _first_above(found.last, begin, end, high[i]) - begin - 1
        if first_cell > last_cell:
            return -1
        if first_cell > 0 or last_cell < end - begin - 1:
            if n_entries < found.entries.shape[1]:
                found.entries[0, n_entries], found.entries[1, n_entries] = i, first_cell
                found.entries[2, n_entries] = last_cell
            n_entries += 1
    return n_entries


@kernel
def restrict_leaves(roots: Ints, trees: Trees, active: Ints, path: Path, found: Meeting) -> int:
    """Leaves that meet the region, and the ranges of cells where they cover only a part of it: every tree is walked from its
    root, along the sides that the region meets. ``active`` is the place of every column among the active ones, or -1.

    Fills ``found`` and returns how many entries there are; those beyond its room for entries are only counted.
    """
    node, low, high = path.node, path.low, path.high
    n_active, n_rows, n_entries = found.columns.size, 0, 0
    for k in range(roots.size):
        top = 0
        node[0] = roots[k]
        for i in range(n_active):
            low[0, i], high[0, i] = -np.inf, np.inf
        while top >= 0:
            at = node[top]
            f = trees.feature[at]
            if f < 0:
                row = trees.leaf[at]
                if row >= 0:
                    kept = _enter(found, low[top], high[top], n_entries)
                    if kept >= 0:
                        found.rows[n_rows] = row
                        n_rows += 1
                        n_entries = kept
                        found.entry_start[n_rows] = n_entries
                top -= 1
                continue
            cut, i = trees.cut[at], active[f]
            go_left, go_right = found.lower[f] <= cut, found.upper[f] > cut
            if i >= 0:  # what the way has ruled out already
                go_left, go_right = go_left and low[top, i] < cut, go_right and high[top, i] > cut
            if go_left and go_right:
                for j in range(n_active):
                    low[top + 1, j], high[top + 1, j] = low[top, j], high[top, j]
                node[top] = trees.right[at]
                if i >= 0:
                    low[top, i] = max(low[top, i], cut)
                top += 1
                node[top] = trees.left[at]
                if i >= 0:
                    high[top, i] = min(high[top, i], cut)
            elif go_left:
                node[top] = trees.left[at]
                if i >= 0:
                    high[top, i] = min(high[top, i], cut)
            elif go_right:
                node[top] = trees.right[at]
                if i >= 0:
                    low[top, i] = max(low[top, i], cut)
            else:
                top -= 1
        found.tree_start[k + 1] = n_rows
    return n_entries


@kernel
def restrict_boxes(offsets: Ints, lower: Floats, upper: Floats, found: Meeting, low: Floats, high: Floats) -> int:
    """The same from the boxes of all leaves, for models that split by category."""
    n_rows, n_entries = 0, 0
    for k in range(offsets.size - 1):
        for row in range(offsets[k], offsets[k + 1]):
            meets = True
            for f in range(found.lower.size):
                if not (lower[row, f] < found.upper[f] and upper[row, f] >= found.lower[f]):
                    meets = False
                    break
            if not meets:
                continue
            for i in range(found.columns.size):
                low[i], high[i] = lower[row, found.columns[i]], upper[row, found.columns[i]]
            kept = _enter(found, low, high, n_entries)
            if kept >= 0:
                found.rows[n_rows] = row
                n_rows += 1
                n_entries = kept
                found.entry_start[n_rows] = n_entries
        found.tree_start[k + 1] = n_rows
    return n_entries


@inner_kernel
def _range_cost(cost: Floats, begin: int, home: int, low: int, high: int) -> float:
    """Cost of the cell of low..high that is nearest to the home cell."""
    if low > home:
        return float(cost[begin + low])
    if high < home:
        return float(cost[begin + high])
    return 0.0


@inner_kernel
def _one_hot(low: Ints, high: Ints, group_start: Ints, group_member: Ints) -> bool:
    """Tighten the ranges {0}, {1}, {0, 1} of free groups in place; False if no one-hot vector is left."""
    for g in range(group_start.size - 1):
        forced = possible = 0
        for p in range(group_start[g], group_start[g + 1]):
            forced += low[group_member[p]]
            possible += high[group_member[p]]
        if forced > 1 or possible == 0:
            return False
        for p in range(group_start[g], group_start[g + 1]):
            i = group_member[p]
            if forced == 1 and low[i] == 0:
                high[i] = 0
            if possible == 1 and high[i] == 1:
                low[i] = 1
    return True


@inner_kernel
def _reaches(cells: CellArrays, leaf: int, low: Ints, high: Ints, used: float, limit: float) -> bool:
    """True if a leaf meets the ranges within the budget, of which their nearest point uses ``used``."""
    cheapest = used
    for e in range(cells.entry_start[leaf], cells.entry_start[leaf + 1]):
        i = cells.entry_column[e]
        a, b = max(low[i], cells.entry_low[e]), min(high[i], cells.entry_high[e])
        if a > b:
            return False
        cheapest += _range_cost(cells.cost, cells.start[i], cells.home[i], a, b)
        cheapest -= _range_cost(cells.cost, cells.start[i], cells.home[i], low[i], high[i])
    return cheapest <= limit


@kernel
def descend(cells: CellArrays, stack: Stack, value: Floats, base: float, slack: float, limit: float, share: int) -> int:
    """Depth-first over ranges of cells, ``share`` units of work at a time; see `trees.judge_trees`."""
    low, high, pool, begin, position = stack.low, stack.high, stack.pool, stack.begin, stack.position
    entry_start, entry_column = cells.entry_start, cells.entry_column
    n_trees, n_active = begin.shape[1] - 1, cells.home.size
    depth, work = stack.depth[0], 0
    while depth >= 0:
        tree = stack.branch[depth]
        if position[depth] >= begin[depth, tree + 1]:
            depth -= 1
            continue
        stack.depth[0] = depth
        if work > share:
            return PAUSED
        top = begin[depth, n_trees]
        if pool.size < 2 * top - begin[depth, 0]:
            return CROWDED
        chosen = pool[position[depth]]
        position[depth] += 1
        work += n_trees + n_active

        # Even with the smallest leaf of every other tree this leaf is good, and so are the larger ones after it.
        total = base
        for k in range(n_trees):
            total += value[chosen] if k == tree else value[pool[begin[depth, k]]]
        if total >= slack:
            stack.margin[0] = min(stack.margin[0], total - slack)
            depth -= 1
            continue

        child = depth + 1
        for i in range(n_active):
            low[child, i], high[child, i] = low[depth, i], high[depth, i]
        for e in range(entry_start[chosen], entry_start[chosen + 1]):
            i = entry_column[e]
            low[child, i] = max(low[child, i], cells.entry_low[e])
            high[child, i] = min(high[child, i], cells.entry_high[e])
        if not _one_hot(low[child], high[child], cells.group_start, cells.group_member):
            continue
        used = 0.0
        for i in range(n_active):
            used += _range_cost(cells.cost, cells.start[i], cells.home[i], low[child, i], high[child, i])
        if used > limit:
            continue

        # Which leaves remain, and between which sums does the margin lie?
        smallest = largest = base
        widest, spread, empty = -1, -1.0, False
        begin[child, 0] = top
        for k in range(n_trees):
            for p in range(begin[depth, k], begin[depth, k + 1]):
                leaf = pool[p]
                if k == tree and leaf != chosen:
                    continue
                work += entry_start[leaf + 1] - entry_start[leaf] + 1
                if _reaches(cells, leaf, low[child], high[child], used, limit):
                    pool[top] = leaf
                    top += 1
            begin[child, k + 1] = top
            if top == begin[child, k]:  # no point of these cells lies in the shape
                empty = True
                break
            least, most = value[pool[begin[child, k]]], value[pool[top - 1]]
            smallest += least
            largest += most
            if top - begin[child, k] > 1 and most - least > spread:
                widest, spread = k, most - least
        if empty:
            continue
        if smallest >= slack:
            stack.margin[0] = min(stack.margin[0], smallest - slack)
            continue
        if largest < slack:
            return FOUND
        stack.branch[child], position[child] = widest, begin[child, widest]
        depth = child
    stack.depth[0] = depth
    return FINISHED
