"""XGBClassifier, XGBRFClassifier and Booster: which columns they take, what their labels are, and how they are asked.

| objective | label |
|---|---|
| binary:logistic, reg:logistic | 1 iff the float32 logistic function of the score exceeds 0.5 |
| binary:logitraw | classifier: 1 iff score > 0.5; Booster: 1 iff score > 0 |
| binary:hinge | 1 iff score > 0 |
| multi:softprob | first largest float32 softmax |
| multi:softmax | first largest score |

A Booster has no labels of its own: "p > 0.5" and "first largest" are ours, stated by `predict`. It uses all of its trees;
the classifier uses those up to the best round, if training stopped early.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers.inputs import Column, Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.ubj import decode
from elbowroom.importers.xgboost_base import base_margins
from elbowroom.importers.xgboost_document import Learner, parse
from elbowroom.importers.xgboost_linear import read_linear
from elbowroom.importers.xgboost_trees import ensemble
from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.numerics import Floats
from elbowroom.problem.labels import Category

__all__ = ["codes", "columns", "predict", "raw_scores", "read_booster", "read_classifier"]

NOTHING_KNOWN: Final[Mapping[str, tuple[Category, ...]]] = MappingProxyType({})
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


# ---- what it is ------------------------------------------------------------------------------------------------------
def learner_of(model: Any) -> Learner:
    """Everything that a fitted classifier, regressor or Booster says about itself."""
    booster = model
    if through_sklearn(model):
        from sklearn.exceptions import NotFittedError

        try:
            booster = model.get_booster()
        except NotFittedError:
            raise InputError(f"this {type(model).__name__} is not fitted; call fit first") from None
    return parse(decode(bytes(booster.save_raw("ubj"))))


def through_sklearn(model: Any) -> bool:
    """True for the scikit-learn interface, which has labels of its own and asks in its own way."""
    return hasattr(model, "get_booster")


def rule_of(learner: Learner, sklearn: bool) -> Rule:
    rule = RULES.get(learner.objective)
    if rule is None:
        raise UnsupportedModel(
            f"objective {learner.objective!r} of XGBoost gives no labels that are known here; objectives with labels: "
            f"{', '.join(RULES)}"
        )
    if learner.targets > 1:
        raise UnsupportedModel(
            f"this XGBoost model predicts {learner.targets} outputs at once; only one label per row can be explained: fit "
            "one model per output"
        )
    if (rule.decision is Decision.ARGMAX) != (learner.outputs > 1):
        raise UnsupportedModel(
            f"objective {learner.objective!r} of XGBoost with {learner.outputs} scores has no labels"
        )
    return rule if sklearn else replace(rule, threshold=0.0)


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


# ---- columns ---------------------------------------------------------------------------------------------------------
def columns(model: Any, known: Mapping[str, tuple[Category, ...]] = NOTHING_KNOWN) -> Columns:
    types_given = through_sklearn(model) and model.feature_types is not None
    return columns_of(learner_of(model), known, types_given)


def columns_of(learner: Learner, known: Mapping[str, tuple[Category, ...]], types_given: bool = False) -> Columns:
    """Names, and the categories of the columns that have some.

    From 3.1 on a model stores the categories of pandas columns. A column of plain codes, declared by ``feature_types``,
    takes the numbers that the caller's table holds, else 0, 1, ... up to the largest one that any tree asks about.
    """
    asked = _largest_codes(learner)
    found = []
    for j in range(learner.width):
        name = learner.names[j] if learner.names else f"x{j}"
        categorical = j in asked or (learner.types is not None and learner.types[j] == "c")
        if j in learner.categories:
            found.append(Column(name, (*learner.categories[j], None), pandas_category=True))
        elif not categorical:
            found.append(Column(name))
        elif learner.names and not types_given:
            raise UnsupportedModel(
                f"column {name!r} is categorical, and this XGBoost model does not say which categories its codes stand for "
                "(releases before 3.1 do not store them); fit it again with xgboost 3.1 or later"
            )
        else:
            found.append(Column(name, known.get(name) or (*range(asked.get(j, 0) + 1), None)))
    return Columns(tuple(found), learner.names is not None)


def _largest_codes(learner: Learner) -> dict[int, int]:
    """The largest code that any tree asks about, by column with splits by categories."""
    found: dict[int, int] = {}
    for tree in learner.trees:
        for node, listed in tree.sets.items():
            column = int(tree.feature[node])
            found[column] = max(found.get(column, 0), int(listed.max(initial=0)))
    return found


def codes(model: Any) -> dict[int, dict[Any, float]]:
    return codes_of(learner_of(model))


def codes_of(learner: Learner) -> dict[int, dict[Any, float]]:
    """What the trees see of stored categories: their positions. Plain codes are the numbers that they are."""
    return {j: {label: float(i) for i, label in enumerate(stored)} for j, stored in learner.categories.items()}


# ---- reading ---------------------------------------------------------------------------------------------------------
def read_classifier(model: Any, preprocessing: Preprocessing) -> Model:
    refuse_odd_missing(model)
    learner = learner_of(model)
    rule = rule_of(learner, sklearn=True)
    _refuse_odd_classes(model, learner)
    return read_learner(learner, preprocessing, preprocessing.source_name(model), rule, sklearn=True)


def read_booster(model: Any, preprocessing: Preprocessing) -> Model:
    learner = learner_of(model)
    rule = rule_of(learner, sklearn=False)
    return read_learner(learner, preprocessing, preprocessing.source_name(model), rule, sklearn=False)


def read_learner(learner: Learner, preprocessing: Preprocessing, source: str, rule: Rule, *, sklearn: bool) -> Model:
    """The parsed model, with the labels of ``rule``. Equal scores have equal probabilities, and a score of 0 is one half:
    ties, whatever follows the sum."""
    base, unsure = base_margins(learner)
    if not np.isfinite(base).all():
        raise UnsupportedModel(
            f"the base_score {learner.base_score.tolist()} of this XGBoost model has no finite score"
        )
    classes = tuple(range(max(2, learner.outputs)))
    info = ModelInfo(preprocessing.names, classes, rule.decision, rule.link, source, rule.error + unsure, single=True)
    if learner.weights is not None:
        return read_linear(learner, preprocessing, info, base, rule.threshold)
    info = replace(info, ties_last=True)
    return ensemble(learner, preprocessing, info, base, through_sklearn=sklearn, threshold=rule.threshold)


# ---- asking ----------------------------------------------------------------------------------------------------------
def predict(model: Any, table: Any) -> npt.NDArray[Any]:
    """The classifier's own labels. A Booster has none: 1 iff its score is above 0 (p > 0.5), or the first largest score;
    where its predictions are labels already (multi:softmax, binary:hinge), they are taken as they are."""
    if through_sklearn(model):
        return np.asarray(model.predict(table))
    asked = np.asarray(model.predict(_matrix(table), validate_features=isinstance(table, pd.DataFrame)))
    if asked.ndim == 2:
        return np.asarray(asked.argmax(axis=1))
    match _objective(model):
        case "multi:softmax":
            return asked.astype(np.int64)
        case "binary:logitraw":
            return (asked > 0.0).astype(np.int64)
    return (asked > 0.5).astype(np.int64)


def raw_scores(model: Any, table: Any) -> Floats:
    """The float32 sums, less the threshold of the labels: (rows, scores)."""
    if through_sklearn(model):
        asked, threshold = model.predict(table, output_margin=True), RULES[_objective(model.get_booster())].threshold
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
