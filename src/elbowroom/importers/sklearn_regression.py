"""scikit-learn's regressors: one score and no classes; the predicted value is the score, or exp of it.

Each reader says in its first line what ``predict`` computes. Whatever predicts several outputs at once is refused.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_boosting import prior_of
from elbowroom.importers.sklearn_common import columns, finite, require_fitted
from elbowroom.importers.sklearn_network import layers_of, network_or_linear
from elbowroom.importers.sklearn_trees import add_tree, parts_of, takes_missing
from elbowroom.importers.tree_builder import TreeBuilder, Trees, float32_at_most
from elbowroom.models.base import Link, ModelInfo
from elbowroom.models.linear import LinearModel
from elbowroom.models.network import ReluNetwork
from elbowroom.numerics import products_are_exact

__all__ = [
    "columns", "read_forest", "read_generalized", "read_gradient_boosting", "read_linear",
    "read_network", "read_tree",
]  # fmt: skip

_TREES: Final = {("sklearn", "DecisionTreeRegressor"), ("sklearn", "ExtraTreeRegressor")}
_LINKS: Final = {"IdentityLink": Link.IDENTITY, "LogLink": Link.EXPONENTIAL}
_OUTPUTS: Final = {"identity": Link.IDENTITY, "exp": Link.EXPONENTIAL}


def read_linear(model: Any, preprocessing: Preprocessing) -> LinearModel:
    """coef . x + intercept."""
    require_fitted(model)
    return _linear(model, preprocessing, Link.IDENTITY)


def read_generalized(model: Any, preprocessing: Preprocessing) -> LinearModel:
    """g(coef . x + intercept) with g the identity or exp: Poisson, Gamma, Tweedie."""
    require_fitted(model)
    return _linear(model, preprocessing, link_of(model, model._base_loss.link))


def _linear(model: Any, preprocessing: Preprocessing, link: Link) -> LinearModel:
    weight = finite(model, "coef_", model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_)
    bias = finite(model, "intercept_", model.intercept_).reshape(-1)
    _one_output(model, 1 if weight.ndim == 1 else len(weight))
    info = ModelInfo.regressor(preprocessing.names, preprocessing.source_name(model), link)
    return LinearModel(info, preprocessing.affine(weight.reshape(1, -1), bias))


def read_tree(model: Any, preprocessing: Preprocessing) -> Trees:
    """The value of the leaf."""
    require_fitted(model)
    return _mean(model, preprocessing, [model])


def read_forest(model: Any, preprocessing: Preprocessing) -> Trees:
    """The values of all trees, added up in an order that depends on threads, then divided by their number."""
    require_fitted(model)
    return _mean(model, preprocessing, parts_of(model, _TREES))


def _mean(model: Any, preprocessing: Preprocessing, trees: list[Any]) -> Trees:
    _one_output(model, model.n_outputs_)
    builder = TreeBuilder()
    for tree in trees:
        add_tree(builder, tree, finite(tree, "tree_.value", tree.tree_.value)[:, 0, :1], takes_missing(tree))
    info = ModelInfo.regressor(preprocessing.names, preprocessing.source_name(model))
    return builder.build(info, preprocessing, float32_at_most, np.zeros(1), float(len(trees)))


def read_gradient_boosting(model: Any, preprocessing: Preprocessing) -> Trees:
    """prior + sum of learning_rate * leaf value, for every loss; products may be fused with additions."""
    require_fitted(model)
    builder, fused, rate = TreeBuilder(), False, float(model.learning_rate)
    for (tree,) in model.estimators_:
        raw = finite(tree, "tree_.value", tree.tree_.value)[:, 0, :1]
        fused = fused or not products_are_exact(rate, raw[tree.tree_.children_left < 0, 0])
        add_tree(builder, tree, model.learning_rate * raw)
    info = ModelInfo.regressor(preprocessing.names, preprocessing.source_name(model), fused_products=fused)
    return builder.build(info, preprocessing, float32_at_most, prior_of(model))


def read_network(model: Any, preprocessing: Preprocessing) -> ReluNetwork | LinearModel:
    """relu(W x + b) layer by layer, without activation at the end (the loss "poisson" has exp there)."""
    require_fitted(model)
    layers = layers_of(model, preprocessing)
    _one_output(model, layers[-1].bias.size)
    if model.out_activation_ not in _OUTPUTS:
        raise UnsupportedModel(
            f"{type(model).__name__} ends with {model.out_activation_!r}; supported are {', '.join(map(repr, _OUTPUTS))}"
        )
    link = _OUTPUTS[model.out_activation_]
    info = ModelInfo.regressor(preprocessing.names, preprocessing.source_name(model), link)
    return network_or_linear(model, info, layers)


def link_of(model: Any, link: object) -> Link:
    name = type(link).__name__
    if name not in _LINKS:
        raise UnsupportedModel(
            f"{type(model).__name__} predicts through a {name}; supported are the identity and the logarithm"
        )
    return _LINKS[name]


def _one_output(model: Any, count: int) -> None:
    if count != 1:
        raise UnsupportedModel(
            f"this {type(model).__name__} predicts {count} numbers at once; only one can be explained: fit one model per output"
        )
