"""scikit-learn's decision trees and forests: the largest (mean) leaf probability wins, the first one in a tie."""

from __future__ import annotations

from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.recognise import find_known, refuse_overrides
from elbowroom.importers.sklearn_common import columns, finite, labels, require_fitted
from elbowroom.importers.tree_builder import TreeBuilder, Trees, float32_at_most
from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.numerics import Floats

__all__ = ["add_tree", "columns", "parts_of", "read_forest", "read_tree", "takes_missing"]

_NO_CHILD = -1  # exactly; any other negative number would be followed
_TREES = {("sklearn", "DecisionTreeClassifier"), ("sklearn", "ExtraTreeClassifier")}


def read_tree(model: Any, preprocessing: Preprocessing) -> Trees:
    """One tree: predict is the first largest entry of the leaf's class fractions."""
    require_fitted(model)
    return _probabilities(model, preprocessing, [model], 1.0)


def read_forest(model: Any, preprocessing: Preprocessing) -> Trees:
    """A forest: the fractions of all trees are added up, then divided by their number."""
    require_fitted(model)
    trees = parts_of(model, _TREES)
    return _probabilities(model, preprocessing, trees, float(len(trees)))


def parts_of(model: Any, kinds: set[tuple[str, str]]) -> list[Any]:
    """The trees of a forest, each of a kind that computes what it is known to compute."""
    for estimator in model.estimators_:
        known = find_known(estimator, kinds)
        if known is None:
            raise UnsupportedModel(f"{type(model).__name__}.estimators_ holds a {type(estimator).__name__}")
        refuse_overrides(estimator, known)
    return list(model.estimators_)


def _probabilities(model: Any, preprocessing: Preprocessing, trees: list[Any], divisor: float) -> Trees:
    classes = labels(model)
    builder = TreeBuilder()
    for tree in trees:
        fractions = finite(tree, "tree_.value", tree.tree_.value)[:, 0, : len(classes)]
        add_tree(builder, tree, fractions, takes_missing(tree))
    info = ModelInfo(preprocessing.names, classes, Decision.ARGMAX, Link.IDENTITY, preprocessing.source_name(model))
    return builder.build(info, preprocessing, float32_at_most, np.zeros(len(classes)), divisor)


def takes_missing(estimator: Any) -> bool:
    """Whether trees of this release say where missing numbers go. Whether this very model takes any depends on the splitter,
    the criterion and monotonic constraints; it is asked itself, once its trees are known to be sound (see `reading`)."""
    return hasattr(estimator.tree_, "missing_go_to_left")


def add_tree(builder: TreeBuilder, estimator: Any, value: Floats, missing: bool = False) -> None:
    """The nodes of one fitted scikit-learn tree. A threshold may be +inf (all but missing values go left). ``missing``: it
    says where missing numbers go, also where training saw none."""
    tree = estimator.tree_
    leaf = np.asarray(tree.children_left) == _NO_CHILD
    threshold = np.asarray(tree.threshold, dtype=np.float64)
    if np.isnan(threshold[~leaf]).any():
        raise UnsupportedModel(f"{type(estimator).__name__}.tree_.threshold holds a NaN")
    sides = np.asarray(tree.missing_go_to_left, dtype=np.bool_) if missing else None
    builder.add(tree.feature, threshold, tree.children_left, tree.children_right, leaf, value, sides)
