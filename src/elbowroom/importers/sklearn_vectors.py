"""Support vector classifiers with a linear kernel (SVC, NuSVC): one hyperplane for every pair of classes.

The original adds up alpha_i (sv_i . x) over its support vectors, which loses far more digits than one dot product with
coef_: every term counts with its own size, |alpha_i| |sv_i| |x|. Two classes: the second iff the sum is positive. More: every
pair of classes votes, and the first class with the most votes wins.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import columns, finite, labels, require_fitted
from elbowroom.importers.voters import poll, stump
from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.numerics import Floats, gamma

__all__ = ["columns", "read_vector_regressor", "read_vectors"]


def read_vector_regressor(model: Any, preprocessing: Preprocessing) -> LinearModel:
    """SVR, NuSVR: the same sum over support vectors is the predicted value."""
    _refuse_curves(model, "HistGradientBoostingRegressor")
    weight, size = _pairs(model, 2)
    bias = finite(model, "intercept_", model.intercept_)
    info = ModelInfo.regressor(preprocessing.names, preprocessing.source_name(model))
    return LinearModel(info, _with_sizes(preprocessing, weight, bias, size, model.support_vectors_.shape[0]))


def _refuse_curves(model: Any, instead: str) -> None:
    require_fitted(model)
    if model.kernel != "linear":
        raise UnsupportedModel(
            f"{type(model).__name__}(kernel={model.kernel if isinstance(model.kernel, str) else 'a function'!r}) has a "
            f'curved boundary through all its support vectors; use kernel="linear", or {instead}'
        )


def read_vectors(model: Any, preprocessing: Preprocessing) -> Model:
    _refuse_curves(model, "HistGradientBoostingClassifier")
    classes = labels(model)
    if model.break_ties and len(classes) > 2:
        raise UnsupportedModel(
            f"{type(model).__name__}(break_ties=True) settles ties of votes by confidences that are no sums; use "
            "break_ties=False"
        )
    info = ModelInfo(preprocessing.names, classes, Decision.POSITIVE, Link.NONE, preprocessing.source_name(model))
    weight, size = _pairs(model, len(classes))
    bias = finite(model, "intercept_", model.intercept_)
    affine = _with_sizes(preprocessing, weight, bias, size, model.support_vectors_.shape[0])
    if len(classes) == 2:
        return LinearModel(info, affine)
    votes = replace(info, decision=Decision.ARGMAX, shows_scores=False)  # it shows votes with confidences mixed in
    voters = [
        stump(votes, _row(affine, number), below=second, above=first)  # a positive sum speaks for the first of a pair
        for number, (first, second) in enumerate(combinations(range(len(classes)), 2))
    ]
    everyone = np.arange(len(classes), dtype=np.int64)
    return poll(votes, voters, [v.votes(len(classes), everyone, 1.0) for v in voters])


def _pairs(model: Any, n_classes: int) -> tuple[Floats, Floats]:
    """Weights of every pair's hyperplane, and the same sums with all terms taken as positive."""
    vectors = finite(model, "support_vectors_", _dense(model.support_vectors_))
    dual = finite(model, "dual_coef_", _dense(model.dual_coef_))
    if n_classes == 2:
        return dual @ vectors, np.abs(dual) @ np.abs(vectors)
    ends = np.cumsum(model.n_support_)
    starts = ends - model.n_support_
    weight, size = [], []
    for first, second in combinations(range(n_classes), 2):
        one, other = slice(starts[first], ends[first]), slice(starts[second], ends[second])
        # row j of dual_coef_ holds what a vector weighs against its j-th other class
        parts = ((dual[second - 1, one], vectors[one]), (dual[first, other], vectors[other]))
        weight.append(sum(alpha @ v for alpha, v in parts))
        size.append(sum(np.abs(alpha) @ np.abs(v) for alpha, v in parts))
    return np.array(weight), np.array(size)


def _dense(values: Any) -> Any:
    """A model that was fitted on sparse rows keeps sparse arrays; its sums leave zeros out, which rounds no more."""
    return values.toarray() if hasattr(values, "toarray") else values


def _with_sizes(preprocessing: Preprocessing, weight: Floats, bias: Floats, size: Floats, n_vectors: int) -> Affine:
    """The map of the raw columns, with room for the original's sum over support vectors: gamma * size . |t| + |bias|.

    |t| is bounded through the map of the raw columns x to the transformed ones t, with its own error.
    """
    width = weight.shape[1]
    plain = preprocessing.affine(weight, bias)
    columns_in = preprocessing.affine(np.eye(width), np.zeros(width))
    slack = 2 * gamma(n_vectors + width + 8)  # the original's sum, and ours of the weights
    missing_error = None
    if plain.missing_error is not None and columns_in.missing_value is not None:
        assert columns_in.missing_error is not None
        missing_error = plain.missing_error + slack * size @ (
            np.abs(columns_in.missing_value) + columns_in.missing_error
        )
    return replace(
        plain,
        error_slope=plain.error_slope + slack * size @ (np.abs(columns_in.weight) + columns_in.error_slope),
        error_constant=plain.error_constant
        + slack * (size @ (np.abs(columns_in.bias) + columns_in.error_constant) + np.abs(bias)),
        missing_error=missing_error,
    )


def _row(affine: Affine, number: int) -> Affine:
    one = slice(number, number + 1)
    return Affine(affine.weight[one], affine.bias[one], affine.error_slope[one], affine.error_constant[one])
