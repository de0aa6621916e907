"""scikit-learn's gradient boosting: prior score plus leaf values. The histogram based one is in `sklearn_histogram`."""

from __future__ import annotations

from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import columns, finite, labels, require_fitted
from elbowroom.importers.sklearn_trees import add_tree
from elbowroom.importers.tree_builder import TreeBuilder, Trees, float32_at_most
from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.numerics import Floats, products_are_exact

__all__ = ["columns", "prior_of", "read_gradient_boosting"]

_CONSTANT_STRATEGIES = {  # "stratified" draws at random
    "DummyClassifier": ("prior", "most_frequent", "constant", "uniform"),
    "DummyRegressor": ("mean", "median", "quantile", "constant"),
}


def _in_column(value: Floats, column: int, count: int) -> Floats:
    """A tree that adds to one score out of ``count``."""
    spread = np.zeros((len(value), count))
    spread[:, column] = value
    return spread


def read_gradient_boosting(model: Any, preprocessing: Preprocessing) -> Trees:
    """raw = prior + sum of learning_rate * leaf value; two classes: the second iff raw >= 0; else the first largest.

    Some processors fuse the product with the addition, which is the same number only if the product needs no rounding.
    """
    require_fitted(model)
    classes = labels(model)
    base = prior_of(model)
    builder, fused = TreeBuilder(), False
    for stage in model.estimators_:
        for k, tree in enumerate(stage):
            raw = finite(tree, "tree_.value", tree.tree_.value)[:, 0, 0]
            fused = fused or not products_are_exact(float(model.learning_rate), raw[tree.tree_.children_left < 0])
            add_tree(builder, tree, _in_column(model.learning_rate * raw, k, len(stage)))
    binary = len(classes) == 2
    link = Link.LOGISTIC if binary else Link.SOFTMAX
    if model.loss != "log_loss":
        link = Link.NONE  # the exponential loss has p = logistic(2 raw)
    decision = Decision.NONNEGATIVE if binary else Decision.ARGMAX
    source = preprocessing.source_name(model)
    info = ModelInfo(preprocessing.names, classes, decision, link, source, fused_products=fused)
    return builder.build(info, preprocessing, float32_at_most, base)


def prior_of(model: Any) -> Floats:
    """The constant score before the first tree, computed by the original itself."""
    start = model.init_
    if not (isinstance(start, str) and start == "zero"):
        name = type(start).__name__
        if name not in _CONSTANT_STRATEGIES or not type(start).__module__.startswith("sklearn."):
            raise UnsupportedModel(
                f"{type(model).__name__}(init={name}) starts from another model's predictions; "
                'supported are the default prior and init="zero"'
            )
        if start.strategy not in _CONSTANT_STRATEGIES[name]:
            raise UnsupportedModel(
                f"{type(model).__name__}(init={name}(strategy={start.strategy!r})) does not start from a "
                f"constant; supported strategies: {', '.join(_CONSTANT_STRATEGIES[name])}"
            )
    row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    return finite(model, "init_", model._raw_predict_init(row)).reshape(-1)
