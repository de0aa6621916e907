"""scikit-learn's linear classifiers: score = coef x + intercept; the sign decides, or the first largest score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.scorecard import evaluation_error, has_bins, read_scorecard
from elbowroom.importers.sklearn_common import binarized_labels, columns, finite, labels, require_fitted
from elbowroom.models.base import Decision, Label, Link, ModelInfo
from elbowroom.models.linear import LinearModel
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Floats

__all__ = ["columns", "read_discriminant", "read_linear", "read_logistic", "read_ridge", "read_stochastic_gradient"]


def read_linear(model: Any, preprocessing: Preprocessing) -> LinearModel | TreeEnsemble:
    """LinearSVC, Perceptron and relatives: no probabilities."""
    require_fitted(model)
    return _linear(model, preprocessing, labels(model), Link.NONE)


def read_ridge(model: Any, preprocessing: Preprocessing) -> LinearModel | TreeEnsemble:
    """RidgeClassifier: as `read_linear`, but several outputs hide in its label binarizer."""
    require_fitted(model)
    return _linear(model, preprocessing, binarized_labels(model), Link.NONE)


def read_logistic(model: Any, preprocessing: Preprocessing) -> LinearModel | TreeEnsemble:
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


def read_stochastic_gradient(model: Any, preprocessing: Preprocessing) -> LinearModel | TreeEnsemble:
    """SGDClassifier: logistic probabilities only for two classes and the logistic loss."""
    require_fitted(model)
    classes = labels(model)
    logistic = model.loss == "log_loss" and len(classes) == 2
    return _linear(model, preprocessing, classes, Link.LOGISTIC if logistic else Link.NONE)


def read_discriminant(model: Any, preprocessing: Preprocessing) -> LinearModel | TreeEnsemble:
    """LinearDiscriminantAnalysis predicts from coef_ and intercept_ like the others, with softmax probabilities."""
    require_fitted(model)
    classes = labels(model)
    return _linear(model, preprocessing, classes, Link.LOGISTIC if len(classes) == 2 else Link.SOFTMAX)


def _dense(coefficients: Any) -> Any:
    return coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients  # after sparsify()


def _linear(
    model: Any, preprocessing: Preprocessing, classes: tuple[Label, ...], link: Link
) -> LinearModel | TreeEnsemble:
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
    if has_bins(preprocessing):
        info = replace(info, evaluation_error=evaluation_error(preprocessing, weight, bias))
        return read_scorecard(info, preprocessing, weight, bias)
    return LinearModel(info, preprocessing.affine(weight, bias))
