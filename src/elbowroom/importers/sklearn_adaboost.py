"""AdaBoost (SAMME): every part votes with its weight w for its class, and with -w / (K - 1) for every other one.

Two classes: the second iff the sum is positive; more: the first largest. The sums are divided by that of all weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.importers.parts import class_map, common_columns, read_part, refused
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import finite, labels, require_fitted
from elbowroom.importers.table import Known
from elbowroom.importers.voters import poll, voter
from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Floats


def columns(model: Any, known: Known) -> Columns:
    require_fitted(model)
    return common_columns(model, model.estimators_, known)


def read_adaboost(model: Any, preprocessing: Preprocessing) -> Model:
    """For two classes the original's score is (0 - (sum of -w)) + (sum of w), divided: twice the sum, exactly."""
    require_fitted(model)
    classes = labels(model)
    if len(classes) < 2:
        raise UnsupportedModel(f"this {type(model).__name__} was fitted on one class; nothing can be explained")
    if getattr(model, "algorithm", "SAMME") == "SAMME.R":
        raise UnsupportedModel(
            f'{type(model).__name__}(algorithm="SAMME.R") adds logarithms of probabilities; fit with algorithm="SAMME"'
        )
    weights = finite(model, "estimator_weights_", model.estimator_weights_)
    total = float(weights.sum())
    if not total > 0.0:
        raise UnsupportedModel(f"the estimator_weights_ of this {type(model).__name__} add up to {total:g}")
    binary = len(classes) == 2
    voters, values = [], []
    for part, weight in zip(model.estimators_, weights.tolist(), strict=False):  # early stops leave weights over
        parsed = read_part(model, part, preprocessing)
        one = voter(parsed)
        if one is None:
            raise refused(
                model, part, "what it says is no sum that could be weighed",
                "use single trees (the default) or linear models as its parts",
            )  # fmt: skip
        places = class_map(model, part, parsed, classes)
        voters.append(one)
        values.append(_votes(one.votes(len(classes), places, *_sides(weight, len(classes))), binary))
    decision = Decision.POSITIVE if binary else Decision.ARGMAX
    link = Link.LOGISTIC if binary else Link.NONE  # of more classes: the softmax of score / (K - 1)
    info = ModelInfo(preprocessing.names, classes, decision, link, preprocessing.source_name(model))
    joined = poll(info, voters, values, total)
    # whatever the parts do with a missing number, AdaBoost refuses it
    return replace(joined, missing_left=None, may_miss=None) if isinstance(joined, TreeEnsemble) else joined


def _sides(weight: float, n_classes: int) -> tuple[float, float]:
    """What a vote adds to its class, and to the others: the original's own arithmetic."""
    return weight, -1 / (n_classes - 1) * weight


def _votes(value: Floats, binary: bool) -> Floats:
    return np.ascontiguousarray(2.0 * value[:, 1:]) if binary else value
