"""Axis-aligned decision trees, forests and boosting as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from elbowroom.models.base import ModelInfo, fingerprint_of
from elbowroom.numerics import Floats, Ints

FEW_ROWS = 32


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


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """scores(x) = (base + sum over trees, in order, of the value of the leaf that x reaches) / divisor.

    Node i is a leaf iff feature[i] < 0; otherwise x goes left iff x[feature[i]] <= cut[i]. The cuts are exact float64
    half lines: the original's casts, comparison (< or <=) and scalers are already folded into them.
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

    @property
    def n_trees(self) -> int:
        return len(self.roots)

    def apply(self, X: Floats) -> Ints:
        """Leaf node of every tree for every row: (rows, trees)."""
        leaf = np.broadcast_to(self.roots, (len(X), self.n_trees)).copy()
        block_rows = max(1, 2**16 // self.n_trees)  # pairs of row and tree that fit into the processor's cache
        for start in range(0, len(X), block_rows):
            block = leaf[start : start + block_rows].reshape(-1)
            pair = np.flatnonzero(self.feature[block] >= 0)
            row, node = start + pair // self.n_trees, block[pair]
            while pair.size:  # one level down for every pair that is not yet at a leaf
                goes_left = X[row, self.feature[node]] <= self.cut[node]
                node = np.where(goes_left, self.left[node], self.right[node])
                inner = self.feature[node] >= 0
                block[pair[~inner]] = node[~inner]
                pair, row, node = pair[inner], row[inner], node[inner]
        return leaf

    def scores(self, X: Floats) -> Floats:
        """Scores bit-equal to the original's: one addition per tree, in the original's order."""
        total = np.broadcast_to(self.base, (len(X), self.base.size)).copy()
        leaf = self.apply(X)
        if len(X) < FEW_ROWS:  # the same additions in the same order, without a Python loop over trees
            terms = np.concatenate([total[:, None], self.value[leaf]], axis=1)
            total = np.add.accumulate(terms, axis=1)[:, -1]
        else:
            for k in range(self.n_trees):
                total += self.value[leaf[:, k]]
        return total if self.divisor == 1.0 else total / self.divisor

    @cached_property
    def leaves(self) -> Leaves:
        n = len(self.info.names)
        lowers: list[Floats] = []
        uppers: list[Floats] = []
        nodes: list[int] = []
        offsets = [0]
        for root in self.roots:
            stack: list[tuple[int, Floats, Floats]] = [(int(root), np.full(n, -np.inf), np.full(n, np.inf))]
            while stack:
                node, low, high = stack.pop()
                f = int(self.feature[node])
                if f < 0:
                    lowers.append(low)
                    uppers.append(high)
                    nodes.append(node)
                    continue
                cut = float(self.cut[node])
                if cut < high[f]:
                    new_low = low.copy()
                    new_low[f] = max(low[f], cut)
                    stack.append((int(self.right[node]), new_low, high))
                if cut > low[f]:
                    new_high = high.copy()
                    new_high[f] = min(high[f], cut)
                    stack.append((int(self.left[node]), low, new_high))
            offsets.append(len(nodes))
        return Leaves(
            np.array(offsets, dtype=np.int64),
            np.array(lowers).reshape(-1, n),
            np.array(uppers).reshape(-1, n),
            self.value[np.array(nodes, dtype=np.int64)],
        )

    @cached_property
    def cuts(self) -> tuple[Floats, ...]:
        """Sorted distinct finite cuts of every feature."""
        inner = self.feature >= 0
        found = []
        for f in range(self.info.n_features):
            cuts = np.unique(self.cut[inner & (self.feature == f)])
            found.append(cuts[np.isfinite(cuts)] + 0.0)
        return tuple(found)

    @cached_property
    def fingerprint(self) -> str:
        parts: tuple[npt.NDArray[np.generic], ...] = (
            self.roots, self.feature, self.cut, self.left, self.right, self.value, self.base, np.array(self.divisor),
        )  # fmt: skip
        return fingerprint_of(self.info, *parts)
