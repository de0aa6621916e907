"""From a parsed tree ensemble to cells and sets of leaves, step by step.

Leaves that lie between two whole numbers hold no point and disappear. Everything here depends on the model, the wanted
class and the kinds of columns, not on the row or the room.

A forest with a million leaves takes seconds. So the work is a generator that pauses after every block of leaves or of one
dimension: who drives it can look at the clock at every pause, stop, and go on later (see `gradual`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from elbowroom.kernels.tools import Shorts, Words
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import Need, TreeMargins, tree_margins
from elbowroom.numerics import EPS, Bools, Floats, Ints
from elbowroom.problem import Space
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.cells.packing import pack
from elbowroom.search.trees.cells.walk import walked_cells
from elbowroom.search.trees.limits import BLOCK, TABLE_BYTES

Pauses: TypeAlias = Iterator[None]


class Part(NamedTuple):
    """One ensemble of trees with the margins that are asked of it, in the room or at the centre."""

    model: TreeEnsemble
    margins: TreeMargins
    at_center: bool = False


class _Leaves(NamedTuple):
    """Leaves of all rivals, tree by tree, those of a tree by value; trees that say the same everywhere are constants."""

    leaf: Ints  # (leaves,) index among the leaves of all parts
    tree: Ints  # (leaves,)
    rival: Ints  # (leaves,)
    value: Floats  # (leaves,)
    base: Floats  # (rivals,)
    tree_start: Ints  # (rivals + 1,)
    first: Ints  # (trees + 1,) first leaf of each tree


class _Entries(NamedTuple):
    """Where leaves cover only a part of a dimension, leaf by leaf, and which trees split on which dimension."""

    start: Ints  # (leaves + 1,)
    dim: Ints
    low: Ints
    high: Ints
    user_start: Ints
    user: Ints


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
    need: Need,
    dimensions: Dimensions,
    table_bytes: int = TABLE_BYTES,
    margins: TreeMargins | None = None,
) -> Ensemble:
    """Sorted leaves, their cells, and the tables of bit sets, without a pause; ``margins`` are those of what can be proven
    unless given."""
    margins = tree_margins(model, target, need) if margins is None else margins
    steps = building([Part(model, margins)], space, dimensions, table_bytes)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            made: Ensemble = end.value
            return made


def building(
    parts: Sequence[Part], space: Space, dimensions: Dimensions, table_bytes: int = TABLE_BYTES
) -> Generator[None, None, Ensemble]:
    """The same with pauses, for several ensembles; the value of the generator is the ensemble. Their rivals stand side by
    side, in order."""
    found = []
    for part in parts:
        walked = part.model.sets is None and not dimensions.of_center.any()
        cells_of = _walked if walked else _leaf_cells
        found.append((yield from cells_of(part, space, dimensions)))
    low, high, kept = found[0] if len(found) == 1 else (np.concatenate(some) for some in zip(*found, strict=True))
    leaves = yield from _sorted_leaves(parts, kept)
    n_trees = leaves.first.size - 1
    packing = pack(np.bincount(leaves.tree, minlength=n_trees), leaves.tree_start)
    n_words = int(packing.word_start[-1])
    yield
    low = yield from _rows_of(low, leaves.leaf)
    high = yield from _rows_of(high, leaves.leaf)
    last = np.array([cuts.size for cuts in dimensions.cuts], dtype=np.int64)
    entries = yield from _entries(low, high, last, leaves)
    starts = leaves.first[:-1]
    biggest = np.abs(leaves.base)
    np.add.at(biggest, leaves.rival[starts], np.maximum.reduceat(np.abs(leaves.value), starts) if n_trees else 0.0)
    yield
    tables = yield from _tables(low, high, last, packing.word, packing.bit, n_words, table_bytes)
    everything = np.zeros(n_words, np.uint64)
    np.bitwise_or.at(everything, packing.word, packing.bit)
    return Ensemble(
        tree_start=leaves.tree_start,
        word_start=packing.word_start,
        base=leaves.base,
        need=np.concatenate([part.margins.slack for part in parts]).astype(np.float64),
        biggest=biggest,
        guard=16.0 * EPS * (entries.dim.size + n_trees + 8) * biggest,
        segment_start=packing.segment_start,
        segment_word=packing.segment_word,
        segment_mask=packing.segment_mask,
        segment_first=packing.segment_first,
        value=leaves.value,
        entry_start=entries.start,
        entry_dim=entries.dim,
        entry_low=entries.low,
        entry_high=entries.high,
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
        user_start=entries.user_start,
        user=entries.user,
        most_leaves=int(np.diff(leaves.first).max(initial=0)),
        most_entries=int(np.diff(entries.start[leaves.first]).max(initial=0)),
        ended=np.zeros(1, np.int64),
    )


def _blocks(size: int, per_row: int = 1) -> Iterator[slice]:
    """Rows, as many at once as are worked on between two pauses."""
    rows = max(1, BLOCK // max(per_row, 1))
    for begin in range(0, size, rows):
        yield slice(begin, min(begin + rows, size))


def _walked(part: Part, space: Space, dimensions: Dimensions) -> Generator[None, None, tuple[Shorts, Shorts, Bools]]:
    return (yield from walked_cells(part.model, space, dimensions))


def _leaf_cells(
    part: Part, space: Space, dimensions: Dimensions
) -> Generator[None, None, tuple[Shorts, Shorts, Bools]]:
    """First and last cell of every leaf in every dimension, and which leaves hold any point at all: from their boxes, for
    models that split by category, and where some dimensions are of the centre alone."""
    leaves, looked_at = part.model.leaves, dimensions.looked_at(part.at_center)
    shape = (leaves.value.shape[0], dimensions.columns.size)
    low, high, kept = np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.ones(shape[0], dtype=np.bool_)
    for d, (f, cuts) in enumerate(zip(dimensions.columns, dimensions.cuts, strict=True)):
        if not looked_at[d]:
            high[:, d] = cuts.size
            continue
        for rows in _blocks(shape[0]):
            below, above = leaves.lower[rows, f], leaves.upper[rows, f]
            if space.whole_room[f]:
                below, above = np.floor(below), np.floor(above)
            low[rows, d] = np.where(np.isneginf(below), 0, np.searchsorted(cuts, below, "left") + 1)
            high[rows, d] = np.where(np.isposinf(above), cuts.size, np.searchsorted(cuts, above, "left"))
            kept[rows] &= low[rows, d] <= high[rows, d]
            yield
    return low, high, kept


def _sorted_leaves(parts: Sequence[Part], kept: Bools) -> Generator[None, None, _Leaves]:
    """Those that hold any point, once per rival."""
    order, tree_of, values = [], [], []
    base = np.concatenate([part.margins.base for part in parts]).astype(np.float64)
    rivals_of_tree, n_trees, sorted_since, rival, start = [0], 0, 0, 0, 0
    for part in parts:
        offsets = part.model.leaf_order.offsets
        for r in range(part.margins.base.size):
            of_leaf = part.margins.value[:, r]
            for k in range(offsets.size - 1):
                mine = int(offsets[k]) + np.flatnonzero(kept[start + offsets[k] : start + offsets[k + 1]])
                mine = mine[np.argsort(of_leaf[mine], kind="stable")]
                if of_leaf[mine[0]] == of_leaf[mine[-1]]:  # the same everywhere: a constant
                    base[rival] += of_leaf[mine[0]]
                    continue
                order.append(start + mine)
                values.append(of_leaf[mine])
                tree_of.append(np.full(mine.size, n_trees))
                n_trees += 1
                sorted_since += mine.size
                if sorted_since > BLOCK:
                    sorted_since = 0
                    yield
            rivals_of_tree.append(n_trees)
            rival += 1
        start += int(offsets[-1])
    leaf = np.concatenate([np.zeros(0, np.int64), *order]).astype(np.int64)
    owner = np.concatenate([np.zeros(0, np.int64), *tree_of]).astype(np.int64)
    tree_start = np.array(rivals_of_tree, dtype=np.int64)
    return _Leaves(
        leaf=leaf,
        tree=owner,
        rival=np.repeat(np.arange(base.size), np.diff(tree_start))[owner],
        value=np.concatenate([np.zeros(0), *values]),
        base=base,
        tree_start=tree_start,
        first=np.append(np.searchsorted(owner, np.arange(n_trees)), leaf.size),
    )


def _rows_of(table: Shorts, rows: Ints) -> Generator[None, None, Shorts]:
    """table[rows]."""
    found = np.empty((rows.size, table.shape[1]), table.dtype)
    for block in _blocks(rows.size, table.shape[1]):
        np.take(table, rows[block], axis=0, out=found[block])
        yield
    return found


def _entries(low: Shorts, high: Shorts, last: Ints, leaves: _Leaves) -> Generator[None, None, _Entries]:
    n_trees, n_dims, n_rivals = leaves.first.size - 1, last.size, leaves.base.size
    sizes, dims, lows, highs = [np.zeros(1, np.int64)], [], [], []
    uses = np.zeros((n_trees, n_dims), dtype=np.bool_)
    for block in _blocks(low.shape[0], n_dims):
        partial = (low[block] > 0) | (high[block] < last)
        leaf, dim = np.nonzero(partial)
        sizes.append(partial.sum(axis=1))
        dims.append(dim)
        lows.append(low[block][partial].astype(np.int64))
        highs.append(high[block][partial].astype(np.int64))
        uses[leaves.tree[block][leaf], dim] = True
        yield
    users, ends = [np.zeros(0, np.int64)], [np.zeros(1, np.int64)]
    for r in range(n_rivals):
        begin, end = leaves.tree_start[r], leaves.tree_start[r + 1]
        dim, tree = np.nonzero(uses[begin:end].T)
        users.append(begin + tree)
        ends.append(np.bincount(dim, minlength=n_dims))
    start, user_start = (np.cumsum(np.concatenate(part), dtype=np.int64) for part in (sizes, ends))
    yield
    joined = []
    for parts in (dims, lows, highs, users):
        joined.append(np.concatenate([np.zeros(0, np.int64), *parts]))
        parts.clear()
        yield
    dim, first, final, user = joined
    return _Entries(start=start, dim=dim, low=first, high=final, user_start=user_start, user=user)


def _tables(
    low: Shorts, high: Shorts, last: Ints, word: Ints, bit: Words, n_words: int, table_bytes: int
) -> Generator[None, None, _Tables]:
    """The tables of all dimensions, with as few cells per row as the memory allows."""
    stride = 1
    while 16 * max(n_words, 1) * int((-(-last // stride) + 1).sum()) > table_bytes and stride < max(last, default=1):
        stride *= 2
    row_start = np.cumsum([0, *(-(-last // stride) + 1)], dtype=np.int64)
    at_least = np.zeros((int(row_start[-1]), n_words), np.uint64)
    at_most = np.zeros(at_least.shape, np.uint64)  # not zeros_like, which writes to all of it at once
    for d in range(last.size):
        begin, end = int(row_start[d]), int(row_start[d + 1])
        for block in _blocks(low.shape[0]):
            np.bitwise_or.at(at_least, (begin + high[block, d] // stride, word[block]), bit[block])
            np.bitwise_or.at(at_most, (begin + -(-low[block, d] // stride), word[block]), bit[block])
            yield
        yield from _accumulate(at_least[begin:end][::-1])
        yield from _accumulate(at_most[begin:end])
    cells = int((last + 1).sum())
    if stride == 1:
        none = _ByCell(np.zeros(cells + 1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))
        return _Tables(row_start, stride, at_least, at_most, none, none)
    by_high = yield from _by_cell(high, last, word, bit)
    by_low = yield from _by_cell(low, last, word, bit)
    return _Tables(row_start, stride, at_least, at_most, by_high, by_low)


def _accumulate(rows: Words) -> Pauses:
    """Every row becomes the union of all rows up to it."""
    for block in _blocks(rows.shape[0], rows.shape[1]):
        part = rows[max(block.start - 1, 0) : block.stop]
        np.bitwise_or.accumulate(part, axis=0, out=part)
        yield


def _by_cell(edge: Shorts, last: Ints, word: Ints, bit: Words) -> Generator[None, None, _ByCell]:
    """Dimension by dimension: the cells of one come before those of the next."""
    counts: list[npt.NDArray[np.int64]] = [np.zeros(1, np.int64)]
    words, bits = np.empty(edge.size, np.int64), np.empty(edge.size, np.uint64)
    for d in range(last.size):
        order = np.argsort(edge[:, d], kind="stable")
        place = slice(d * order.size, (d + 1) * order.size)
        words[place], bits[place] = word[order], bit[order]
        counts.append(np.bincount(edge[:, d], minlength=int(last[d]) + 1))
        yield
    return _ByCell(np.cumsum(np.concatenate(counts), dtype=np.int64), words, bits)
