"""Is some cell of a range bad?

Depth-first over sub-ranges: if every rival's smallest sum is high enough, the sub-range is good; if some rival's largest
sum is too low, all of it is *bad*; otherwise the tree with the widest spread of values is split at an edge of its worst
leaf, the side with that leaf first. Almost always a handful of sub-ranges decide. What a box covers is a range; for other
rooms each sub-range is first cut down to what is within reach.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from elbowroom.kernels.bundle import Bundle, array
from elbowroom.kernels.kernel import inlined, inner_kernel
from elbowroom.kernels.tools import Words, int64, leading_zeros, lowest
from elbowroom.numerics import Ints
from elbowroom.search.trees.bad.one_hot import one_hot_possible
from elbowroom.search.trees.cells.leaves import ZERO, Ensemble, narrow
from elbowroom.search.trees.question.question import Question


class _Finding(NamedTuple):
    """What the adversary found in a range."""

    GOOD: int = 0
    BAD: int = 1
    LIMIT: int = 2  # too many sub-ranges, or no room on the stack: try again with more of both. Or the time is over


FINDING: Final = _Finding()


@dataclass(frozen=True, eq=False)
class Stack(Bundle):
    """Sub-ranges still to be looked at, with their leaves."""

    low: Ints = array("depth", "dims")
    high: Ints = array("depth", "dims")
    leaves: Words = array("depth", "words")


Reach = Callable[[Ensemble, Any, Stack, int], bool]
Finder = Callable[[Ensemble, Question, int, Stack, Ints, Any], tuple[int, int]]


@inlined
def _split(model: Ensemble, stack: Stack, top: int, leaf: int, other: int) -> int:
    """Split the sub-range on top at an edge of a leaf, or else of another leaf of its tree; the side with the leaf ends up on
    the new top, which is returned. Leaves of set splits overlap off one-hot vectors: a range can lie inside the first."""
    n_dims, n_words, begin = stack.low.shape[1], stack.leaves.shape[1], int64(0)
    first, end = model.entry_start[leaf], model.entry_start[leaf + 1]
    count = end - first
    for k in range(count + model.entry_start[other + 1] - model.entry_start[other]):
        e = first + k if k < count else model.entry_start[other] + k - count
        d = model.entry_dim[e]
        above = model.entry_low[e] > stack.low[top, d]  # part of the range lies below the leaf
        if not above and model.entry_high[e] >= stack.high[top, d]:
            continue
        edge = model.entry_low[e] if above else model.entry_high[e] + 1
        for g in range(n_dims):
            stack.low[top + 1, g], stack.high[top + 1, g] = stack.low[top, g], stack.high[top, g]
        for w in range(n_words):
            stack.leaves[top + 1, w] = stack.leaves[top, w]
        for side in range(2):
            i = top + side
            if (side == 0) == above:
                stack.high[i, d] = edge - 1
            else:
                stack.low[i, d] = edge
            narrow(stack.leaves[i], model, d, stack.low[i, d], stack.high[i, d], begin, n_words)
        return top + 1
    return top - 1  # inside both leaves lies no one-hot vector


def finder(reach: Reach) -> Finder:
    """The adversary of a kind of room: a kernel (model, question, limit, stack, work, where).

    The caller puts the range into row 0 of the stack; a bad sub-range within reach is left there. ``work[0]`` counts
    sub-ranges over all calls. ``reach(model, where, stack, top)`` cuts what is out of reach off the sub-range on top and off
    its leaves; False if all of it is. (A kernel as an argument of a kernel could not be kept on disk: hence one adversary per reach.)
    """

    @inner_kernel
    def find_bad(
        model: Ensemble, question: Question, limit: int, stack: Stack, work: Ints, where: Any
    ) -> tuple[int, int]:
        """What `FINDING` says about the range in row 0 of the stack, and the rival that wins."""
        n_dims, n_words, n_rivals = stack.low.shape[1], model.everything.shape[0], model.need.shape[0]
        depth, visited = stack.low.shape[0], 0
        segment_start, segment_word, segment_mask = model.segment_start, model.segment_word, model.segment_mask
        segment_first, value = model.segment_first, model.value
        top = begin = int64(0)
        for w in range(n_words):
            stack.leaves[0, w] = model.everything[w]
        for d in range(n_dims):
            narrow(stack.leaves[0], model, d, stack.low[0, d], stack.high[0, d], begin, n_words)
        while top >= 0:
            visited += 1
            work[0] += 1
            if visited > limit or top + 2 > depth or model.ended[0] != 0:
                return FINDING.LIMIT, 0
            within = reach(model, where, stack, top)
            if not within or not one_hot_possible(question, stack.low[top], stack.high[top]):
                top -= 1
                continue
            leaves = stack.leaves[top]
            worst_lack, split_leaf, other_leaf = -1.0, -1, -1
            for r in range(n_rivals):
                least = most = model.base[r]
                spread, widest, widest_last = -1.0, -1, -1
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
                        spread, widest, widest_last = value[last] - value[first], first, last
                if most < model.need[r]:
                    for d in range(n_dims):
                        stack.low[0, d], stack.high[0, d] = stack.low[top, d], stack.high[top, d]
                    return FINDING.BAD, r
                if least < model.need[r] and model.need[r] - least > worst_lack:
                    worst_lack, split_leaf, other_leaf = model.need[r] - least, widest, widest_last
            top = top - 1 if split_leaf < 0 else _split(model, stack, top, split_leaf, other_leaf)
        return FINDING.GOOD, 0

    return find_bad


@inlined
def _everywhere(model: Ensemble, where: Any, stack: Stack, top: int) -> bool:
    """The reach of a box: every cell of the range."""
    return True


_find_bad = finder(_everywhere)


@inner_kernel
def find_bad_in(
    model: Ensemble, question: Question, low: Ints, high: Ints, limit: int, stack: Stack, work: Ints
) -> tuple[int, int]:
    """What `FINDING` says about the cells low..high, and the rival that wins."""
    for d in range(low.shape[0]):
        stack.low[0, d], stack.high[0, d] = low[d], high[d]
    return _find_bad(model, question, limit, stack, work, 0)
