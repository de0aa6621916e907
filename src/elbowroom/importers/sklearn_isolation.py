"""scikit-learn's isolation forests: 1 for usual rows, -1 for outliers.

A row reaches one leaf per tree, at some depth and with n rows of the tree's sample left in it. With c(n) the mean depth of a
search tree over n rows, D = trees * c(rows of a sample) and S the sum of (depth + c(n) - 1) over trees, the library computes
``score_samples`` = -2^(-S / D) and says -1 iff that is below ``offset_``. So a row is usual iff

    S >= -D log2(-offset_).

Sums of leaf values are compared with a number, as in boosting. The power and the division are rounded: the label is certain
where S is away from the threshold by `POWER_ERROR` (1 + |log2(-offset_)|) D.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import columns, finite, require_fitted
from elbowroom.importers.sklearn_trees import parts_of
from elbowroom.importers.tree_builder import TreeBuilder, float32_at_most
from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import EPS, Floats

__all__ = ["columns", "read_isolation"]

POWER_ERROR: Final = 32 * EPS  # of log2 of the computed power: a few roundings of power and division
_TREES: Final = {("sklearn", "ExtraTreeRegressor")}
_NO_CHILD: Final = -1


def read_isolation(model: Any, preprocessing: Preprocessing) -> TreeEnsemble:
    """The sum over trees minus what it must reach; nonnegative for usual rows."""
    require_fitted(model)
    trees = parts_of(model, _TREES)
    total = len(trees) * float(average_path_length([model._max_samples])[0])
    offset = float(finite(model, "offset_", model.offset_))
    if total <= 0.0 or not offset < 0.0:
        raise UnsupportedModel(
            f"this IsolationForest has samples of {model._max_samples} rows and offset_ {offset}: it says the same of all "
            "rows; fit it on more rows, with contamination at most 0.5"
        )
    builder = TreeBuilder()
    for estimator, chosen in zip(trees, model.estimators_features_, strict=True):
        tree, chosen = estimator.tree_, np.asarray(chosen, dtype=np.int64)
        leaf = np.asarray(tree.children_left) == _NO_CHILD
        feature = np.where(leaf, -1, chosen[np.where(leaf, 0, tree.feature)])
        depths = _depths(tree.children_left, tree.children_right)
        value = depths + average_path_length(tree.n_node_samples) - 1.0
        builder.add(feature, tree.threshold, tree.children_left, tree.children_right, leaf, value[:, None])
    exponent = -math.log2(-offset)
    info = ModelInfo(
        preprocessing.names,
        (-1, 1),
        Decision.NONNEGATIVE,
        Link.NONE,
        preprocessing.source_name(model),
        evaluation_error=POWER_ERROR * (1.0 + abs(exponent)) * total,
        shows_scores=False,
    )
    built = builder.build(info, preprocessing, float32_at_most, np.array([-total * exponent]))
    if not isinstance(built, TreeEnsemble):
        raise UnsupportedModel(
            "an IsolationForest behind a step that mixes columns (PCA, TruncatedSVD) cannot be read; fit it without that step"
        )
    return built


def _depths(left: npt.ArrayLike, right: npt.ArrayLike) -> Floats:
    """Nodes from the root to each node, both counted; parents come before their children."""
    left, right = np.asarray(left), np.asarray(right)
    found = np.ones(left.size)
    for node in range(left.size):
        if left[node] > node and right[node] > node:  # what is damaged is refused by the builder
            found[left[node]] = found[right[node]] = found[node] + 1.0
    return found


def average_path_length(rows: npt.ArrayLike) -> Floats:
    """c(n) = 2 (ln(n - 1) + Euler's gamma) - 2 (n - 1) / n; c(2) = 1, c(1) = c(0) = 0. As the library computes it."""
    n = np.asarray(rows, dtype=np.float64)
    most = np.maximum(n, 3.0)
    mean = 2.0 * (np.log(most - 1.0) + np.euler_gamma) - 2.0 * (most - 1.0) / most
    return np.where(n <= 1, 0.0, np.where(n == 2, 1.0, mean))
