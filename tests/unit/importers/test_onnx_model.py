"""ONNX models against onnxruntime: exports of scikit-learn, graphs by hand, and what is refused."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

from elbowroom.errors import ElbowroomError, InputError, SolverMissing, UnsupportedModel  # noqa: E402
from elbowroom.importers import onnx_graph, open_model, replay  # noqa: E402
from elbowroom.importers import onnx_model as reader  # noqa: E402
from elbowroom.importers.onnx_file import OnnxFile  # noqa: E402
from elbowroom.importers.replay_errors import network_error  # noqa: E402
from elbowroom.models import LinearModel, ReluNetwork, TreeEnsemble  # noqa: E402
from tests.support.onnx_models import (  # noqa: E402
    DOUBLE,
    FLOAT,
    INT64,
    SKLEARN,
    exported,
    graph,
    layered,
    node,
    onnx,
    stump,
    value,
)  # fmt: skip


@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
@pytest.mark.parametrize("kind", SKLEARN)
def test_exports_of_scikit_learn_are_replayed(kind: str, words: bool) -> None:
    model, original, X = exported(kind, words)
    opened = open_model(model, replay=False, data=X)
    assert replay(opened.model, opened.original, data=X, limit=4000).points >= 800
    assert list(opened.model.info.classes) == original.classes_.tolist()
    rows = X.astype(np.float32).astype(np.float64)
    assert (
        opened.predict(rows) == original.predict(rows)
    ).mean() > 0.99  # the file is the model: thresholds are rounded
    expected = TreeEnsemble if any(w in kind for w in ("tree", "forest", "boosting")) else (
        ReluNetwork if "network" in kind else LinearModel
    )  # fmt: skip
    assert isinstance(opened.model, expected)


def test_files_sessions_and_protos_are_one_model(tmp_path: Path) -> None:
    model, _, X = exported("network")
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    from_path = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    marks = {open_model(m, replay=False).model.fingerprint for m in (model, OnnxFile(path), session, from_path)}
    assert len(marks) == 1
    for other in (OnnxFile(path), session):
        assert (open_model(other, replay=False).predict(X) == open_model(model, replay=False).predict(X)).all()


@pytest.mark.parametrize("kind", [FLOAT, DOUBLE], ids=["float32", "float64"])
@pytest.mark.parametrize("gemm", [{}, {"alpha": 0.3, "beta": -2.0}, {"transB": 1, "alpha": 7.0}], ids=str)
@pytest.mark.parametrize("batch", [None, 1, 16])
def test_scores_of_graphs_stay_within_the_declared_error(kind: int, gemm: dict[str, Any], batch: int | None) -> None:
    model = layered(kind, batch, **gemm)
    opened = open_model(model, replay=False)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 3)) * 10.0 ** rng.uniform(-2, 3, (700, 1))
    value, error = network_error(opened.model.layers, X)  # type: ignore[union-attr]
    theirs = reader.raw_scores(model, X)
    assert theirs.shape == value.shape and (np.abs(theirs - value) <= error).all()
    assert error.max() < np.abs(value).max() * (1e-3 if kind == FLOAT else 1e-12)
    assert replay(opened.model, opened.original, limit=1000).points > 200


@pytest.mark.parametrize("end", ["Softmax", "LogSoftmax", "Sigmoid", "ArgMax", "both"])
def test_ends_of_graphs(end: str) -> None:
    outputs = 1 if end in ("Sigmoid", "both") else 3
    numbers = {
        "w": np.random.default_rng(0).normal(size=(3, outputs)).astype(np.float32),
        "one": np.float32(1.0) * np.ones(1, np.float32),
    }
    nodes = [node("MatMul", ["x", "w"], ["z"])]
    result = value("y", FLOAT, [None, None])
    if end == "ArgMax":
        nodes.append(node("ArgMax", ["z"], ["y"], axis=1, keepdims=0))
        result = value("y", INT64, [None])
    elif end == "both":
        nodes += [
            node("Sigmoid", ["z"], ["p"]),
            node("Sub", ["one", "p"], ["q"]),
            node("Concat", ["q", "p"], ["y"], axis=1),
        ]
    else:
        nodes.append(node(end, ["z"], ["y"]))
    opened = open_model(graph(nodes, numbers, [result]))
    assert opened.report is not None and opened.report.points > 1000
    assert (opened.model.info.evaluation_error > 0.0) == (end != "ArgMax")


@pytest.mark.parametrize("free", [False, True], ids=["two rows at a time", "any number of rows"])
@pytest.mark.parametrize("kind", ["10-50-2", "batch norm, leaky", "ends in a relu", "custom", "two linear layers"])
def test_exports_of_torch_are_the_same_network(kind: str, free: bool) -> None:
    torch = pytest.importorskip("torch")
    from tests.support.torch_networks import made

    module = made(kind)
    ours = open_model(module, replay=False)
    content = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter that needs no further package is on its way out
        try:
            torch.onnx.export(
                module, torch.zeros(2, ours.model.info.n_features), content, dynamo=False, input_names=["x"],
                dynamic_axes={"x": {0: "rows"}} if free else None,
            )  # fmt: skip
        except (ImportError, TypeError, torch.onnx.errors.OnnxExporterError) as error:
            pytest.skip(f"torch cannot export here: {error}")
    opened = open_model(OnnxFile.of(content.getvalue()), replay=False)
    assert replay(opened.model, opened.original, limit=1500).points > 300
    X = np.random.default_rng(0).normal(size=(300, ours.model.info.n_features))
    np.testing.assert_allclose(opened.model.scores(X), ours.model.scores(X), rtol=1e-4, atol=1e-5)
    assert (opened.predict(X) == ours.predict(X)).mean() > 0.99


# ---- trees -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE"])
@pytest.mark.parametrize("tracks_true", [0, 1])
@pytest.mark.parametrize(
    ("weights", "labels", "base"),
    [
        ([(1, 0, 0.2), (2, 0, 0.7)], [0, 1], None),  # all positive: above one half
        ([(1, 0, -0.2), (2, 0, 0.2)], [5, 9], None),  # above 0
        ([(1, 0, -0.2), (2, 0, 0.2)], [5, 9], [0.1]),
        ([(1, 1, -0.2), (2, 1, 0.2)], [5, 9], None),
        ([(1, 0, 1.0), (1, 1, 0.2), (2, 2, 1.0)], [3, 4, 5], None),
        ([(1, 0, -1.0), (1, 1, -2.0), (2, 2, 1.0)], [3, 4, 5], [0.5, 0.0, -0.1]),
    ],
)
def test_stumps_are_read_as_the_runtime_computes_them(
    mode: str, tracks_true: int, weights: Any, labels: Any, base: Any
) -> None:
    model = stump(weights, labels, mode, base, tracks_true)
    opened = open_model(model)
    single = np.float32(0.5)
    edges = [0.5, np.nextafter(0.5, 1), np.nextafter(0.5, 0), float(np.nextafter(single, np.float32(1))),
             float(np.nextafter(single, np.float32(0))), -1.0, 2.0, 0.0, 1e38, -1e38]  # fmt: skip
    X = np.column_stack([edges, np.zeros(len(edges))])
    ours = np.array(labels)[opened.model.info.labels_of(opened.model.scores(X))]
    assert ours.tolist() == opened.predict(X).tolist()
    missing = np.array([[np.nan, 0.0]])
    assert np.array(labels)[opened.model.info.labels_of(opened.model.scores(missing))] == opened.predict(missing)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda: stump([(1, 0, 0.7), (1, 1, 0.3), (2, 1, 1.0)], [0, 1]), "scores for both"),
        (lambda: stump([(1, 1, -0.2), (2, 1, 0.2)], [0, 1], base=[0.1]), "scores for both"),
        (lambda: stump([(1, 0, -1.0), (2, 2, -1.0)], [0, 1, 2]), "mention every class"),
        (lambda: stump([(1, 0, 0.2), (2, 0, 0.7)], [0, 1], mode="BRANCH_EQ"), "BRANCH_EQ"),
        (lambda: stump([(1, 0, 0.2), (0, 0, 0.7)], [0, 1]), "inside a tree"),
        (lambda: stump([(1, 0, 0.2), (7, 0, 0.7)], [0, 1]), "do not exist"),
        (lambda: stump([(1, 0, 0.2), (2, 5, 0.7)], [0, 1]), "leaves of class"),
        (lambda: stump([(1, 0, 0.2), (1, 0, 0.7)], [0, 1]), "two weights"),
        (lambda: stump([(1, 0, float("nan")), (2, 0, 0.7)], [0, 1]), "nan"),
        (lambda: stump([(1, 0, 0.2), (2, 0, 0.7)], [1, 1]), "twice"),
        (lambda: stump([(1, 0, 0.2), (2, 0, 0.7)], [0, 1], nodes_truenodeids=[0, 0, 0]), "do not form a tree"),
        (lambda: stump([(1, 0, 0.2), (2, 0, 0.7)], [0, 1], nodes_truenodeids=[9, 0, 0]), "do not form a tree"),
        (lambda: stump([(1, 0, 0.2), (2, 0, 0.7)], [0, 1], nodes_falsenodeids=[1, 0, 0]), "do not form a tree"),
        (lambda: stump([(1, 0, 0.2), (2, 0, 0.7)], [0, 1], nodes_featureids=[8, 0, 0]), "do not have"),
        (lambda: stump([(1, 0, 0.2), (2, 0, 0.7)], [0, 1], nodes_values=[0.5]), "lengths"),
        (lambda: stump([(1, 0, 0.2), (2, 0, 0.7)], [0, 1], surprise=3), "surprise"),
    ],
)
def test_trees_that_the_runtime_decides_otherwise_or_that_are_damaged_are_refused(model: Any, words: str) -> None:
    with pytest.raises(UnsupportedModel, match=words):
        open_model(model())


# ---- refusals --------------------------------------------------------------------------------------------------------
W = {"w": np.ones((3, 2), np.float32)}
Y = [value("y", FLOAT, [None, 2])]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda: graph([node("Tanh", ["x"], ["y"])], {}, [value("y", FLOAT, [None, 3])]), "Tanh"),
        (lambda: graph([node("MatMul", ["x", "w"], ["a"]), node("Add", ["a", "a"], ["y"])], W, Y), "only chains"),
        (lambda: graph([node("MatMul", ["x", "x"], ["y"])], {}, Y), "only chains"),
        (lambda: graph([node("MatMul", ["x", "w"], ["a"]), node("Sigmoid", ["a"], ["y"])], W, Y), "Sigmoid over several"),
        (lambda: graph([node("Normalizer", ["x"], ["a"]), node("MatMul", ["a", "w"], ["y"])], W, Y), "Normalizer"),
        (lambda: graph([node("MatMul", ["x", "v"], ["y"])], {"v": np.ones((4, 2), np.float32)}, Y), "do not fit"),
        (lambda: graph([node("MatMul", ["x", "w"], ["y"])], {"w": np.full((3, 2), np.inf, np.float32)}, Y), "inf"),
        (lambda: graph([node("MatMul", ["x", "w"], ["y"])], {"w": np.ones((3, 2), np.int64)}, Y), "int64"),
        (lambda: graph([node("MatMul", ["x", "w"], ["a"]), node("Cast", ["a"], ["y"], to=DOUBLE)], W, Y), "another type"),
        (lambda: graph([node("MatMul", ["y", "w"], ["y"])], W, Y), "circle"),
        (lambda: graph([node("MatMul", ["gone", "w"], ["y"])], W, Y), "nothing produces"),
        (lambda: graph([node("Gemm", ["x", "w"], ["y"], transA=1)], W, Y), "transposes"),
        (lambda: graph([node("Softmax", ["x"], ["y"], axis=0)], {}, Y), "over the rows"),
        (lambda: graph([node("Relu", ["x"], ["y"])], {}, [*Y, value("x2", FLOAT, [None])]), "2 tables"),
        (lambda: graph([node("Relu", ["x"], ["y"])], {}, Y, width=0), "shape"),
        (lambda: graph([node("Relu", ["x"], ["y"])], {}, Y, kind=INT64), "float32 or float64"),
        (lambda: graph([node("ArgMax", ["x"], ["y"], axis=0)], {}, [value("y", INT64, [None])]), "first largest"),
        (lambda: graph([node("Flatten", ["x"], ["a"], axis=0), node("MatMul", ["a", "w"], ["y"])], W, Y), "mixes rows"),
        (lambda: onnx.helper.make_model(graph([], {}, Y).graph, functions=[onnx.FunctionProto(name="f", domain="d")]), "functions"),
    ],
)  # fmt: skip
def test_graphs_that_are_no_chain_are_refused_by_name(model: Any, words: str) -> None:
    with pytest.raises(UnsupportedModel, match=words):
        open_model(model())


def test_what_is_no_model_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "text.onnx"
    path.write_text("this is no model, but text")
    with pytest.raises(ElbowroomError):
        open_model(OnnxFile(path))
    with pytest.raises(InputError):
        OnnxFile(tmp_path / "missing.onnx")


def test_a_constant_in_another_file_is_refused() -> None:
    model = onnx.ModelProto()
    model.CopyFrom(layered())
    tensor = model.graph.initializer[0]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"
    with pytest.raises(UnsupportedModel, match="another file"):
        open_model(model)


def test_a_session_elsewhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    session = runtime.InferenceSession(layered().SerializeToString(), providers=["CPUExecutionProvider"])
    monkeypatch.setattr(type(session), "get_providers", lambda self: ["CUDAExecutionProvider", "CPUExecutionProvider"])
    with pytest.raises(UnsupportedModel, match="CUDA"):
        open_model(session)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(onnx_graph.importlib, "import_module", absent)
    with pytest.raises(SolverMissing, match=r"elbowroom\[onnx\]"):
        onnx_graph.needs("onnxruntime")
