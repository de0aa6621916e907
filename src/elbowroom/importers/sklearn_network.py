"""scikit-learn's MLPClassifier with ReLU (or no) activation between the layers."""

from __future__ import annotations

from typing import Any

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.front import Front
from elbowroom.importers.sklearn_common import binarized_labels, columns, finite, require_fitted
from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.network import ReluNetwork
from elbowroom.numerics import EPS

__all__ = ["columns", "read_network"]

# predict compares probabilities, not scores: expit(z) > 1/2, or the first largest softmax entry. Close to a tie these
# lose at most a few ulp of one half (or of 1 / sum), which a score difference of 16 eps outweighs.
_EVALUATION_ERROR = 16 * EPS


def read_network(model: Any, front: Front) -> ReluNetwork | LinearModel:
    """relu(W x + b) layer by layer. Identity activations multiply out to one linear map."""
    require_fitted(model)
    classes = binarized_labels(model)
    hidden = len(model.coefs_) - 1
    if hidden and model.activation not in ("relu", "identity"):
        raise UnsupportedModel(
            f"{type(model).__name__}(activation={model.activation!r}) is not piecewise linear; supported activations: "
            "'relu', 'identity'"
        )
    layers: list[Affine] = []
    for i, (coefficients, intercepts) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        weight, bias = finite(model, f"coefs_[{i}]", coefficients).T, finite(model, f"intercepts_[{i}]", intercepts)
        layers.append(front.affine(weight, bias) if i == 0 else Affine.exact(weight, bias))
    binary = len(classes) == 2
    info = ModelInfo(
        front.names,
        classes,
        Decision.POSITIVE if binary else Decision.ARGMAX,
        Link.LOGISTIC if binary else Link.SOFTMAX,
        front.source_name(model),
        _EVALUATION_ERROR,
    )
    if hidden and model.activation == "relu":
        return ReluNetwork(info, tuple(layers))
    folded = layers[0]
    for layer in layers[1:]:
        folded = folded.then(layer)
    return LinearModel(info, folded)
