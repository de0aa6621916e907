"""scikit-learn's multi-layer perceptrons with ReLU (or no) activation between the layers."""

from __future__ import annotations

from typing import Any

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import PROBABILITY_ERROR, binarized_labels, columns, finite, require_fitted
from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.network import ReluNetwork

__all__ = ["columns", "layers_of", "network_or_linear", "read_network"]


def read_network(model: Any, preprocessing: Preprocessing) -> ReluNetwork | LinearModel:
    """relu(W x + b) layer by layer; predict compares probabilities. Identity activations multiply out to one map."""
    require_fitted(model)
    classes = binarized_labels(model)
    layers = layers_of(model, preprocessing)
    decision = Decision.POSITIVE if len(classes) == 2 else Decision.ARGMAX
    link = (Link.NONE, Link.LOGISTIC, Link.SOFTMAX)[min(len(classes), 3) - 1]
    info = ModelInfo(preprocessing.names, classes, decision, link, preprocessing.source_name(model), PROBABILITY_ERROR)
    return network_or_linear(model, info, layers)


def layers_of(model: Any, preprocessing: Preprocessing) -> list[Affine]:
    """The affine maps between activations, refused if these are not piecewise linear."""
    hidden = len(model.coefs_) - 1
    if hidden and model.activation not in ("relu", "identity"):
        raise UnsupportedModel(
            f"{type(model).__name__}(activation={model.activation!r}) is not piecewise linear; supported activations: "
            "'relu', 'identity'"
        )
    layers: list[Affine] = []
    for i, (coefficients, intercepts) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        weight, bias = finite(model, f"coefs_[{i}]", coefficients).T, finite(model, f"intercepts_[{i}]", intercepts)
        layers.append(preprocessing.affine(weight, bias) if i == 0 else Affine.exact(weight, bias))
    return layers


def network_or_linear(model: Any, info: ModelInfo, layers: list[Affine]) -> ReluNetwork | LinearModel:
    """A network, or one map where nothing but affine maps follow each other."""
    if len(layers) > 1 and model.activation == "relu":
        return ReluNetwork(info, tuple(layers))
    folded = layers[0]
    for layer in layers[1:]:
        folded = folded.then(layer)
    return LinearModel(info, folded)
