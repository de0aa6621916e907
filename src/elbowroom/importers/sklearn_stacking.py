"""Stacking with a linear model on top: scores = W z + b, where z are the probabilities or scores of the parts.

Probabilities of trees and forests are sums over trees, so the scores are sums over all trees of all parts. Scores of linear
parts are linear. Anything else, such as probabilities of a LogisticRegression, goes through a curve first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.importers.parts import class_map, common_columns, probability_trees, read_part, refused
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import column_count, labels, require_fitted
from elbowroom.importers.sklearn_one_vs_rest import stacked
from elbowroom.importers.table import Known
from elbowroom.models.base import Decision, Model
from elbowroom.models.linear import LinearModel
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.union import join_trees
from elbowroom.numerics import Floats

_CURE = (
    "stack trees and forests under a linear final_estimator with passthrough=False, or linear models with "
    'stack_method="decision_function"'
)


def columns(model: Any, known: Known) -> Columns:
    require_fitted(model)
    return common_columns(model, model.estimators_, known)


def read_stacking(model: Any, preprocessing: Preprocessing) -> Model:
    require_fitted(model)
    classes = labels(model)
    parts = [read_part(model, part, preprocessing) for part in model.estimators_]
    for part, parsed in zip(model.estimators_, parts, strict=True):
        class_map(model, part, parsed, range(len(classes)))
    columns_on_top = column_count(model.final_estimator_)
    final = read_part(
        model, model.final_estimator_, Preprocessing.of_numbers(tuple(f"z{i}" for i in range(columns_on_top)))
    )
    if not isinstance(final, LinearModel):
        raise refused(model, model.final_estimator_, "the final_estimator is not linear in the parts' outputs", _CURE)
    info = replace(final.info, names=preprocessing.names, classes=classes, source=preprocessing.source_name(model))
    if all(isinstance(part, LinearModel) and part.info.threshold == 0.0 for part in parts):
        if any(method != "decision_function" for method in model.stack_method_):
            raise refused(model, model.estimators_[0], "its probabilities are a curve of its scores", _CURE)
        outputs = [part.affine for part in parts if isinstance(part, LinearModel)]
        if model.passthrough:
            width = column_count(model)
            outputs.append(preprocessing.affine(np.eye(width), np.zeros(width)))
        return LinearModel(info, stacked(outputs).then(final.affine))
    if model.passthrough:
        raise UnsupportedModel(f"{type(model).__name__}(passthrough=True) adds columns to sums over trees; {_CURE}")
    outputs_of_trees = []
    for parsed, part, method in zip(parts, model.estimators_, model.stack_method_, strict=True):
        found = _output(parsed, method, len(classes))
        if found is None:
            raise refused(model, part, f"its {method} is no sum over trees", _CURE)
        outputs_of_trees.append(found)
    return weighed(replace(info, fused_products=True), outputs_of_trees, final)


def _output(parsed: Model, method: str, n_classes: int) -> tuple[TreeEnsemble, slice] | None:
    """The trees of a part, and which of their scores the final estimator sees: of two probabilities the second."""
    if method == "predict_proba":
        trees = probability_trees(parsed)
        return None if trees is None else (trees, slice(1 if n_classes == 2 else 0, None))
    if method == "decision_function" and isinstance(parsed, TreeEnsemble) and parsed.info.threshold == 0.0:
        wide = parsed.info.decision is not Decision.ARGMAX or parsed.base.size == n_classes
        return (parsed, slice(None)) if wide else None
    return None


def weighed(info: Any, outputs: list[tuple[TreeEnsemble, slice]], final: LinearModel) -> TreeEnsemble:
    """Leaf values times the weights of the outputs they add to. The dot product on top errs by no more than `Affine.error`
    for the largest outputs that the leaves allow."""
    weight, base = final.affine.weight, final.affine.bias.copy()
    values, sizes, start = [], [], 0
    for trees, seen in outputs:
        own = trees.value[:, seen] / trees.divisor
        offset = trees.base[seen] / trees.divisor
        block = weight[:, start : start + own.shape[1]]
        start += own.shape[1]
        values.append(own @ block.T)
        base += block @ offset
        sizes.append(_largest(trees, own) + np.abs(offset))
    if start != weight.shape[1]:
        raise UnsupportedModel(f"the parts have {start} outputs, the final_estimator takes {weight.shape[1]}")
    error = 4.0 * float(final.affine.error(np.concatenate(sizes)).max())
    info = replace(info, evaluation_error=info.evaluation_error + error)
    return join_trees(info, [trees for trees, _ in outputs], values, base)


def _largest(trees: TreeEnsemble, value: Floats) -> Floats:
    """The largest size of each output: one leaf per tree."""
    leaf = np.where(trees.feature[:, None] < 0, np.abs(value), 0.0)
    return np.asarray(np.maximum.reduceat(leaf, trees.roots, axis=0).sum(axis=0))
