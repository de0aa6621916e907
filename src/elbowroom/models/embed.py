"""A model over some columns as one over more of them, or over the same ones in another order: the others decide nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

import numpy as np

from elbowroom.models.base import Model
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.network import ReluNetwork
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.sets import SetSplits
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Floats, Ints


def embedded(model: Model, names: Sequence[str]) -> Model:
    """The model as a function of the columns ``names``, which contain all of its own. A number may be missing where it was
    allowed to be, and in all columns that it does not know."""
    own = model.info.names
    if own == tuple(names):
        return model
    place = np.array([list(names).index(name) for name in own], dtype=np.int64)
    info = replace(model.info, names=tuple(names))
    match model:
        case TreeEnsemble():
            return _trees(replace(model, info=info), place, len(names))
        case LinearModel():
            return LinearModel(info, _spread(model.affine, place, len(names)))
        case ReluNetwork():
            return ReluNetwork(info, (_spread(model.layers[0], place, len(names)), *model.layers[1:]))
        case ObliqueEnsemble():
            slope = None if model.error_slope is None else _wide(model.error_slope, place, len(names))
            return replace(model, info=info, weight=_wide(model.weight, place, len(names)), error_slope=slope)
        case _:
            assert_never(model)


def _trees(model: TreeEnsemble, place: Ints, width: int) -> TreeEnsemble:
    plain = (model.feature >= 0) & (model.feature < place.size)
    by_set = model.feature >= place.size
    feature = np.where(by_set, model.feature - place.size + width, model.feature)
    feature[plain] = place[model.feature[plain]]
    may_miss = None
    if model.may_miss is not None:
        may_miss = np.ones(width, dtype=np.bool_)
        may_miss[place] = model.may_miss
    sets = None
    if model.sets is not None:
        sides = [np.zeros((len(side), width), side.dtype) for side in (model.sets.left, model.sets.right)]
        for wide, side in zip(sides, (model.sets.left, model.sets.right), strict=True):
            wide[:, place] = side
        sets = SetSplits(*sides)
    return replace(model, feature=feature, may_miss=may_miss, sets=sets)


def _spread(affine: Affine, place: Ints, width: int) -> Affine:
    missing_value = missing_error = None
    if affine.missing_value is not None and affine.missing_error is not None:
        missing_value, missing_error = (
            _wide(affine.missing_value, place, width), _wide(affine.missing_error, place, width)
        )  # fmt: skip
    return replace(
        affine,
        weight=_wide(affine.weight, place, width),
        error_slope=_wide(affine.error_slope, place, width),
        missing_value=missing_value,
        missing_error=missing_error,
        range_slope=None if affine.range_slope is None else _wide(affine.range_slope[None], place, width)[0],
    )


def _wide(rows: Floats, place: Ints, width: int) -> Floats:
    made = np.zeros((len(rows), width))
    made[:, place] = rows
    return made
