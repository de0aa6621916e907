"""The doors of a batch: a table in, a table out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from elbowroom.batch.question import BatchQuestion
from elbowroom.batch.record import ask, line_of, table_of
from elbowroom.batch.result import BatchResult
from elbowroom.batch.rows import as_table, rows_of
from elbowroom.batch.runner import OnBatchProgress, Run
from elbowroom.batch.store import Store
from elbowroom.errors import InputError
from elbowroom.problem.parsing import parse_jobs, seconds_of

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
    on_progress: OnBatchProgress | bool | None = None,
) -> BatchResult:
    """Ask the question about every row of the frame; see `Explainer.explain_many`."""
    table = as_table(frame, explainer.space)
    jobs = parse_jobs(n_jobs)
    limit = None if total_limit is None else seconds_of(total_limit)
    if not (on_progress is None or isinstance(on_progress, bool) or callable(on_progress)):
        raise InputError(f"on_progress={on_progress!r} must be True, or a function of one BatchProgress")
    question.check(explainer)
    document = question.document(explainer, [str(name) for name in table.columns])
    kept = Store(store)
    try:
        kept.begin(document, explainer.versions, rows_of(table), len(table))
        start = time.perf_counter()
        if isinstance(on_progress, bool):
            from elbowroom.present.progress import batch_progress

            with batch_progress(on_progress) as shown:
                run = Run(explainer, table, question, kept, jobs, shown, limit)
                run.run()
        else:
            run = Run(explainer, table, question, kept, jobs, on_progress, limit)
            run.run()
    except BaseException:
        kept.close()
        raise
    seconds = time.perf_counter() - start
    return BatchResult(kept, explainer.space, table.index, seconds, run.interrupted, (explainer, table, question, jobs))


def explain_frame(explainer: Explainer, frame: object, question: BatchQuestion) -> pd.DataFrame:
    """The same for one part of a distributed table: a pure function from frame to frame, of a fixed schema."""
    question.check(explainer)
    table = as_table(frame, explainer.space)
    lines = (line_of(ask(explainer, question, i, table.iloc[[i]])) for i in range(len(table)))
    return table_of(lines, explainer.space, table.index)
