"""Bagging, Voting and Stacking of regressors: a fixed linear combination of what the parts predict.

Bagging: the mean, each part seeing its own columns; Voting: the weighted mean; Stacking: a linear model of the predictions. Where
all parts are linear, so is the whole; where all are sums over trees, the whole is one sum over all trees. How the original rounds
its combination is counted in the error of the linear map on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.importers.parts import common_columns, read_part, refused
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import column_count, finite, require_fitted
from elbowroom.importers.sklearn_one_vs_rest import stacked
from elbowroom.importers.sklearn_stacking import weighed
from elbowroom.importers.steps import Selected
from elbowroom.importers.table import Known
from elbowroom.models.base import Link, Model, ModelInfo
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import TINY, Floats, gamma

_CURE: Final = (
    "use trees and forests of scikit-learn, LightGBM or CatBoost as all its parts, or linear regressors as all of them, "
    "without a transformed target"
)


def columns(model: Any, known: Known) -> Columns:
    require_fitted(model)
    return common_columns(model, model.estimators_, known, getattr(model, "estimators_features_", None))


def read_bagging(model: Any, preprocessing: Preprocessing) -> Model:
    require_fitted(model)
    parts = []
    for part, features in zip(model.estimators_, model.estimators_features_, strict=True):
        chosen = np.asarray(features, dtype=np.int64)
        everything = np.array_equal(chosen, np.arange(column_count(model)))
        before = preprocessing if everything else preprocessing.behind(Selected(model, chosen))
        parts.append(read_part(model, part, before))
    return _combined(model, preprocessing, parts, _mean(np.ones(len(parts))))


def read_voting(model: Any, preprocessing: Preprocessing) -> Model:
    require_fitted(model)
    parts = [read_part(model, part, preprocessing) for part in model.estimators_]
    weights = model._weights_not_none
    return _combined(
        model,
        preprocessing,
        parts,
        _mean(np.ones(len(parts)) if weights is None else finite(model, "weights", weights)),
    )


def read_stacking(model: Any, preprocessing: Preprocessing) -> Model:
    require_fitted(model)
    parts = [read_part(model, part, preprocessing) for part in model.estimators_]
    on_top = tuple(f"z{i}" for i in range(column_count(model.final_estimator_)))
    final = read_part(model, model.final_estimator_, Preprocessing.of_numbers(on_top))
    if not isinstance(final, LinearModel) or final.info.link is not Link.IDENTITY:
        raise refused(
            model, model.final_estimator_, "the final_estimator is not linear in what the parts predict",
            "use a linear regressor such as RidgeCV() as final_estimator",
        )  # fmt: skip
    return _combined(model, preprocessing, parts, final.affine, bool(model.passthrough))


def _mean(weights: Floats) -> Affine:
    """sum of weight * prediction / sum of weights, in any order."""
    row = (weights / weights.sum())[None]
    slack = gamma(weights.size + 8)
    return Affine(row, np.zeros(1), slack * np.abs(row), np.full(1, TINY))


def _combined(
    model: Any, preprocessing: Preprocessing, parts: Sequence[Model], final: Affine, passthrough: bool = False
) -> Model:
    for part, parsed in zip(model.estimators_, parts, strict=True):
        if not parsed.info.is_regressor or parsed.info.link is not Link.IDENTITY:
            raise refused(model, part, "what it predicts is no plain sum", _CURE)
    blur = float(np.abs(final.weight[0, : len(parts)]) @ [part.info.evaluation_error for part in parts])
    info = ModelInfo.regressor(preprocessing.names, preprocessing.source_name(model), evaluation_error=2.0 * blur)
    linear = [part for part in parts if isinstance(part, LinearModel)]
    if len(linear) == len(parts):
        outputs = [part.affine for part in linear]
        if passthrough:
            width = column_count(model)
            outputs.append(preprocessing.affine(np.eye(width), np.zeros(width)))
        return LinearModel(info, stacked(outputs).then(final))
    trees = [part for part in parts if isinstance(part, TreeEnsemble) and not part.single]
    if len(trees) < len(parts):
        odd = next(i for i, part in enumerate(parts) if not isinstance(part, TreeEnsemble) or part.single)
        why = (
            "its sums are not in float64"
            if isinstance(parts[odd], TreeEnsemble)
            else "its parts are of several families"
        )
        raise refused(model, model.estimators_[odd], why, _CURE)
    if passthrough:
        raise UnsupportedModel(
            f"{type(model).__name__}(passthrough=True) adds columns to sums over trees; use passthrough=False"
        )
    whole = [(part, slice(None)) for part in trees]
    return weighed(replace(info, fused_products=True), whole, LinearModel(info, final))
