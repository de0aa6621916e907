"""The score of an XGBoost model before its first tree, to the last bit.

A model stores its base in the units of its objective: a probability p, for logistic ones, which becomes the score
-log(1 / p - 1) (a mean, for others, and its logarithm) in the float32 arithmetic of the C library; another logarithm is off by a unit in the last place in about
one model of six. So the library itself is asked: it loads the first round of the model with all its leaves set to 0, and
what it predicts then is the base.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from elbowroom.importers.xgboost_document import Learner
from elbowroom.importers.xgboost_library import has_library, load
from elbowroom.importers.xgboost_tree import Singles

_PROBABILITIES: Final = ("binary:logistic", "reg:logistic")
_MEANS: Final = ("count:poisson", "reg:gamma", "reg:tweedie")


def base_margins(learner: Learner) -> tuple[Singles, float]:
    """The base of every score, and how far it may be from the library's own: 0 where that was asked."""
    if has_library() and (learner.trees or learner.weights is not None):
        return _of_the_library(learner), 0.0
    stored = learner.base_score
    if learner.weights is not None:  # gblinear adds the first one to every score
        stored = np.full_like(stored, stored[0])
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if learner.objective in _PROBABILITIES:
            base = -np.log(np.float32(1) / stored - np.float32(1))
        elif learner.objective in _MEANS:
            base = np.log(stored)
        else:
            return stored, 0.0
    steps = 1.0 if learner.weight_drop is None else 1.0 + 2.0 * float(np.abs(learner.weight_drop).sum())
    return base.astype(np.float32), float(2.0 * np.spacing(np.abs(base)).max() * steps)


def _of_the_library(learner: Learner) -> Singles:
    import xgboost

    booster = xgboost.Booster()
    load(booster, learner, without_leaves=True)
    row = np.zeros((1, learner.width), np.float32)
    with xgboost.config_context(verbosity=0):
        asked = booster.predict(xgboost.DMatrix(row), output_margin=True, validate_features=False)
    return np.asarray(asked, dtype=np.float32).reshape(learner.outputs)
