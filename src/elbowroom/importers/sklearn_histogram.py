"""scikit-learn's histogram gradient boosting: float64 cuts, sets of categories, and a side for missing values at every split.

With categorical columns the model keeps an encoder of its own: these columns come first, and hold the positions of their
values among the sorted ones; missing and unknown values are NaN. Columns of text are handed over as positions, columns of
numbers as the numbers themselves, and `_InSet` looks up what a split says about them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Column, Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import PROBABILITY_ERROR, column_count, finite, labels, require_fitted
from elbowroom.importers.sklearn_common import columns as plain_columns
from elbowroom.importers.sklearn_regression import link_of
from elbowroom.importers.tree_builder import TreeBuilder, Trees, at_most
from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.problem.labels import Category, category, is_missing

__all__ = ["add_trees", "categorical", "codes", "columns", "read_histogram_boosting", "read_histogram_regressor"]


# ---- what the model takes -------------------------------------------------------------------------------------------------
def columns(model: Any) -> Columns:
    """Numbers, and the categories that the model's own encoder knows. A missing category is always taken."""
    found, known = plain_columns(model), _categories(model)
    made = (Column(column.name, (*known[j], None)) if j in known else column for j, column in enumerate(found.columns))
    return Columns(tuple(made), found.own_names)


def codes(model: Any) -> dict[int, dict[Category, float]]:
    """Categories that are numbers stand for themselves, in frames as in arrays."""
    require_fitted(model)
    return {j: {label: float(label) for label in known} for j, known in _categories(model).items() if _numbers(known)}  # type: ignore[arg-type]


def categorical(model: Any) -> tuple[int, ...]:
    """Columns of categories that look like numbers."""
    return tuple(codes(model))


def _categories(model: Any) -> dict[int, tuple[Category, ...]]:
    """Categories by column, in the order of their positions, without the missing one."""
    if getattr(model, "is_categorical_", None) is None:
        return {}
    encoder = model._preprocessor.named_transformers_["encoder"]
    asked = np.flatnonzero(model.is_categorical_)
    for j, values in zip(asked, encoder.categories_, strict=True):
        if any(value is None for value in values):
            name = plain_columns(model).names[j]
            raise UnsupportedModel(
                f"column {name!r}: this {type(model).__name__} takes None for a category and NaN for a missing one; fit on "
                f"X[{name!r}].astype('category'), where both are missing"
            )
    return {
        int(j): tuple(category(value, f"column {j} of the model") for value in values if not is_missing(value))
        for j, values in zip(asked, encoder.categories_, strict=True)
    }


def _numbers(known: tuple[Category, ...]) -> bool:
    return not any(isinstance(label, str) for label in known)


def _order(model: Any) -> Ints:
    """Which column of the table each column of the trees is: categorical ones first."""
    if getattr(model, "is_categorical_", None) is None:
        return np.arange(column_count(model))
    return np.concatenate([np.flatnonzero(model.is_categorical_), np.flatnonzero(~model.is_categorical_)])


# ---- reading --------------------------------------------------------------------------------------------------------------
def read_histogram_boosting(model: Any, preprocessing: Preprocessing) -> Trees:
    """raw = baseline + sum of leaf values over float64 rows; two classes: the second iff raw > 0.

    Some releases compare probabilities instead, which tie for raw scores of a few eps; these are left open for all. A raw
    score of exactly 0 is a probability of exactly one half, and equal scores are equal probabilities: ties by either rule.
    """
    require_fitted(model)
    classes = labels(model)
    builder = TreeBuilder()
    base = add_trees(builder, model)
    decision = Decision.POSITIVE if len(classes) == 2 else Decision.ARGMAX
    link = (Link.NONE, Link.LOGISTIC, Link.SOFTMAX)[min(len(classes), 3) - 1]
    source = preprocessing.source_name(model)
    info = ModelInfo(preprocessing.names, classes, decision, link, source, PROBABILITY_ERROR, ties_last=True)
    return builder.build(info, preprocessing, at_most, base)


def read_histogram_regressor(model: Any, preprocessing: Preprocessing) -> Trees:
    """baseline + sum of leaf values; exp of that for the losses "poisson" and "gamma"."""
    require_fitted(model)
    builder = TreeBuilder()
    base = add_trees(builder, model)
    source = preprocessing.source_name(model)
    info = ModelInfo.regressor(preprocessing.names, source, link_of(model, model._loss.link))
    return builder.build(info, preprocessing, at_most, base)


def add_trees(builder: TreeBuilder, model: Any) -> Floats:
    """All trees of a fitted classifier or regressor; returned are the scores before the first one."""
    order, known = _order(model), _categories(model)
    for stage in model._predictors:
        for k, predictor in enumerate(stage):
            nodes = predictor.nodes
            leaf, by_set = nodes["is_leaf"].astype(bool), nodes["is_categorical"].astype(bool)
            column = nodes["feature_idx"].astype(np.int64)
            if (column[~leaf] >= order.size).any() or np.isnan(nodes["num_threshold"][~leaf & ~by_set]).any():
                raise UnsupportedModel(
                    f"{type(model).__name__}._predictors holds a column that is not there, or a threshold that is NaN"
                )
            value = np.zeros((leaf.size, len(stage)))
            value[:, k] = finite(model, "_predictors.value", nodes["value"])
            feature = order[np.where(leaf, 0, column)]
            sets = {
                int(i): _InSet(known[int(feature[i])], predictor.raw_left_cat_bitsets, nodes[i])
                for i in np.flatnonzero(by_set & ~leaf)
            }
            threshold = np.where(by_set, 0.0, nodes["num_threshold"])
            missing_left = nodes["missing_go_to_left"].astype(bool)
            builder.add(feature, threshold, nodes["left"], nodes["right"], leaf, value, missing_left, sets or None)
    return finite(model, "_baseline_prediction", model._baseline_prediction).reshape(-1)


class _InSet:
    """Known categories go left if their bit is set, missing and unknown ones where missing values go."""

    def __init__(self, known: tuple[Category, ...], bitsets: npt.NDArray[np.uint32], node: Any) -> None:
        words = np.asarray(bitsets[int(node["bitset_idx"])], dtype="<u4")
        self._bits: Bools = np.unpackbits(words.view(np.uint8), bitorder="little").astype(np.bool_)
        self._missing_left = bool(node["missing_go_to_left"])
        numbers = [float(label) for label in known] if _numbers(known) else range(len(known))  # type: ignore[arg-type]
        self._place = {float(number): i for i, number in enumerate(numbers)}

    def __call__(self, codes: Floats) -> Bools:
        places = [self._place.get(float(code), -1) for code in codes]  # NaN equals nothing
        return np.array([self._missing_left if p < 0 else self._bits[p] for p in places], dtype=np.bool_)
