"""scikit-learn's scalers: y = x * factor + offset, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.sklearn_common import column_count, finite, require_fitted
from elbowroom.importers.steps import run
from elbowroom.importers.trace import Trace
from elbowroom.numerics import Floats

_MULTIPLIER_RANGE = (1e-150, 1e150)  # beyond it, products with data leave the normal floats


@dataclass(frozen=True, eq=False)
class _Scaler:
    scaler: Any
    factor: Floats
    offset: Floats

    def apply(self, table: Any) -> Any:
        return run(self.scaler, table)

    def trace(self, before: Trace) -> Trace:
        return before.then(self.factor, self.offset)

    @property
    def description(self) -> str:
        return type(self.scaler).__name__


def scaler_stage(step: Any) -> _Scaler:
    require_fitted(step)
    kind = next(cls.__name__ for cls in type(step).__mro__ if cls.__module__.startswith("sklearn."))
    width = column_count(step)
    ones, zeros = np.ones(width), np.zeros(width)
    if getattr(step, "clip", False):
        raise UnsupportedModel(f"{kind}(clip=True) cuts values off and is not one straight line; fit with clip=False")
    if kind == "MinMaxScaler":
        factor, offset = finite(step, "scale_", step.scale_), finite(step, "min_", step.min_)
    else:
        if kind == "StandardScaler":
            center, scale = step.mean_ if step.with_mean else zeros, step.scale_ if step.with_std else ones
        elif kind == "RobustScaler":
            center, scale = step.center_ if step.with_centering else zeros, step.scale_ if step.with_scaling else ones
        else:
            center, scale = zeros, step.scale_
        center, scale = finite(step, "center", center), finite(step, "scale_", scale)
        if (scale == 0).any():
            raise UnsupportedModel(f"{kind}.scale_[{int(np.flatnonzero(scale == 0)[0])}] is 0")
        factor, offset = 1.0 / scale, -center / scale
    usual = (factor >= _MULTIPLIER_RANGE[0]) & (factor <= _MULTIPLIER_RANGE[1])
    if not usual.all():
        column = int(np.flatnonzero(~usual)[0])
        raise UnsupportedModel(
            f"{kind}.scale_[{column}] multiplies by {factor[column]:g}; only positive multipliers between "
            f"{_MULTIPLIER_RANGE[0]:g} and {_MULTIPLIER_RANGE[1]:g} can be folded"
        )
    return _Scaler(step, factor, finite(step, "offset", offset))
