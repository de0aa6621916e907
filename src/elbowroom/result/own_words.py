"""A region over the columns of the user's own table: numbers as they are, categories by their labels.

A space without labelled groups has no other columns than its inner ones; then everything is floats, as it is computed.
Numbers that are missing in the row are NaN here; inside, they are a 0 that means nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from elbowroom.numerics import Bools, Floats
from elbowroom.problem.body import Body
from elbowroom.problem.categories import allowed_categories
from elbowroom.problem.labels import Category, is_missing
from elbowroom.problem.space import Space
from elbowroom.problem.tables import RawColumn
from elbowroom.result.standing import Standing, Standings


def has_labels(space: Space) -> bool:
    return any(group.labels is not None for group in space.groups)


def with_missing(space: Space, values: Floats, missing: tuple[str, ...]) -> Floats:
    """Rows or one row of inner floats, with NaN where the numbers are missing."""
    if not missing:
        return values
    shown = np.array(values, dtype=np.float64)
    shown[..., [space.position[name] for name in missing]] = np.nan
    return shown


def series_of(space: Space, values: Floats, missing: tuple[str, ...], name: str) -> pd.Series:
    """One row by column: floats, or objects where categories have labels."""
    shown = with_missing(space, values, missing)
    if not has_labels(space):
        return pd.Series(shown, index=list(space.names), name=name)
    held = [_value(column, shown) for column in space.raw]
    return pd.Series(held, index=list(space.columns), name=name, dtype=object)


def plain_values(space: Space, values: Floats, missing: tuple[str, ...] = ()) -> dict[str, Category]:
    """One row by column as plain values: numbers, categories, None for what is missing."""
    shown = series_of(space, values, missing, "row")
    return {str(name): None if is_missing(value) else value for name, value in shown.to_dict().items()}


def ends_of(space: Space, body: Body, ends: Floats, missing: tuple[str, ...], name: str) -> pd.Series:
    """Where each column may lie at one end: a number; a category if it stays, else all that it may be."""
    if not has_labels(space):
        return series_of(space, ends, missing, name)
    shown = with_missing(space, ends, missing)
    held: list[Any] = []
    for column in space.raw:
        allowed = categories_in(body, column)
        held.append(_value(column, shown) if column.group is None else allowed[0] if len(allowed) == 1 else allowed)
    return pd.Series(held, index=list(space.columns), name=name, dtype=object)


def categories_in(body: Body, column: RawColumn) -> tuple[Category, ...]:
    """The categories of a column inside the region; none for a column of numbers."""
    if column.group is None:
        return ()
    members = np.arange(column.start, column.stop)
    if any(np.array_equal(members, free) for free in body.free_groups):
        allowed = allowed_categories(body.lower[members], body.upper[members])
        return tuple(label for label, fits in zip(column.labels, allowed, strict=True) if fits)
    return (column.labels[int(np.argmax(body.center[members]))],)


def _value(column: RawColumn, values: Floats) -> Any:
    if column.group is None:
        return float(values[column.start])
    return column.labels[int(np.argmax(values[column.start : column.stop]))]


def changed_columns(space: Space, factual: Floats, center: Floats, filled: tuple[str, ...] = ()) -> Bools:
    """Which columns of the user's table differ from the row; what was filled in does, whatever it is."""
    differs = center != factual
    differs[[space.position[name] for name in filled]] = True
    return np.array([bool(differs[column.start : column.stop].any()) for column in space.raw], dtype=np.bool_)


def intervals_of(
    space: Space,
    body: Body,
    factual: Floats,
    standings: Standings,
    missing: tuple[str, ...],
    filled: tuple[str, ...] = (),
) -> pd.DataFrame:
    """One row per column: the value now, at the centre, the ends of its interval, what the region asks of it, and the
    categories that it may have."""
    asked = standings.by_table(space)
    low, high = (ends_of(space, body, ends, missing, "end") for ends in (body.lower, body.upper))
    frame = pd.DataFrame(
        {
            "feature": list(space.columns),
            "factual": series_of(space, factual, (*missing, *filled), "factual").to_numpy(),
            "center": series_of(space, body.center, missing, "center").to_numpy(),
            "low": [None if isinstance(end, tuple) else end for end in low],
            "high": [None if isinstance(end, tuple) else end for end in high],
            "changed": changed_columns(space, factual, body.center, filled),
            "has_to_change": [standing is Standing.HAS_TO_CHANGE for standing in asked],
            "kind": [standing.value for standing in asked],
        }
    )
    if has_labels(space):
        frame["categories"] = pd.Series([categories_in(body, column) for column in space.raw], dtype=object)
    return frame


def table_of(space: Space, X: Floats, missing: tuple[str, ...]) -> pd.DataFrame:
    """Points as a table that the model's own predict takes."""
    return space.table(with_missing(space, X, missing))


def lies_in(space: Space, body: Body, X: Floats, known: Bools, missing: tuple[str, ...]) -> Bools:
    """True for rows of the body: what is missing in the row is missing in them as well, and nothing else."""
    absent = [space.position[name] for name in missing]
    lacking = np.isnan(X[:, absent]).all(axis=1)
    filled = X.copy()
    filled[:, absent] = 0.0
    return np.asarray(body.contains(filled) & lacking & known.all(axis=1), dtype=np.bool_)
