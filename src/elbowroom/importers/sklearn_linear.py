"""scikit-learn's linear classifiers: score = coef x + intercept; the sign decides, or the first largest score."""

from __future__ import annotations

from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import binarized_labels, columns, finite, labels, require_fitted
from elbowroom.models.base import Decision, Label, Link, ModelInfo
from elbowroom.models.linear import LinearModel
from elbowroom.numerics import Floats

__all__ = ["columns", "read_discriminant", "read_linear", "read_logistic", "read_ridge", "read_stochastic_gradient"]


def read_linear(model: Any, preprocessing: Preprocessing) -> LinearModel:
    """LinearSVC, Perceptron and relatives: no probabilities."""
    require_fitted(model)
    return _linear(model, preprocessing, labels(model), Link.NONE)


def read_ridge(model: Any, preprocessing: Preprocessing) -> LinearModel:
    """RidgeClassifier: as `read_linear`, but several outputs hide in its label binarizer."""
    require_fitted(model)
    return _linear(model, preprocessing, binarized_labels(model), Link.NONE)


def read_logistic(model: Any, preprocessing: Preprocessing) -> LinearModel:
    """LogisticRegression. One-versus-rest probabilities are not a softmax of the scores, so they are not used."""
    require_fitted(model)
    classes = labels(model)
    scheme = getattr(model, "multi_class", None)  # gone in the newest releases
    one_versus_rest = {"liblinear"} if scheme is None else {"liblinear", "newton-cholesky"}
    if len(classes) == 2:
        # binary "multinomial" fits compute softmax(-score, score): the logistic function of twice the score
        link = Link.NONE if scheme == "multinomial" else Link.LOGISTIC
    else:
        link = Link.NONE if scheme == "ovr" or model.solver in one_versus_rest else Link.SOFTMAX
    return _linear(model, preprocessing, classes, link)


def read_stochastic_gradient(model: Any, preprocessing: Preprocessing) -> LinearModel:
    """SGDClassifier: logistic probabilities only for two classes and the logistic loss."""
    require_fitted(model)
    classes = labels(model)
    logistic = model.loss == "log_loss" and len(classes) == 2
    return _linear(model, preprocessing, classes, Link.LOGISTIC if logistic else Link.NONE)


def read_discriminant(model: Any, preprocessing: Preprocessing) -> LinearModel:
    """LinearDiscriminantAnalysis predicts from coef_ and intercept_ like the others, with softmax probabilities."""
    require_fitted(model)
    classes = labels(model)
    return _linear(model, preprocessing, classes, Link.LOGISTIC if len(classes) == 2 else Link.SOFTMAX)


def _dense(coefficients: Any) -> Any:
    return coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients  # after sparsify()


def _linear(model: Any, preprocessing: Preprocessing, classes: tuple[Label, ...], link: Link) -> LinearModel:
    weight: Floats = np.atleast_2d(finite(model, "coef_", _dense(model.coef_)))
    bias: Floats = np.atleast_1d(finite(model, "intercept_", model.intercept_))
    bias = np.broadcast_to(bias, (len(weight),)).copy()
    expected = 1 if len(classes) <= 2 else len(classes)
    if len(weight) != expected:
        raise UnsupportedModel(
            f"this {type(model).__name__} has {len(weight)} rows of coefficients for {len(classes)} classes"
        )
    if len(classes) == 1 and (weight.any() or bias[0] > 0):
        raise UnsupportedModel(f"this {type(model).__name__} has one class, but its score can point to a second one")
    decision = Decision.POSITIVE if len(classes) == 2 else Decision.ARGMAX
    info = ModelInfo(preprocessing.names, classes, decision, link, preprocessing.source_name(model))
    return LinearModel(info, preprocessing.affine(weight, bias))
