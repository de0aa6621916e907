"""torch modules and ONNX models. The judge of a torch module is its own call on float32 rows, in batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.models.case import Case, Family, Given
from benchmarks.models.plain import forest, logistic, scaled
from benchmarks.models.tables import Table, bundled, loans


def cases() -> list[Case]:
    return [*_torch(), *_onnx()]


def _standard(table: Table) -> Table:
    X = table.X.astype(float)
    return Table((X - X.mean()) / X.std(), table.y, table.wanted)


def _trained(net: Any, table: Table, rounds: int = 120) -> Any:
    """A few rounds of Adam on the whole table; the module is left in evaluation mode."""
    import torch

    kind = next(net.parameters()).dtype
    X = torch.tensor(table.X.to_numpy(), dtype=kind)
    y = torch.tensor(table.y)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.02)
    for _ in range(rounds):
        optimiser.zero_grad()
        out = net(X)
        if out.shape[-1] == 1:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(out[:, 0], y.to(kind))
        else:
            loss = torch.nn.functional.cross_entropy(out, y)
        loss.backward()
        optimiser.step()
    return net.eval()


def _judge(net: Any) -> Any:
    import torch

    def labels(rows: Any) -> np.ndarray:
        with torch.no_grad():
            out = net(torch.tensor(np.asarray(rows, dtype=float), dtype=next(net.parameters()).dtype)).numpy()
        return (out[:, 0] > 0).astype(int) if out.shape[1] == 1 else out.argmax(axis=1)

    return labels


def _net(*makers: Any, table: Table | None = None, double: bool = False, **given: Any) -> Given:
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = _standard(table or loans())
    width = data.X.shape[1]
    net = torch.nn.Sequential(*(make(torch.nn, width) for make in makers))
    net = _trained(net.double() if double else net, data)
    return Given(net, data.X, judge=_judge(net), **given)


def _linear(inputs: int | None, outputs: int) -> Any:
    return lambda nn, width: nn.Linear(inputs or width, outputs)


def _layer(name: str, *arguments: Any) -> Any:
    return lambda nn, width: getattr(nn, name)(*arguments)


def _torch() -> list[Case]:
    family = Family("torch", ("torch",))
    relu = _layer("ReLU")
    wine = {"table": bundled("wine"), "target": 1}
    mode = ("train", "eval()")
    return [
        family("Sequential, one output", lambda: _net(_linear(None, 16), relu, _linear(16, 1))),
        family("Sequential, two outputs", lambda: _net(_linear(None, 16), relu, _linear(16, 2))),
        family("Sequential, two hidden layers", lambda: _net(_linear(None, 16), relu, _linear(16, 8), relu, _linear(8, 1))),
        family("Sequential, 3 classes", lambda: _net(_linear(None, 16), relu, _linear(16, 3), **wine)),
        family("BatchNorm and Dropout", lambda: _net(
            _linear(None, 16), _layer("BatchNorm1d", 16), relu, _layer("Dropout", 0.2), _linear(16, 1))),
        family("LeakyReLU", lambda: _net(_linear(None, 16), _layer("LeakyReLU", 0.1), _linear(16, 1))),
        family("double precision", lambda: _net(_linear(None, 16), relu, _linear(16, 1), double=True)),
        family("linear layer only", lambda: _net(_linear(None, 1))),
        family("a Module of one's own", _module),
        family("Flatten", lambda: _net(_layer("Flatten"), _linear(None, 12), relu, _linear(12, 1))),
        family.refuses("Tanh", lambda: _net(_linear(None, 16), _layer("Tanh"), _linear(16, 1)), "Tanh", "ReLU"),
        family.refuses("training mode", _training, *mode),
    ]  # fmt: skip


def _training() -> Given:
    given = _net(_linear(None, 8), _layer("Dropout", 0.5), _layer("ReLU"), _linear(8, 1))
    given.model.train()
    return given


def _module() -> Given:
    import torch

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 2))

        def forward(self, x: Any) -> Any:
            return self.layers(x)

    torch.manual_seed(0)
    data = _standard(loans())
    net = _trained(Net(), data)
    return Given(net, data.X, judge=_judge(net))


def _session(proto: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _runs(session: Any, logits: bool = False) -> Any:
    name = session.get_inputs()[0].name

    def labels(rows: Any) -> np.ndarray:
        told = session.run(None, {name: np.asarray(rows, dtype=np.float32)})[0]
        return (told[:, 0] > 0).astype(int) if logits else told

    return labels


def _converted(model: Any, hand: str = "proto", table: Table | None = None, **given: Any) -> Given:
    from skl2onnx import to_onnx

    data = table or loans()
    X = data.X.to_numpy(dtype=np.float32)
    proto = to_onnx(model.fit(X, data.y), X[:1], options={"zipmap": False})
    session = _session(proto)
    return Given(session if hand == "session" else proto, data.X.astype(float), judge=_runs(session), **given)


def _graph() -> Given:
    """Gemm, Relu, Gemm: as exporters of networks write it."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from sklearn.neural_network import MLPClassifier

    data = _standard(loans())
    net = MLPClassifier((12,), random_state=0, max_iter=100).fit(data.X.to_numpy(), data.y)
    arrays = {"W0": net.coefs_[0], "b0": net.intercepts_[0], "W1": net.coefs_[1], "b1": net.intercepts_[1]}
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", ["x", "W0", "b0"], ["h"]),
            helper.make_node("Relu", ["h"], ["a"]),
            helper.make_node("Gemm", ["a", "W1", "b1"], ["logit"]),
        ],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 6])],
        [helper.make_tensor_value_info("logit", TensorProto.FLOAT, [None, 1])],
        [numpy_helper.from_array(np.asarray(value, dtype=np.float32), name) for name, value in arrays.items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(proto)
    return Given(proto, data.X, judge=_runs(_session(proto), logits=True))


def _onnx() -> list[Case]:
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    family = Family("ONNX", ("onnx", "onnxruntime", "skl2onnx"))
    boosting = GradientBoostingClassifier(n_estimators=30, random_state=0)
    wine = {"table": bundled("wine"), "target": 1}
    return [
        family("forest from skl2onnx", lambda: _converted(forest(30, max_depth=8))),
        family("forest, 3 classes", lambda: _converted(forest(20, max_depth=6), **wine)),
        family("boosting from skl2onnx", lambda: _converted(boosting)),
        family("LogisticRegression from skl2onnx", lambda: _converted(LogisticRegression(max_iter=500), table=_standard(loans()))),
        family.either("scaler and LogisticRegression", lambda: _converted(scaled(logistic())), "Scaler", "Gemm|MatMul|scikit-learn|original"),
        family("Gemm, Relu, Gemm", _graph),
        family.either("an InferenceSession", lambda: _converted(forest(20, max_depth=6), hand="session"), "InferenceSession", "ModelProto|onnx.load|.onnx"),
    ]  # fmt: skip
