"""From a parsed tree ensemble to cells and sets of leaves.

Leaves that lie between two whole numbers hold no point and disappear. Everything here depends on the model, the wanted
class and the kinds of columns, not on the row or the room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from elbowroom.kernels.tools import Words
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import TreeMargins, tree_margins
from elbowroom.numerics import EPS, Bools, Floats, Ints
from elbowroom.problem import Space
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.limits import TABLE_BYTES


class _Leaves(NamedTuple):
    """Leaves of all rivals, tree by tree, those of a tree by value; trees that say the same everywhere are constants."""

    leaf: Ints  # (leaves,) index among the model's leaves
    tree: Ints  # (leaves,)
    rival: Ints  # (leaves,)
    value: Floats  # (leaves,)
    base: Floats  # (rivals,)
    tree_start: Ints  # (rivals + 1,)
    first: Ints  # (trees + 1,) first leaf of each tree


class _Packing(NamedTuple):
    """Leaves as bits of words; see `Ensemble`."""

    segment_start: Ints
    segment_word: Ints
    segment_mask: Words
    segment_first: Ints
    word: Ints  # (leaves,)
    bit: Words  # (leaves,)
    word_start: Ints  # (rivals + 1,)


class _ByCell(NamedTuple):
    """Leaf bits listed by the flat cell of one of their edges."""

    start: Ints
    word: Ints
    bit: Words


class _Tables(NamedTuple):
    """Rows of leaf bits per cell, or per ``stride`` cells with lists of the leaves that begin or end in between."""

    row_start: Ints
    stride: int
    at_least: Words
    at_most: Words
    by_high: _ByCell
    by_low: _ByCell


def build_ensemble(
    model: TreeEnsemble,
    space: Space,
    target: int,
    probability: float | None,
    dimensions: Dimensions,
    table_bytes: int = TABLE_BYTES,
) -> Ensemble:
    """Sorted leaves, their cells, and the tables of bit sets."""
    margins = tree_margins(model, target, probability)
    low, high, kept = _leaf_cells(model, space, dimensions)
    leaves = _sorted_leaves(model, margins, kept)
    n_trees, n_rivals = leaves.first.size - 1, leaves.base.size
    packing = _pack(np.bincount(leaves.tree, minlength=n_trees), leaves.tree_start)
    n_words = int(packing.word_start[-1])
    low, high = low[leaves.leaf], high[leaves.leaf]
    last = np.array([cuts.size for cuts in dimensions.cuts], dtype=np.int64)
    partial = (low > 0) | (high < last)
    leaf_index, dim_index = np.nonzero(partial)
    entry_start = np.searchsorted(leaf_index, np.arange(leaves.leaf.size + 1)).astype(np.int64)
    starts = leaves.first[:-1]
    biggest = np.abs(leaves.base)
    np.add.at(biggest, leaves.rival[starts], np.maximum.reduceat(np.abs(leaves.value), starts) if n_trees else 0.0)
    tables = _tables(low, high, last, packing.word, packing.bit, n_words, table_bytes)
    everything = np.zeros(n_words, np.uint64)
    np.bitwise_or.at(everything, packing.word, packing.bit)
    place = leaves.rival[leaf_index] * last.size + dim_index
    user_start, user = _users(place, leaves.tree[leaf_index], n_rivals * last.size)
    return Ensemble(
        tree_start=leaves.tree_start,
        word_start=packing.word_start,
        base=leaves.base,
        need=margins.slack.astype(np.float64),
        biggest=biggest,
        guard=16.0 * EPS * (leaf_index.size + n_trees + 8) * biggest,
        segment_start=packing.segment_start,
        segment_word=packing.segment_word,
        segment_mask=packing.segment_mask,
        segment_first=packing.segment_first,
        value=leaves.value,
        entry_start=entry_start,
        entry_dim=dim_index.astype(np.int64),
        entry_low=low[partial].astype(np.int64),
        entry_high=high[partial].astype(np.int64),
        last=last,
        cell_start=dimensions.cell_start,
        row_start=tables.row_start,
        stride=tables.stride,
        at_least=tables.at_least,
        at_most=tables.at_most,
        high_start=tables.by_high.start,
        high_word=tables.by_high.word,
        high_bit=tables.by_high.bit,
        low_start=tables.by_low.start,
        low_word=tables.by_low.word,
        low_bit=tables.by_low.bit,
        everything=everything,
        user_start=user_start,
        user=user,
        most_leaves=int(np.diff(leaves.first).max(initial=0)),
        most_entries=int(np.diff(entry_start[leaves.first]).max(initial=0)),
    )


def _sorted_leaves(model: TreeEnsemble, margins: TreeMargins, kept: Bools) -> _Leaves:
    """Those that hold any point, once per rival."""
    of_model = model.leaves.n_trees
    tree = np.repeat(np.arange(of_model), np.diff(model.leaves.offsets))
    order, tree_of, base, rivals_of_tree = [], [], margins.base.astype(np.float64).copy(), [0]
    n_trees = 0
    for r in range(base.size):
        value = margins.value[:, r]
        rows = np.flatnonzero(kept)
        rows = rows[np.lexsort((rows, value[rows], tree[rows]))]
        bounds = np.searchsorted(tree[rows], np.arange(of_model + 1))
        for k in range(of_model):
            mine = rows[bounds[k] : bounds[k + 1]]
            if value[mine[0]] == value[mine[-1]]:  # the tree says the same everywhere: a constant
                base[r] += value[mine[0]]
                continue
            order.append(mine)
            tree_of.append(np.full(mine.size, n_trees))
            n_trees += 1
        rivals_of_tree.append(n_trees)
    leaf = np.concatenate([np.zeros(0, np.int64), *order]).astype(np.int64)
    owner = np.concatenate([np.zeros(0, np.int64), *tree_of]).astype(np.int64)
    tree_start = np.array(rivals_of_tree, dtype=np.int64)
    rival = np.repeat(np.arange(base.size), np.diff(tree_start))[owner]
    return _Leaves(
        leaf=leaf,
        tree=owner,
        rival=rival,
        value=margins.value[leaf, rival],
        base=base,
        tree_start=tree_start,
        first=np.append(np.searchsorted(owner, np.arange(n_trees)), leaf.size),
    )


def _leaf_cells(model: TreeEnsemble, space: Space, dimensions: Dimensions) -> tuple[Ints, Ints, Bools]:
    """First and last cell of every leaf in every dimension, and which leaves hold any point at all."""
    leaves = model.leaves
    shape = (leaves.value.shape[0], dimensions.columns.size)
    low, high = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for d, (f, cuts) in enumerate(zip(dimensions.columns, dimensions.cuts, strict=True)):
        below, above = leaves.lower[:, f], leaves.upper[:, f]
        if space.whole_room[f]:
            below, above = np.floor(below), np.floor(above)
        low[:, d] = np.where(np.isneginf(below), 0, np.searchsorted(cuts, below, "left") + 1)
        high[:, d] = np.where(np.isposinf(above), cuts.size, np.searchsorted(cuts, above, "left"))
    return low, high, np.asarray((low <= high).all(axis=1))


def _pack(sizes: Ints, tree_start: Ints) -> _Packing:
    """Give every leaf a bit: small trees share a word, large ones take several; rivals do not share words."""
    starts, words, masks, firsts, leaf_word, leaf_bit, word_start = [0], [], [], [], [], [], [0]
    word, used, leaf = 0, 0, 0
    for r in range(tree_start.size - 1):
        for t in range(int(tree_start[r]), int(tree_start[r + 1])):
            left = int(sizes[t])
            if used + left > 64 and used > 0:
                word, used = word + 1, 0
            while left > 0:
                width = min(left, 64 - used)
                words.append(word)
                masks.append(((1 << width) - 1) << used)
                firsts.append(leaf - used)
                leaf_word += [word] * width
                leaf_bit += [1 << (used + i) for i in range(width)]
                leaf, left, used = leaf + width, left - width, used + width
                if used == 64:
                    word, used = word + 1, 0
            starts.append(len(words))
        if used > 0:
            word, used = word + 1, 0
        word_start.append(word)
    return _Packing(
        segment_start=np.array(starts, dtype=np.int64),
        segment_word=np.array(words, dtype=np.int64),
        segment_mask=np.array(masks, dtype=np.uint64),
        segment_first=np.array(firsts, dtype=np.int64),
        word=np.array(leaf_word, dtype=np.int64),
        bit=np.array(leaf_bit, dtype=np.uint64),
        word_start=np.array(word_start, dtype=np.int64),
    )


def _users(place: Ints, tree: Ints, size: int) -> tuple[Ints, Ints]:
    """Which trees split on which dimension, listed by place = rival * dims + dim."""
    pairs = np.unique(np.stack([place, tree], axis=1), axis=0).reshape(-1, 2)
    return np.searchsorted(pairs[:, 0], np.arange(size + 1)).astype(np.int64), pairs[:, 1].astype(np.int64)


def _tables(low: Ints, high: Ints, last: Ints, word: Ints, bit: Words, n_words: int, table_bytes: int) -> _Tables:
    """The tables of all dimensions, with as few cells per row as the memory allows."""
    stride = 1
    while 16 * max(n_words, 1) * int((-(-last // stride) + 1).sum()) > table_bytes and stride < max(last, default=1):
        stride *= 2
    row_start = np.cumsum([0, *(-(-last // stride) + 1)], dtype=np.int64)
    at_least = np.zeros((int(row_start[-1]), n_words), np.uint64)
    at_most = np.zeros_like(at_least)
    for d in range(last.size):
        begin, end = int(row_start[d]), int(row_start[d + 1])
        np.bitwise_or.at(at_least, (begin + high[:, d] // stride, word), bit)
        np.bitwise_or.at(at_most, (begin + -(-low[:, d] // stride), word), bit)
        at_least[begin:end] = np.bitwise_or.accumulate(at_least[begin:end][::-1], axis=0)[::-1]
        at_most[begin:end] = np.bitwise_or.accumulate(at_most[begin:end], axis=0)
    cells = int((last + 1).sum())
    if stride == 1:
        none = _ByCell(np.zeros(cells + 1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))
        return _Tables(row_start, stride, at_least, at_most, none, none)
    first_cell = np.cumsum([0, *(last + 1)])[:-1]
    by_high, by_low = (_by_cell(edge + first_cell, cells, word, bit) for edge in (high, low))
    return _Tables(row_start, stride, at_least, at_most, by_high, by_low)


def _by_cell(edge: Ints, cells: int, word: Ints, bit: Words) -> _ByCell:
    leaf = np.repeat(np.arange(edge.shape[0]), edge.shape[1])
    order = np.argsort(edge.ravel(), kind="stable")
    starts = np.searchsorted(edge.ravel()[order], np.arange(cells + 1)).astype(np.int64)
    return _ByCell(starts, word[leaf[order]], bit[leaf[order]])
