"""The doors of a batch: a table in, a table out."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from elbowroom.batch.question import BatchQuestion
from elbowroom.batch.record import ask, batch_columns, line_of, table_of
from elbowroom.batch.result import BatchResult
from elbowroom.batch.runner import OnBatchProgress, Run
from elbowroom.batch.store import Store
from elbowroom.errors import InputError
from elbowroom.problem.parsing import seconds_of
from elbowroom.problem.space import Space
from elbowroom.visible import visible

if TYPE_CHECKING:
    from elbowroom.explainer import Explainer


def explain_many(
    explainer: Explainer,
    frame: object,
    question: BatchQuestion,
    *,
    n_jobs: int = 1,
    total_limit: float | None = None,
    store: str | Path | None = None,
    on_progress: OnBatchProgress | None = None,
) -> BatchResult:
    """Ask the question about every row of the frame; see `Explainer.explain_many`."""
    table = as_table(frame, explainer.space)
    jobs = _jobs(n_jobs)
    limit = None if total_limit is None else seconds_of(total_limit)
    if on_progress is not None and not callable(on_progress):
        raise InputError(f"on_progress={on_progress!r} must be a function of one BatchProgress")
    document = question.document(explainer)
    kept = Store(store)
    try:
        kept.begin(document, [visible(str(label)) for label in table.index], digests(table))
        run = Run(explainer, table, question, kept, jobs, on_progress, limit)
        start = time.perf_counter()
        run.run()
    except BaseException:
        kept.close()
        raise
    seconds = time.perf_counter() - start
    return BatchResult(kept, explainer.space, table.index, seconds, run.interrupted, (explainer, table, question, jobs))


def explain_frame(explainer: Explainer, frame: object, question: BatchQuestion) -> pd.DataFrame:
    """The same for one part of a distributed table: a pure function from frame to frame, of a fixed schema."""
    table, columns = as_table(frame, explainer.space), batch_columns(explainer.space)
    lines = [line_of(ask(explainer, question, i, table.iloc[[i]]), columns) for i in range(len(table))]
    return table_of(lines, explainer.space, table.index)


def as_table(frame: object, space: Space) -> pd.DataFrame:
    """Rows as a table with an index; a plain array gets the columns of the space."""
    if isinstance(frame, pd.DataFrame):
        return frame
    if isinstance(frame, np.ndarray) and frame.ndim == 2:
        if frame.shape[1] != len(space.columns):
            raise InputError(f"frame: {frame.shape[1]} columns; the space has {len(space.columns)}")
        return pd.DataFrame(frame, columns=list(space.columns))
    raise InputError(
        f"frame: give a DataFrame, or an array of two dimensions, not {type(frame).__name__}; explain takes a single row"
    )


def digests(table: pd.DataFrame) -> list[str]:
    """A hash of every row's values, by name of column: two tables with equal ones ask the same."""
    names = hashlib.sha256(repr([str(name) for name in table.columns]).encode()).hexdigest()[:8]
    values: Sequence[Any] = list(zip(*(_plain(table.iloc[:, j]) for j in range(table.shape[1])), strict=True))
    return [names + hashlib.sha256(repr(row).encode("utf-8", "surrogatepass")).hexdigest()[:24] for row in values]


def _plain(column: pd.Series) -> list[Any]:
    """Equal values are equal text, whatever the width of their type."""
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        return [float(v) if v == v and v is not pd.NA else None for v in column.astype(object)]
    return [None if v is None or v is pd.NA or v != v else str(v) for v in column.astype(object)]


def _jobs(n_jobs: object) -> int:
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise InputError(f"n_jobs={n_jobs!r} must be a whole number: 1, 2, ..., or -1 for all cores")
    return int(n_jobs)
