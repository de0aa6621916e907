"""Axis-aligned decision trees, forests and boosting as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elbowroom.models.base import ModelInfo, fingerprint_of
from elbowroom.models.leaf_order import LeafOrder, order_of_leaves
from elbowroom.models.sets import HALF, SetSplits
from elbowroom.numerics import Bools, Floats, Ints

FEW_ROWS = 32
MANY = 200_000  # pairs of row and tree: fewer are not worth loading compiled code for


@dataclass(frozen=True, eq=False)
class Leaves:
    """All leaves of all trees as boxes: leaf l is {x : lower_f < x_f <= upper_f for all f}.

    Leaves of tree k are ``offsets[k] : offsets[k + 1]``. Leaves that no float can reach are dropped.
    """

    offsets: Ints  # (trees + 1,)
    lower: Floats  # (leaves, features), -inf where open
    upper: Floats  # (leaves, features), +inf where open
    value: Floats  # (leaves, K)

    @property
    def n_trees(self) -> int:
        return len(self.offsets) - 1


class _Level(NamedTuple):
    """Nodes of one depth, siblings side by side: their parents one level up, and those that are leaves."""

    parent: Ints
    leaf: Ints  # which of the nodes are leaves
    node: Ints  # and for these: the node,
    lower: Floats  # and the box
    upper: Floats


def _from_left_to_right(levels: list[_Level], value: Floats) -> tuple[Leaves, Ints]:
    """Leaves of all levels in the order in which they stand below their roots, and their nodes."""
    counts: list[Ints] = []  # leaves below every node, level by level from the deepest
    for level, below in zip(reversed(levels), [None, *reversed(levels)], strict=False):
        size = level.parent.size
        count = np.zeros(size, np.int64)
        count[level.leaf] = 1
        if below is not None:
            np.add.at(count, below.parent, counts[-1])
        counts.append(count)
    counts.reverse()
    offsets = np.concatenate([[0], np.cumsum(counts[0])]).astype(np.int64)
    total, n = int(offsets[-1]), levels[0].lower.shape[1]
    lower, upper, node = np.empty((total, n)), np.empty((total, n)), np.empty(total, np.int64)
    place = offsets[:-1]
    for depth, (level, count) in enumerate(zip(levels, counts, strict=True)):
        if depth:  # a right sibling comes after all leaves of the left one
            before = np.cumsum(count) - count
            first = np.searchsorted(level.parent, level.parent)
            place = place[level.parent] + before - before[first]
        at = place[level.leaf]
        lower[at], upper[at], node[at] = level.lower, level.upper, level.node
    return Leaves(offsets, lower, upper, value[node]), node


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """scores(x) = (base + sum over trees, in order, of the value of the leaf that x reaches) / divisor.

    Node i is a leaf iff feature[i] < 0; otherwise x goes left iff x[feature[i]] <= cut[i]. The cuts are exact float64
    half lines: the original's casts, comparison (< or <=) and scalers are already folded into them.

    Attributes:
        info: Names, classes, and how scores become a class.
        roots: The first node of each tree.
        feature: Of each node; with n columns, n + s is split s of ``sets``.
        cut: Of each node.
        left: Child of each node.
        right: Child of each node.
        value: Of each node, one column per score.
        base: What the sums begin with.
        divisor: 1, or the number of trees of an average.
        sets: Splits in which the category of a one-hot group decides.
        missing_left: Whether a missing number (NaN) goes left.
        may_miss: Columns in which the original takes a missing number; in all others it refuses it.
        single: Leaf values and base are float32 numbers, and the original adds them up in float32.

    Examples:
        >>> [round(cut) for cut in read_model(model).cuts[0]]  # of salary
        [2500, 3500, 4500]
    """

    info: ModelInfo
    roots: Ints  # (trees,)
    feature: Ints  # (nodes,)
    cut: Floats  # (nodes,)
    left: Ints  # (nodes,)
    right: Ints  # (nodes,)
    value: Floats  # (nodes, K): contribution of a leaf, in the units of the sum
    base: Floats  # (K,)
    divisor: float = 1.0
    sets: SetSplits | None = None
    missing_left: Bools | None = None  # (nodes,)
    may_miss: Bools | None = None  # (features,); None: no column may be missing
    single: bool = False

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.roots)

    def apply(self, X: Floats) -> Ints:
        """Leaf node of every tree for every row: (rows, trees).

        Args:
            X: Rows of inner floats.

        Returns:
            Positions of nodes.
        """
        leaf = np.broadcast_to(self.roots, (len(X), self.n_trees)).copy()
        if self.sets is None and leaf.size > MANY:
            from elbowroom.models.descend import descend_all

            nodes = self.roots, self.feature, self.cut, self.left, self.right
            missing = np.zeros(0, np.int64) if self.missing_left is None else self.missing_left.astype(np.int64)
            descend_all(*nodes, missing, np.ascontiguousarray(X), leaf)
            return leaf
        block_rows = max(1, 2**16 // self.n_trees)  # pairs of row and tree that fit into the processor's cache
        for start in range(0, len(X), block_rows):
            block = leaf[start : start + block_rows].reshape(-1)
            pair = np.flatnonzero(self.feature[block] >= 0)
            row, node = pair // self.n_trees, block[pair]
            here = X[start : start + block_rows]
            by_set = None if self.sets is None else self.sets.goes_left(here)
            while pair.size:  # one level down for every pair that is not yet at a leaf
                node = np.where(self._goes_left(here, by_set, row, node), self.left[node], self.right[node])
                inner = self.feature[node] >= 0
                block[pair[~inner]] = node[~inner]
                pair, row, node = pair[inner], row[inner], node[inner]
        return leaf

    def _goes_left(self, X: Floats, by_set: Bools | None, row: Ints, node: Ints) -> Bools:
        """Which side each pair of row and inner node takes; ``by_set`` has one column per set split."""
        column = self.feature[node]
        if by_set is None:
            x = X[row, column]
            goes_left = x <= self.cut[node]
        else:
            plain = column < X.shape[1]
            x = X[row, np.where(plain, column, 0)]
            goes_left = np.where(plain, x <= self.cut[node], by_set[row, np.where(plain, 0, column - X.shape[1])])
            x = np.where(plain, x, 0.0)
        return goes_left if self.missing_left is None else np.where(np.isnan(x), self.missing_left[node], goes_left)

    def scores(self, X: Floats) -> Floats:
        """Scores bit-equal to the original's: one addition per tree, in the original's order and precision.

        Args:
            X: Rows of inner floats.

        Returns:
            One row of scores per row.
        """
        precision = np.float32 if self.single else np.float64
        value, base = self.value.astype(precision, copy=False), self.base.astype(precision, copy=False)
        total = np.broadcast_to(base, (len(X), base.size)).copy()
        leaf = self.apply(X)
        if len(X) < FEW_ROWS:  # the same additions in the same order, without a Python loop over trees
            terms = np.concatenate([total[:, None], value[leaf]], axis=1)
            total = np.add.accumulate(terms, axis=1)[:, -1]
        else:
            for k in range(self.n_trees):
                total += value[leaf[:, k]]
        total = total.astype(np.float64, copy=False)
        return total if self.divisor == 1.0 else total / self.divisor

    def with_missing(self, missing: Bools) -> TreeEnsemble:
        """The ensemble for rows whose ``missing`` columns hold no number: every split on one of them is decided.

        Args:
            missing: True for these columns.

        Returns:
            An ensemble of the same columns that does not look at these.
        """
        asked = (self.feature >= 0) & (self.feature < missing.size)
        asked[asked] = missing[self.feature[asked]]
        if not asked.any():
            return self
        assert self.missing_left is not None  # `may_miss` was asked first
        return replace(self, cut=np.where(asked, np.where(self.missing_left, np.inf, -np.inf), self.cut))

    @cached_property
    def leaves(self) -> Leaves:
        """With their boxes, leaves x features numbers: for models of a size that solvers can take."""
        return self._boxes()[0]

    @cached_property
    def leaf_order(self) -> LeafOrder:
        """The same leaves without their boxes."""
        if self.sets is None:
            nodes = self.feature, self.cut, self.left, self.right
            offsets, node, depth = order_of_leaves(self.roots, *nodes, self.info.n_features)
            return LeafOrder.of(offsets, node, self.value, depth)
        leaves, node = self._boxes()
        return LeafOrder.of(leaves.offsets, node, self.value, 0)

    def _boxes(self) -> tuple[Leaves, Ints]:
        """Level by level, all trees at once; then every leaf goes to its place, from left to right."""
        node, levels = self.roots, []
        low = np.full((node.size, len(self.info.names)), -np.inf)
        high = np.full(low.shape, np.inf)
        parent = np.zeros(node.size, np.int64)
        while node.size:
            done = np.flatnonzero(self.feature[node] < 0)
            levels.append(_Level(parent, done, node[done], low[done], high[done]))
            inner = np.flatnonzero(self.feature[node] >= 0)
            f, cut = self.feature[node[inner]], self.cut[node[inner]]
            by_set = np.flatnonzero(f >= low.shape[1])  # set splits: their own rule below
            split = f[by_set] - low.shape[1]
            f, cut = np.where(f < low.shape[1], f, 0), np.where(f < low.shape[1], cut, 0.0)
            possible = np.stack([cut > low[inner, f], cut < high[inner, f]], axis=1)  # left, right
            if self.sets is not None:
                possible[by_set] = self.sets.possible(split, low[inner[by_set]], high[inner[by_set]])
            of, side = np.nonzero(possible)
            plain = np.isin(of, by_set, invert=True)
            left, right = np.flatnonzero((side == 0) & plain), np.flatnonzero((side == 1) & plain)
            node, parent = np.where(side == 0, self.left[node[inner[of]]], self.right[node[inner[of]]]), inner[of]
            set_of = np.zeros(inner.size, np.int64)
            set_of[by_set] = split
            f, cut, set_of, low, high = f[of], cut[of], set_of[of], low[parent], high[parent]
            low[right, f[right]] = np.maximum(low[right, f[right]], cut[right])
            high[left, f[left]] = np.minimum(high[left, f[left]], cut[left])
            if self.sets is not None:
                self.sets.exclude(high, np.flatnonzero(~plain), set_of, side)
        return _from_left_to_right(levels, self.value)

    @cached_property
    def cuts(self) -> tuple[Floats, ...]:
        """Sorted distinct finite cuts of every feature; a category that a set split looks at is a 0/1 column."""
        n = self.info.n_features
        of = self.feature[(self.feature >= 0) & (self.feature < n)]
        cut = self.cut[(self.feature >= 0) & (self.feature < n)]
        order = np.argsort(of, kind="stable")
        bounds = np.searchsorted(of[order], np.arange(n + 1))
        in_sets = np.zeros(n, np.bool_) if self.sets is None else self.sets.columns
        found = []
        for f in range(n):
            cuts = np.append(cut[order[bounds[f] : bounds[f + 1]]], [HALF] if in_sets[f] else [])
            cuts = np.unique(cuts)
            found.append(cuts[np.isfinite(cuts)] + 0.0)
        return tuple(found)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides about its outputs."""
        parts: tuple[npt.NDArray[np.generic], ...] = (
            self.roots, self.feature, self.cut, self.left, self.right, self.value, self.base, np.array(self.divisor),
        )  # fmt: skip
        if self.sets is not None:
            parts = (*parts, self.sets.left, self.sets.right)
        if self.single:
            parts = (*parts, np.array(self.single))
        return fingerprint_of(self.info, *parts)
