"""scikit-learn pipelines of scalers and column transformers, any nesting, in front of any model that can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.original import Columns
from elbowroom.importers.preprocessing import Preprocessing, Scaling, Stage
from elbowroom.importers.recognise import find_known, refuse_overrides
from elbowroom.importers.sklearn_common import columns as estimator_columns
from elbowroom.importers.sklearn_common import finite, require_fitted
from elbowroom.importers.table import columns_of
from elbowroom.numerics import BIGGEST, Floats, Ints

_SCALERS = ("StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler")
_STEPS = {("sklearn", name) for name in (*_SCALERS, "FunctionTransformer", "ColumnTransformer", "Pipeline")}
_MULTIPLIER_RANGE = (1e-150, 1e150)  # beyond it, products with data leave the normal floats


def unfold_pipeline(model: Any, preprocessing: Preprocessing) -> tuple[Any, Preprocessing]:
    """All steps but the last become stages of the preprocessing; the last one is the model behind them."""
    *before, (name, final) = model.steps
    for _, step in before:
        stage = _stage(step)
        if stage is not None:
            preprocessing = preprocessing.behind(stage)
    if _passes_through(final):
        raise UnsupportedModel(
            f"the last step {name!r} of this Pipeline is not a classifier, so the Pipeline cannot predict"
        )
    return final, preprocessing


def columns(model: Any) -> Columns:
    """Width and names of what the first real step was fitted on."""
    for _, step in model.steps[:-1]:
        found = _step_columns(step)
        if found is not None:
            return found
    if not model.steps or _passes_through(model.steps[-1][1]):
        raise UnsupportedModel("this Pipeline has no classifier at its end")
    return columns_of(model.steps[-1][1])


def _step_columns(step: Any) -> Columns | None:
    """Width and names that a step expects, or None if it takes anything."""
    if _passes_through(step):
        return None
    kind = _known_step(step).__name__
    if kind == "Pipeline":
        return next((found for _, part in step.steps if (found := _step_columns(part)) is not None), None)
    if kind == "FunctionTransformer" and not hasattr(step, "n_features_in_"):
        return None  # without validation it does not look at its input
    return estimator_columns(step)


def _passes_through(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _known_step(step: Any) -> type:
    known = find_known(step, _STEPS)
    if known is None:
        raise UnsupportedModel(
            f"the pipeline step {type(step).__name__} cannot be folded exactly; supported steps: {', '.join(_SCALERS)}, "
            "'passthrough', and ColumnTransformers and Pipelines of these"
        )
    refuse_overrides(step, known)
    return known


def _stage(step: Any) -> Stage | None:
    """The step as a stage, or None if it passes everything through."""
    if _passes_through(step):
        return None
    kind = _known_step(step).__name__
    if kind == "Pipeline":
        inner = [stage for stage in (_stage(part) for _, part in step.steps) if stage is not None]
        return _Sequence(tuple(inner)) if inner else None
    if kind == "FunctionTransformer":
        if step.func is not None:
            raise UnsupportedModel(f"FunctionTransformer(func={step.func!r}) is arbitrary code and cannot be folded")
        return None
    require_fitted(step)
    return _column_stage(step) if kind == "ColumnTransformer" else _scaler_stage(step, kind)


@dataclass(frozen=True, eq=False)
class _Sequence:
    stages: tuple[Stage, ...]

    def apply(self, X: Floats) -> Floats:
        for stage in self.stages:
            X = stage.apply(X)
        return X

    def scaling(self, before: Scaling) -> Scaling:
        for stage in self.stages:
            before = stage.scaling(before)
        return before

    @property
    def description(self) -> str:
        return f"Pipeline({', '.join(stage.description for stage in self.stages)})"


@dataclass(frozen=True, eq=False)
class _Scaler:
    """y = factor t + offset, computed by the scaler's own ``transform``."""

    scaler: Any
    factor: Floats
    offset: Floats

    def apply(self, X: Floats) -> Floats:
        names = getattr(self.scaler, "feature_names_in_", None)
        fresh = np.array(X, dtype=np.float64)  # with copy=False a scaler writes into its input
        with np.errstate(over="ignore"):
            y = self.scaler.transform(fresh if names is None else pd.DataFrame(fresh, columns=list(names)))
        return np.clip(np.asarray(y, dtype=np.float64), -BIGGEST, BIGGEST)

    def scaling(self, before: Scaling) -> Scaling:
        return before.then(self.factor, self.offset)

    @property
    def description(self) -> str:
        return type(self.scaler).__name__


def _scaler_stage(step: Any, kind: str) -> _Scaler:
    width = int(step.n_features_in_)
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


@dataclass(frozen=True, eq=False)
class _Columns:
    """Side by side: each part takes some input columns and passes them through its own stage."""

    parts: tuple[tuple[Ints, Stage | None], ...]

    def apply(self, X: Floats) -> Floats:
        pieces = [X[:, chosen] if stage is None else stage.apply(X[:, chosen]) for chosen, stage in self.parts]
        return np.concatenate(pieces, axis=1)

    def scaling(self, before: Scaling) -> Scaling:
        return Scaling.side_by_side(
            [
                before.take(chosen) if stage is None else stage.scaling(before.take(chosen))
                for chosen, stage in self.parts
            ]
        )

    @property
    def description(self) -> str:
        return f"ColumnTransformer({', '.join('passthrough' if s is None else s.description for _, s in self.parts)})"


def _column_stage(step: Any) -> _Columns:
    if step.transformer_weights:
        raise UnsupportedModel(
            "ColumnTransformer(transformer_weights=...) is not supported; put the weights into scalers"
        )
    parts: list[tuple[Ints, Stage | None]] = []
    for name, transformer, _ in step.transformers_:
        chosen = np.array(list(step._transformer_to_input_indices[name]), dtype=np.int64)
        if (isinstance(transformer, str) and transformer == "drop") or not chosen.size:
            continue
        parts.append((chosen, _stage(transformer)))
    if not parts:
        raise UnsupportedModel("this ColumnTransformer drops every column")
    return _Columns(tuple(parts))
