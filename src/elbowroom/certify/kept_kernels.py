"""The compiled loop behind `kept_trees`. Plain arrays in, plain arrays out."""

from __future__ import annotations

from typing import Final

import numpy as np

from elbowroom.kernels.kernel import kernel
from elbowroom.numerics import Floats, Ints

# How `explore` stopped.
DONE: Final = 0  # nothing is open, or less than the tolerance
PAUSED: Final = 1  # the share of work is used up; call again
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


@kernel
def explore(
    roots: Ints, kind: Ints, cell: Ints, left: Ints, right: Ints, value: Floats, base: Floats, win: Floats, lose: Floats,
    start: Ints, cdf: Floats, low: Ints, high: Ints, mass: Floats, heap: Ints, counts: Ints, totals: Floats,
    score: Floats, stack: Ints, least: Floats, most: Floats, share: int, tolerance: float,
) -> int:  # fmt: skip
    """Best-first over ranges of cells, the largest mass first.

    Range s: cells low[s, i] .. high[s, i] of active column i; its mass is the product of cdf differences, where
    cdf[start[i] + j] is the chance of a cell before j. ``heap`` holds the open ranges. A range in which every rival's
    smallest sum reaches ``win`` is good, one in which some rival's largest sum is at most -``lose`` is bad; any other is
    split at the cut that stands before the largest spread of leaf values, weighted by the smaller of the two masses.
    """
    n_active, n_rivals = low.shape[1], base.shape[0]
    work = 0
    while counts[OPEN] > 0:
        if 1.0 - totals[GOOD] - totals[BAD] - totals[DOUBT] <= tolerance:
            return DONE
        if work >= share:
            return PAUSED
        if counts[USED] + 1 > mass.shape[0]:
            return FULL
        s = heap[0]  # take the largest from the heap
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
        counts[RANGES] += 1

        for r in range(n_rivals):
            least[r] = most[r] = base[r]
        best, best_column, best_cell, first_touched = 0.0, -1, -1, 0
        for t in range(roots.shape[0]):
            depth, stack[0], split = 1, roots[t], -1
            for r in range(n_rivals):
                least[n_rivals + r], most[n_rivals + r] = np.inf, -np.inf
            while depth > 0:
                depth -= 1
                node = stack[depth]
                work += 1
                i = kind[node]
                if i == LEAF:
                    for r in range(n_rivals):
                        least[n_rivals + r] = min(least[n_rivals + r], value[node, r])
                        most[n_rivals + r] = max(most[n_rivals + r], value[node, r])
                elif i == LEFT or (i >= 0 and high[s, i] <= cell[node]):
                    stack[depth] = left[node]
                    depth += 1
                elif i == RIGHT or low[s, i] > cell[node]:
                    stack[depth] = right[node]
                    depth += 1
                else:
                    if split < 0:
                        split = node
                    stack[depth], stack[depth + 1] = left[node], right[node]
                    depth += 2
            spread = 0.0
            for r in range(n_rivals):
                least[r] += least[n_rivals + r]
                most[r] += most[n_rivals + r]
                spread += most[n_rivals + r] - least[n_rivals + r]
            if split >= 0:
                i = kind[split]
                whole = cdf[start[i] + high[s, i] + 1] - cdf[start[i] + low[s, i]]
                part = cdf[start[i] + cell[split] + 1] - cdf[start[i] + low[s, i]]
                place = start[i] + cell[split]
                score[place] += spread * (min(part, whole - part) + 1e-6 * whole)
                if score[place] > best:
                    best, best_column, best_cell = score[place], i, cell[split]
                stack[stack.shape[0] - 1 - first_touched] = place  # to be cleared below
                first_touched += 1
        for k in range(first_touched):
            score[stack[stack.shape[0] - 1 - k]] = 0.0

        good, bad = True, False
        for r in range(n_rivals):
            good = good and least[r] >= win[r]
            bad = bad or most[r] <= -lose[r]
        if good or bad or best_column < 0:
            totals[GOOD if good else BAD if bad else DOUBT] += mass[s]
            continue

        # The slot of the range becomes its lower part; the upper part takes a new one.
        new = counts[USED]
        counts[USED] += 1
        for i in range(n_active):
            low[new, i], high[new, i] = low[s, i], high[s, i]
        high[s, best_column] = best_cell
        low[new, best_column] = best_cell + 1
        for half in range(2):
            slot = s if half == 0 else new
            product = 1.0
            for i in range(n_active):
                product *= cdf[start[i] + high[slot, i] + 1] - cdf[start[i] + low[slot, i]]
            mass[slot] = product
            if product <= 0.0:
                continue
            at = counts[OPEN]
            counts[OPEN] += 1
            while at > 0 and mass[heap[(at - 1) // 2]] < product:
                heap[at] = heap[(at - 1) // 2]
                at = (at - 1) // 2
            heap[at] = slot
    return DONE
