"""Bagging: the mean of the parts' probabilities, or the share of their votes if they have none; the first largest wins.

Every part sees its own choice of columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.averages import mean_of_probabilities
from elbowroom.importers.inputs import Columns
from elbowroom.importers.parts import class_map, common_columns, probability_trees, read_part, refused
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import column_count, labels, require_fitted
from elbowroom.importers.steps import Selected
from elbowroom.importers.table import Known
from elbowroom.importers.voters import poll, voter
from elbowroom.models.base import Decision, Link, Model, ModelInfo

_LINEAR_CURE = "use trees as its parts, or linear models without predict_proba such as LinearSVC, which vote"


def columns(model: Any, known: Known) -> Columns:
    require_fitted(model)
    return common_columns(model, model.estimators_, known, model.estimators_features_)


def read_bagging(model: Any, preprocessing: Preprocessing) -> Model:
    require_fitted(model)
    classes = labels(model)
    if len(model.estimators_) != model.n_estimators or len(model.estimators_features_) != model.n_estimators:
        raise UnsupportedModel(
            f"this {type(model).__name__} has {len(model.estimators_)} parts and divides by n_estimators="
            f"{model.n_estimators}; fit it again"
        )
    parts = []
    for part, features in zip(model.estimators_, model.estimators_features_, strict=True):
        chosen = np.asarray(features, dtype=np.int64)
        everything = np.array_equal(chosen, np.arange(column_count(model)))
        parts.append(
            read_part(model, part, preprocessing if everything else preprocessing.behind(Selected(model, chosen)))
        )
    info = ModelInfo(preprocessing.names, classes, Decision.ARGMAX, Link.IDENTITY, preprocessing.source_name(model))
    everyone = range(len(classes))  # parts are fitted on the numbers of the classes
    maps = [class_map(model, part, p, everyone) for part, p in zip(model.estimators_, parts, strict=True)]
    first = model.estimators_[0]
    if hasattr(first, "predict_proba"):
        trees = [probability_trees(part) for part in parts]
        if any(tree is None for tree in trees):
            raise refused(model, first, "a mean of its probabilities is no sum over trees", _LINEAR_CURE)
        return mean_of_probabilities(info, [t for t in trees if t is not None], maps, None, float(model.n_estimators))
    voters = [voter(part) for part in parts]
    known = [v for v in voters if v is not None]
    if len(known) < len(voters):
        raise refused(model, first, "its vote is no sum", _LINEAR_CURE)
    values = [v.votes(len(classes), places, 1.0) for v, places in zip(known, maps, strict=True)]
    # the mean of the parts' decision scores that it shows as its own decides nothing
    return poll(replace(info, shows_scores=False), known, values, float(model.n_estimators))
