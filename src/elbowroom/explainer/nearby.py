"""A model together with all models near it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.explainer.opening import Opened, opened
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.models import Affine, LinearModel, Model, TreeEnsemble
from elbowroom.models.nearby import NearbyLinear
from elbowroom.numerics import EPS
from elbowroom.problem.parsing import plain_number


@dataclass(frozen=True, eq=False)
class Nearby:
    """A model with every model whose numbers are close to its own: ``Explainer(Nearby(model, weights=0.1), X)`` finds the
    closest region throughout which all of them say what is wanted.

    Linear models: every weight of the score may be off by ``weights``, and every intercept by ``intercept``, each by itself.
    The weights are those of the columns that arrive at the estimator: behind a scaler, of scaled columns. Trees,
    forests and boosting: what any leaf adds may be off by ``leaves``, each leaf by itself: a probability in forests, a part of
    the score in boosting, learning rate included; the splits stay. Both are exact: the worst member of the set decides.

    Args:
        model: A linear model, or one of trees, as `Explainer` takes it.
        weights: How far every weight may be off.
        intercept: How far every intercept may be off.
        leaves: How far what any leaf adds may be off.

    Examples:
        >>> Explainer(Nearby(model, leaves=0.1), space).explain(row)
        <Region OPTIMAL, distance 0.216667, 1 feature has to change>
    """

    model: Any
    weights: float = 0.0
    intercept: float = 0.0
    leaves: float = 0.0

    def __post_init__(self) -> None:
        sizes = {
            name: plain_number(getattr(self, name), f"Nearby {name}") for name in ("weights", "intercept", "leaves")
        }
        for name, size in sizes.items():
            if not (np.isfinite(size) and size >= 0.0):
                raise InputError(f"Nearby {name}={size}: give a finite number, 0 or more")
            object.__setattr__(self, name, size)
        if bool(self.leaves) == bool(self.weights or self.intercept):
            raise InputError(
                "Nearby: give weights= or intercept= of a linear model, or leaves= of trees; one of them above 0"
            )
        if isinstance(self.model, (Nearby, list, tuple)):
            raise InputError("Nearby: give the model itself; several of them: [Nearby(model, leaves=0.05), ...]")


def refuse_nearby(model: Model, what: str) -> None:
    """Refuse what is not known for a model with those near it."""
    for info in (model.info, *model.info.members):
        if info.nearby:
            raise InputError(
                f"{what} is not known for {info.source}; ask about the model itself: Explainer(model, space)"
            )


def open_any(model: object, space: object, data: object) -> Opened:
    """Read a model, or the set of those near it."""
    if not isinstance(model, Nearby):
        return opened(model, space, data)
    return _set_of(model, opened(model.model, space, data))


def _set_of(given: Nearby, found: Opened) -> Opened:
    """The set of models in place of the model."""
    return replace(found, model=_linear(given, found) if given.leaves == 0.0 else _trees(given, found.model))


def _linear(given: Nearby, found: Opened) -> Model:
    model = found.model
    if type(model) is not LinearModel:
        raise UnsupportedModel(
            f"Nearby(weights=, intercept=) is for linear models, not for {model.info.source}; trees take leaves="
        )
    sizes = {"weights": given.weights, "intercepts": given.intercept}
    info = replace(
        model.info, nearby=_words(sizes), source=f"{model.info.source} and all weights within {given.weights:g}"
    )
    affine = replace(model.affine, missing_value=None, missing_error=None)
    return NearbyLinear(info, affine, _arriving(model, found.preprocessing), given.weights, given.intercept)


def _words(sizes: dict[str, float]) -> str:
    """What answers say of the set: how far every number may be off, in full, so that no more is said than is proven."""
    first, *rest = [(name, repr(size).removesuffix(".0")) for name, size in sizes.items() if size]
    more = "".join(f" and {name} within {size}" for name, size in rest)
    return f"holds for all models whose {first[0]} are each within {first[1]}{more} of those of this one"


def _arriving(model: LinearModel, preprocessing: Preprocessing | None) -> Affine:
    """The columns that arrive at the estimator."""
    if preprocessing is None or preprocessing.untouched:
        size = model.info.n_features
        nothing = np.zeros((size, size))
        return Affine(np.eye(size), np.zeros(size), nothing, np.zeros(size))
    width = preprocessing.trace.width
    found = preprocessing.affine(np.eye(width), np.zeros(width))
    return replace(found, missing_value=None, missing_error=None)


def _trees(given: Nearby, model: Model) -> Model:
    if not isinstance(model, TreeEnsemble) or model.info.members:
        raise UnsupportedModel(
            f"Nearby(leaves=) is for trees, forests and boosting, not for {model.info.source}; linear models take weights="
        )
    leaves = model.leaf_order
    adds = np.array(
        [leaves.value[leaves.offsets[k] : leaves.offsets[k + 1]].any(axis=0) for k in range(leaves.n_trees)]
    )
    # The trees that add to each score: one each in boosting, where a tree of zeros may belong to any; all of them in forests,
    # also those that never met a class.
    votes = model.divisor != 1.0 or bool((adds.sum(axis=1) > 1).any())
    trees = np.full(adds.shape[1], len(adds)) if votes else adds.sum(axis=0) + (~adds.any(axis=1)).sum()
    spread = tuple(float(n) * given.leaves / model.divisor * (1.0 + 8.0 * EPS) for n in trees)
    words = _words({"leaf values": given.leaves})
    source = f"{model.info.source} and all leaf values within {given.leaves:g}"
    return replace(model, info=replace(model.info, nearby=words, spread=spread, source=source))
