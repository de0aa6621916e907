"""One row in any of the forms that people have: a Series, a mapping, a frame of one row, a list, an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.problem.parsing import by_position
from elbowroom.visible import listed


def values_by_name(row: object, columns: Sequence[str], inner: Sequence[str], what: str) -> dict[str, Any]:
    """The values of a row under the names of the raw columns or, if it is given that way, of the inner ones."""
    if isinstance(row, pd.DataFrame):
        if len(row) != 1:
            raise InputError(f"{what}: expected one row, the frame has {len(row)}; pass frame.iloc[[i]]")
        row = pd.Series([row.iloc[0, c] for c in range(row.shape[1])], index=row.columns, dtype=object)
    if isinstance(row, pd.Series):
        if not row.index.is_unique:
            raise InputError(f"{what}: {list(row.index[row.index.duplicated()])[:8]} occur more than once in its index")
        row = row.to_dict()
    if isinstance(row, Mapping):
        numbered = row and all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) for k in row)
        if not (numbered and not set(map(str, row)) & {*columns, *inner}):
            return _matched({str(k): v for k, v in row.items()}, columns, inner, what)
        row = by_position(row, what)
    is_floats = isinstance(row, np.ndarray) and row.dtype.kind in "fiub"
    if isinstance(row, np.ndarray):
        if not (row.ndim == 1 or (row.ndim == 2 and row.shape[0] == 1)):
            raise InputError(f"{what}: expected one row, the array has shape {row.shape}")
        row = list(row.ravel())
    if not isinstance(row, Sequence) or isinstance(row, str):
        raise InputError(f"{what}: give a Series, a mapping, a one-row DataFrame or an array, not {type(row).__name__}")
    if len(row) == len(inner) and (is_floats or len(columns) != len(inner)):
        return dict(zip(inner, row, strict=True))
    if len(row) != len(columns):
        raise InputError(
            f"{what}: {len(row)} values for {len(columns)} columns {list(columns)[:8]}; give one value per column"
        )
    return dict(zip(columns, row, strict=True))


def _matched(row: dict[str, Any], columns: Sequence[str], inner: Sequence[str], what: str) -> dict[str, Any]:
    given = set(row)
    for names in (columns, inner):
        if given == set(names):
            return row
    names = columns if given & set(columns) or not given & set(inner) else inner
    if len(given & set(inner)) > len(given & set(columns)):
        names = inner
    missing = [n for n in names if n not in row]
    extra = [n for n in row if n not in set(names)]
    raise InputError(
        f"{what}: missing columns {listed(missing)}, unknown columns {listed(extra)}; the model has {listed(names)}"
    )
