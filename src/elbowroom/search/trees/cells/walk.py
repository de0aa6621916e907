"""First and last cell of every leaf in every dimension, by walking the trees: no boxes of floats are made.

A split at the cut of index k of its dimension leaves cells .. k on its left side and k + 1 .. on its right side.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from elbowroom.kernels.kernel import kernel
from elbowroom.kernels.tools import Shorts
from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Bools, Ints
from elbowroom.problem import Space
from elbowroom.search.trees.cells.dimensions import Dimensions
from elbowroom.search.trees.limits import BLOCK


def walked_cells(
    model: TreeEnsemble, space: Space, dimensions: Dimensions
) -> Generator[None, None, tuple[Shorts, Shorts, Bools]]:
    """The cells of all leaves, and which leaves hold any point at all; a pause after every block of leaves. Every split is on
    a column."""
    order, n_dims = model.leaf_order, dimensions.columns.size
    shape = (order.node.size, n_dims)
    dim_of = np.full(model.info.n_features, -1, np.int64)
    dim_of[dimensions.columns] = np.arange(n_dims)
    dim = np.where(model.feature >= 0, dim_of[model.feature], -1)
    cell = np.where(
        model.cut > 0.0, 0, -1
    )  # of the cut; -1 below all of them. Columns with infinite cuts alone: decided
    for d, (f, cuts) in enumerate(zip(dimensions.columns, dimensions.cuts, strict=True)):
        mine = np.flatnonzero(dim == d)
        cut = np.floor(model.cut[mine]) if space.whole_room[f] else model.cut[mine]
        cell[mine] = np.where(np.isneginf(cut), -1, np.searchsorted(cuts, cut, "left"))
        yield
    low, high = np.zeros(shape, np.int32), np.empty(shape, np.int32)
    last = np.array([cuts.size for cuts in dimensions.cuts], dtype=np.int64)
    path, stack = np.zeros((2, order.depth + 2, n_dims), np.int32), np.zeros(order.depth + 2, np.int64)
    at = 0
    while at < model.n_trees:
        end = int(np.searchsorted(order.offsets, order.offsets[at] + BLOCK // max(n_dims, 1), "right")) - 1
        end = min(max(end, at + 1), model.n_trees)
        _walk(
            model.roots[at:end],
            model.feature,
            dim,
            cell,
            model.left,
            model.right,
            order.place,
            last,
            path,
            stack,
            low,
            high,
        )
        at = end
        yield
    return low, high, np.asarray((low <= high).all(axis=1))


@kernel
def _walk(
    roots: Ints, feature: Ints, dim: Ints, cell: Ints, left: Ints, right: Ints, place: Ints, last: Ints, path: Shorts,
    stack: Ints, low_out: Shorts, high_out: Shorts,
) -> None:  # fmt: skip
    """Depth first; row k of ``path`` holds the cells of the node on level k of the stack. Leaves that no float reaches have
    no place."""
    low, high, n_dims = path[0], path[1], path.shape[2]
    for t in range(roots.shape[0]):
        top = 0
        stack[0] = roots[t]
        for d in range(n_dims):
            low[0, d], high[0, d] = 0, last[d]
        while top >= 0:
            i = stack[top]
            d = dim[i]
            if feature[i] < 0:
                row = place[i]
                if row >= 0:
                    for k in range(n_dims):
                        low_out[row, k], high_out[row, k] = low[top, k], high[top, k]
                top -= 1
                continue
            if d < 0:
                stack[top] = left[i] if cell[i] >= 0 else right[i]
                continue
            for k in range(n_dims):
                low[top + 1, k], high[top + 1, k] = low[top, k], high[top, k]
            stack[top], low[top, d] = right[i], max(low[top, d], cell[i] + 1)
            top += 1
            stack[top], high[top, d] = left[i], min(high[top, d], cell[i])
