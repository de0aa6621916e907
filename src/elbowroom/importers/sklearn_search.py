"""Wrappers that add nothing to ``predict``: searches, frozen estimators, self-training; and eliminations of columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.sklearn_common import columns as estimator_columns
from elbowroom.importers.sklearn_common import require_fitted
from elbowroom.importers.steps import Selected
from elbowroom.importers.table import Known, columns_of

# Where the fitted model is, by the wrapper's class.
_INSIDES = {"FrozenEstimator": ("estimator",), "SelfTrainingClassifier": ("estimator_", "base_estimator_")}


def unfold_wrapper(model: Any, preprocessing: Preprocessing) -> tuple[Any, Preprocessing]:
    """predict is that of the model inside."""
    return _inside(model), preprocessing


def columns(model: Any, known: Known) -> Columns:
    if hasattr(type(model), "get_support"):
        return estimator_columns(model)
    return columns_of(_inside(model), known)


def unfold_elimination(model: Any, preprocessing: Preprocessing) -> tuple[Any, Preprocessing]:
    """RFE and RFECV: the model inside sees the columns that were kept."""
    require_fitted(model)
    kept = np.asarray(model.get_support(indices=True), dtype=np.int64)
    return model.estimator_, preprocessing.behind(Selected(model, kept))


def _inside(model: Any) -> Any:
    name = next((cls.__name__ for cls in type(model).__mro__ if cls.__name__ in _INSIDES), "")
    for attribute in _INSIDES.get(name, ("best_estimator_",)):
        if attribute in vars(model):
            return vars(model)[attribute]
    if not name and not getattr(model, "refit", True):
        raise UnsupportedModel(
            f"{type(model).__name__}(refit=False) keeps no fitted model; search with refit=True, or fit the model with the "
            "best_params_ and give that one"
        )
    raise InputError(f"this {type(model).__name__} is not fitted; call fit first")
