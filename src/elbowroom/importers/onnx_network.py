"""ONNX graphs that are a chain of layers: Gemm, MatMul, scales, Relu, LeakyRelu, BatchNormalization; LinearClassifier.

The chain is walked from the scores back to the rows, then added up in the arithmetic of the graph's numbers.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from elbowroom.importers.arithmetic import DOUBLE, SINGLE, Chain
from elbowroom.importers.network_outputs import batch_norm
from elbowroom.importers.onnx_graph import DOUBLE as DOUBLE_TYPE
from elbowroom.importers.onnx_graph import FLOAT, Graph, refuse, shown
from elbowroom.numerics import Floats

_ML: Final = "ai.onnx.ml"
_MOST_NODES: Final = 10_000
_HANDED_ON: Final = ("Identity", "Dropout", "Flatten", "Reshape", "Cast")


def chain_to(graph: Graph, scores: str) -> Chain:
    """All layers between the rows and the scores."""
    nodes: list[Any] = []
    name, inputs = scores, []
    while (node := graph.producer(name)) is not None:
        if len(nodes) > _MOST_NODES:
            refuse("its nodes form a circle, or there are too many of them")
        moving = _moving(graph, node)
        nodes.append(node)
        inputs.append(moving)
        name = moving
    chain = Chain(graph.width, SINGLE if _is_single(graph, nodes) else DOUBLE)
    chain.cast()
    for node, moving in zip(reversed(nodes), reversed(inputs), strict=True):
        _add(graph, chain, node, moving)
    return chain


def _moving(graph: Graph, node: Any) -> str:
    """The one input of a node that depends on the row."""
    found = [name for name in node.input if name and graph.constant(name) is None]
    if len(found) != 1:
        refuse(f"{shown(node)} has {len(found)} inputs that depend on the row; only chains of layers are read")
    return str(found[0])


def _is_single(graph: Graph, nodes: list[Any]) -> bool:
    """True for float32. A graph of doubles may begin by casting its rows to float32, nothing else changes the type."""
    casts = [graph.whole(node, "to", 0) for node in nodes if graph.known(node, "Cast")]
    first = graph.whole(nodes[-1], "to", 0) if nodes and graph.known(nodes[-1], "Cast") else graph.kind
    if first not in (FLOAT, DOUBLE_TYPE) or any(to != first for to in casts) or (first != graph.kind == FLOAT):
        refuse("it casts numbers to another type on the way")
    return first == FLOAT


def _add(graph: Graph, chain: Chain, node: Any, moving: str) -> None:
    if node.domain == _ML and node.op_type != "Scaler":
        refuse(f"{shown(node)} is not known; trees and other models of ai.onnx.ml are read at the end of a graph only")
    match node.op_type:
        case "Scaler":
            _scaler(graph, chain, node)
        case "Gemm":
            _gemm(graph, chain, node, moving)
        case "MatMul":
            graph.refuse_attributes(node)
            chain.linear(_matrix(graph, node, moving).T)
        case "Add" | "Sub" | "Mul" | "Div":
            _combine(graph, chain, node, moving)
        case "Relu":
            graph.refuse_attributes(node)
            chain.relu()
        case "LeakyRelu":
            graph.refuse_attributes(node, "alpha")
            chain.leaky(np.full(chain.width, graph.number(node, "alpha", 0.01)))
        case "PRelu":
            chain.leaky(_vector(graph, chain, node, str(node.input[1])))
        case "BatchNormalization":
            _batch_normalization(graph, chain, node, moving)
        case kind if kind in _HANDED_ON:
            _handed_on(graph, chain, node, moving)
        case _:
            refuse(
                f"{shown(node)} is not known; known are Gemm, MatMul, Add, Sub, Mul, Div with constants, Relu, LeakyRelu, PRelu, "
                "BatchNormalization, Dropout, Flatten, Identity, Cast, Scaler, and Sigmoid, Softmax, ArgMax at the end"
            )


def _matrix(graph: Graph, node: Any, moving: str) -> Floats:
    if len(node.input) < 2 or node.input[0] != moving or graph.constant(node.input[1]) is None:
        refuse(f"{shown(node)} does not multiply the rows by a constant matrix from the right")
    found = graph.numbers(node.input[1], node)
    if found.ndim != 2:
        refuse(f"{shown(node)} multiplies by an array of shape {found.shape}; a matrix is needed")
    return found


def _gemm(graph: Graph, chain: Chain, node: Any, moving: str) -> None:
    """alpha v B + beta C."""
    graph.refuse_attributes(node, "alpha", "beta", "transA", "transB", "broadcast")
    alpha, beta = graph.number(node, "alpha", 1.0), graph.number(node, "beta", 1.0)
    if graph.whole(node, "transA", 0) != 0:
        refuse(f"{shown(node)} transposes the rows")
    matrix = _matrix(graph, node, moving)
    chain.linear(matrix if graph.whole(node, "transB", 0) else matrix.T)
    bias = (
        _vector(graph, chain, node, node.input[2]) if len(node.input) > 2 and node.input[2] else np.zeros(chain.width)
    )
    chain.scale(np.full(chain.width, alpha), beta * bias, np.abs(beta * bias), 4)


def _vector(graph: Graph, chain: Chain, node: Any, name: str) -> Floats:
    """A constant that is the same for all rows: one number, or one per column."""
    found = graph.numbers(name, node)
    if (
        found.ndim > 2
        or (found.ndim == 2 and found.shape[0] != 1)
        or found.shape[-1:] not in ((), (1,), (chain.width,))
    ):
        refuse(f"{shown(node)} has a constant of shape {found.shape} for {chain.width} columns")
    return np.array(np.broadcast_to(found.reshape(-1) if found.ndim else found, (chain.width,)))


def _combine(graph: Graph, chain: Chain, node: Any, moving: str) -> None:
    """v + c, v - c, c - v, v c or v / c with a constant c."""
    graph.refuse_attributes(node)
    if len(node.input) != 2:
        refuse(f"{shown(node)} has {len(node.input)} inputs")
    first = node.input[0] == moving
    constant = _vector(graph, chain, node, node.input[1 if first else 0])
    one, zero = np.ones(chain.width), np.zeros(chain.width)
    match node.op_type:
        case "Add":
            factor, offset = one, constant
        case "Sub":
            factor, offset = (one, -constant) if first else (-one, constant)
        case "Mul":
            factor, offset = constant, zero
        case _:
            if not first or (np.abs(constant) < 1e-30).any():
                refuse(f"{shown(node)} divides by the row, or by a number that is almost 0")
            factor, offset = 1.0 / constant, zero
    chain.scale(factor, offset, np.abs(offset), 2)


def _scaler(graph: Graph, chain: Chain, node: Any) -> None:
    """(v - offset) scale."""
    if node.domain != _ML:
        refuse(f"{shown(node)} is not known")
    if chain.arithmetic is not SINGLE:
        refuse(f"{shown(node)} gives float32 numbers in a graph of doubles")
    graph.refuse_attributes(node, "offset", "scale")
    offset, scale = graph.floats(node, "offset"), graph.floats(node, "scale")
    if not all(part.size in (1, chain.width) for part in (offset, scale)):
        refuse(f"{shown(node)} has {offset.size} offsets and {scale.size} scales for {chain.width} columns")
    scale, offset = np.broadcast_to(scale, (chain.width,)).copy(), np.broadcast_to(offset, (chain.width,)).copy()
    chain.scale(scale, -offset * scale, np.abs(offset * scale), 4)


def _batch_normalization(graph: Graph, chain: Chain, node: Any, moving: str) -> None:
    graph.refuse_attributes(node, "epsilon", "momentum", "training_mode", "spatial", "is_test", "consumed_inputs")
    if (
        graph.whole(node, "training_mode", 0)
        or len(node.input) != 5
        or node.input[0] != moving
        or len(node.output) != 1
    ):
        refuse(f"{shown(node)} is in training mode, or incomplete")
    weight, bias, mean, variance = (_vector(graph, chain, node, name) for name in node.input[1:])
    if any(graph.numbers(name, node).shape != (chain.width,) for name in node.input[1:]):
        refuse(f"{shown(node)} has statistics for another number of columns")
    batch_norm(chain, shown(node), mean, variance, graph.number(node, "epsilon", 1e-5), weight, bias)


def _handed_on(graph: Graph, chain: Chain, node: Any, moving: str) -> None:
    """Steps that change nothing for a table of rows."""
    if not node.input or node.input[0] != moving:
        refuse(f"{shown(node)} is incomplete")
    match node.op_type:
        case "Dropout":
            training = graph.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else None
            if training is not None and np.asarray(training).any():
                refuse(f"{shown(node)} is in training mode: it is random at every call")
        case "Flatten":
            if graph.whole(node, "axis", 1) != 1:
                refuse(f"{shown(node)} mixes rows")
        case "Reshape":
            shape = graph.constant(node.input[1]) if len(node.input) > 1 else None
            kept = shape is not None and shape.shape == (2,) and graph.whole(node, "allowzero", 0) == 0
            if (
                shape is None
                or not kept
                or tuple(map(int, shape)) not in ((-1, chain.width), (0, -1), (0, chain.width))
            ):
                refuse(f"{shown(node)} gives the rows another shape")


def linear_classifier(graph: Graph, node: Any) -> Chain:
    """The scores of a LinearClassifier, one row of coefficients per score."""
    if graph.kind != FLOAT:
        refuse(f"{shown(node)} over float64 rows; float32 is read")
    chain = chain_to(graph, str(node.input[0]))
    weight, bias = graph.floats(node, "coefficients"), graph.floats(node, "intercepts")
    rows = weight.size // max(chain.width, 1)
    if rows < 1 or weight.size != rows * chain.width or bias.size not in (0, rows):
        refuse(f"{shown(node)} has {weight.size} coefficients and {bias.size} intercepts for {chain.width} columns")
    chain.linear(weight.reshape(rows, chain.width), bias if bias.size else np.zeros(rows))
    return chain
