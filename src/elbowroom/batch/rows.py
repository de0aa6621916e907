"""The rows of a table as a store keeps them: what each is called, and its values as exact JSON."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.problem.rows import values_by_name
from elbowroom.problem.space import Space
from elbowroom.visible import visible

Row: TypeAlias = tuple[str, str]  # what it is called, and its values
AT_ONCE: Final = 4096  # rows that are in memory as text at the same time


def as_table(frame: object, space: Space) -> pd.DataFrame:
    """Rows as a table with an index; a plain array gets the columns of the space. What is wrong with a column is wrong
    with every row, and said at once."""
    if isinstance(frame, np.ndarray) and frame.ndim == 2:
        if frame.shape[1] != len(space.columns):
            raise InputError(f"frame: {frame.shape[1]} columns; the space has {len(space.columns)}")
        frame = pd.DataFrame(frame, columns=list(space.columns))
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            f"frame: give a DataFrame, or an array of two dimensions, not {type(frame).__name__}; explain takes a single row"
        )
    if len(frame):
        values_by_name(frame.iloc[[0]], space.columns, space.names, "frame")
    return frame


def rows_of(table: pd.DataFrame) -> Iterator[Row]:
    """Name and values of every row, in order. Two tables with equal ones ask the same."""
    for start in range(0, len(table), AT_ONCE):
        part = table.iloc[start : start + AT_ONCE]
        columns = [[plain(value) for value in part.iloc[:, j].astype(object)] for j in range(part.shape[1])]
        lines = zip(*columns, strict=True) if columns else iter([()] * len(part))
        for label, values in zip(part.index, lines, strict=True):
            yield visible(str(label)), json.dumps(values)


def plain(value: Any) -> float | str | None:
    """Equal values are equal JSON, whatever the width of their type; what is neither a number nor text is told by its
    text, and whether it can be asked about is for the search to say."""
    if isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond all floats
            return str(value)
        return None if math.isnan(number) else number
    if isinstance(value, str):
        return value
    return None if value is None or value is pd.NA or value is pd.NaT else str(value)


def sealed(rows: Iterable[Row], seal: Any) -> Iterator[Row]:
    """The rows themselves, while ``seal`` (a hash) takes them in."""
    for row in rows:
        seal.update(json.dumps(row).encode())
        yield row


def new_seal() -> Any:
    return hashlib.sha256()


def table_of_rows(rows: Iterable[Row], columns: list[str]) -> pd.DataFrame:
    """The table again: numbers and text as they were, the index as text."""
    kept = list(rows)
    values = [json.loads(data) for _, data in kept]
    index = pd.Index([label for label, _ in kept], dtype=object)
    return pd.DataFrame(
        {name: pd.Series([row[j] for row in values], index=index) for j, name in enumerate(columns)}, index=index
    )
