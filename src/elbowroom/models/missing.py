"""Rows with missing numbers: which columns may lack one, and the model that is left when some do.

What a model does with a missing number is a constant: a side of every split, a share of every sum. So a row with missing
numbers asks an ordinary question about another model, in which these columns decide nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

import numpy as np

from elbowroom.models.base import Model
from elbowroom.models.joint import asked_for, join, members_of
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.network import ReluNetwork
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import Bools


def may_miss(model: Model) -> Bools:
    """Columns in which the original takes a missing number (NaN)."""
    match model:
        case TreeEnsemble():
            none = np.zeros(model.info.n_features, dtype=np.bool_)
            return none if model.may_miss is None else model.may_miss
        case LinearModel():
            return model.affine.may_miss
        case ReluNetwork():
            return model.layers[0].may_miss
        case ObliqueEnsemble():
            return np.zeros(model.info.n_features, dtype=np.bool_)
        case _:
            assert_never(model)


def with_missing(model: Model, missing: Bools) -> Model:
    """The model for rows whose ``missing`` columns (all of which `may_miss`) hold no number; other values there decide
    nothing."""
    if not missing.any():
        return model
    members = members_of(model)
    if members:
        joined = join([with_missing(member, missing) for member in members], model.info.called)
        assert joined is not None  # of one family, as before
        return asked_for(joined, model.info.least, model.info.always, model.info.speaker)
    match model:
        case TreeEnsemble():
            return model.with_missing(missing)
        case LinearModel():
            return replace(model, affine=model.affine.with_missing(missing))
        case ReluNetwork():
            return replace(model, layers=(model.layers[0].with_missing(missing), *model.layers[1:]))
        case ObliqueEnsemble():
            return model
        case _:
            assert_never(model)


def missing_only_in(model: Model, columns: Bools) -> Model:
    """The model with fewer columns that may lack a number."""
    allowed = may_miss(model) & columns
    match model:
        case TreeEnsemble():
            return replace(model, may_miss=allowed if allowed.any() else None)
        case LinearModel():
            return replace(model, affine=_restricted(model.affine, allowed))
        case ReluNetwork():
            return replace(model, layers=(_restricted(model.layers[0], allowed), *model.layers[1:]))
        case ObliqueEnsemble():
            return model
        case _:
            assert_never(model)


def _restricted(affine: Affine, allowed: Bools) -> Affine:
    if affine.missing_value is None or not allowed.any():
        return replace(affine, missing_value=None, missing_error=None)
    return replace(affine, missing_value=np.where(allowed, affine.missing_value, np.nan))
