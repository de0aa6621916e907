"""The score of an XGBoost model before its first tree, to the last bit.

A model stores its base in the units of its objective: a probability p, for logistic ones, which becomes the score
-log(1 / p - 1) in the float32 arithmetic of the C library; another logarithm is off by a unit in the last place in about
one model of six. So the library itself is asked: it loads the first round of the model with all its leaves set to 0, and
what it predicts then is the base.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from elbowroom.importers.xgboost_document import Learner
from elbowroom.importers.xgboost_tree import Singles

_PROBABILITIES: Final = ("binary:logistic", "reg:logistic")


def has_library() -> bool:
    """True if xgboost can be asked."""
    return find_spec("xgboost") is not None


def base_margins(learner: Learner) -> tuple[Singles, float]:
    """The base of every score, and how far it may be from the library's own: 0 where that was asked."""
    if has_library() and (learner.trees or learner.weights is not None):
        return _of_the_library(learner), 0.0
    if learner.objective not in _PROBABILITIES:
        return learner.base_score, 0.0
    with np.errstate(divide="ignore", over="ignore"):
        base = -np.log(np.float32(1) / learner.base_score - np.float32(1))
    steps = 1.0 if learner.weight_drop is None else 1.0 + 2.0 * float(np.abs(learner.weight_drop).sum())
    return base.astype(np.float32), float(2.0 * np.spacing(np.abs(base)).max() * steps)


def _of_the_library(learner: Learner) -> Singles:
    import xgboost

    with xgboost.config_context(verbosity=0):
        booster = xgboost.Booster()
        booster.load_model(bytearray(json.dumps(_without_leaves(learner), default=_plain).encode()))
        row = np.zeros((1, learner.width), np.float32)
        asked = booster.predict(xgboost.DMatrix(row), output_margin=True, validate_features=False)
    return np.asarray(asked, dtype=np.float32).reshape(learner.outputs)


def _without_leaves(learner: Learner) -> dict[str, Any]:
    """The document of the model with its first round alone, in which every leaf is 0."""
    booster = dict(learner.raw["learner"]["gradient_booster"])
    if learner.weights is not None:
        booster["model"] = {**booster["model"], "weights": [0.0] * learner.weights.size}
    else:
        count = int(learner.rounds[learner.rounds > 0][0])
        holder = booster
        if learner.weight_drop is not None:
            holder = booster["gbtree"] = dict(booster["gbtree"])
            booster["weight_drop"] = [1.0] * count
        model = holder["model"] = dict(holder["model"])
        model["trees"] = [_zero(tree) for tree in model["trees"][:count]]
        model["tree_info"] = model["tree_info"][:count]
        model["iteration_indptr"] = [0, count]
        model["gbtree_model_param"] = {**model["gbtree_model_param"], "num_trees": str(count)}
    return {**learner.raw, "learner": {**learner.raw["learner"], "gradient_booster": booster}}


def _zero(tree: dict[str, Any]) -> dict[str, Any]:
    values = ("split_conditions", "base_weights", "leaf_weights")
    return {key: [0.0] * len(value) if key in values else value for key, value in tree.items()}


def _plain(array: Any) -> list[Any]:
    plain: list[Any] = array.tolist()
    return plain
