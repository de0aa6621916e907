"""Sets of leaves as bits.

The leaves of a tree are sorted by value and get one bit each; trees share words where they fit. The leaves that meet a
range of cells are the AND of two stored rows per dimension ("last cell >= a" and "first cell <= b"), and the smallest
and largest value that a tree can take there are its lowest and highest bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inlined, inner_kernel
from elbowroom.kernels.tools import Words, int64, leading_zeros, lowest
from elbowroom.numerics import Floats, Ints

ZERO = np.uint64(0)
ONE = np.uint64(1)


@dataclass(frozen=True, eq=False)
class Ensemble(Bundle):
    """A tree ensemble over cells, once per rival row: everything the kernels know about the model.

    Rival r owns trees tree_start[r] : tree_start[r + 1] and words word_start[r] : word_start[r + 1]. A region is good
    for r if base[r] + sum of leaf values >= need[r] everywhere. Tree t owns segments segment_start[t] :
    segment_start[t + 1]; segment s is the bits segment_mask[s] of word segment_word[s], and bit i of it is leaf
    segment_first[s] + i. Leaf l covers cells entry_low : entry_high of dimension entry_dim for its entries (elsewhere
    all cells). Row row_start[d] + c // stride of ``at_least`` holds the leaves whose last cell is >= (c // stride)
    stride; with stride > 1 (models too large for one row per cell) the leaves in between are cleared one by one.
    """

    tree_start: Ints
    word_start: Ints
    base: Floats
    need: Floats
    biggest: Floats  # (rivals,) |base| + sum over trees of the largest |value|
    guard: Floats  # (rivals,) more than the rounding of any sum of gains: bounds stay on the safe side
    segment_start: Ints
    segment_word: Ints
    segment_mask: Words
    segment_first: Ints
    value: Floats
    entry_start: Ints
    entry_dim: Ints
    entry_low: Ints
    entry_high: Ints
    last: Ints  # (dims,) index of the last cell
    cell_start: Ints  # (dims + 1,) offsets of cells in flat arrays
    row_start: Ints  # (dims + 1,) offsets of stored rows
    stride: int
    at_least: Words  # (rows, words)
    at_most: Words  # (rows, words)
    high_start: Ints  # (cells + 1,) leaves by last cell, for stride > 1
    high_word: Ints
    high_bit: Words
    low_start: Ints  # (cells + 1,) leaves by first cell, for stride > 1
    low_word: Ints
    low_bit: Words
    everything: Words  # (words,) all leaves
    user_start: Ints  # (rivals * dims + 1,) trees of a rival that split on a dimension, at rival * dims + dim
    user: Ints
    most_leaves: int  # of any tree
    most_entries: int  # of all leaves of any tree
    ended: Ints  # (1,) not 0 once the time of the search is over: kernels give up what they are doing

    def for_one_search(self) -> Ensemble:
        """The same arrays with a flag of its own."""
        return replace(self, ended=np.zeros(1, np.int64))


@inner_kernel
def narrow(leaves: Words, model: Ensemble, dim: int, low: int, high: int, begin: int, end: int) -> None:
    """Keep, in words begin..end, the leaves that meet cells low..high of a dimension.

    The hottest code of all. Loops over the lists are written with while: with range, numba counts references to the
    arrays at every call, which takes ten times as long as the work.
    """
    last, stride = model.last[dim], model.stride
    if low > 0 or high < last:
        below, block = low // stride, (high + stride - 1) // stride
        row = model.row_start[dim]
        at_least, at_most = model.at_least, model.at_most
        for w in range(begin, end):
            leaves[w] &= at_least[row + below, w] & at_most[row + block, w]
        if stride > 1:
            first = model.cell_start[dim]
            i, stop = model.high_start[first + below * stride], model.high_start[first + low]
            while i < stop:
                leaves[model.high_word[i]] &= ~model.high_bit[i]
                i += 1
            i, stop = model.low_start[first + high + 1], model.low_start[first + min(block * stride, last) + 1]
            while i < stop:
                leaves[model.low_word[i]] &= ~model.low_bit[i]
                i += 1


@inlined
def _smallest(leaves: Words, model: Ensemble, tree: int) -> float:
    """The smallest value of a tree's leaves in the set."""
    for s in range(model.segment_start[tree], model.segment_start[tree + 1]):
        bits = leaves[model.segment_word[s]] & model.segment_mask[s]
        if bits != ZERO:
            return model.value[model.segment_first[s] + int64(lowest(bits))]
    return 0.0


@inlined
def _largest(leaves: Words, model: Ensemble, tree: int) -> float:
    """The largest value of a tree's leaves in the set."""
    for s in range(model.segment_start[tree + 1] - 1, model.segment_start[tree] - 1, -1):
        bits = leaves[model.segment_word[s]] & model.segment_mask[s]
        if bits != ZERO:
            return model.value[model.segment_first[s] + 63 - int64(leading_zeros(bits))]
    return 0.0


@inner_kernel
def smallest_sum(leaves: Words, model: Ensemble, rival: int) -> float:
    """base + sum over trees of the smallest leaf value in the set."""
    total = model.base[rival]
    for t in range(model.tree_start[rival], model.tree_start[rival + 1]):
        total += _smallest(leaves, model, t)
    return total


@inner_kernel
def largest_sum(leaves: Words, model: Ensemble, rival: int) -> float:
    """base + sum over trees of the largest leaf value in the set."""
    total = model.base[rival]
    for t in range(model.tree_start[rival], model.tree_start[rival + 1]):
        total += _largest(leaves, model, t)
    return total


@inner_kernel
def smallest_share(leaves: Words, model: Ensemble, rival: int, dim: int) -> float:
    """The part of `smallest_sum` that depends on one dimension: only the trees that split on it."""
    total, at = 0.0, rival * model.last.shape[0] + dim
    for u in range(model.user_start[at], model.user_start[at + 1]):
        total += _smallest(leaves, model, model.user[u])
    return total


@inner_kernel
def largest_share(leaves: Words, model: Ensemble, rival: int, dim: int) -> float:
    """The part of `largest_sum` that depends on one dimension."""
    total, at = 0.0, rival * model.last.shape[0] + dim
    for u in range(model.user_start[at], model.user_start[at + 1]):
        total += _largest(leaves, model, model.user[u])
    return total
