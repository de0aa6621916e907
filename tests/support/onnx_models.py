"""Small ONNX models: exports of scikit-learn, and graphs made by hand."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.support.importer_cases import fitted, table

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
FLOAT, DOUBLE, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64
WORDS = np.array(["approved", "refused", "undecided"])

SKLEARN: dict[str, tuple[str, Any]] = {
    "forest": ("cancer", lambda: RandomForestClassifier(15, max_depth=5, random_state=0)),
    "forest, 3 classes": ("iris", lambda: RandomForestClassifier(15, max_depth=4, random_state=0)),
    "extra trees that tie": ("iris", lambda: ExtraTreesClassifier(20, random_state=0)),
    "tree": ("iris", lambda: DecisionTreeClassifier(random_state=0)),
    "boosting": ("cancer", lambda: GradientBoostingClassifier(n_estimators=12, random_state=0)),
    "boosting, 3 classes": ("iris", lambda: GradientBoostingClassifier(n_estimators=8, random_state=0)),
    "logistic": ("cancer", lambda: make_pipeline(StandardScaler(), LogisticRegression())),
    "logistic, 3 classes": ("iris", lambda: make_pipeline(MinMaxScaler(), LogisticRegression())),
    "ridge": ("iris", lambda: RidgeClassifier()),
    "network": ("cancer", lambda: make_pipeline(StandardScaler(), MLPClassifier((12, 7), max_iter=60, random_state=0))),
    "network, 3 classes": ("iris", lambda: MLPClassifier((9,), max_iter=80, random_state=0)),
}


@cache
def exported(kind: str, words: bool = False) -> tuple[Any, Any, np.ndarray]:
    """The ONNX model, the fitted estimator and its rows."""
    convert = pytest.importorskip("skl2onnx")
    data, make = SKLEARN[kind]
    frame, y = table(data)
    X = frame.to_numpy()
    model = fitted(make(), X, WORDS[y] if words else y)
    return convert.to_onnx(model, X[:1].astype(np.float32)), model, X


def value(name: str, kind: int, shape: list[Any]) -> Any:
    return onnx.helper.make_tensor_value_info(name, kind, shape)


def constant(name: str, array: np.ndarray) -> Any:
    return onnx.numpy_helper.from_array(array, name)


def graph(
    nodes: list[Any], constants: dict[str, np.ndarray], outputs: list[Any], width: int = 3, kind: int = FLOAT,
    batch: int | None = None, opset: int = 17,
) -> Any:  # fmt: skip
    """A model of these nodes over the input "x"."""
    made = onnx.helper.make_graph(
        nodes, "g", [value("x", kind, [batch, width])], outputs, [constant(n, a) for n, a in constants.items()]
    )
    opsets = [onnx.helper.make_opsetid("", opset), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    return onnx.helper.make_model(made, opset_imports=opsets, ir_version=8)


def node(op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
    ml = op in ("TreeEnsembleClassifier", "LinearClassifier", "Scaler", "Normalizer", "ArrayFeatureExtractor", "ZipMap")
    return onnx.helper.make_node(op, inputs, outputs, domain="ai.onnx.ml" if ml else "", **attributes)


def layered(kind: int = FLOAT, batch: int | None = None, width: int = 3, **gemm: Any) -> Any:
    """Gemm with attributes, LeakyRelu, BatchNormalization, Dropout, PRelu, MatMul, Add, Sub, Mul, Div."""
    rng = np.random.default_rng(0)
    dtype = np.float32 if kind == FLOAT else np.float64
    numbers = {
        "w": rng.normal(size=(5, width) if gemm.get("transB") else (width, 5)), "b": rng.normal(size=5),
        "scale": rng.normal(size=5), "shift": rng.normal(size=5), "mean": rng.normal(size=5),
        "var": rng.uniform(0.1, 2, 5), "v": rng.normal(size=(5, 4)), "c": rng.normal(size=(1, 4)), "d": rng.normal(size=4),
        "slope": rng.uniform(0, 0.5, 4), "last": rng.normal(size=(4, 2)), "two": np.array(2.0), "six": np.array([6.0]),
    }  # fmt: skip
    nodes = [
        node("Gemm", ["x", "w", "b"], ["a0"], **gemm),
        node("LeakyRelu", ["a0"], ["a1"], alpha=0.2),
        node("BatchNormalization", ["a1", "scale", "shift", "mean", "var"], ["a2"], epsilon=1e-3),
        node("Dropout", ["a2"], ["a3"]),
        node("MatMul", ["a3", "v"], ["a4"]),
        node("Add", ["c", "a4"], ["a5"]),
        node("PRelu", ["a5", "slope"], ["a6"]),
        node("Sub", ["d", "a6"], ["a7"]),
        node("Mul", ["a7", "two"], ["a8"]),
        node("Relu", ["a8"], ["a9"]),
        node("Div", ["a9", "six"], ["a10"]),
        node("Flatten", ["a10"], ["a11"]),
        node("MatMul", ["a11", "last"], ["y"]),
    ]
    constants = {name: array.astype(dtype) for name, array in numbers.items()}
    return graph(nodes, constants, [value("y", kind, [None, 2])], width, kind, batch)


def stump(
    weights: list[tuple[int, int, float]], labels: list[int], mode: str = "BRANCH_LEQ", base: list[float] | None = None,
    tracks_true: int = 0, **more: Any,
) -> Any:  # fmt: skip
    """x0 against 0.5; weights are (leaf 1 or 2, class id, weight)."""
    attributes = {
        "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0], "nodes_modes": [mode, "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0], "nodes_missing_value_tracks_true": [tracks_true, 0, 0],
        "class_treeids": [0] * len(weights), "class_nodeids": [leaf for leaf, _, _ in weights],
        "class_ids": [k for _, k, _ in weights], "class_weights": [w for _, _, w in weights],
        "classlabels_int64s": labels, "post_transform": "NONE", **({"base_values": base} if base else {}), **more,
    }  # fmt: skip
    made = node("TreeEnsembleClassifier", ["x"], ["label", "p"], **attributes)
    return graph([made], {}, [value("label", INT64, [None]), value("p", FLOAT, [None, len(labels)])], width=2)
