"""Which transformer becomes which stage. A new transformer is one function and its line here.

Every function takes the fitted step and returns a `Stage`, or None if the step passes everything through. A module may
also offer ``categories(step) -> list[tuple[labels] | None]``: for every input column the categories that the step knows, None
for a number; ``fills_missing(step)`` says that it accepts missing categories.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.recognise import find_known, key_of, refuse_overrides
from elbowroom.importers.stages import Stage
from elbowroom.importers.trace import Trace
from elbowroom.numerics import BIGGEST, Ints
from elbowroom.problem.labels import Category

STEPS: dict[tuple[str, str], tuple[str, str]] = {
    ("sklearn", "StandardScaler"): ("sklearn_scalers", "scaler_stage"),
    ("sklearn", "MinMaxScaler"): ("sklearn_scalers", "scaler_stage"),
    ("sklearn", "RobustScaler"): ("sklearn_scalers", "scaler_stage"),
    ("sklearn", "MaxAbsScaler"): ("sklearn_scalers", "scaler_stage"),
    ("sklearn", "OneHotEncoder"): ("sklearn_encoders", "one_hot_stage"),
    ("sklearn", "OrdinalEncoder"): ("sklearn_encoders", "ordinal_stage"),
    ("sklearn", "TargetEncoder"): ("sklearn_encoders", "target_stage"),
    ("sklearn", "SimpleImputer"): ("sklearn_imputers", "imputer_stage"),
    ("sklearn", "FunctionTransformer"): ("sklearn_curves", "function_stage"),
    ("sklearn", "PowerTransformer"): ("sklearn_curves", "power_stage"),
    ("sklearn", "QuantileTransformer"): ("sklearn_curves", "power_stage"),
    ("sklearn", "KBinsDiscretizer"): ("sklearn_curves", "bins_stage"),
    ("sklearn", "SelectKBest"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "SelectPercentile"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "SelectFpr"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "SelectFdr"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "SelectFwe"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "GenericUnivariateSelect"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "SelectFromModel"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "SequentialFeatureSelector"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "RFE"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "RFECV"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "VarianceThreshold"): ("sklearn_mixing", "selection_stage"),
    ("sklearn", "PCA"): ("sklearn_mixing", "components_stage"),
    ("sklearn", "TruncatedSVD"): ("sklearn_mixing", "components_stage"),
    ("sklearn", "ColumnTransformer"): ("sklearn_pipeline", "column_stage"),
    ("sklearn", "FeatureUnion"): ("sklearn_pipeline", "union_stage"),
    ("sklearn", "Pipeline"): ("sklearn_pipeline", "sequence_stage"),
    ("imblearn", "Pipeline"): ("sklearn_pipeline", "sequence_stage"),
}


def passes_through(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def hands_sparse(steps: list[Any]) -> bool:
    """Whether a sparse table comes out of the last of the steps that does something."""
    last = next((step for step in reversed(steps) if not passes_through(step)), None)
    if last is None:
        return False
    if hasattr(last, "steps"):
        return hands_sparse(running(last.steps))
    if hasattr(last, "transformer_list"):
        return any(hands_sparse([part]) for _, part in last.transformer_list)
    if hasattr(last, "sparse_output_"):  # a ColumnTransformer, which decides by how many zeros there are
        return bool(last.sparse_output_)
    return bool(getattr(last, "sparse_output", False)) or str(getattr(last, "encode", "")) == "onehot"


def running(steps: Sequence[tuple[str, Any]]) -> list[Any]:
    """What a pipeline runs when it predicts: samplers (imbalanced-learn) take part in fitting alone."""
    return [step for _, step in steps if not hasattr(step, "fit_resample")]


def known_step(step: Any) -> tuple[str, str]:
    """Module and function of a step; refused by name if there are none."""
    known = find_known(step, STEPS)
    if known is None:
        names = sorted({name for _, name in STEPS} - {"Pipeline", "ColumnTransformer", "FeatureUnion"})
        raise UnsupportedModel(
            f"the pipeline step {type(step).__name__} cannot be folded exactly; steps that can: {', '.join(names)}, "
            "'passthrough', and ColumnTransformers, FeatureUnions and Pipelines of these. Without the step, or with its "
            "output as the table (fit the model on the transformed columns), the model can be read"
        )
    refuse_overrides(step, known)
    return STEPS[key_of(known)]


def _module(step: Any) -> tuple[Any, str]:
    module, function = known_step(step)
    return importlib.import_module(f"elbowroom.importers.{module}"), function


def stage_of(step: Any) -> Stage | None:
    """The step as a stage, or None if it passes everything through."""
    if passes_through(step):
        return None
    module, function = _module(step)
    stage: Stage | None = getattr(module, function)(step)
    return stage


def step_categories(step: Any, width: int) -> list[tuple[Category, ...] | None]:
    """For every input column of a step: the categories that it knows, None for a number."""
    if passes_through(step):
        return [None] * width
    ask = getattr(_module(step)[0], "categories", None)
    found: list[tuple[Category, ...] | None] = [None] * width if ask is None else list(ask(step, width))
    return found


def run(step: Any, table: Any) -> Any:
    """The step's own ``transform`` of a fresh copy, in the form in which it was fitted; no infinities come out."""
    names = getattr(step, "feature_names_in_", None)
    if names is not None and not isinstance(table, pd.DataFrame):
        table = pd.DataFrame(table, columns=list(names))
    elif isinstance(table, pd.DataFrame):
        table = table.to_numpy() if names is None else table.set_axis(list(names), axis=1)
    out = step.transform(table.copy())
    return tamed(out)


def tamed(out: Any) -> Any:
    """Overflow cut back to the largest float; sparse matrices become arrays."""
    if hasattr(out, "toarray"):
        out = out.toarray()
    if isinstance(out, np.ndarray) and out.dtype.kind == "f":
        return np.clip(np.asarray(out, dtype=np.float64), -BIGGEST, BIGGEST)
    return out


def joined(pieces: Sequence[Any]) -> Any:
    """Pieces side by side: an array of numbers where all of them are, else a frame."""
    plain = [p.to_numpy() if isinstance(p, pd.DataFrame) and _all_numbers(p) else p for p in pieces]
    if all(isinstance(p, np.ndarray) and p.dtype.kind in "fiub" for p in plain):
        return np.concatenate([np.asarray(p, dtype=np.float64) for p in plain], axis=1)
    frames = [p if isinstance(p, pd.DataFrame) else pd.DataFrame(p) for p in plain]
    side = pd.concat([f.reset_index(drop=True) for f in frames], axis=1)
    return side.set_axis([f"t{j}" for j in range(side.shape[1])], axis=1)


def _all_numbers(frame: pd.DataFrame) -> bool:
    return all(pd.api.types.is_any_real_numeric_dtype(t) or pd.api.types.is_bool_dtype(t) for t in frame.dtypes)


def picked(table: Any, columns: Ints) -> Any:
    """Some columns of a frame or an array."""
    return table.iloc[:, columns] if isinstance(table, pd.DataFrame) else table[:, columns]


@dataclass(frozen=True, eq=False)
class Selected:
    """A choice of columns, each passed on as it is."""

    step: Any
    chosen: Ints

    def apply(self, table: Any) -> Any:
        return picked(table, self.chosen)

    def trace(self, before: Trace) -> Trace:
        return before.take(self.chosen)

    @property
    def description(self) -> str:
        return type(self.step).__name__
