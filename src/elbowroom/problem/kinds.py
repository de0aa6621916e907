"""Which values a column takes, and which way it may move."""

from __future__ import annotations

from enum import Enum

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.numerics import Floats


class Kind(Enum):
    """Which values a feature takes."""

    NUMERIC = "numeric"
    INTEGER = "integer"
    BINARY = "binary"


class Direction(Enum):
    """Which way a feature may move, compared with the factual."""

    ANY = "any"
    INCREASING = "increasing"
    DECREASING = "decreasing"


def kind_of(name: str, series: pd.Series, values: Floats, whole: set[str], zero_one: set[str], real: set[str]) -> Kind:
    """The kind of a column of data: as declared by one of the three sets of names, else as its values suggest."""
    if name in zero_one:
        if not np.isin(values, (0.0, 1.0)).all():
            raise InputError(f"column {name!r} is declared binary but holds {values[~np.isin(values, (0.0, 1.0))][0]}")
        return Kind.BINARY
    if name in whole:
        broken = values[values != np.floor(values)]
        if broken.size:
            raise InputError(f"column {name!r} is declared integer but holds {broken[0]}")
        return Kind.INTEGER
    if name in real:
        return Kind.NUMERIC
    if pd.api.types.is_bool_dtype(series) or (
        np.isin(values, (0.0, 1.0)).all() and (values == 0).any() and (values == 1).any()
    ):
        return Kind.BINARY
    return Kind.INTEGER if pd.api.types.is_integer_dtype(series) else Kind.NUMERIC
