"""What an explainer does for whole tables; the work is in `elbowroom.batch`, which is loaded when it is first used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pandas as pd

from elbowroom.problem import Box, Distance, Room, Rule

if TYPE_CHECKING:
    from elbowroom.batch import BatchResult
    from elbowroom.batch.runner import OnBatchProgress
    from elbowroom.explainer.explainer import Explainer


class Many:
    """The part of `Explainer` that takes many rows."""

    def explain_many(
        self,
        frame: object,
        room: Room = Box(0.05),  # noqa: B008 - rooms are frozen
        target: object = None,
        distance: Distance | str = "l1",
        rules: Sequence[Rule] = (),
        time_limit: float = 60.0,
        method: str = "auto",
        seed: int = 0,
        *,
        n_jobs: int = 1,
        total_limit: float | None = None,
        store: str | Path | None = None,
        on_progress: OnBatchProgress | bool | None = None,
    ) -> BatchResult:
        """One row in, one row out, in order, with the index of the table.

        A row that cannot be asked becomes a row with its error. Ctrl-C ends the batch and returns what there is.

        Args:
            frame: The rows.
            room: As in `explain`, the same for every row.
            target: As in `explain`.
            distance: As in `explain`.
            rules: As in `explain`.
            time_limit: Seconds for each row.
            method: As in `explain`.
            seed: As in `explain`.
            n_jobs: So many processes, through joblib; under ``joblib.parallel_config(backend="dask")`` (or "ray", "spark") the
                same call runs on that cluster.
            total_limit: Seconds for all of them: then every row gets an answer first, and proofs take what is left.
            store: A file that keeps every answer when it is found: the same call goes on where an earlier one ended, however
                that ended.
            on_progress: True shows how far it is, on a terminal and in a notebook; a function is told by a `BatchProgress`.

        Returns:
            A `BatchResult`: the flat table as ``frame``, the exact answers as ``regions``.

        Examples:
            >>> explainer.explain_many(X.head(2)).frame["status"].tolist()
            ['OPTIMAL', 'OPTIMAL']
        """
        from elbowroom.batch.ask import explain_many
        from elbowroom.batch.question import BatchQuestion

        question = BatchQuestion.of(room, target, distance, rules, time_limit, method, seed)
        return explain_many(
            cast("Explainer", self), frame, question, n_jobs=n_jobs, total_limit=total_limit, store=store,
            on_progress=on_progress,
        )  # fmt: skip

    def explain_frame(
        self,
        frame: object,
        room: Room = Box(0.05),  # noqa: B008 - rooms are frozen
        target: object = None,
        distance: Distance | str = "l1",
        rules: Sequence[Rule] = (),
        time_limit: float = 60.0,
        method: str = "auto",
        seed: int = 0,
    ) -> pd.DataFrame:
        """The flat table of `explain_many` for one part of a distributed table: a pure function that pickles.

        For ``dask.dataframe.map_partitions``, Ray Data's ``map_batches`` and Spark's ``mapInPandas``.

        Args:
            frame: The part.
            room: As in `explain`, the same for every row.
            target: As in `explain`.
            distance: As in `explain`.
            rules: As in `explain`.
            time_limit: Seconds for each row.
            method: As in `explain`.
            seed: As in `explain`.

        Returns:
            One row per row, with the columns of `batch_schema`, always.

        Examples:
            >>> explainer.explain_frame(X.head(2))["changes"].tolist()
            [1, 1]
        """
        from elbowroom.batch.ask import explain_frame
        from elbowroom.batch.question import BatchQuestion

        question = BatchQuestion.of(room, target, distance, rules, time_limit, method, seed)
        return explain_frame(cast("Explainer", self), frame, question)

    def batch_schema(self) -> pd.DataFrame:
        """An empty table with the columns and types of `explain_frame`.

        Returns:
            No rows; a column for each that `explain_frame` gives back, with its type.

        Examples:
            >>> list(explainer.batch_schema().columns[:4])
            ['status', 'distance', 'lower_bound', 'gap']
        """
        from elbowroom.batch.record import schema_of

        return schema_of(cast("Explainer", self).space)
