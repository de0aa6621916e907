"""An ONNX graph as plain Python: nodes by what they produce, constants as arrays, attributes with their types checked.

A file may come from anywhere. Everything that is looked up here is checked before it is used: names that nobody produces or
two nodes do, circles, constants of the wrong size, numbers that are none.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from elbowroom.errors import SolverMissing, UnsupportedModel
from elbowroom.numerics import Floats, Ints

MOST_COLUMNS: Final = 20_000
MOST_NUMBERS: Final = 2_000_000  # in one batch of a graph that takes a fixed number of rows
FLOAT, DOUBLE, INT32, INT64, STRING = 1, 11, 6, 7, 8  # element types of the format
_DOMAINS: Final = {"": "", "ai.onnx": "", "ai.onnx.ml": "ai.onnx.ml"}


def needs(package: str) -> Any:
    """An optional package, or an error that says how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise SolverMissing(f'ONNX files need the package {package}: pip install "elbowroom[onnx]"') from None


def refused(reason: str) -> UnsupportedModel:
    return UnsupportedModel(f"this ONNX graph is not read: {reason}")


def refuse(reason: str) -> NoReturn:
    raise refused(reason)


def shown(node: Any) -> str:
    """A node in messages."""
    name = f" {node.name[:60]!r}" if node.name else ""
    return f"{node.op_type[:60]}{name}"


@dataclass(frozen=True)
class Output:
    """One result of the graph. ``kind``: its element type; None for sequences and maps."""

    name: str
    kind: int | None


class Graph:
    """The graph of a model, checked as far as it is looked at."""

    def __init__(self, model: Any) -> None:
        self._helper = needs("onnx").numpy_helper
        graph = model.graph
        if len(model.functions) or len(graph.sparse_initializer) or len(model.training_info):
            refuse("it defines functions, sparse constants or training steps of its own; export it plainly")
        self._stored = {tensor.name: tensor for tensor in graph.initializer}
        self._constants: dict[str, npt.NDArray[Any]] = {}
        self._producer: dict[str, Any] = {}
        for node in graph.node:
            for name in node.output:
                if name and (name in self._producer or name in self._stored):
                    refuse(f"{name[:60]!r} is produced twice; the file is damaged")
                self._producer[name] = node
        self._opset = self._opsets(model)
        self.nodes = list(graph.node)
        self.input, self.batch, self.width, self.kind = self._only_input(graph)
        self.outputs = [Output(out.name, _element(out)) for out in graph.output]

    @staticmethod
    def _opsets(model: Any) -> dict[str, int]:
        found = {"": 1, "ai.onnx.ml": 1}
        for entry in model.opset_import:
            domain = _DOMAINS.get(entry.domain)
            if domain is not None:
                found[domain] = max(found[domain], int(entry.version))
        return found

    def _only_input(self, graph: Any) -> tuple[str, int | None, int, int]:
        inputs = [value for value in graph.input if value.name not in self._stored]
        if len(inputs) != 1:
            refuse(f"it has {len(inputs)} inputs; one table of numbers is needed")
        (only,) = inputs
        kind = _element(only)
        if kind not in (FLOAT, DOUBLE):
            refuse(f"its input {only.name[:60]!r} is no table of float32 or float64 numbers")
        if only.name in self._producer:
            refuse(f"its input {only.name[:60]!r} is produced by a node; the file is damaged")
        sizes = [
            int(d.dim_value) if d.WhichOneof("value") == "dim_value" else None for d in only.type.tensor_type.shape.dim
        ]
        if len(sizes) != 2 or sizes[1] is None or not 0 < sizes[1] <= MOST_COLUMNS:
            refuse(
                f"its input has the shape {sizes}; (rows, columns) with a known number of columns, at most {MOST_COLUMNS:,}, is needed"
            )
        batch = sizes[0] if sizes[0] is not None and sizes[0] > 0 else None
        if (batch or 1) * sizes[1] > MOST_NUMBERS:
            refuse(f"it takes {batch} rows at a time, which is too many; export it with a free number of rows")
        return only.name, batch, sizes[1], int(kind)

    def opset(self, domain: str = "") -> int:
        return self._opset[domain]

    def producer(self, name: str) -> Any:
        """The node that makes a value; None for the graph's own input."""
        if name == self.input:
            return None
        node = self._producer.get(name)
        if node is None:
            refuse(f"nothing produces {name[:60]!r}; the file is damaged")
        if _DOMAINS.get(node.domain) is None:
            refuse(f"{shown(node)} belongs to {node.domain[:60]!r}, not to ONNX")
        return node

    def known(self, node: Any, op: str, domain: str = "") -> bool:
        return bool(node is not None and node.op_type == op and _DOMAINS.get(node.domain) == domain)

    def constant(self, name: str) -> npt.NDArray[Any] | None:
        """The array of a constant, or None if the value is computed from the rows."""
        if name in self._constants:
            return self._constants[name]
        tensor = self._stored.get(name)
        if tensor is None:
            node = self._producer.get(name)
            if node is None or not self.known(node, "Constant"):
                return None
            tensor = next((a.t for a in node.attribute if a.name == "value" and a.type == 4), None)
            if tensor is None:
                refuse(f"the constant {name[:60]!r} is not a plain array")
        if tensor.data_location != 0 or len(tensor.external_data):
            refuse(f"the constant {name[:60]!r} is in another file; save the model as one file")
        try:
            array = np.asarray(self._helper.to_array(tensor))
        except Exception as error:  # the library raises many kinds
            refuse(f"the constant {name[:60]!r} is damaged ({type(error).__name__})")
        self._constants[name] = array
        return array

    def numbers(self, name: str, node: Any) -> Floats:
        """A constant as finite float64 numbers, of the graph's own type."""
        array = self.constant(name)
        if array is None:
            refuse(f"{shown(node)} combines two values that both depend on the row; only chains are read")
        if array.dtype not in (np.float32, np.float64):
            refuse(f"{shown(node)} uses {array.dtype} numbers; float32 and float64 are read")
        found = np.asarray(array, dtype=np.float64)
        if not np.isfinite(found).all():
            refuse(f"{shown(node)} has a parameter that is {found[~np.isfinite(found)][0]}")
        return found

    # ---- attributes ------------------------------------------------------------------------------------------------------
    def _attribute(self, node: Any, name: str, kind: int, what: str) -> Any:
        found = [a for a in node.attribute if a.name == name]
        if not found:
            return None
        if len(found) > 1 or found[0].type != kind or found[0].ref_attr_name:
            refuse(f"{shown(node)}: its attribute {name} is no {what}")
        return found[0]

    def number(self, node: Any, name: str, default: float) -> float:
        found = self._attribute(node, name, 1, "number")
        value = default if found is None else float(found.f)
        if not np.isfinite(value):
            refuse(f"{shown(node)}: its attribute {name} is {value}")
        return value

    def whole(self, node: Any, name: str, default: int) -> int:
        found = self._attribute(node, name, 2, "whole number")
        return default if found is None else int(found.i)

    def text(self, node: Any, name: str, default: str) -> str:
        found = self._attribute(node, name, 3, "text")
        return default if found is None else bytes(found.s).decode("utf-8", "replace")

    def floats(self, node: Any, name: str) -> Floats:
        found = self._attribute(node, name, 6, "list of numbers")
        array = np.array([] if found is None else found.floats, dtype=np.float64)
        if not np.isfinite(array).all():
            refuse(f"{shown(node)}: its attribute {name} holds {array[~np.isfinite(array)][0]}")
        return array

    def wholes(self, node: Any, name: str) -> Ints:
        found = self._attribute(node, name, 7, "list of whole numbers")
        return np.array([] if found is None else found.ints, dtype=np.int64)

    def texts(self, node: Any, name: str) -> list[str]:
        found = self._attribute(node, name, 8, "list of texts")
        try:
            return [] if found is None else [bytes(text).decode("utf-8") for text in found.strings]
        except UnicodeDecodeError:
            refuse(f"{shown(node)}: its attribute {name} holds text that is no UTF-8")

    def refuse_attributes(self, node: Any, *known: str) -> None:
        """Everything that could change the result must have been looked at."""
        odd = [a.name for a in node.attribute if a.name not in known]
        if odd:
            refuse(f"{shown(node)} has the attribute {odd[0][:60]!r}, which is not known")


def _element(value: Any) -> int | None:
    return int(value.type.tensor_type.elem_type) if value.type.WhichOneof("value") == "tensor_type" else None
