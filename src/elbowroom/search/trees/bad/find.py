"""Is some cell of a range bad?

Depth-first over sub-ranges: if every rival's smallest sum is high enough, the sub-range is good; if some rival's largest
sum is too low, all of it is *bad*; otherwise the tree with the widest spread of values is split at an edge of its worst
leaf, the side with that leaf first. Almost always a handful of sub-ranges decide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import Words, int64, leading_zeros, lowest
from elbowroom.numerics import Ints
from elbowroom.search.trees.bad.one_hot import one_hot_possible
from elbowroom.search.trees.cells.leaves import ZERO, Ensemble, narrow
from elbowroom.search.trees.question.question import Question

GOOD = 0
BAD = 1
LIMIT = 2  # too many sub-ranges, or no room on the stack: try again with more of both


@dataclass(frozen=True, eq=False)
class Stack(Bundle):
    """Sub-ranges still to be looked at, with their leaves."""

    low: Ints  # (depth, dims)
    high: Ints
    leaves: Words  # (depth, words)

    @classmethod
    def of(cls, depth: int, n_dims: int, n_words: int) -> Stack:
        shape = (depth, n_dims)
        return cls(np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros((depth, n_words), np.uint64))


@inner_kernel
def find_bad(
    model: Ensemble, question: Question, low: Ints, high: Ints, limit: int, stack: Stack, work: Ints
) -> tuple[int, int]:
    """GOOD, BAD or LIMIT, and the rival that wins. A bad sub-range is left in row 0 of the stack.

    ``work[0]`` counts sub-ranges over all calls.
    """
    n_dims, n_words, n_rivals = low.shape[0], model.everything.shape[0], model.need.shape[0]
    depth, visited = stack.low.shape[0], 0
    segment_start, segment_word, segment_mask = model.segment_start, model.segment_word, model.segment_mask
    segment_first, value = model.segment_first, model.value
    top = begin = int64(0)
    for w in range(n_words):
        stack.leaves[0, w] = model.everything[w]
    for d in range(n_dims):
        stack.low[0, d], stack.high[0, d] = low[d], high[d]
        narrow(stack.leaves[0], model, d, low[d], high[d], begin, n_words)
    while top >= 0:
        visited += 1
        work[0] += 1
        if visited > limit or top + 2 > depth:
            return LIMIT, 0
        leaves = stack.leaves[top]
        worst_lack, split_leaf = -1.0, -1
        bad_for = -1
        for r in range(n_rivals):
            least = most = model.base[r]
            spread, widest = -1.0, -1
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
                    spread, widest = value[last] - value[first], first
            if most < model.need[r]:
                bad_for = r
                break
            if least < model.need[r] and model.need[r] - least > worst_lack:
                worst_lack, split_leaf = model.need[r] - least, widest
        if bad_for >= 0 and one_hot_possible(question, stack.low[top], stack.high[top]):
            for d in range(n_dims):
                stack.low[0, d], stack.high[0, d] = stack.low[top, d], stack.high[top, d]
            return BAD, bad_for
        if bad_for >= 0 or split_leaf < 0 or not one_hot_possible(question, stack.low[top], stack.high[top]):
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
