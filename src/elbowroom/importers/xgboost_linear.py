"""XGBoost's linear booster: score = (bias + base) + sum of x_j w_j, column by column, in float32.

A missing number adds nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.xgboost_document import Learner
from elbowroom.importers.xgboost_tree import Singles
from elbowroom.models.base import ModelInfo
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.numerics import EPS, TINY

_UNIT = 2.0**-24  # of float32: the largest relative error of one rounding
_SMALLEST = 2.0**-148  # more than what underflow takes from one product


def read_linear(
    learner: Learner, preprocessing: Preprocessing, info: ModelInfo, base: Singles, threshold: float = 0.0
) -> LinearModel:
    """The map over raw columns. Every x is rounded to float32, then multiplied and added, which are at most n + 4 roundings
    of any term in any order: relative (n + 4) u / (1 - (n + 4) u) with u = 2^-24, and an underflow per column.

    A ``threshold`` is compared with at the end: it is exact, and stands in the bias here.
    """
    assert learner.weights is not None
    weight = learner.weights[:-1].T.astype(np.float64)
    bias = learner.weights[-1].astype(np.float64) + base
    size = np.abs(learner.weights[-1].astype(np.float64)) + np.abs(base)
    roundings = (learner.width + 4) * _UNIT
    slack = roundings / (1.0 - roundings)
    error = slack * size + (learner.width + 2) * _SMALLEST + 4 * EPS * (np.abs(bias) + threshold)
    own = Affine(weight, bias - threshold, np.abs(weight) * slack + TINY, error)
    if preprocessing.untouched:
        nothing = np.zeros_like(weight)
        return LinearModel(info, replace(own, missing_value=nothing, missing_error=nothing))
    before = preprocessing.affine(np.eye(learner.width), np.zeros(learner.width))
    return LinearModel(info, before.then(own))
