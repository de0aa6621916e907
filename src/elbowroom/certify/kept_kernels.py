"""The compiled loop behind `kept_trees`. Plain arrays in, plain arrays out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.numerics import Floats, Ints

NARROW: Final = 1e-6  # weight of the mass of a cut that has next to nothing on one side

# How `explore` stopped.
DONE: Final = 0  # nothing is open, or less than the tolerance
PAUSED: Final = 1  # the share of work was done; call again
FULL: Final = 2  # the pool is full; call again with a larger one

# Kinds of nodes besides "split on active column i >= 0".
LEAF: Final = -1
LEFT: Final = -2  # a split that the fixed value of a column decides
RIGHT: Final = -3

# Entries of ``counts`` and ``totals``.
OPEN: Final = 0
USED: Final = 1
RANGES: Final = 2
GOOD: Final = 0
BAD: Final = 1
DOUBT: Final = 2  # too close to a tie to tell in floating point
LEFT_OPEN: Final = 3  # the mass of the ranges in the heap
BEYOND: Final = 2.0  # more than any mass: a stop that is not asked for


@dataclass(frozen=True, eq=False)
class Forest(Bundle):
    """The trees in cells, their margins per node and rival, and the chances of cells: cdf[start[i] + j] is the chance of
    a cell of active column i before j. ``far`` is the same around another centre: of a range counts the smaller chance."""

    roots: Ints
    kind: Ints
    cell: Ints
    left: Ints
    right: Ints
    value: Floats
    hopeful: Floats  # the same as value, but for leaves whose sums need rounding
    base: Floats
    win: Floats
    lose: Floats
    start: Ints
    cdf: Floats
    far: Floats


@dataclass(frozen=True, eq=False)
class Ranges(Bundle):
    """Range s is cells low[s, i] .. high[s, i] of active column i; ``heap`` holds the open ones, the largest mass first."""

    low: Ints
    high: Ints
    mass: Floats
    heap: Ints


@dataclass(frozen=True, eq=False)
class Tally(Bundle):
    """What was counted, and scratch arrays of the range that is looked at: ``least`` and ``most`` hold the sums of all
    trees, then the values of the present one, per rival; ``split`` the best place to divide the range."""

    counts: Ints
    totals: Floats
    score: Floats  # per cut: spread of leaf values behind it
    stack: Ints
    least: Floats
    most: Floats
    split: Ints  # column and cell


@inner_kernel
def _take(ranges: Ranges, counts: Ints) -> int:
    """Take the range with the largest mass from the heap."""
    heap, mass = ranges.heap, ranges.mass
    top = heap[0]
    counts[OPEN] -= 1
    last, at = heap[counts[OPEN]], 0
    while 2 * at + 1 < counts[OPEN]:
        child = 2 * at + 1
        if child + 1 < counts[OPEN] and mass[heap[child + 1]] > mass[heap[child]]:
            child += 1
        if mass[heap[child]] <= mass[last]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return top


@inner_kernel
def _put(ranges: Ranges, counts: Ints, slot: int) -> None:
    """Put a range into the heap."""
    heap, mass = ranges.heap, ranges.mass
    at = counts[OPEN]
    counts[OPEN] += 1
    while at > 0 and mass[heap[(at - 1) // 2]] < mass[slot]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = slot


@inner_kernel
def _walk(forest: Forest, ranges: Ranges, tally: Tally, s: int, tree: int) -> tuple[int, int]:
    """Smallest and largest leaf value of one tree in range s, per rival; its first undecided split (or -1), and the
    number of nodes seen."""
    n_rivals, stack, least, most = forest.base.shape[0], tally.stack, tally.least, tally.most
    depth, stack[0], split, seen = 1, forest.roots[tree], -1, 0
    for r in range(n_rivals):
        least[n_rivals + r], most[n_rivals + r] = np.inf, -np.inf
    while depth > 0:
        depth -= 1
        node = stack[depth]
        seen += 1
        i = forest.kind[node]
        if i == LEAF:
            for r in range(n_rivals):
                least[n_rivals + r] = min(least[n_rivals + r], forest.value[node, r])
                most[n_rivals + r] = max(most[n_rivals + r], forest.hopeful[node, r])
        elif i == LEFT or (i >= 0 and ranges.high[s, i] <= forest.cell[node]):
            stack[depth] = forest.left[node]
            depth += 1
        elif i == RIGHT or ranges.low[s, i] > forest.cell[node]:
            stack[depth] = forest.right[node]
            depth += 1
        else:
            if split < 0:
                split = node
            stack[depth], stack[depth + 1] = forest.left[node], forest.right[node]
            depth += 2
    return split, seen


@inner_kernel
def _assess(forest: Forest, ranges: Ranges, tally: Tally, s: int) -> int:
    """Sums over all trees, and the cut before the largest spread, weighted by the smaller of the two masses;
    the number of nodes seen."""
    n_rivals, cdf, stack, score = forest.base.shape[0], forest.cdf, tally.stack, tally.score
    least, most = tally.least, tally.most
    for r in range(n_rivals):
        least[r] = most[r] = forest.base[r]
    best, touched, work = 0.0, 0, 0
    tally.split[0] = tally.split[1] = -1
    for t in range(forest.roots.shape[0]):
        split, seen = _walk(forest, ranges, tally, s, t)
        work += seen
        spread = 0.0
        for r in range(n_rivals):
            least[r] += least[n_rivals + r]
            most[r] += most[n_rivals + r]
            spread += most[n_rivals + r] - least[n_rivals + r]
        if split >= 0:
            i, cell = forest.kind[split], forest.cell[split]
            first = forest.start[i]
            whole = cdf[first + ranges.high[s, i] + 1] - cdf[first + ranges.low[s, i]]
            part = cdf[first + cell + 1] - cdf[first + ranges.low[s, i]]
            score[first + cell] += spread * (min(part, whole - part) + NARROW * whole)
            if score[first + cell] > best:
                best, tally.split[0], tally.split[1] = score[first + cell], i, cell
            stack[stack.shape[0] - 1 - touched] = first + cell  # to be cleared below
            touched += 1
    for k in range(touched):
        score[stack[stack.shape[0] - 1 - k]] = 0.0
    return work


@inner_kernel
def _mass(forest: Forest, ranges: Ranges, s: int) -> float:
    """The chance of range s, column by column the smaller one of the two centres."""
    product = 1.0
    for i in range(ranges.low.shape[1]):
        first, last = forest.start[i] + ranges.low[s, i], forest.start[i] + ranges.high[s, i] + 1
        product *= min(forest.cdf[last] - forest.cdf[first], forest.far[last] - forest.far[first])
    return product


@kernel
def explore(
    forest: Forest, ranges: Ranges, tally: Tally, share: int, tolerance: float, enough: float, lost: float
) -> int:
    """Best-first over ranges of cells, the largest mass first.

    The mass of a range is the product of its cdf differences. A range in which every rival's smallest sum reaches ``win``
    is good, one in which some rival's largest hopeful sum is below ``lose`` is bad; any other is divided at the cut that
    `_assess` chooses. It also stops where ``enough`` is good, or ``lost`` is bad, or (asked about that alone) can no longer be.
    """
    n_active, n_rivals = ranges.low.shape[1], forest.base.shape[0]
    low, high, counts, totals = ranges.low, ranges.high, tally.counts, tally.totals
    work = 0
    while counts[OPEN] > 0:
        if totals[LEFT_OPEN] <= tolerance or totals[GOOD] >= enough or totals[BAD] >= lost:
            return DONE
        if lost < BEYOND <= enough and totals[BAD] + totals[LEFT_OPEN] < lost:
            return DONE
        if work >= share:
            return PAUSED
        if counts[USED] + 1 > ranges.mass.shape[0]:
            return FULL
        s = _take(ranges, counts)
        totals[LEFT_OPEN] -= ranges.mass[s]
        counts[RANGES] += 1
        work += _assess(forest, ranges, tally, s)
        column, cell = tally.split[0], tally.split[1]
        good, bad = True, False
        for r in range(n_rivals):
            good = good and tally.least[r] >= forest.win[r]
            bad = bad or tally.most[r] < forest.lose[r]
        if good or bad or column < 0:
            totals[GOOD if good else BAD if bad else DOUBT] += ranges.mass[s]
            continue
        # The slot of the range becomes its lower part; the upper part takes a new one.
        new = counts[USED]
        counts[USED] += 1
        for i in range(n_active):
            low[new, i], high[new, i] = low[s, i], high[s, i]
        high[s, column] = cell
        low[new, column] = cell + 1
        for half in range(2):
            slot = s if half == 0 else new
            ranges.mass[slot] = _mass(forest, ranges, slot)
            if ranges.mass[slot] > 0.0:
                totals[LEFT_OPEN] += ranges.mass[slot]
                _put(ranges, counts, slot)
    return DONE
