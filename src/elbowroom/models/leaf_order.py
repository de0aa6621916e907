"""The leaves of all trees from left to right, without their boxes.

A box per leaf is leaves x features numbers: hundreds of megabytes for a forest of full depth. Most of what is known about
leaves needs their order and their values alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.kernel import kernel
from elbowroom.numerics import Floats, Ints


@dataclass(frozen=True, eq=False)
class LeafOrder:
    """Leaf l is node[l]; those of tree k are ``offsets[k] : offsets[k + 1]``. Leaves that no float can reach are left out."""

    offsets: Ints  # (trees + 1,)
    node: Ints  # (leaves,)
    value: Floats  # (leaves, K)
    place: Ints  # (nodes,) of a leaf in this order; -1 for all other nodes
    depth: int  # splits on the longest way from a root to a leaf

    @classmethod
    def of(cls, offsets: Ints, node: Ints, value: Floats, depth: int) -> LeafOrder:
        """From the nodes of the leaves, and the values and the depth of all nodes."""
        place = np.full(len(value), -1, np.int64)
        place[node] = np.arange(node.size)
        return cls(offsets, node, value[node], place, depth)

    @property
    def n_trees(self) -> int:
        return len(self.offsets) - 1


def order_of_leaves(
    roots: Ints, feature: Ints, cut: Floats, left: Ints, right: Ints, n_columns: int
) -> tuple[Ints, Ints, int]:
    """Offsets and nodes of the leaves that some float reaches, and the depth; every split is on a column."""
    offsets, node = np.zeros(len(roots) + 1, np.int64), np.zeros(len(feature), np.int64)
    depth = _deepest(roots, feature, left, right, np.zeros((2, len(feature) + 2), np.int64))
    path = np.zeros((2, depth + 2, n_columns))
    count = _in_order(roots, feature, cut, left, right, path, np.zeros(depth + 2, np.int64), offsets, node)
    return offsets, node[:count].copy(), int(depth)


@kernel
def _deepest(roots: Ints, feature: Ints, left: Ints, right: Ints, stack: Ints) -> int:
    """Splits on the longest way from a root to a leaf."""
    deepest = 0
    for t in range(roots.shape[0]):
        top = 0
        stack[0, 0], stack[1, 0] = roots[t], 0
        while top >= 0:
            i, depth = stack[0, top], stack[1, top]
            top -= 1
            deepest = max(deepest, depth)
            if feature[i] >= 0:
                stack[0, top + 1], stack[1, top + 1] = right[i], depth + 1
                stack[0, top + 2], stack[1, top + 2] = left[i], depth + 1
                top += 2
    return deepest


@kernel
def _in_order(
    roots: Ints, feature: Ints, cut: Floats, left: Ints, right: Ints, path: Floats, stack: Ints, offsets: Ints, node: Ints
) -> int:  # fmt: skip
    """Depth first, the left side first. Row k of ``path`` is the box (low, high] of the node on level k of the stack."""
    low, high, n_columns, count = path[0], path[1], path.shape[2], 0
    for t in range(roots.shape[0]):
        offsets[t] = count
        top = 0
        stack[0] = roots[t]
        for f in range(n_columns):
            low[0, f], high[0, f] = -np.inf, np.inf
        while top >= 0:
            i = stack[top]
            f = feature[i]
            if f < 0:
                node[count] = i
                count += 1
                top -= 1
                continue
            go_left, go_right = cut[i] > low[top, f], cut[i] < high[top, f]
            if go_left and go_right:
                for g in range(n_columns):
                    low[top + 1, g], high[top + 1, g] = low[top, g], high[top, g]
                stack[top], low[top, f] = right[i], max(low[top, f], cut[i])
                top += 1
                stack[top], high[top, f] = left[i], min(high[top, f], cut[i])
            elif go_left:
                stack[top], high[top, f] = left[i], min(high[top, f], cut[i])
            else:
                stack[top], low[top, f] = right[i], max(low[top, f], cut[i])
    offsets[roots.shape[0]] = count
    return count
