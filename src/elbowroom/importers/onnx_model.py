"""ONNX models: the file is the model, and what onnxruntime makes of it is the promise.

`read_onnx` follows the label of the graph back to the rows. Where a graph has no label, the label of a row is the position of
its first largest output; with one output it is 1 where that is positive (behind a Sigmoid: above one half), and else 0.
Rows are cast to the type of the graph's input, float32 as a rule, when they are handed over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from elbowroom.errors import InputError
from elbowroom.importers.arithmetic import SINGLE
from elbowroom.importers.inputs import Columns
from elbowroom.importers.onnx_file import OnnxFile, content_of, graph_of, session_of
from elbowroom.importers.onnx_graph import FLOAT, refuse
from elbowroom.importers.onnx_labels import end_of, scores_of
from elbowroom.importers.onnx_network import linear_classifier
from elbowroom.importers.onnx_trees import read_trees
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.numerics import Floats

__all__ = ["OnnxFile", "columns", "predict", "raw_scores", "read_onnx"]


def columns(model: Any) -> Columns:
    """As many columns as the input has; ONNX tables know no names."""
    return Columns.numbers(graph_of(content_of(model)).width, None)


def read_onnx(model: Any, preprocessing: Preprocessing) -> Model:
    """The graph's own label rule and the trees or layers behind it."""
    if not preprocessing.untouched:
        refuse("steps or categories stand in front of it; give a table of numbers, and convert the whole pipeline")
    graph = graph_of(content_of(model))
    end = end_of(graph)
    source = f"onnx {'graph' if end.node is None else end.node.op_type}"
    if end.node is not None and end.node.op_type == "TreeEnsembleClassifier":
        assert end.labels is not None
        return read_trees(graph, end.node, end.labels, preprocessing, f"{source} (float32)")
    last: str | None
    if end.node is not None:
        chain, last = linear_classifier(graph, end.node), "LinearClassifier"
    else:
        chain, last = scores_of(graph, end)
    outputs = chain.width
    classes = tuple(range(max(outputs, 2))) if end.labels is None else end.labels
    if len(classes) != max(outputs, 2) or (last == "both" and outputs != 1):
        refuse(f"it has {outputs} scores and {len(classes)} labels")
    if end.gives_labels and outputs == 1 and last not in ("both", "LinearClassifier"):
        refuse("its label is the largest of one score, which is always the same")
    if outputs > 1 and last == "Sigmoid":
        refuse(
            "a Sigmoid over several scores reaches 1.0 for all large ones, where the largest is undecided; use Softmax"
        )
    if outputs == 1 and last in ("Softmax", "LogSoftmax"):
        refuse(f"{last} over one score is constant")
    error = chain.arithmetic.label_error * (1.0 + np.log(outputs)) if last else 0.0
    decision = Decision.POSITIVE if outputs == 1 else Decision.ARGMAX
    link = Link.NONE  # float32 probabilities are too coarse for a target on them
    if chain.arithmetic is not SINGLE and last in ("Sigmoid", "both", "Softmax", "LogSoftmax"):
        link = Link.LOGISTIC if outputs == 1 else Link.SOFTMAX
    info = ModelInfo(preprocessing.names, classes, decision, link, f"{source} ({chain.arithmetic.name})", error)
    return chain.model(info)


# ---- the original's own answers --------------------------------------------------------------------------------------
def _asked(model: Any, table: Any) -> npt.NDArray[Any]:
    """What onnxruntime gives for rows cast to the type of the graph's input: labels (rows, 1), or scores."""
    content = content_of(model)
    graph, session = graph_of(content), model if hasattr(model, "run") else session_of(content)
    output = end_of(graph).output
    with np.errstate(over="ignore"):
        rows = np.asarray(table, dtype=np.float64).astype(np.float32 if graph.kind == FLOAT else np.float64)
    size = graph.batch or max(len(rows), 1)
    parts = []
    for start in range(0, len(rows), size):
        batch = rows[start : start + size]
        filled = np.concatenate([batch, np.zeros((size - len(batch), graph.width), rows.dtype)])
        try:
            (answer,) = session.run([output], {graph.input: filled})
        except Exception as error:  # the library raises its own kinds
            raise InputError(f"onnxruntime refuses these rows ({type(error).__name__}: {str(error)[:200]})") from None
        parts.append(np.asarray(answer).reshape(len(filled), -1)[: len(batch)])
    return np.concatenate(parts) if parts else np.empty((0, 1))


def predict(model: Any, table: Any) -> npt.NDArray[Any]:
    """Labels by onnxruntime; of a graph without labels: the first largest output, or whether the only one is positive."""
    graph, found = graph_of(content_of(model)), _asked(model, table)
    end = end_of(graph)
    if end.gives_labels:
        return found[:, 0]
    if found.shape[1] > 1:
        return np.asarray(found.argmax(axis=1), dtype=np.int64)
    threshold = 0.5 if scores_of(graph, end)[1] == "Sigmoid" else 0.0
    return np.asarray(found[:, 0] > threshold, dtype=np.int64)


def raw_scores(model: Any, table: Any) -> Floats:
    """The results of a graph that gives scores; an empty table for one that gives labels or probabilities."""
    graph = graph_of(content_of(model))
    end = end_of(graph)
    if end.gives_labels or scores_of(graph, end)[1] is not None:
        return np.empty((0, 0))
    return np.asarray(_asked(model, table), dtype=np.float64)
