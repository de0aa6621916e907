"""OneVsRestClassifier: one binary model per class, whose decision score (or else probability) competes with the others'.

Two classes: one model, the second class iff its score is positive (its probability more than one half). More: the first
largest score; in some releases the last largest, which is the first one of the classes in reverse.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.importers.parts import common_columns, read_part, refused, single_score
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import labels, require_fitted
from elbowroom.importers.sklearn_thresholds import positive_from
from elbowroom.importers.table import Known
from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.union import join_trees
from elbowroom.numerics import Floats

_CURE = "use linear models, trees, forests or gradient boosting as its parts, all of one kind"


def columns(model: Any, known: Known) -> Columns:
    require_fitted(model)
    return common_columns(model, model.estimators_, known)


def read_one_vs_rest(model: Any, preprocessing: Preprocessing) -> Model:
    require_fitted(model)
    if str(model.label_binarizer_.y_type_).startswith("multilabel"):
        raise UnsupportedModel(
            f"this {type(model).__name__} predicts several labels per row; explain one of its estimators_ at a time"
        )
    classes = labels(model)
    parts = [read_part(model, part, preprocessing) for part in model.estimators_]
    source = preprocessing.source_name(model)
    response = "decision_function" if hasattr(model.estimators_[0], "decision_function") else "predict_proba"
    if len(parts) == 1:
        single = positive_from(parts[0], 1, response, 0.0 if response == "decision_function" else 0.5)
        if single is None:
            raise refused(model, model.estimators_[0], "its response is no score or sum over trees", _CURE)
        return replace(single, info=replace(single.info, classes=classes, decision=Decision.POSITIVE, source=source))
    info = ModelInfo(preprocessing.names, classes, Decision.ARGMAX, Link.NONE, source)
    scores: list[Model] = []
    for parsed, part in zip(parts, model.estimators_, strict=True):
        score = single_score(parsed, 1)
        is_response = (parsed.info.decision is Decision.ARGMAX) == (not hasattr(part, "decision_function"))
        if score is None or not is_response:
            raise refused(model, part, "its score is no sum over columns or trees", _CURE)
        scores.append(score)
    linear = [score for score in scores if isinstance(score, LinearModel)]
    trees = [score for score in scores if isinstance(score, TreeEnsemble)]
    if len(linear) == len(scores):
        return LinearModel(info, stacked([score.affine for score in linear]))
    if len(trees) == len(scores):
        return _competing(info, trees)
    raise refused(model, model.estimators_[0], "its parts are of several kinds", _CURE)


def stacked(parts: list[Affine]) -> Affine:
    """Several maps of the same columns as one."""
    return Affine(
        np.concatenate([part.weight for part in parts]),
        np.concatenate([part.bias for part in parts]),
        np.concatenate([part.error_slope for part in parts]),
        np.concatenate([part.error_constant for part in parts]),
        _rows([part.missing_value for part in parts]),
        _rows([part.missing_error for part in parts]),
    )


def _rows(parts: list[Floats | None]) -> Floats | None:
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if len(there) == len(parts) else None


def _competing(info: ModelInfo, scores: list[TreeEnsemble]) -> TreeEnsemble:
    """Trees of part k add to score k. Means over equally many trees are compared as exactly as in a forest."""
    divisors = {score.divisor for score in scores}
    common = divisors.pop() if len(divisors) == 1 else 1.0
    values, base, rounded = [], np.zeros(len(scores)), False
    for number, score in enumerate(scores):
        value = np.zeros((len(score.value), len(scores)))
        value[:, number] = score.value[:, 0] / (score.divisor / common)
        base[number] = score.base[0] / (score.divisor / common)
        values.append(value)
        rounded = rounded or score.info.fused_products or score.divisor != common
    info = replace(info, fused_products=rounded)
    if not _ties_go_to_the_first():
        info = replace(info, classes=info.classes[::-1], shows_scores=False)
        values, base = [value[:, ::-1].copy() for value in values], base[::-1].copy()
    return join_trees(info, scores, values, base, common)


def _ties_go_to_the_first() -> bool:
    """Asked of the library itself: three models that tie on a row of zeros."""
    from sklearn.linear_model import Perceptron
    from sklearn.multiclass import OneVsRestClassifier

    tied = OneVsRestClassifier(Perceptron()).fit(np.eye(3), np.arange(3))
    for part in tied.estimators_:
        part.coef_, part.intercept_ = np.zeros((1, 3)), np.zeros(1)
    return int(tied.predict(np.zeros((1, 3)))[0]) == 0
