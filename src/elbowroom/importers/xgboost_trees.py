"""XGBoost's boosted trees and forests, gbtree and dart, as one sum of leaf values.

score = base + sum of leaf values, all float32, base first, then trees in order; rows are cast to float32 and go left iff
x < threshold, missing ones where ``default_left`` says. A split by categories sends the listed codes right and all
others left, unknown ones too.

dart multiplies leaves by a weight per tree. The scikit-learn interface adds ((base + leaf) - base) * weight, and
Booster.predict adds leaf * weight, each step rounded to float32. Both are numbers that depend on the leaf alone (and on
the base, which is constant), so that either is a sum of leaf values again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.trace import Way
from elbowroom.importers.tree_builder import TreeBuilder, Trees
from elbowroom.importers.xgboost_document import Learner
from elbowroom.importers.xgboost_sparse import sparse_below, unfolded, zero_aside
from elbowroom.importers.xgboost_tree import Singles, Tree
from elbowroom.models.base import ModelInfo
from elbowroom.numerics import Bools, Floats, Ints


def ensemble(
    learner: Learner,
    preprocessing: Preprocessing,
    info: ModelInfo,
    base: Singles,
    *,
    through_sklearn: bool,
    threshold: float = 0.0,
) -> Trees:
    """The trees as they are summed by the scikit-learn interface or by a Booster; ``info`` says what the scores mean.

    Nothing here knows about labels: regressors are read in the same way. A ``threshold`` is taken off the sum at its end,
    by a tree of one leaf: the sign of a rounded difference is exact.
    """
    builder = TreeBuilder()
    is_number = preprocessing.trace.way != Way.LOOKED
    for tree, value in zip(*leaf_values(learner, base, through_sklearn), strict=True):
        if preprocessing.sparse:
            _add_sparse(builder, tree, value, is_number)
            continue
        sets = {node: left_of(listed, bool(tree.default_left[node])) for node, listed in tree.sets.items()}
        builder.add(
            tree.feature, tree.threshold.astype(np.float64), tree.left, tree.right, tree.leaf, value.astype(np.float64),
            missing_left=tree.default_left, sets=sets or None,
        )  # fmt: skip
    if threshold:
        nothing = np.full(1, -1)
        leaf = np.ones(1, np.bool_)
        least = np.full((1, learner.outputs), -threshold)
        builder.add(nothing, np.zeros(1), nothing, nothing, leaf, least, missing_left=leaf)
    below = sparse_below if preprocessing.sparse else float32_below
    return builder.build(info, preprocessing, below, base.astype(np.float64), single=True)


def _add_sparse(builder: TreeBuilder, tree: Tree, value: Singles, is_number: Bools) -> None:
    """A tree whose zeros are missing numbers."""
    made = unfolded(tree, is_number)
    source, threshold = np.array(made.source), np.array(made.threshold)
    leaf, side = tree.leaf[source], tree.default_left[source]
    by_category = np.flatnonzero(~leaf & ~is_number[tree.feature[source]])
    sets = {int(i): zero_aside(float(threshold[i]), bool(side[i])) for i in by_category}
    builder.add(
        tree.feature[source], threshold, np.array(made.left), np.array(made.right), leaf, value[source].astype(np.float64),
        missing_left=side, sets=sets or None,
    )  # fmt: skip


def leaf_values(learner: Learner, base: Singles, through_sklearn: bool) -> tuple[list[Tree], list[Singles]]:
    """The trees that are used, and what each adds to every score at every node."""
    used = list(learner.trees[: learner.trees_up_to_best if through_sklearn else None])
    if not used:
        raise UnsupportedModel("this XGBoost model has no trees; fit it with at least one round")
    values = []
    for number, tree in enumerate(used):
        own = tree.value  # of all scores, or of one
        at = slice(None) if own.shape[1] == learner.outputs else slice(tree.group, tree.group + 1)
        if learner.weight_drop is not None:
            weight = learner.weight_drop[number]
            own = ((base[at] + own) - base[at]) * weight if through_sklearn else own * weight
        value = np.zeros((len(own), learner.outputs), np.float32)
        value[:, at] = own
        values.append(value)
    return used, values


def float32_below(x: Floats, threshold: Floats) -> Bools:
    """XGBoost's comparison: rows are cast to float32, thresholds are float32 numbers."""
    with np.errstate(over="ignore"):
        return np.asarray(x.astype(np.float32).astype(np.float64) < threshold)


def left_of(listed: Ints, default_left: bool) -> Callable[[Floats], Bools]:
    """Which codes go left in a split by categories: those that are not listed. A code is cast to float32, then cut to a
    whole number towards zero; negative and unknown ones go left, missing ones where the split says."""

    def goes_left(code: Floats) -> Bools:
        with np.errstate(over="ignore"):
            single = code.astype(np.float32).astype(np.float64)
        missing = np.isnan(single)
        number = np.trunc(np.where(missing, -1.0, single))
        inside = np.isin(number, listed) & (single >= 0.0)
        return np.asarray(np.where(missing, default_left, ~inside), dtype=np.bool_)

    return goes_left
