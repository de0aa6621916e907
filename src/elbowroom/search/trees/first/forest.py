"""A tree ensemble as it is: flat nodes in preorder, with the smallest and largest value below every node.

Nothing here is leaves x features or cells x leaves: 650,000 nodes of two classes take 25 MB. Per rival r the margin at x is
base_r + sum over trees of the value of the leaf that x reaches, and must be >= need_r. A split by category s is one more
column n + s, in which the categories that go left have the value 0 and the others 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import kernel
from elbowroom.kernels.tools import Shorts
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import TreeMargins
from elbowroom.models.sets import HALF
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Space


@dataclass(frozen=True, eq=False)
class Forest(Bundle):
    """feature < 0: a leaf. The left child of node i is i + 1. x goes left iff x[feature] <= cut."""

    feature: Shorts  # (nodes,)
    cut: Floats  # (nodes,) rounded down in columns of whole numbers
    right: Shorts  # (nodes,)
    low: Floats  # (rivals, nodes) smallest value below; inf where no float arrives
    high: Floats  # (rivals, nodes) largest value below
    root: Ints  # (trees + 1,)
    base: Floats  # (rivals,)
    need: Floats  # (rivals,)
    source: Ints  # (nodes,) the node of the model
    at_center: Ints  # (nodes,) 1 where a tree is about the centre, not about its room
    user_start: Ints  # (columns + 1,) trees that split on a column
    user: Ints
    most_nodes: int  # of any tree

    @property
    def n_trees(self) -> int:
        return len(self.root) - 1

    @property
    def n_columns(self) -> int:
        """With those of the splits by category."""
        return len(self.user_start) - 1

    @classmethod
    def of(cls, model: TreeEnsemble, space: Space, margins: TreeMargins) -> Forest:
        n, n_trees, size = model.info.n_features, model.n_trees, len(model.feature)
        source, right = np.zeros(size, np.int64), np.zeros(size, np.int32)
        root = np.zeros(n_trees + 1, np.int64)
        count = _preorder(
            model.feature, model.left, model.right, model.roots, np.zeros((2, size + 2), np.int64), source, right, root
        )
        source, right = source[:count].copy(), right[:count].copy()
        feature = model.feature[source].astype(np.int32)
        inner = feature >= 0
        cut = np.where(feature >= n, HALF, model.cut[source])
        whole = np.append(space.whole_room, [False] * (1 if model.sets is None else 1 + len(model.sets.left)))
        rounded = inner & whole[feature]  # a leaf's -1 is the last, which is False
        cut[rounded] = np.floor(cut[rounded])
        order = model.leaf_order
        n_rivals = margins.base.size
        low, high = np.full((n_rivals, size), np.inf), np.full((n_rivals, size), -np.inf)
        low[:, order.node] = high[:, order.node] = margins.value.T
        low, high = np.ascontiguousarray(low[:, source]), np.ascontiguousarray(high[:, source])
        _ranges(feature, right, low, high)
        n_columns = whole.size - 1
        uses = np.zeros((n_trees, n_columns), np.bool_)
        uses[np.repeat(np.arange(n_trees), np.diff(root))[inner], feature[inner]] = True
        column, tree = np.nonzero(uses.T)
        return cls(
            feature=feature,
            cut=cut,
            right=right,
            low=low,
            high=high,
            root=root,
            base=margins.base.astype(np.float64),
            need=margins.slack.astype(np.float64),
            source=source,
            at_center=np.zeros(count, np.int64),
            user_start=np.searchsorted(column, np.arange(n_columns + 1)).astype(np.int64),
            user=tree.astype(np.int64),
            most_nodes=int(np.diff(root).max(initial=1)),
        )

    def beside(self, other: Forest, at_center: bool) -> Forest:
        """Both forests as one, each with its own rivals: the trees of the one are worth 0 to the rivals of the other. ``other`` has
        no splits by category."""
        mine, theirs = len(self.feature), len(other.feature)
        counts = np.diff(other.user_start, append=np.full(self.n_columns - other.n_columns, other.user_start[-1]))
        column = np.concatenate(
            [
                np.repeat(np.arange(self.n_columns), np.diff(self.user_start)),
                np.repeat(np.arange(self.n_columns), counts),
            ]
        )
        order = np.argsort(column, kind="stable")
        nothing = np.zeros((len(self.need), theirs)), np.zeros((len(other.need), mine))
        return Forest(
            feature=np.concatenate([self.feature, other.feature]),
            cut=np.concatenate([self.cut, other.cut]),
            right=np.concatenate([self.right, other.right + np.int32(mine)]),
            low=np.block([[self.low, nothing[0]], [nothing[1], other.low]]),
            high=np.block([[self.high, nothing[0]], [nothing[1], other.high]]),
            root=np.concatenate([self.root, other.root[1:] + mine]),
            base=np.concatenate([self.base, other.base]),
            need=np.concatenate([self.need, other.need]),
            source=np.concatenate([self.source, np.full(theirs, -1)]),
            at_center=np.concatenate([self.at_center, np.full(theirs, int(at_center))]),
            user_start=np.searchsorted(column[order], np.arange(self.n_columns + 1)).astype(np.int64),
            user=np.concatenate([self.user, other.user + self.n_trees])[order],
            most_nodes=max(self.most_nodes, other.most_nodes),
        )


@kernel
def _preorder(
    feature: Ints, left: Ints, right: Ints, roots: Ints, stack: Ints, source: Ints, right_out: Shorts, root_out: Ints
) -> int:
    """Renumber, depth first and the left side first; returns the number of nodes."""
    n = 0
    for t in range(roots.shape[0]):
        root_out[t] = n
        top = 0
        stack[0, 0], stack[1, 0] = roots[t], -1
        while top >= 0:
            i, parent = stack[0, top], stack[1, top]  # the parent if this is its right child, else -1
            top -= 1
            if parent >= 0:
                right_out[parent] = n
            source[n] = i
            if feature[i] >= 0:
                stack[0, top + 1], stack[1, top + 1] = right[i], n
                stack[0, top + 2], stack[1, top + 2] = left[i], -1
                top += 2
            n += 1
    root_out[roots.shape[0]] = n
    return n


@kernel
def _ranges(feature: Shorts, right: Shorts, low: Floats, high: Floats) -> None:
    """From the leaves upwards: children come after their parents."""
    for r in range(low.shape[0]):
        for i in range(feature.shape[0] - 1, -1, -1):
            if feature[i] >= 0:
                low[r, i] = min(low[r, i + 1], low[r, right[i]])
                high[r, i] = max(high[r, i + 1], high[r, right[i]])
