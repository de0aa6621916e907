"""Is some cell inside a ball or diamond bad?

The adversary for boxes with one more reason to stop: a sub-range whose nearest point uses up the room is out of reach,
and cells of a sub-range that are too far away, given the gaps in the other dimensions, are cut off.
"""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import int64, leading_zeros, lowest
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.bad.find import BAD, GOOD, LIMIT, Stack
from elbowroom.search.trees.bad.one_hot import one_hot_possible
from elbowroom.search.trees.balls.geometry import FREE, ROUND, Geometry, cell_at, gap_for, used_by
from elbowroom.search.trees.cells.leaves import ZERO, Ensemble, narrow
from elbowroom.search.trees.question.question import Question


@inner_kernel
def _draw_in(
    model: Ensemble, geometry: Geometry, x: Floats, threshold: float, stack: Stack, top: int, used: Floats
) -> bool:
    """Cut cells of the sub-range on top that are out of reach; False if all of it is."""
    low, high = stack.low[top], stack.high[top]
    n_dims, total = x.shape[0], 0.0
    for d in range(n_dims):
        at = geometry.cell_start[d]
        used[d] = used_by(
            geometry.kind[d],
            geometry.axis[d],
            geometry.square,
            x[d],
            geometry.first[at + low[d]],
            geometry.last[at + high[d]],
        )
        total += used[d]
        if total >= threshold:
            return False
    for d in range(n_dims):
        if geometry.kind[d] != ROUND or low[d] == high[d]:
            continue
        at = geometry.cell_start[d]
        width = gap_for(geometry.square, threshold - total + used[d]) * geometry.axis[d]
        a, b = low[d], high[d]
        while a < b and x[d] - geometry.last[at + a] >= width:
            a += 1
        while b > a and geometry.first[at + b] - x[d] >= width:
            b -= 1
        if a != low[d] or b != high[d]:
            low[d], high[d] = a, b
            narrow(stack.leaves[top], model, d, a, b, int64(0), model.everything.shape[0])
    return True


@inner_kernel
def find_bad_near(
    model: Ensemble, question: Question, geometry: Geometry, x: Floats, threshold: float, limit: int, stack: Stack,
    used: Floats, work: Ints,
) -> tuple[int, int]:  # fmt: skip
    """GOOD, BAD or LIMIT, and the rival that wins, for the room of phi(radius) < threshold around x.

    A bad sub-range within reach is left in row 0 of the stack. ``work[0]`` counts sub-ranges over all calls.
    """
    n_dims, n_words, n_rivals = x.shape[0], model.everything.shape[0], model.need.shape[0]
    depth, visited, begin = stack.low.shape[0], 0, int64(0)
    segment_start, segment_word, segment_mask = model.segment_start, model.segment_word, model.segment_mask
    segment_first, value = model.segment_first, model.value
    for w in range(n_words):
        stack.leaves[0, w] = model.everything[w]
    widest = gap_for(geometry.square, threshold)
    for d in range(n_dims):
        a, b = geometry.low_cell[d], geometry.high_cell[d]
        if geometry.kind[d] != FREE:
            width = widest * geometry.axis[d]
            begin_cell, end_cell = geometry.cell_start[d], geometry.cell_start[d + 1]
            a = max(a, cell_at(geometry.last, begin_cell, end_cell, x[d] - width))
            b = min(b, cell_at(geometry.last, begin_cell, end_cell, x[d] + width))
        stack.low[0, d], stack.high[0, d] = a, b
        narrow(stack.leaves[0], model, d, a, b, begin, n_words)
    top = int64(0)
    while top >= 0:
        visited += 1
        work[0] += 1
        if visited > limit or top + 2 > depth:
            return LIMIT, 0
        possible = _draw_in(model, geometry, x, threshold, stack, top, used)
        if not possible or not one_hot_possible(question, stack.low[top], stack.high[top]):
            top -= 1
            continue
        leaves = stack.leaves[top]
        worst_lack, split_leaf = -1.0, -1
        for r in range(n_rivals):
            least = most = model.base[r]
            spread, widest_leaf = -1.0, -1
            for t in range(model.tree_start[r], model.tree_start[r + 1]):
                first = last = -1
                for s in range(segment_start[t], segment_start[t + 1]):
                    bits = leaves[segment_word[s]] & segment_mask[s]
                    if bits != ZERO:
                        if first < 0:
                            first = segment_first[s] + int64(lowest(bits))
                        last = segment_first[s] + 63 - int64(leading_zeros(bits))
                least += value[first]
                most += value[last]
                if value[last] - value[first] > spread:
                    spread, widest_leaf = value[last] - value[first], first
            if most < model.need[r]:
                for d in range(n_dims):
                    stack.low[0, d], stack.high[0, d] = stack.low[top, d], stack.high[top, d]
                return BAD, r
            if least < model.need[r] and model.need[r] - least > worst_lack:
                worst_lack, split_leaf = model.need[r] - least, widest_leaf
        if split_leaf < 0:
            top -= 1
            continue
        for e in range(model.entry_start[split_leaf], model.entry_start[split_leaf + 1]):
            d = model.entry_dim[e]
            above = model.entry_low[e] > stack.low[top, d]  # part of the range lies below the leaf
            if not above and model.entry_high[e] >= stack.high[top, d]:
                continue
            edge = model.entry_low[e] if above else model.entry_high[e] + 1
            for g in range(n_dims):
                stack.low[top + 1, g], stack.high[top + 1, g] = stack.low[top, g], stack.high[top, g]
            for w in range(n_words):
                stack.leaves[top + 1, w] = leaves[w]
            for side in range(2):  # the side with the worst leaf ends up on top
                if (side == 0) == above:
                    stack.high[top + side, d] = edge - 1
                else:
                    stack.low[top + side, d] = edge
                i = top + side
                narrow(stack.leaves[i], model, d, stack.low[i, d], stack.high[i, d], begin, n_words)
            top += 1
            break
    return GOOD, 0


@inner_kernel
def exits_first(geometry: Geometry, x: Floats, stack: Stack, order: Ints, rank: Floats) -> None:
    """Sides of the bad range in row 0 of the stack, with what it costs to get to them from x."""
    for d in range(x.shape[0]):
        at = geometry.cell_start[d]
        first, last = geometry.first[at + stack.low[0, d]], geometry.last[at + stack.high[0, d]]
        order[2 * d], order[2 * d + 1] = 2 * d, 2 * d + 1
        rank[2 * d] = geometry.rate[d] * max(0.0, x[d] - first) if first > geometry.lower[d] else math.inf
        rank[2 * d + 1] = geometry.rate[d] * max(0.0, last - x[d]) if last < geometry.upper[d] else math.inf
