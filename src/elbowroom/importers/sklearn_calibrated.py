"""CalibratedClassifierCV: the mean over its folds of calibrated probabilities; the first largest wins.

* **Single trees**, any method, any number of folds: a leaf has one calibrated probability, computed by the original itself.
* **One fold** (``ensemble=False``): sigmoid p = 1 / (1 + exp(a f + b)) is a logistic function of the score -(a f + b);
  temperature is a softmax of multiples of the scores; isotonic steps up somewhere, and two classes are told apart by
  whether f reaches that edge, found by bisection over floats through the original's own calibrator.
* **Several folds** of anything else are means of curves, and refused.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.calibrators import sigmoid_scores, temperature_scores
from elbowroom.importers.inputs import Columns
from elbowroom.importers.parts import common_columns, probability_trees, read_part, refused
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import finite, labels, require_fitted
from elbowroom.importers.sklearn_thresholds import positive_from
from elbowroom.importers.table import Known
from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.union import join_trees
from elbowroom.numerics import BIGGEST, Bools, Floats, last_float_where, next_down, next_up

_METHODS = ("sigmoid", "isotonic", "temperature")
_CURE = "fit it with ensemble=False, or calibrate single trees"


def columns(model: Any, known: Known) -> Columns:
    require_fitted(model)
    return common_columns(model, [fold.estimator for fold in model.calibrated_classifiers_], known)


def read_calibrated(model: Any, preprocessing: Preprocessing) -> Model:
    require_fitted(model)
    classes = labels(model)
    folds = list(model.calibrated_classifiers_)
    parts = [read_part(model, fold.estimator, preprocessing) for fold in folds]
    for fold in folds:
        if fold.method not in _METHODS:
            raise UnsupportedModel(f"{type(model).__name__}(method={fold.method!r}); known are {', '.join(_METHODS)}")
        own = np.asarray(fold.estimator.classes_).tolist()
        # temperatures are fitted on the numbers of the classes
        if own != list(classes) and (fold.method != "temperature" or own != list(range(len(classes)))):
            raise refused(model, fold.estimator, "a fold saw fewer classes than the others", "use stratified folds")
    info = ModelInfo(preprocessing.names, classes, Decision.ARGMAX, Link.IDENTITY, preprocessing.source_name(model))
    if all(_is_single_tree(part) for part in parts):
        return _leaf_by_leaf(info, folds, parts)
    if len(folds) > 1:
        raise refused(
            model, folds[0].estimator, f"a mean of {len(folds)} calibrated curves (ensemble=True) is no sum over columns or "
            "trees", _CURE,
        )  # fmt: skip
    parsed = _one_fold(info, folds[0], parts[0])
    if parsed is None:
        raise refused(
            model, folds[0].estimator, f"method={folds[0].method!r} with {len(classes)} classes bends its scores",
            'use method="temperature", or explain the model inside',
        )  # fmt: skip
    return parsed


def _is_single_tree(part: Model) -> bool:
    trees = probability_trees(part)
    return trees is not None and trees.n_trees == 1 and trees.divisor == 1.0 and not trees.info.fused_products


def _leaf_by_leaf(info: ModelInfo, folds: list[Any], parts: list[Model]) -> TreeEnsemble:
    """exp of several numbers at once may differ in the last digit from exp of one, and so may sums over the classes: where there
    are such, the values count as rounded."""
    trees = [part for part in parts if isinstance(part, TreeEnsemble)]
    values = []
    for fold, tree in zip(folds, trees, strict=True):
        leaf = tree.feature < 0
        value = np.zeros((leaf.size, len(info.classes)))
        value[leaf] = finite(fold, "predict_proba", _calibrated(fold, tree.value[leaf], "predict_proba"))
        values.append(value)
    rounded = len(info.classes) > 2 or any(fold.method == "temperature" for fold in folds)
    return join_trees(
        replace(info, fused_products=rounded), trees, values, np.zeros(len(info.classes)), float(len(folds))
    )


def _one_fold(info: ModelInfo, fold: Any, part: Model) -> Model | None:
    response = "decision_function" if hasattr(fold.estimator, "decision_function") else "predict_proba"
    is_response = (response == "predict_proba") == (part.info.link is Link.IDENTITY)
    if (
        fold.method == "isotonic" or not is_response
    ):  # a curve of a probability that is a curve itself grows all the same
        return _stepped(info, fold, part, response) if len(info.classes) == 2 else None
    if part.info.threshold != 0.0:
        return None
    if fold.method == "sigmoid":
        slopes = finite(fold, "a_", [c.a_ for c in fold.calibrators])
        offsets = finite(fold, "b_", [c.b_ for c in fold.calibrators])
        return sigmoid_scores(info, part, slopes, offsets)
    return temperature_scores(info, part, float(finite(fold, "beta_", fold.calibrators[0].beta_)))


def _stepped(info: ModelInfo, fold: Any, part: Model, response: str) -> Model | None:
    """Label 1 iff f >= edge. Between two knots the original's interpolation only grows, rounding included; that it does not
    fall back at a knot is looked at, knot by knot."""

    def second(f: Floats) -> Bools:
        given = f[:, None] if response == "decision_function" else np.column_stack([1.0 - f, f])
        p = _calibrated(fold, given, response)
        return np.asarray(p[:, 1] > p[:, 0])

    low, high = (-BIGGEST, BIGGEST) if response == "decision_function" else (0.0, 1.0)
    knots = np.asarray(getattr(fold.calibrators[0], "X_thresholds_", ()), dtype=np.float64)
    around = np.clip(np.sort(np.concatenate([next_down(knots), knots, next_up(knots), [low, high]])), low, high)
    labels_there = second(around)
    if (np.diff(labels_there.astype(np.int8)) < 0).any():
        return None
    if labels_there.all() or not labels_there.any():
        raise UnsupportedModel(
            f"{info.source}: its calibration gives every row the same label; nothing can be explained"
        )
    edge = float(next_up(last_float_where(lambda f: ~second(f), 1, low, high))[0])
    parsed = positive_from(part, 1, response, edge)
    if parsed is None:
        return None
    return replace(parsed, info=replace(parsed.info, classes=info.classes, link=Link.NONE, source=info.source))


def _calibrated(fold: Any, response: Floats, method: str) -> Floats:
    """The original's own calibrated probabilities of given responses of its inner model."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    def answer(_: object, X: Floats) -> Floats:
        return X[:, 0] if X.shape[1] == 1 else X

    answer.__name__ = method  # the original looks at the name of the method that answered
    given = type("Given", (ClassifierMixin, BaseEstimator), {"classes_": fold.estimator.classes_, method: answer})
    asked = copy.copy(fold)
    asked.estimator = given()
    return np.asarray(asked.predict_proba(response), dtype=np.float64)
