"""Torch modules against torch itself: scores within the declared error, labels equal outside it, whatever the batch."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from elbowroom.errors import ElbowroomWarning, ReplayMismatch, UnsupportedModel
from elbowroom.importers import open_model, replay
from elbowroom.importers import torch_network as reader
from elbowroom.importers.replay_errors import network_error
from elbowroom.models import Decision, LinearModel, Link, ReluNetwork
from tests.support.torch_networks import NETWORKS, Custom, F, made, nn, torch


def _layers(parsed: Any) -> Any:
    return parsed.layers if isinstance(parsed, ReluNetwork) else (parsed.affine,)


@pytest.mark.parametrize("double", [False, True], ids=["float32", "float64"])
@pytest.mark.parametrize("kind", NETWORKS)
def test_scores_stay_within_the_declared_error_in_every_batch(kind: str, double: bool) -> None:
    model = made(kind, double)
    parsed = open_model(model, replay=False).model
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, parsed.info.n_features)) * 10.0 ** rng.uniform(-3, 3, (2000, 1))
    X[:20] = 0.0
    value, error = network_error(_layers(parsed), X)
    assert np.array_equal(value, parsed.scores(X))
    best = np.sort(np.column_stack([value, np.zeros(len(X))]) if value.shape[1] == 1 else value, axis=1)
    sure = best[:, -1] - best[:, -2] > 2 * error.max(axis=1)
    for batch, rows in ((1, 150), (7, 700), (2000, 2000)):
        starts = range(0, rows, batch)
        theirs = np.concatenate([reader.raw_scores(model, X[i : min(i + batch, rows)]) for i in starts])
        assert theirs.shape == value[:rows].shape and (np.abs(theirs - value[:rows]) <= error[:rows]).all()
        labels = np.concatenate([reader.predict(model, X[i : min(i + batch, rows)]) for i in starts])
        assert (labels == parsed.info.labels_of(value)[:rows])[sure[:rows]].all()
        assert sure[:rows].mean() > 0.3
    assert error.max() < np.abs(value).max() * (1e-2 if not double else 1e-10)


@pytest.mark.parametrize("double", [False, True], ids=["float32", "float64"])
@pytest.mark.parametrize("kind", NETWORKS)
def test_modules_are_replayed_when_they_are_opened(kind: str, double: bool) -> None:
    opened = open_model(made(kind, double), replay=False)
    assert replay(opened.model, opened.original, limit=3000).points >= 1000
    info = opened.model.info
    assert ("float64" if double else "float32") in info.source
    assert info.decision is (Decision.POSITIVE if len(info.classes) == 2 and opened.model.scores(
        np.zeros((1, info.n_features))).shape[1] == 1 else Decision.ARGMAX)  # fmt: skip


def test_the_error_is_used_up_to_a_visible_share() -> None:
    """A bound that is far from what happens would hide a wrong one: a plain layer uses several per cent of it."""
    model = made("linear")
    parsed = open_model(model, replay=False).model
    X = np.random.default_rng(1).normal(size=(20_000, 7))
    value, error = network_error(_layers(parsed), X)
    assert (np.abs(reader.raw_scores(model, X) - value) / error).max() > 0.05


@pytest.mark.parametrize("kind", ["10-50-2", "batch norm, leaky", "custom", "linear"])
@pytest.mark.parametrize("change", ["weight", "bias", "layer"])
def test_a_wrong_number_is_caught(kind: str, change: str) -> None:
    model = made(kind)
    opened = open_model(model, replay=False)
    with torch.no_grad():
        layer = next(m for m in model.modules() if isinstance(m, nn.Linear) and m.out_features > 1)
        if change == "weight":
            layer.weight[0] *= 1.01
        elif change == "bias":
            layer.bias[0] += 0.01
        else:
            layer.weight[:] = -layer.weight
    with pytest.raises(ReplayMismatch, match=r"torch|Custom"):
        replay(opened.model, opened.original, limit=3000)


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("last", ["Sigmoid", "Softmax", "LogSoftmax"])
def test_last_steps_that_keep_the_order_are_left_out(last: str, double: bool) -> None:
    outputs = 1 if last == "Sigmoid" else 3
    end = nn.Sigmoid() if last == "Sigmoid" else getattr(nn, last)(dim=1)
    model = made(lambda: nn.Sequential(nn.Linear(4, 9), nn.ReLU(), nn.Linear(9, outputs), end), double)
    opened = open_model(model)
    assert opened.model.info.evaluation_error > 0.0
    expected = Link.NONE if not double else (Link.LOGISTIC if outputs == 1 else Link.SOFTMAX)
    assert opened.model.info.link is expected
    X = np.random.default_rng(0).normal(size=(500, 4)) * 3
    assert set(opened.predict(X)) == set(opened.model.info.labels_of(opened.model.scores(X))) != {0}


def test_large_scores_close_to_each_other_keep_their_order_behind_a_log_softmax() -> None:
    """log p = z - max - log(sum): computed in that order, or the slack would not do."""
    z = torch.tensor([[20000.0, 20000.0 - 0.01, -3.0]], dtype=torch.float32)
    assert F.log_softmax(z, dim=1).argmax().item() == 0
    z = torch.tensor([[1.0 - 2.0**-20, 1.0]], dtype=torch.float32)
    assert F.log_softmax(z, dim=1).argmax().item() == F.softmax(z, dim=1).argmax().item() == 1


class _Branch(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 2)

    def forward(self, x: Any) -> Any:
        return self.b(x + F.relu(self.a(x)))


class _Added(_Branch):
    def forward(self, x: Any) -> Any:
        return self.b(F.relu(self.a(x)) + 1.0)


class _Looks(_Branch):
    def forward(self, x: Any) -> Any:
        return self.b(x) if x.sum() > 0 else self.b(-x)


class _Asks(_Branch):
    def forward(self, x: Any) -> Any:
        return self.b(2 * x) if isinstance(x, torch.Tensor) else self.b(x)


class _Inplace(_Branch):
    def forward(self, x: Any) -> Any:
        x = self.a(x)
        F.relu(x, inplace=True)
        return self.b(x)


class _Random(_Branch):
    def forward(self, x: Any) -> Any:
        return self.b(F.dropout(self.a(x)))


class _Two(_Branch):
    def forward(self, x: Any, y: Any) -> Any:
        return self.b(x)


class _Order(nn.Sequential):  # type: ignore[misc, name-defined]
    def __iter__(self) -> Any:
        return iter(list(super().__iter__())[::-1])


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (_Branch, "not a chain"),
        (_Added, "add in the forward"),
        (_Looks, "cannot be traced"),
        (_Asks, "isinstance"),
        (_Inplace, "not a chain"),
        (_Random, "random at every call"),
        (_Two, "2 arguments"),
        (lambda: nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2)), "1 .Tanh."),
        (lambda: nn.Sequential(nn.Linear(3, 3), nn.Softmax(dim=0)), "over the rows"),
        (lambda: nn.Sequential(nn.Linear(3, 3), nn.Softmax(dim=1), nn.Linear(3, 2)), "follows Softmax"),
        (lambda: nn.Sequential(nn.Linear(3, 3), nn.Sigmoid()), "Sigmoid over 3 outputs"),
        (lambda: nn.Sequential(nn.Linear(3, 1), nn.Softmax(dim=1)), "one output"),
        (lambda: nn.Sequential(nn.Flatten(0), nn.Linear(3, 1)), "mixes rows"),
        (lambda: nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 1)), "do not fit"),
        (lambda: nn.Sequential(nn.BatchNorm1d(3, track_running_stats=False), nn.Linear(3, 1)), "running statistics"),
        (lambda: nn.Sequential(nn.ReLU()), "no Linear"),
        (lambda: nn.Sequential(nn.Linear(3, 2).half()), "half|float16"),
        (lambda: nn.Sequential(nn.Linear(3, 2).bfloat16()), "bfloat16"),
        (lambda: nn.Sequential(nn.Linear(3, 3).double(), nn.Linear(3, 2).float()), r"\.double\(\)"),
        (lambda: nn.Sequential(nn.LazyLinear(2)), "call the network once"),
        (lambda: nn.Sequential(nn.Linear(3, 2, device="meta")), "meta"),
        (lambda: nn.Sequential(nn.Linear(3, 2), nn.GRU(2, 2)), "GRU"),
    ],
)  # fmt: skip
def test_what_is_not_a_chain_of_known_layers_is_refused_by_name(network: Any, words: str) -> None:
    with pytest.raises(UnsupportedModel, match=words):
        open_model(network().eval())


def _hooked(model: Any) -> None:
    model[0].register_forward_hook(lambda module, given, out: out + 1)


def _prehooked(model: Any) -> None:
    model.register_forward_pre_hook(lambda module, given: (given[0] + 1,))


def _own_forward(model: Any) -> None:
    model[0].forward = lambda x: x[:, :4] * 0


def _training(model: Any) -> None:
    model[1].train()


def _parametrized(model: Any) -> None:
    nn.utils.parametrize.register_parametrization(model[0], "weight", nn.Softplus())
    model.eval()


def _weight_norm(model: Any) -> None:
    nn.utils.parametrizations.weight_norm(model[0])
    model.eval()


def _nan(model: Any) -> None:
    model[0].weight.data[0, 0] = float("nan")


def _compiled(model: Any) -> None:
    model.compile()


@pytest.mark.parametrize(
    ("disguise", "words"),
    [
        (_hooked, "hooks"), (_prehooked, "hooks"), (_own_forward, "'forward'"), (_training, r"call .eval\(\)"),
        (_parametrized, "parametriz"), (_weight_norm, "parametriz"), (_nan, "weight holds nan"), (_compiled, "compiled"),
    ],
)  # fmt: skip
def test_what_a_call_does_besides_its_layers_is_refused(disguise: Any, words: str) -> None:
    model = made("10-50-2")
    disguise(model)
    with pytest.raises(UnsupportedModel, match=words):
        open_model(model)


def test_an_object_with_its_own_forward_is_refused() -> None:
    model = made("10-50-2")
    model.forward = lambda x: x[:, :2]
    with pytest.raises(UnsupportedModel, match="'forward'"):
        open_model(model)


def test_hooks_on_all_modules_are_refused() -> None:
    handle = torch.nn.modules.module.register_module_forward_hook(lambda module, given, out: out)
    try:
        with pytest.raises(UnsupportedModel, match="hooks on all"):
            open_model(made("10-50-2"))
    finally:
        handle.remove()


def test_coarse_products_are_refused_for_float32_only() -> None:
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        with pytest.raises(UnsupportedModel, match="highest"):
            open_model(made("10-50-2"))
        open_model(made("10-50-2", double=True))
    finally:
        torch.set_float32_matmul_precision(before)


def test_a_compiled_or_scripted_module_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match=r"TorchScript|ScriptModule"):
        open_model(torch.jit.script(made("10-50-2")))


def test_a_subclass_that_replaces_how_modules_are_called_is_refused() -> None:
    class Replaced(Custom):
        def __call__(self, x: Any) -> Any:
            return -super().__call__(x)

    with pytest.raises(UnsupportedModel, match="__call__"):
        open_model(made(Replaced))


def test_a_sequence_with_an_order_of_its_own_is_traced() -> None:
    model = made(lambda: nn.Sequential(nn.Linear(3, 3), _Order(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))))
    opened = open_model(model, replay=False)
    assert np.array_equal(opened.model.layers[0].weight.shape, (3, 3))  # type: ignore[union-attr]
    assert replay(opened.model, opened.original, limit=2000).points > 500


def test_an_importer_reads_linear_and_layered_modules() -> None:
    assert isinstance(open_model(made("two linear layers")).model, LinearModel)
    assert isinstance(open_model(made("shared relu")).model, ReluNetwork)
    assert len(open_model(made("shared relu")).model.layers) == 3  # type: ignore[union-attr]


def test_a_deep_float32_network_is_warned_about_with_the_cure() -> None:
    def deep() -> Any:
        sizes = (200, 400, 300, 300, 200, 200, 100, 3)
        parts = [part for n, m in itertools.pairwise(sizes) for part in (nn.Linear(n, m), nn.ReLU())]
        return nn.Sequential(*parts[:-1])

    with pytest.warns(ElbowroomWarning, match=r"float32.*double\(\)"):
        open_model(made(deep), replay=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ElbowroomWarning)
        open_model(made(deep, double=True), replay=False)
        open_model(made("10-50-2"), replay=False)
        open_model(made("50-100-100-1"), replay=False)
