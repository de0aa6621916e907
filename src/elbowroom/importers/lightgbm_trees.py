"""LightGBM: float64 sums of leaves in the order of the trees, from 0; splits by cuts and by sets of codes.

Numbers up to 1e-35 in size are 0 before anything looks at them, which keeps the order and is folded into the cuts. Labels:

* one score: the second class iff p > 1 - p for p = 1 / (1 + exp(-sigmoid * score));
* "multiclass": the first largest softmax; "multiclassova": the first largest of K such p, which are not normalised.

A Booster and a text file have no labels: they get 0, 1, ... by the same rules. Regressors: the score, or exp of it.
"""

from __future__ import annotations

import importlib.util
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.lightgbm_columns import booster_of, categorical, codes, columns, is_estimator, matrix, text_of
from elbowroom.importers.lightgbm_model import TextModel
from elbowroom.importers.lightgbm_splits import add_tree, goes_left
from elbowroom.importers.lightgbm_text import LightGBMFile
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import PROBABILITY_ERROR, labels
from elbowroom.importers.tree_builder import TreeBuilder, Trees
from elbowroom.models.base import Decision, Label, Link, ModelInfo
from elbowroom.numerics import Floats

__all__ = [
    "build",
    "categorical",
    "codes",
    "columns",
    "predict",
    "raw_scores",
    "read_booster",
    "read_classifier",
    "text_of",
]

OBJECTIVES: Final = ("binary", "cross_entropy", "multiclass", "multiclassova")
VALUES: Final = {
    **dict.fromkeys(("regression", "regression_l1", "huber", "fair", "quantile", "mape"), Link.IDENTITY),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), Link.EXPONENTIAL),
}
_WORST_ERROR: Final = 1e-3  # of a score; beyond it "one against all" cannot tell its classes apart


# ---- reading --------------------------------------------------------------------------------------------------------------
def read_classifier(model: Any, preprocessing: Preprocessing) -> Trees:
    """An LGBMClassifier, with its own labels."""
    _refuse_early_stop(model)
    text = text_of(model)
    if callable(model.objective_):
        raise UnsupportedModel(_custom("LGBMClassifier"))
    return build(text, preprocessing, _info(text, labels(model), preprocessing, model))


def read_regressor(model: Any, preprocessing: Preprocessing) -> Trees:
    """An LGBMRegressor: a sum, a mean over rounds (rf), or exp of it."""
    _refuse_early_stop(model)
    return _values(text_of(model), preprocessing, model)


def read_booster(model: Any, preprocessing: Preprocessing) -> Trees:
    """A Booster or a `LightGBMFile`: labels are 0, 1, ..., or values if it was trained for values."""
    text = text_of(model)
    if text.objective.split(" ")[0] in VALUES:
        return _values(text, preprocessing, model)
    return build(text, preprocessing, _info(text, tuple(range(max(2, text.n_scores))), preprocessing, model))


def _values(text: TextModel, preprocessing: Preprocessing, model: Any) -> Trees:
    name, *settings = text.objective.split(" ")
    source = preprocessing.source_name(model)
    if name not in VALUES or "sqrt" in settings or text.n_scores != 1:
        raise UnsupportedModel(
            f"{source}: what it predicts with the objective {text.objective or 'of your own'!r} is no sum of leaves, nor exp "
            f"of one; fit with one of {', '.join(VALUES)} (and without reg_sqrt)"
        )
    return build(text, preprocessing, ModelInfo.regressor(preprocessing.names, source, VALUES[name]))


def _refuse_early_stop(model: Any) -> None:
    if str(model.get_params().get("pred_early_stop", False)).lower() not in ("false", "none", "0", "-"):
        raise UnsupportedModel(
            f"this {type(model).__name__} stops adding trees where a score seems settled (pred_early_stop=True), so that its "
            "scores are no sums; call set_params(pred_early_stop=False) first"
        )


def build(text: TextModel, preprocessing: Preprocessing, info: ModelInfo) -> Trees:
    """The sums (or means over rounds) of a text under any rule of labels."""
    builder = TreeBuilder()
    for k, tree in enumerate(text.trees):
        add_tree(builder, tree, k, text.n_scores, info.source)
    divisor = float(text.rounds) if text.average else 1.0
    return builder.build(info, preprocessing, goes_left, np.zeros(text.n_scores), divisor)


def _info(text: TextModel, classes: tuple[Label, ...], preprocessing: Preprocessing, model: Any) -> ModelInfo:
    source = preprocessing.source_name(model)
    if not text.objective:
        raise UnsupportedModel(_custom(source))
    if text.logistic is None:
        raise UnsupportedModel(
            f"{source}: the objective {text.objective!r} with {text.n_scores} trees per round decides no labels; fit with "
            f"one of {', '.join(OBJECTIVES)}"
        )
    name, sigmoid = text.logistic
    if text.n_scores == 1:
        decision = Decision.POSITIVE if len(classes) == 2 else Decision.ARGMAX
        link = Link.LOGISTIC if sigmoid == 1.0 and len(classes) == 2 else Link.NONE
        error = PROBABILITY_ERROR / min(sigmoid, 1.0)
    else:
        if len(classes) != text.n_scores:
            raise UnsupportedModel(f"{source}: {text.n_scores} scores for {len(classes)} classes; fit it again")
        decision, link = Decision.ARGMAX, Link.SOFTMAX if name == "multiclass" else Link.NONE
        error = PROBABILITY_ERROR if name == "multiclass" else _separate_error(text, sigmoid, source)
    return ModelInfo(preprocessing.names, classes, decision, link, source, error, ties_last=True)


def _separate_error(text: TextModel, sigmoid: float, source: str) -> float:
    """How far two scores must be apart for their logistic functions to differ in float64.

    1 - p(s) = 1 / (1 + exp(sigmoid s)) is absorbed by the 1 for large s. The smaller of two scores is at most b, the second
    largest of the K greatest scores; p is off by a few eps, so that a lead of 16 eps (1 + exp(sigmoid b)) / sigmoid shows.
    """
    highest = np.zeros(text.n_scores)
    for k, tree in enumerate(text.trees):
        highest[k % text.n_scores] += tree.value.max()
    b = float(np.sort(highest)[-2]) / (text.rounds if text.average else 1)
    error = PROBABILITY_ERROR * (1.0 + np.exp(min(sigmoid * b, 700.0))) / min(sigmoid, 1.0)
    if error > _WORST_ERROR:
        raise UnsupportedModel(
            f"{source}: scores of multiclassova reach {b:.3g}, where several probabilities are 1.0 and the first of them wins; "
            'fit with objective="multiclass"'
        )
    return float(error)


def _custom(source: str) -> str:
    return (
        f"{source}: it was fitted with an objective of your own, and its predict returns raw scores, no labels; "
        'fit with objective="binary", "multiclass" or "multiclassova"'
    )


# ---- asking the original ----------------------------------------------------------------------------------------------------
def raw_scores(model: Any, table: Any) -> Floats:
    """The library's sums; without the library, of a file: those of the format's own rules."""
    booster = _asked(model)
    if booster is None:
        return np.asarray(model.model.raw(matrix(table, model.model)))
    text = text_of(model, rounds=1)
    raw = np.asarray(booster.predict(table, raw_score=True), dtype=np.float64).reshape(-1, text.n_scores)
    best = int(booster.best_iteration)
    return raw / (best if best > 0 else booster.current_iteration()) if text.average else raw


def predict(model: Any, table: Any) -> npt.NDArray[Any]:
    """Labels or values: the estimator's own; of a Booster and a file 1 iff p > 1 - p, or the first largest probability."""
    if is_estimator(model):
        return np.asarray(model.predict(table))
    booster, text = _asked(model), text_of(model, rounds=1)
    said = _said(text, raw_scores(model, table)) if booster is None else np.asarray(booster.predict(table))
    if text.objective.split(" ")[0] in VALUES:
        return said
    return np.asarray(said > 1.0 - said if said.ndim == 1 else np.argmax(said, axis=1), dtype=np.int64)


def _said(text: TextModel, raw: Floats) -> Floats:
    """What the library would predict from these sums: values, probabilities, or for "multiclass" something as large."""
    name = text.objective.split(" ")[0]
    if name in VALUES:
        return np.asarray(np.exp(raw[:, 0]) if VALUES[name] is Link.EXPONENTIAL else raw[:, 0])
    if name == "multiclass":
        return raw
    sigmoid = 1.0 if text.logistic is None else text.logistic[1]
    with np.errstate(over="ignore"):
        p = 1.0 / (1.0 + np.exp(-sigmoid * raw))
    return np.asarray(p if text.n_scores > 1 else p[:, 0])


def _asked(model: Any) -> Any:
    """A Booster that answers for the model; None for a file without the library."""
    if not isinstance(model, LightGBMFile):
        return booster_of(model)
    if importlib.util.find_spec("lightgbm") is None:
        return None
    import lightgbm

    if model.booster is None:
        model.booster = lightgbm.Booster(model_str=model.model.checked_text())
    return model.booster
