"""Classifiers whose label compares a response of the model inside with a threshold: positive iff response >= threshold.

The response is a probability or a decision score, of either class. Scores and probabilities that are sums over trees are
compared exactly; a logistic probability is compared by its score, s >= log(t / (1 - t)), with the slack that its rounding
needs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.importers.parts import read_part, refused, single_score
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import require_fitted
from elbowroom.importers.table import Known, columns_of
from elbowroom.models.base import Decision, Link, Model, class_index
from elbowroom.models.margins import SMALLEST_PROBABILITY
from elbowroom.numerics import EPS, EPS32

_RESPONSES = ("predict_proba", "decision_function")  # in the order in which "auto" tries them


def columns(model: Any, known: Known) -> Columns:
    return columns_of(_inside(model), known)


def read_fixed_threshold(model: Any, preprocessing: Preprocessing) -> Model:
    """``threshold="auto"`` is 1/2 for probabilities and 0 for scores."""
    response = _response(model)
    threshold = model.threshold
    if isinstance(threshold, str):
        threshold = 0.5 if response == "predict_proba" else 0.0
    return _read(model, preprocessing, response, float(threshold), model.pos_label)


def read_tuned_threshold(model: Any, preprocessing: Preprocessing) -> Model:
    require_fitted(model)
    return _read(
        model, preprocessing, _response(model), float(model.best_threshold_), model._curve_scorer._get_pos_label()
    )


def _inside(model: Any) -> Any:
    return vars(model).get("estimator_", model.estimator)


def _response(model: Any) -> str:
    asked = _RESPONSES if model.response_method == "auto" else (model.response_method,)
    return next((name for name in asked if hasattr(_inside(model), name)), asked[0])


def _read(model: Any, preprocessing: Preprocessing, response: str, threshold: float, positive_label: object) -> Model:
    inside = _inside(model)
    part = read_part(model, inside, preprocessing)
    positive = 1 if positive_label is None else class_index(part.info, positive_label)
    if positive is None:
        raise UnsupportedModel(f"{type(model).__name__}(pos_label={positive_label!r}) is no class of the model inside")
    parsed = positive_from(part, positive, response, threshold)
    if parsed is None:
        raise refused(
            model, inside, f"its {response} is not a score, a sum over trees or a logistic function of a score",
            "use a linear model, a forest or gradient boosting inside",
        )  # fmt: skip
    return replace(parsed, info=replace(parsed.info, source=preprocessing.source_name(model)))


def positive_from(part: Model, positive: int, response: str, threshold: float) -> Model | None:
    """The binary model that says ``positive`` iff the response of that class is at least the threshold; None: not exact."""
    score = single_score(part, positive)
    if score is None:
        return None
    if not math.isfinite(threshold):
        raise UnsupportedModel(f"a threshold of {threshold} gives every row the same label; nothing can be explained")
    is_probability = part.info.decision is Decision.ARGMAX
    if (response == "predict_proba") == is_probability:  # the response is the score itself
        return replace(score, info=replace(score.info, threshold=threshold, evaluation_error=0.0, ties_last=False))
    if is_probability or part.info.link is not Link.LOGISTIC:
        return None
    if not SMALLEST_PROBABILITY <= threshold <= 1.0 - SMALLEST_PROBABILITY:
        raise UnsupportedModel(
            f"a threshold of {threshold:g} on the probabilities of {part.info.source} lies where their rounding decides; "
            f"thresholds between {SMALLEST_PROBABILITY:g} and 1 - {SMALLEST_PROBABILITY:g} can be read"
        )
    needed = math.log(threshold) - math.log1p(-threshold)
    precision = EPS32 if part.info.single else EPS
    error = 8 * precision * (1.0 / (threshold * (1.0 - threshold)) + abs(needed)) + part.info.evaluation_error
    return replace(score, info=replace(score.info, threshold=needed, evaluation_error=error, ties_last=False))
