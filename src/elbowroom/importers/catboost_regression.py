"""CatBoost's regressors: the predicted value is the score, (sum of leaf values) * scale + bias, or exp of it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.catboost_trees import asked, categorical, columns, exported, read_sum, scaling_error
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.tree_builder import Trees
from elbowroom.models.base import Link, ModelInfo
from elbowroom.visible import listed

__all__ = ["categorical", "columns", "predict", "read_regressor"]

_PLAIN: Final = (
    "RMSE",
    "MAE",
    "Quantile",
    "MAPE",
    "Huber",
    "Expectile",
    "LogCosh",
    "Lq",
    "MSLE",
    "RMSPE",
    "LogLinQuantile",
)
_EXPONENTIAL: Final = ("Poisson", "Tweedie")
_EXP_ERROR: Final = 2.0**-40  # the library's own fast exp: 92 eps were measured at a score of 190


def predict(model: Any, table: Any) -> npt.NDArray[Any]:
    """Values: those of plain ``predict``."""
    return np.asarray(asked(model, table, None)).reshape(len(table))


def read_regressor(model: Any, preprocessing: Preprocessing) -> Trees:
    description, hashes = exported(model, preprocessing)
    loss = description.loss
    if description.bias.size != 1 or loss not in (*_PLAIN, *_EXPONENTIAL):
        raise UnsupportedModel(
            f"this {type(model).__name__} was fitted with the loss {loss!r} and has {description.bias.size} scores; regressors "
            f"are read with one score and the losses {listed([*_PLAIN, *_EXPONENTIAL])}"
        )
    rounded = scaling_error(description)
    link, error = (Link.IDENTITY, 0.0) if loss in _PLAIN else (Link.EXPONENTIAL, _EXP_ERROR)
    source = preprocessing.source_name(model)
    info = ModelInfo.regressor(preprocessing.names, source, link, rounded + error, fused_products=rounded > 0.0)
    return read_sum(description, hashes, info, preprocessing)
