"""One tree of an XGBoost model, as checked arrays.

A tree is a set of parallel arrays over its nodes. A node is a leaf iff its left child is -1; its value is then its
``split_conditions`` (or a row of ``leaf_weights``, where one tree adds to all scores at once). Otherwise a row goes left
iff float32(x) < split_conditions, or, in a split by categories, iff its code is not among those listed for the node;
where x is missing ``default_left`` decides. Trees that were pruned keep the numbers of deleted nodes: nodes are numbered
anew here, from the root on, so that parents come before children and every node has one parent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from elbowroom.importers.document import LARGEST_INDEX, Part
from elbowroom.numerics import Bools, Ints

Singles = npt.NDArray[np.float32]

WIDEST: Final = 100_000
MOST_OUTPUTS: Final = 1_000
MOST_NODES: Final = 20_000_000
DEEPEST: Final = 2_000
LARGEST_CODE: Final = 2**24 - 1  # codes are floats of 24 bits


@dataclass(frozen=True, eq=False)
class Tree:
    """Parents before children; ``value`` has one column, for the score ``group``, or one for every score."""

    feature: Ints
    threshold: Singles
    left: Ints
    right: Ints
    default_left: Bools
    value: Singles  # (nodes, 1 or outputs)
    group: int
    sets: dict[int, Ints]  # node -> codes that go right

    @property
    def leaf(self) -> Bools:
        return np.asarray(self.left < 0)


def read_tree(part: Part, width: int, outputs: int, group: int) -> Tree:
    param = part.part("tree_param")
    nodes = param.count("num_nodes", MOST_NODES)
    param.count("num_deleted", nodes)
    size = max(param.count("size_leaf_vector", MOST_OUTPUTS, 1), 1)
    if size not in (1, outputs) or param.count("num_feature", WIDEST) != width:
        raise part.damaged(f"has leaves of {size} numbers or another width, in a model of {outputs} scores")
    left, right = part.indices("left_children", nodes), part.indices("right_children", nodes)
    order = _order(part, left, right)
    number = np.full(nodes, -1, np.int64)
    number[order] = np.arange(order.size)
    leaf = left[order] < 0
    if size == 1 and (right[order][leaf] != -1).any():
        raise part.damaged("has a leaf with a right child")
    feature = np.where(leaf, -1, part.indices("split_indices", nodes)[order])
    if (feature >= width).any() or (feature[~leaf] < 0).any():
        raise part.damaged(f"splits at column {feature.max()}; the model has {width}")
    by_set = part.indices("split_type", nodes, 0, 1)[order].astype(bool) & ~leaf
    condition = singles(part, "split_conditions", nodes)
    threshold = np.where(leaf | by_set, np.float32(0), condition[order])
    value = condition[order][:, None] if size == 1 else _vectors(part, right, order, nodes, size)
    if np.isnan(threshold).any() or not np.isfinite(value[leaf]).all():
        raise part.damaged("has a threshold that is NaN, or a leaf that is not finite")
    for key in ("sum_hessian", "loss_changes"):  # not used here, but the library itself relies on their lengths
        if part.has(key) or size == 1:
            part.numbers(key, nodes)
    part.numbers("base_weights", nodes * size)
    _check_parents(part, part.indices("parents", nodes), left, right, order)
    sets = {int(number[node]): codes for node, codes in _sets(part, nodes).items() if number[node] >= 0}
    sets = {node: codes for node, codes in sets.items() if not leaf[node]}
    if set(np.flatnonzero(by_set).tolist()) != sets.keys():
        raise part.damaged("has splits by categories that do not fit to its lists of categories")
    return Tree(
        feature=feature, threshold=threshold,
        left=np.where(leaf, -1, number[left[order]]), right=np.where(leaf, -1, number[np.where(leaf, 0, right[order])]),
        default_left=part.indices("default_left", nodes, 0, 1)[order].astype(bool),
        value=np.where(leaf[:, None], value, np.float32(0)), group=group, sets=sets,
    )  # fmt: skip


def _order(part: Part, left: Ints, right: Ints) -> Ints:
    """Nodes from the root on, level by level. A child outside the tree, or one that is reached twice, is damage."""
    if not len(left):
        raise part.damaged("has no nodes")
    level: Ints = np.zeros(1, np.int64)
    levels: list[Ints] = []
    seen = np.zeros(len(left), np.bool_)
    while level.size:
        if len(levels) > DEEPEST:
            raise part.damaged(f"is more than {DEEPEST} splits deep")
        if level.max() >= len(left) or level.min() < 0 or seen[level].any() or np.unique(level).size != level.size:
            raise part.damaged("has nodes that do not form a tree")
        seen[level] = True
        levels.append(level)
        inner = level[left[level] >= 0]
        level = np.stack([left[inner], right[inner]], axis=1).ravel()
    return np.concatenate(levels)


def _check_parents(part: Part, parents: Ints, left: Ints, right: Ints, order: Ints) -> None:
    """Not used here, but the library does follow them. The root's is a sign that it has none."""
    inner = order[left[order] >= 0]
    if (
        parents[0] not in (-1, LARGEST_INDEX)
        or (parents[left[inner]] != inner).any()
        or (parents[right[inner]] != inner).any()
    ):
        raise part.damaged("has parents that do not fit to their children")


def _vectors(part: Part, right: Ints, order: Ints, nodes: int, size: int) -> Singles:
    """Leaves with one number per score: rows of leaf_weights that right_children names, or (before 3.1) base_weights."""
    if not part.has("leaf_weights"):
        return singles(part, "base_weights", nodes * size).reshape(nodes, size)[order]
    packed = singles(part, "leaf_weights", None)
    if packed.size % size:
        raise part.damaged("has leaf_weights that do not fit to its scores")
    rows = packed.reshape(-1, size)
    leaf = part.indices("left_children", nodes)[order] < 0
    at = np.where(leaf, right[order], 0)
    if not len(rows) or at.min() < 0 or at.max() >= len(rows):
        raise part.damaged("has a leaf without its leaf_weights")
    return rows[at]


def _sets(part: Part, nodes: int) -> dict[int, Ints]:
    at = part.indices("categories_nodes", None, 0, nodes - 1)
    start = part.indices("categories_segments", len(at), 0)
    size = part.indices("categories_sizes", len(at), 0)
    codes = part.indices("categories", None, 0, LARGEST_CODE)
    if (start + size > codes.size).any() or np.unique(at).size != at.size:
        raise part.damaged("has lists of categories that do not fit to their lengths")
    return {int(n): np.unique(codes[s : s + k]) for n, s, k in zip(at, start, size, strict=True)}


def singles(part: Part, key: str, size: int | None) -> Singles:
    """Numbers as the float32 that they were, or that the library makes of them."""
    with np.errstate(over="ignore"):
        return part.numbers(key, size).astype(np.float32)
