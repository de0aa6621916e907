"""scikit-learn's TransformedTargetRegressor: another regressor, fitted on a function of the target.

Its value is inverse_func(value of the regressor inside). Functions that never fall only move the thresholds of a question;
exp and expm1 are known with their rounding (see `models.values`), every other one is refused by name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.recognise import find_known
from elbowroom.importers.sklearn_common import require_fitted
from elbowroom.importers.table import Known, columns_of, reader_of, unfold
from elbowroom.models.base import Link, Model

__all__ = ["columns", "read_transformed"]

_CURE = "supported are inverse_func=np.exp, np.expm1 or none; or fit the regressor on the target as it is"


def columns(model: Any, known: Known) -> Columns:
    """What the regressor inside takes."""
    require_fitted(model)
    return columns_of(model.regressor_, known)


def read_transformed(model: Any, preprocessing: Preprocessing) -> Model:
    """inverse_func(what the regressor inside predicts)."""
    require_fitted(model)
    link = _link(model.transformer_)
    inside, longer = unfold(model.regressor_, preprocessing)
    reader = reader_of(inside)
    known = {c.name: c.categories for c in preprocessing.inputs.columns if c.categories is not None}
    parsed = reader.read(inside, longer.before(reader.columns(inside, known).columns, reader.codes(inside)))
    if not parsed.info.is_regressor:
        raise UnsupportedModel(f"TransformedTargetRegressor around {parsed.info.source}, which is no regressor")
    if link is Link.IDENTITY:
        link = parsed.info.link
    elif parsed.info.link is not Link.IDENTITY:
        raise UnsupportedModel(
            f"TransformedTargetRegressor around {parsed.info.source}, which predicts through a function already; {_CURE}"
        )
    source = f"sklearn TransformedTargetRegressor({parsed.info.source.removeprefix('sklearn ')})"
    return replace(parsed, info=replace(parsed.info, link=link, source=source))


def _link(transformer: Any) -> Link:
    kind: type = type(transformer)
    if find_known(transformer, {("sklearn", "FunctionTransformer")}) is not kind:
        raise UnsupportedModel(f"TransformedTargetRegressor(transformer={type(transformer).__name__}()): {_CURE}")
    inverse = transformer.inverse_func
    if inverse is None:
        return Link.IDENTITY
    if not transformer.inv_kw_args:
        for known, link in ((np.exp, Link.EXPONENTIAL), (np.expm1, Link.EXPONENTIAL_MINUS_ONE)):
            if inverse is known:
                return link
    name = getattr(inverse, "__name__", type(inverse).__name__)
    raise UnsupportedModel(f"TransformedTargetRegressor(inverse_func={name}): {_CURE}")
