"""Points of a region as rows of the newcomer's own table.

Written apart from the product's own translation, so that a fault in that one cannot hide itself: the category of a
column of words is the label of the group's member that is 1; numbers stand under their name. Every column gets the
dtype that it has in the newcomer's table, broken numbers in whole columns and numbers in float32 columns excepted: the
promise is about float64 rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from elbowroom import Region, Space


def gaps_of(region: Region, row: Any) -> tuple[tuple[str, ...], str]:
    """The columns of numbers that are missing in every row of the region, and what is odd about them: a gap of the row
    that was asked about stays one unless the space allows to fill it in."""
    empty = row.index[row.isna()].map(str) if isinstance(row, pd.Series) else ()
    numbers = [name for name in empty if name in region.space.position]
    kept = [name for name in numbers if _value(region.space.features[region.space.position[name]].missing) == "keep"]
    lost = sorted(set(kept) - set(region.missing))
    invented = sorted(set(region.missing) - set(numbers))
    odd = f"the region does not say that {lost} is missing in its rows" if lost else ""
    return tuple(region.missing), odd or (f"the region says that {invented} is missing" if invented else "")


def _value(word: Any) -> str:
    return str(getattr(word, "value", word))


def rows_like(space: Space, points: np.ndarray, like: Any, gaps: tuple[str, ...] = ()) -> Any:
    """The points as a frame (or array) like the one that the model was fitted to."""
    if not isinstance(like, pd.DataFrame):
        return points.copy()
    labelled = {group.name: g for g, group in enumerate(space.groups) if getattr(group, "labels", None) is not None}
    columns = {}
    for name in like.columns:
        if str(name) in labelled:
            columns[name] = _words(space, points, labelled[str(name)], like[name])
        elif str(name) in space.position:
            values = points[:, space.position[str(name)]]
            columns[name] = _numbers(np.full(len(points), np.nan) if str(name) in gaps else values, like[name])
        else:  # a column that the model does not look at: any value will do
            columns[name] = pd.Series([like[name].iloc[0]] * len(points), dtype=like[name].dtype)
    return pd.DataFrame(columns)


def _words(space: Space, points: np.ndarray, g: int, like: pd.Series) -> pd.Series:
    members = space.members[g]
    on = points[:, members]
    if not ((on == 1.0).sum(axis=1) == 1).all() or not ((on == 0.0) | (on == 1.0)).all():
        raise AssertionError(f"a point has not exactly one category of {space.groups[g].name!r}")
    labels = np.array([None, *space.groups[g].labels], dtype=object)[1:]  # type: ignore[attr-defined]
    values = labels[on.argmax(axis=1)]
    if isinstance(like.dtype, pd.CategoricalDtype):
        return pd.Series(pd.Categorical(values, dtype=like.dtype))
    gaps = np.array([value is None or value != value for value in values])
    if like.dtype == object:
        known = like[like.isna()]
        return pd.Series(np.where(gaps, known.iloc[0] if len(known) else np.nan, values), dtype=object)
    if gaps.any() and like.dtype.kind in "iub":
        raise AssertionError(f"a gap in column {like.name!r}, whose dtype {like.dtype} has none")
    return pd.Series(np.where(gaps, np.nan, values) if gaps.any() else values, dtype=like.dtype)


def _numbers(values: np.ndarray, like: pd.Series) -> pd.Series:
    if like.dtype.kind in "fO":
        return pd.Series(values.astype(np.float64) if like.dtype.kind == "O" or like.dtype.itemsize < 8 else values)
    if not np.isfinite(values).all() or (values != np.floor(values)).any():
        return pd.Series(values)
    return pd.Series(values).astype(like.dtype)
