"""Keras models against keras itself. Runs where keras and torch are installed: ``KERAS_BACKEND=torch``."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
os.environ.setdefault("KERAS_BACKEND", "torch")
keras = pytest.importorskip("keras")
if keras.backend.backend() != "torch":
    pytest.skip("keras runs on another backend here", allow_module_level=True)

from elbowroom import Box, Explainer, Region  # noqa: E402
from elbowroom.errors import UnsupportedModel  # noqa: E402
from elbowroom.importers import keras_network as reader  # noqa: E402
from elbowroom.importers import open_model, replay  # noqa: E402
from elbowroom.importers.replay_errors import network_error  # noqa: E402
from elbowroom.models import ReluNetwork  # noqa: E402
from tests.support.hostile import attack  # noqa: E402
from tests.support.keras_networks import NETWORKS, L, made  # noqa: E402


@pytest.mark.parametrize("kind", NETWORKS)
def test_scores_stay_within_the_declared_error(kind: str) -> None:
    model = made(NETWORKS[kind]())
    opened = open_model(model, replay=False)
    layers = opened.model.layers if isinstance(opened.model, ReluNetwork) else (opened.model.affine,)  # type: ignore[union-attr]
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 4)) * 10.0 ** rng.uniform(-2, 3, (500, 1))
    value, error = network_error(layers, X)
    for batch in (7, 500):
        theirs = np.concatenate([reader.raw_scores(model, X[i : i + batch]) for i in range(0, len(X), batch)])
        assert theirs.shape == value.shape and (np.abs(theirs - value) <= error).all()
    assert error.max() < 1e-3 * np.abs(value).max()
    assert replay(opened.model, opened.original, limit=1000).points >= 200


@pytest.mark.parametrize("last", ["sigmoid", "softmax"])
def test_probabilities_at_the_end_are_left_out(last: str) -> None:
    model = made([L.Dense(8, activation="relu"), L.Dense(1 if last == "sigmoid" else 3, activation=last)])
    opened = open_model(model)
    assert opened.report is not None and opened.model.info.evaluation_error > 0.0
    assert len(set(opened.predict(np.random.default_rng(0).normal(size=(300, 4)) * 5))) > 1


def test_a_region_is_attacked_through_predict() -> None:
    model = made(NETWORKS["one output"](), seed=3)
    explainer = Explainer(model)
    X = np.random.default_rng(0).normal(size=(300, 4)) * 4
    labels = explainer.predict(X)
    wanted = int(labels[0])
    row = X[labels != wanted][0]
    answer = explainer.explain(row, room=Box(0.05), target=wanted, time_limit=8)
    assert isinstance(answer, Region)
    assert attack(lambda rows: reader.predict(model, rows), answer.certificate.body, wanted) > 500


class _Own(L.Dense):  # type: ignore[misc, name-defined]
    def call(self, inputs: Any, training: Any = None) -> Any:
        return -super().call(inputs)


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        (lambda: [L.Dense(4, activation="tanh"), L.Dense(2)], "tanh"),
        (lambda: [_Own(4), L.Dense(2)], "_Own"),
        (lambda: [L.Dense(4), L.ReLU(max_value=6.0), L.Dense(2)], "max_value"),
        (lambda: [L.Dense(4, activation="softmax"), L.Dense(2)], "follows"),
        (lambda: [L.Dense(3, activation="sigmoid")], "undecided"),
        (lambda: [L.Dense(4, dtype="mixed_bfloat16"), L.Dense(2)], "bfloat16"),
        (lambda: [L.LayerNormalization(), L.Dense(2)], "LayerNormalization"),
    ],
)  # fmt: skip
def test_other_layers_are_refused_by_name(layers: Any, words: str) -> None:
    with pytest.raises(UnsupportedModel, match=words):
        open_model(made(layers()))


def test_functional_models_are_refused_with_a_cure() -> None:
    given = keras.Input((4,))
    model = keras.Model(given, L.Dense(2)(given))
    with pytest.raises(UnsupportedModel, match="onnx"):
        open_model(model)
