"""What decides the label of an ONNX graph: followed back from its results to a classifier, or to scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from elbowroom.importers.arithmetic import Chain
from elbowroom.importers.onnx_graph import DOUBLE, FLOAT, INT32, INT64, STRING, Graph, refuse, refused, shown
from elbowroom.importers.onnx_network import chain_to
from elbowroom.models.base import Label

_ML: Final = "ai.onnx.ml"
_MOST_STEPS: Final = 100
LABELS: Final = (INT32, INT64, STRING)


@dataclass(frozen=True, eq=False)
class End:
    """What decides the label: the output that is asked for, the values it can have, and the node or scores behind it."""

    output: str
    labels: tuple[Label, ...] | None  # None: positions
    node: Any  # a classifier, or None
    scores: str
    gives_labels: bool


def end_of(graph: Graph) -> End:
    """The label among the results, or else the only table of numbers."""
    found = [out for out in graph.outputs if out.kind in LABELS]
    if len(found) > 1:
        refuse(f"it has {len(found)} results that could be the label: {', '.join(out.name[:40] for out in found)}")
    if not found:
        tables = [out for out in graph.outputs if out.kind in (FLOAT, DOUBLE)]
        if len(tables) != 1:
            refuse(f"it has {len(tables)} tables of numbers and no label among its results; keep one")
        return End(tables[0].name, None, None, tables[0].name, False)
    name, labels = found[0].name, None
    for _ in range(_MOST_STEPS):
        node = graph.producer(name)
        if graph.known(node, "ArgMax"):
            graph.refuse_attributes(node, "axis", "keepdims", "select_last_index")
            if graph.whole(node, "axis", 0) not in (1, -1) or graph.whole(node, "select_last_index", 0):
                refuse(f"{shown(node)} does not take the first largest score of a row")
            return End(found[0].name, labels, None, str(node.input[0]), True)
        if graph.known(node, "TreeEnsembleClassifier", _ML) or graph.known(node, "LinearClassifier", _ML):
            if labels is not None or name != node.output[0]:
                refuse(f"{shown(node)} gives labels that are changed afterwards")
            return End(found[0].name, _class_labels(graph, node), node, "", True)
        if graph.known(node, "ArrayFeatureExtractor", _ML) or graph.known(node, "Gather"):
            if labels is not None:
                refuse(f"{shown(node)} looks labels up a second time")
            labels, name = _listed(graph, node), str(node.input[1])
        elif any(graph.known(node, op) for op in ("Identity", "Cast", "Reshape", "Squeeze", "Flatten")):
            if node.op_type == "Cast" and graph.whole(node, "to", 0) not in (INT32, INT64):
                refuse(f"{shown(node)} turns labels into something else")
            name = str(node.input[0])
        else:
            refuse(f"its label comes from {'the rows' if node is None else shown(node)}, which is no classifier")
    raise refused("its label goes through too many steps, or in circles")


def _listed(graph: Graph, node: Any) -> tuple[Label, ...]:
    array = graph.constant(node.input[0]) if len(node.input) == 2 else None
    if array is None or array.ndim != 1 or array.dtype.kind not in "iOUS" or not 1 < array.size <= 1_000_000:
        refuse(f"{shown(node)} does not look labels up in a list")
    plain = array.tolist()
    if len(set(plain)) < len(plain):
        refuse(f"{shown(node)} has a label twice")
    return tuple(label.decode("utf-8", "replace") if isinstance(label, bytes) else label for label in plain)


def _class_labels(graph: Graph, node: Any) -> tuple[Label, ...]:
    whole, text = "classlabels_int64s", "classlabels_strings"
    if node.op_type == "LinearClassifier":
        whole = "classlabels_ints"
        graph.refuse_attributes(node, whole, text, "coefficients", "intercepts", "multi_class", "post_transform")
    numbers, words = graph.wholes(node, whole).tolist(), graph.texts(node, text)
    labels: tuple[Label, ...] = tuple(words or numbers)
    if bool(words) == bool(numbers) or len(set(labels)) < len(labels):
        refuse(f"{shown(node)} has no list of labels, or two, or a label twice")
    return labels


def scores_of(graph: Graph, end: End) -> tuple[Chain, str | None]:
    """The layers in front of the scores, without the last step that keeps their order; "both": (1 - p, p)."""
    name, last = end.scores, None
    for _ in range(_MOST_STEPS):
        node = graph.producer(name)
        if graph.known(node, "Identity") or _drops_the_only_column(graph, node):
            name = str(node.input[0])
        elif graph.known(node, "Concat") and last is None and (inside := _both(graph, node)) is not None:
            name, last = inside, "both"
            return chain_to(graph, name), last
        elif (
            node is not None
            and node.op_type in ("Softmax", "LogSoftmax", "Sigmoid")
            and last is None
            and not node.domain
        ):
            axis = graph.whole(node, "axis", 1 if graph.opset() < 13 else -1) if node.op_type != "Sigmoid" else 1
            if axis not in (1, -1):
                refuse(f"{shown(node)} runs over the rows")
            name, last = str(node.input[0]), str(node.op_type)
        else:
            return chain_to(graph, name), last
    raise refused("its scores go through too many steps, or in circles")


def _drops_the_only_column(graph: Graph, node: Any) -> bool:
    """A Squeeze of the columns; the runtime refuses it where there is more than one."""
    if not graph.known(node, "Squeeze"):
        return False
    axes = graph.constant(node.input[1]) if len(node.input) > 1 else graph.wholes(node, "axes")
    return axes is not None and axes.size == 1 and int(axes.ravel()[0]) in (1, -1)


def _both(graph: Graph, node: Any) -> str | None:
    """z where the node makes (1 - p, p) of p = Sigmoid(z)."""
    if len(node.input) != 2 or graph.whole(node, "axis", 0) not in (1, -1):
        return None
    other, p = graph.producer(node.input[0]), graph.producer(node.input[1])
    if not (graph.known(other, "Sub") and graph.known(p, "Sigmoid") and len(other.input) == 2):
        return None
    one = graph.constant(other.input[0])
    if one is None or one.size != 1 or float(one.ravel()[0]) != 1.0 or other.input[1] != node.input[1]:
        return None
    return str(p.input[0])
