"""XGBoost's classifiers, regressors and Boosters: what their labels and values are, and how they are asked.

| objective | label |
|---|---|
| binary:logistic, reg:logistic | 1 iff the float32 logistic function of the score exceeds 0.5 |
| binary:logitraw | classifier: 1 iff score > 0.5; Booster: 1 iff score > 0 |
| binary:hinge | 1 iff score > 0 |
| multi:softprob | first largest float32 softmax |
| multi:softmax | first largest score |

Regressors predict their score, or exp of it (`VALUES`).

A Booster has no labels of its own: "p > 0.5" and "first largest" are ours, stated by `predict`. It uses all of its trees;
the scikit-learn interface uses those up to the best round, if training stopped early.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.xgboost_base import base_margins
from elbowroom.importers.xgboost_columns import codes, columns, learner_of, through_sklearn
from elbowroom.importers.xgboost_document import Learner
from elbowroom.importers.xgboost_linear import read_linear
from elbowroom.importers.xgboost_trees import ensemble
from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.numerics import Floats

__all__ = ["codes", "columns", "predict", "raw_scores", "read_booster", "read_classifier", "read_regressor"]

# A float32 logistic function exceeds 0.5 from a score of 1.5 * 2^-24 on, and the largest softmax entry is told apart from
# a lead of 2^-25 on (both measured); 2^-21 leaves room for other exponentials.
LABEL_ERROR: Final = 2.0**-21


@dataclass(frozen=True)
class Rule:
    """How the scores of one objective become labels: less ``threshold``, then by sign or by the first largest."""

    decision: Decision
    link: Link
    error: float = 0.0
    threshold: float = 0.0


_LOGISTIC: Final = Rule(Decision.POSITIVE, Link.LOGISTIC, LABEL_ERROR)
RULES: Final = {
    "binary:logistic": _LOGISTIC,
    "reg:logistic": _LOGISTIC,
    "binary:logitraw": Rule(Decision.POSITIVE, Link.NONE, threshold=0.5),
    "binary:hinge": Rule(Decision.POSITIVE, Link.NONE),
    "multi:softprob": Rule(Decision.ARGMAX, Link.SOFTMAX, LABEL_ERROR),
    "multi:softmax": Rule(Decision.ARGMAX, Link.SOFTMAX),
}


VALUES: Final = {
    "reg:squarederror": Link.IDENTITY,
    "reg:squaredlogerror": Link.IDENTITY,
    "reg:pseudohubererror": Link.IDENTITY,
    "reg:absoluteerror": Link.IDENTITY,
    "reg:quantileerror": Link.IDENTITY,
    "count:poisson": Link.EXPONENTIAL,
    "reg:gamma": Link.EXPONENTIAL,
    "reg:tweedie": Link.EXPONENTIAL,
}


# ---- what it is ------------------------------------------------------------------------------------------------------
def rule_of(learner: Learner, sklearn: bool) -> Rule:
    rule = RULES.get(learner.objective)
    if rule is None:
        raise UnsupportedModel(
            f"objective {learner.objective!r} of XGBoost gives no labels or values that are known here; labels: "
            f"{', '.join(RULES)}; values: {', '.join(VALUES)}"
        )
    if learner.targets > 1:
        _refuse_several(learner)
    if (rule.decision is Decision.ARGMAX) != (learner.outputs > 1):
        raise UnsupportedModel(
            f"objective {learner.objective!r} of XGBoost with {learner.outputs} scores has no labels"
        )
    return rule if sklearn else replace(rule, threshold=0.0)


def _refuse_several(learner: Learner) -> None:
    if max(learner.targets, learner.outputs) > 1:
        raise UnsupportedModel(
            f"this XGBoost model predicts {learner.outputs} outputs at once; only one label or value per row can be explained: "
            "fit one model per output"
        )


def refuse_odd_missing(model: Any) -> None:
    """The value that stands for missing belongs to the wrapper and is no part of the trees. One that is not NaN cuts all
    floats that round to it out of the half lines of a split."""
    missing = model.missing
    if missing is not None and not np.isnan(missing):
        raise UnsupportedModel(
            f"{type(model).__name__}(missing={missing!r}) takes {missing!r}, and every number that float32 rounds to it, for "
            f"missing. Write NaN instead of {missing!r} in your tables and call "
            'model.set_params(missing=float("nan")); its trees stay as they are'
        )


def _refuse_odd_classes(model: Any, learner: Learner) -> None:
    classes = int(model.n_classes_)
    if classes < 2:
        raise UnsupportedModel(f"this {type(model).__name__} was fitted on one class alone, and knows no other label")
    if classes != (learner.outputs if learner.outputs > 2 else 2) or learner.outputs == 2:
        raise UnsupportedModel(
            f"{type(model).__name__} with {classes} classes and objective {learner.objective!r} predicts {learner.outputs} "
            'numbers per row instead of a label; for two classes fit with objective="binary:logistic"'
        )


# ---- reading ---------------------------------------------------------------------------------------------------------
def read_classifier(model: Any, preprocessing: Preprocessing) -> Model:
    refuse_odd_missing(model)
    learner = learner_of(model)
    rule_of(learner, sklearn=True)
    _refuse_odd_classes(model, learner)
    return read_learner(learner, preprocessing, preprocessing.source_name(model), sklearn=True)


def read_regressor(model: Any, preprocessing: Preprocessing) -> Model:
    refuse_odd_missing(model)
    learner = learner_of(model)
    if learner.objective not in VALUES:
        raise UnsupportedModel(
            f"{type(model).__name__}(objective={learner.objective!r}): values of this kind are not known here; objectives that "
            f"are: {', '.join(VALUES)}"
        )
    return read_learner(learner, preprocessing, preprocessing.source_name(model), sklearn=True)


def read_booster(model: Any, preprocessing: Preprocessing) -> Model:
    return read_learner(learner_of(model), preprocessing, preprocessing.source_name(model), sklearn=False)


def read_learner(learner: Learner, preprocessing: Preprocessing, source: str, *, sklearn: bool) -> Model:
    """The parsed model, with the labels or values of its objective. Equal scores have equal probabilities, and a score of 0
    is one half: ties, whatever follows the sum."""
    base, unsure = base_margins(learner)
    if not np.isfinite(base).all():
        raise UnsupportedModel(
            f"the base_score {learner.base_score.tolist()} of this XGBoost model has no finite score"
        )
    threshold = 0.0
    if learner.objective in VALUES:
        _refuse_several(learner)
        info = ModelInfo.regressor(preprocessing.names, source, VALUES[learner.objective], unsure, single=True)
    else:
        rule = rule_of(learner, sklearn)
        threshold = rule.threshold
        classes = tuple(range(max(2, learner.outputs)))
        info = ModelInfo(
            preprocessing.names, classes, rule.decision, rule.link, source, rule.error + unsure, single=True
        )
    if learner.weights is not None:
        return read_linear(learner, preprocessing, info, base, threshold)
    info = replace(info, ties_last=True)
    return ensemble(learner, preprocessing, info, base, through_sklearn=sklearn, threshold=threshold)


# ---- asking ----------------------------------------------------------------------------------------------------------
def predict(model: Any, table: Any) -> npt.NDArray[Any]:
    """The scikit-learn interface's own labels and values. A Booster has no labels: 1 iff its score is above 0 (p > 0.5), or the first largest score;
    where its predictions are labels or values already (multi:softmax, binary:hinge, `VALUES`), they are taken as they are."""
    if through_sklearn(model):
        return np.asarray(model.predict(table))
    asked = np.asarray(model.predict(_matrix(table), validate_features=isinstance(table, pd.DataFrame)))
    if asked.ndim == 2:
        return np.asarray(asked.argmax(axis=1))
    objective = _objective(model)
    match objective:
        case _ if objective in VALUES:
            return asked
        case "multi:softmax":
            return asked.astype(np.int64)
        case "binary:logitraw":
            return (asked > 0.0).astype(np.int64)
    return (asked > 0.5).astype(np.int64)


def raw_scores(model: Any, table: Any) -> Floats:
    """The float32 sums, less the threshold of the labels: (rows, scores)."""
    if through_sklearn(model):
        asked, rule = model.predict(table, output_margin=True), RULES.get(_objective(model.get_booster()))
        threshold = 0.0 if rule is None else rule.threshold
    else:
        asked = model.predict(_matrix(table), output_margin=True, validate_features=isinstance(table, pd.DataFrame))
        threshold = 0.0
    single = np.asarray(asked, dtype=np.float32).reshape(len(table), -1)
    return (single - np.float32(threshold)).astype(np.float64)


def _objective(booster: Any) -> str:
    objective: str = json.loads(booster.save_config())["learner"]["objective"]["name"]
    return objective


def _matrix(table: Any) -> Any:
    import xgboost

    return xgboost.DMatrix(table, missing=np.nan, enable_categorical=True)
