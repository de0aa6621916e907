"""Voting: soft is the weighted mean of the parts' probabilities, hard the class with the largest weight of votes.

In both the first largest wins. Parts may be pipelines of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.averages import mean_of_probabilities
from elbowroom.importers.inputs import Columns
from elbowroom.importers.parts import class_map, common_columns, probability_trees, read_part, refused
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import finite, labels, require_fitted
from elbowroom.importers.table import Known
from elbowroom.importers.voters import poll, voter
from elbowroom.models.base import Decision, Link, Model, ModelInfo


def columns(model: Any, known: Known) -> Columns:
    require_fitted(model)
    return common_columns(model, model.estimators_, known)


def read_voting(model: Any, preprocessing: Preprocessing) -> Model:
    require_fitted(model)
    classes = labels(model)
    weights = model._weights_not_none
    plain = None if weights is None else finite(model, "weights", weights).tolist()
    parts = [read_part(model, part, preprocessing) for part in model.estimators_]
    everyone = range(len(classes))  # parts are fitted on the numbers of the classes
    maps = [class_map(model, part, p, everyone) for part, p in zip(model.estimators_, parts, strict=True)]
    soft = model.voting == "soft"
    link = Link.IDENTITY if soft else Link.NONE
    info = ModelInfo(preprocessing.names, classes, Decision.ARGMAX, link, preprocessing.source_name(model))
    if soft:
        trees = [probability_trees(part) for part in parts]
        for tree, part in zip(trees, model.estimators_, strict=True):
            if tree is None:
                raise refused(
                    model, part, "a mean of its probabilities is no sum over trees",
                    'use trees and forests alone with voting="soft", or single trees and linear models with voting="hard"',
                )  # fmt: skip
        divisor = float(len(parts)) if plain is None else float(np.array(plain).sum())
        if not divisor > 0.0:
            raise UnsupportedModel(f"the weights of this {type(model).__name__} add up to {divisor:g}")
        return mean_of_probabilities(info, [t for t in trees if t is not None], maps, plain, divisor)
    voters = []
    for parsed, part in zip(parts, model.estimators_, strict=True):
        one = voter(parsed)
        if one is None:
            raise refused(
                model, part, 'its vote is no sum over trees with voting="hard"',
                'use voting="soft" for forests, or single trees and linear models',
            )  # fmt: skip
        voters.append(one)
    shares = [1.0] * len(parts) if plain is None else plain
    if min(shares) < 0.0:
        raise UnsupportedModel(
            f"{type(model).__name__}(weights={shares}): votes with negative weights; use positive ones"
        )
    values = [v.votes(len(classes), m, w) for v, m, w in zip(voters, maps, shares, strict=True)]
    return poll(info, voters, values)
