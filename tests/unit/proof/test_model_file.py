"""The model file says what the model says."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Explainer
from elbowroom.proof.model_file import model_bytes
from elbowroom_checker.model import Trees, read_model
from elbowroom_checker.reading import Refused, parsed
from tests.support.proofs import trees_of
from tests.support.small_questions import random_question


def data(classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(200, 4))
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2], np.linspace(-0.5, 0.5, classes - 1))


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=4),
        RandomForestClassifier(7, max_depth=4),
        GradientBoostingClassifier(n_estimators=9),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_trees_from_a_file_score_as_the_model(model: object, classes: int, tmp_path) -> None:
    X, y = data(classes)
    explainer = Explainer(model.fit(X, y))
    explainer.export_model(tmp_path / "model.json")
    raw = (tmp_path / "model.json").read_bytes()
    assert raw == model_bytes(explainer.model)
    again = trees_of(raw)
    assert np.array_equal(again.scores(X), explainer.model.scores(X))
    assert json.loads(raw)["fingerprint"] == explainer.model.fingerprint


def test_random_trees_with_infinite_cuts() -> None:
    for seed in range(40):
        question = random_question(np.random.default_rng(seed))
        X = np.random.default_rng(seed).integers(-5, 6, (200, len(question.space.names))) / 2.0
        again = trees_of(model_bytes(question.model))
        assert np.array_equal(again.scores(X), question.model.scores(X))


def test_linear_weights_and_error_bounds_are_kept() -> None:
    X, y = data(3)
    explainer = Explainer(LogisticRegression().fit(X, y))
    read = read_model(parsed(model_bytes(explainer.model)))
    assert isinstance(read.parts, list)
    (found,) = read.parts
    affine = explainer.model.affine  # type: ignore[union-attr]
    assert np.array_equal(found.weight, affine.weight) and np.array_equal(found.bias, affine.bias)
    assert np.array_equal(found.error_slope, affine.error_slope)
    assert np.array_equal(found.error_constant, affine.error_constant)


def test_the_layers_of_a_network_are_kept() -> None:
    X, y = data()
    explainer = Explainer(MLPClassifier((4, 3), max_iter=50).fit(X, y))
    read = read_model(parsed(model_bytes(explainer.model)))
    assert isinstance(read.parts, list)
    hidden = X.T
    for k, layer in enumerate(read.parts):
        hidden = np.array(layer.weight) @ hidden + np.array(layer.bias)[:, None]
        hidden = np.maximum(hidden, 0.0) if k < 2 else hidden
    assert hidden.T == pytest.approx(explainer.model.scores(X), rel=1e-9, abs=1e-12)


def test_a_tree_that_is_none_is_refused() -> None:
    file = json.loads(model_bytes(random_question(np.random.default_rng(0)).model))
    assert isinstance(read_model(file).parts, Trees)
    inner = next(i for i, f in enumerate(file["trees"]["feature"]) if f >= 0)
    file["trees"]["left"][inner] = inner  # a cycle
    with pytest.raises(Refused, match="a child comes before its parent"):
        read_model(file)
