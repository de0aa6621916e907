"""ONNX TreeEnsembleClassifier, as onnxruntime computes it: float32 rows, thresholds and sums.

What the runtime does was found by experiment, not in the standard:
* one class id for two labels: the second label wins above 0.5 if no weight is negative, above 0 otherwise, whatever the
  ``post_transform`` says;
* three labels and more: the first largest sum wins, among the classes that a reached leaf or a base value mentions.
Other forms are refused by name. Sums are added up in an order that depends on how many rows are asked together. Missing numbers take the false branch, unless ``missing_value_tracks_true``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from elbowroom.importers.arithmetic import SINGLE
from elbowroom.importers.onnx_graph import FLOAT, Graph, refuse, shown
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.tree_builder import TreeBuilder, Trees
from elbowroom.models.base import Decision, Label, Link, ModelInfo
from elbowroom.numerics import Bools, Floats, Ints

_ATTRIBUTES: Final = (
    "base_values", "class_ids", "class_nodeids", "class_treeids", "class_weights", "classlabels_int64s",
    "classlabels_strings", "nodes_falsenodeids", "nodes_featureids", "nodes_hitrates", "nodes_missing_value_tracks_true",
    "nodes_modes", "nodes_nodeids", "nodes_treeids", "nodes_truenodeids", "nodes_values", "post_transform",
)  # fmt: skip
_LEAF: Final = "LEAF"
_MODES: Final = {
    "BRANCH_LEQ": (False, False),
    "BRANCH_LT": (True, False),
    "BRANCH_GT": (False, True),
    "BRANCH_GTE": (True, True),
}
_MOST_NODES: Final = 20_000_000


@dataclass(frozen=True, eq=False)
class _Nodes:
    """All nodes, as they stand in the file."""

    tree: Ints
    number: Ints
    feature: Ints
    value: Floats
    mode: list[str]
    true: Ints
    false: Ints
    tracks_true: Bools


def read_trees(graph: Graph, node: Any, labels: tuple[Label, ...], preprocessing: Preprocessing, source: str) -> Trees:
    """The trees of a TreeEnsembleClassifier that takes the rows as they are."""
    graph.refuse_attributes(node, *_ATTRIBUTES)
    if graph.kind != FLOAT or not node.input or node.input[0] != graph.input:
        refuse(
            f"{shown(node)} must take the float32 rows as they are; trees need no scaling: fit them on the raw columns"
        )
    nodes = _nodes(graph, node, preprocessing.width)
    ids, weights = graph.wholes(node, "class_ids"), graph.floats(node, "class_weights")
    base = graph.floats(node, "base_values")
    columns, base, decision = _scores(node, labels, ids, weights, base)
    where = _positions(graph, node, nodes)
    value = np.zeros((nodes.tree.size, columns))
    said = np.zeros((nodes.tree.size, columns), dtype=np.bool_)
    column = ids if columns > 1 else np.zeros(ids.size, dtype=np.int64)
    if said.size and np.unique(where * columns + column).size < where.size:
        refuse(f"{shown(node)} has a leaf with two weights for one class")
    value[where, column], said[where, column] = weights, True
    builder = TreeBuilder()
    always, size = np.zeros(columns, dtype=np.bool_), np.abs(base)
    somewhere_positive = True
    for tree in np.unique(nodes.tree):
        leaves = _add(builder, nodes, np.flatnonzero(nodes.tree == tree), value)
        always |= said[leaves].all(axis=0)
        size = size + np.abs(value[leaves]).max(axis=0)
        somewhere_positive &= bool((value[leaves].max(axis=1) > 0.0).all())
    if columns > 1 and not base.any() and not always.all() and not (somewhere_positive and (weights >= 0.0).all()):
        refuse(f"{shown(node)} has leaves that do not mention every class; such a class cannot win, whatever its score")
    # the runtime adds trees up in blocks that depend on the number of rows: either of two scores, ours and theirs
    error = 4 * SINGLE.gamma(np.unique(nodes.tree).size + 4) * float(size.max())
    info = ModelInfo(preprocessing.names, labels, decision, Link.NONE, source, error)
    return builder.build(info, preprocessing, float32_rows_at_most, base, single=True)


def float32_rows_at_most(x: Floats, threshold: Floats) -> Bools:
    """Rows are cast to float32 when they are handed over."""
    with np.errstate(over="ignore"):
        return np.asarray(x.astype(np.float32) <= threshold.astype(np.float32))


def _scores(
    node: Any, labels: tuple[Label, ...], ids: Ints, weights: Floats, base: Floats
) -> tuple[int, Floats, Decision]:
    """Number of scores, the constant that each starts with, and how they become a label."""
    if not ids.size or ids.size != weights.size:
        refuse(f"{shown(node)} has {ids.size} class ids and {weights.size} weights")
    if len(labels) < 2 or ids.min() < 0 or ids.max() >= len(labels):
        refuse(f"{shown(node)} has the labels {str(labels)[:60]}, and leaves of class {ids.min()} to {ids.max()}")
    if len(labels) > 2:
        if base.size not in (0, len(labels)):
            refuse(f"{shown(node)} has {base.size} base values for {len(labels)} classes")
        return len(labels), base if base.size else np.zeros(len(labels)), Decision.ARGMAX
    if np.unique(ids).size > 1 or base.size > 1 or (base.size == 1 and ids[0] != 0):
        refuse(
            f"{shown(node)} has two labels with scores for both, which onnxruntime does not compare with each other; export the "
            "model with one score"
        )
    threshold = 0.0 if (weights < 0.0).any() else 0.5
    return 1, np.array([(base[0] if base.size else 0.0) - threshold]), Decision.POSITIVE


def _nodes(graph: Graph, node: Any, width: int) -> _Nodes:
    mode = graph.texts(node, "nodes_modes")
    size = len(mode)
    tracks = graph.wholes(node, "nodes_missing_value_tracks_true")
    nodes = _Nodes(
        graph.wholes(node, "nodes_treeids"), graph.wholes(node, "nodes_nodeids"), graph.wholes(node, "nodes_featureids"),
        graph.floats(node, "nodes_values"), mode, graph.wholes(node, "nodes_truenodeids"),
        graph.wholes(node, "nodes_falsenodeids"), (tracks if tracks.size else np.zeros(size, dtype=np.int64)) == 1,
    )  # fmt: skip
    sizes = {
        len(part)
        for part in (nodes.tree, nodes.number, nodes.feature, nodes.value, nodes.true, nodes.false, nodes.tracks_true)
    }
    if sizes != {size} or not 0 < size <= _MOST_NODES:
        refuse(f"{shown(node)} has lists of nodes of the lengths {sorted({*sizes, size})}")
    if not np.isin(tracks, (0, 1)).all():
        refuse(f"{shown(node)} has a nodes_missing_value_tracks_true that is neither 0 nor 1")
    odd = set(mode) - {*_MODES, _LEAF}
    if odd:
        refuse(f"{shown(node)} has nodes of the kind {min(odd)[:40]!r}; comparisons of numbers are read")
    inner = np.array([kind != _LEAF for kind in mode])
    if inner.any() and not (0 <= nodes.feature[inner].min() and nodes.feature[inner].max() < width):
        refuse(f"{shown(node)} splits on a column that the rows do not have")
    return nodes


def _positions(graph: Graph, node: Any, nodes: _Nodes) -> Ints:
    """Which node each class weight belongs to; every (tree, number) must be there once, and a leaf."""
    place = {key: i for i, key in enumerate(zip(nodes.tree.tolist(), nodes.number.tolist(), strict=True))}
    if len(place) < nodes.tree.size:
        refuse(f"{shown(node)} has two nodes with the same number")
    asked = list(
        zip(graph.wholes(node, "class_treeids").tolist(), graph.wholes(node, "class_nodeids").tolist(), strict=True)
    )
    found = [place.get(key, -1) for key in asked]
    if len(found) != graph.wholes(node, "class_ids").size or min(found, default=-1) < 0:
        refuse(f"{shown(node)} has class weights for nodes that do not exist")
    if any(nodes.mode[i] != _LEAF for i in found):
        refuse(f"{shown(node)} has class weights inside a tree")
    return np.array(found, dtype=np.int64)


def _add(builder: TreeBuilder, nodes: _Nodes, at: Ints, value: Floats) -> Ints:
    """One tree: parents first, left where the number is at most the threshold. Returns its leaves."""
    place = {int(number): int(i) for number, i in zip(nodes.number[at], at, strict=True)}
    order: list[int] = []
    pile, seen = [int(at[0])], {int(at[0])}
    while pile:
        i = pile.pop()
        order.append(i)
        if nodes.mode[i] == _LEAF:
            continue
        for child in (int(nodes.true[i]), int(nodes.false[i])):
            j = place.get(child)
            if j is None or j in seen:
                refuse(f"tree {int(nodes.tree[i])}: its nodes do not form a tree; the file is damaged")
            seen.add(j)
            pile.append(j)
    if len(order) < at.size:
        refuse(
            f"tree {int(nodes.tree[at[0]])}: {at.size - len(order)} of its nodes are not reached; the file is damaged"
        )
    index = {i: k for k, i in enumerate(order)}
    rows = np.array(order)
    leaf = np.array([nodes.mode[i] == _LEAF for i in order])
    strict, turned = (np.array([_MODES.get(nodes.mode[i], (False, False))[k] for i in order]) for k in (0, 1))
    single = nodes.value[rows].astype(np.float32)
    # x < t is x <= the float32 before t; x > t and x >= t are the other sides of these
    threshold = np.where(strict, np.nextafter(single, np.float32(-np.inf)), single).astype(np.float64)
    true = np.array([0 if nodes.mode[i] == _LEAF else index[place[int(nodes.true[i])]] for i in order])
    false = np.array([0 if nodes.mode[i] == _LEAF else index[place[int(nodes.false[i])]] for i in order])
    left, right = np.where(turned, false, true), np.where(turned, true, false)
    missing_left = nodes.tracks_true[rows] != turned
    builder.add(nodes.feature[rows], threshold, left, right, leaf, value[rows], missing_left)
    return np.asarray(rows[leaf], dtype=np.int64)
