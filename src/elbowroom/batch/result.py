"""The answers of a batch, in the order of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from elbowroom.batch.record import ERROR, NOT_ASKED, batch_columns, line_of, table_of
from elbowroom.batch.store import Store
from elbowroom.disk import write_whole
from elbowroom.errors import InputError
from elbowroom.problem.space import Space
from elbowroom.result import NoRegion, Region
from elbowroom.result.schema import read_answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from elbowroom.batch.audit import Audit
    from elbowroom.batch.question import BatchQuestion
    from elbowroom.explainer import Explainer


class Answers(Sequence["Region | NoRegion | None"]):
    """The answers themselves, read from the store one by one; None for a row that met an error or was not asked."""

    def __init__(self, store: Store, size: int) -> None:
        self._store, self._size = store, size

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> Region | NoRegion | None: ...
    @overload
    def __getitem__(self, place: slice) -> list[Region | NoRegion | None]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(self._size))]
        position = place + self._size if place < 0 else place
        if not 0 <= position < self._size:
            raise IndexError(f"row {place} of a batch of {self._size}")
        record = self._store.record(position)
        return None if record is None or record.answer is None else read_answer(record.answer)

    def __iter__(self) -> Iterator[Region | NoRegion | None]:
        return (self[i] for i in range(self._size))


class BatchResult:
    """One row in, one row out, in order: ``frame``, and the exact answers behind it as ``regions``.

    ``interrupted`` says that Ctrl-C or the limit for the whole batch ended it before every row was asked: those have the
    status NOT_ASKED, and the same call with the same store goes on with them.
    """

    def __init__(
        self,
        store: Store,
        space: Space,
        index: pd.Index,
        seconds: float,
        interrupted: bool,
        asked: tuple[Explainer, pd.DataFrame, BatchQuestion, int] | None = None,
    ) -> None:
        self._store, self._space, self._index = store, space, index
        self.seconds, self.interrupted = seconds, interrupted
        self._asked = asked  # None: read from a store, without the model

    def __len__(self) -> int:
        return len(self._index)

    @property
    def space(self) -> Space:
        return self._space

    @property
    def store(self) -> Path:
        """Where the answers are kept."""
        return self._store.path

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The flat table: status, distance, lower_bound, gap, changes, centre, ends and has_to_change of every column,
        sentence, seconds and error."""
        columns = batch_columns(self._space)
        lines = [line_of(record, columns) for record in self._store.records(range(len(self)), answers=False)]
        return table_of(lines, self._space, self._index)

    @cached_property
    def regions(self) -> Answers:
        """The answers, `Region` or `NoRegion`, read when they are asked for."""
        return Answers(self._store, len(self))

    def summary(self) -> pd.DataFrame:
        """How many rows ended how, with the quantiles of their distances, changes and seconds."""
        frame = self.frame
        grouped = frame.groupby("status", sort=True)
        table = pd.DataFrame(
            {
                "rows": grouped.size(),
                "share": grouped.size() / max(1, len(frame)),
                "median_distance": grouped["distance"].median(),
                "largest_distance": grouped["distance"].max(),
                "median_changes": grouped["changes"].median().astype("float64"),
                "median_seconds": grouped["seconds"].median(),
                "largest_gap": grouped["gap"].max(),
            }
        )
        order = ["OPTIMAL", "CERTIFIED", "NONE_EXISTS", "UNKNOWN", ERROR, NOT_ASKED]
        return table.reindex([status for status in order if status in table.index])

    def levers(self) -> pd.Series:
        """In how many regions each column has to change, most used first."""
        frame = self.frame
        used = {name: int(frame[f"{name}__has_to_change"].fillna(False).sum()) for name in self._space.columns}
        return pd.Series(used, name="has_to_change", dtype="int64").sort_values(ascending=False, kind="stable")

    def __repr__(self) -> str:
        counts = self.frame["status"].value_counts()
        said = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        ended = ", interrupted" if self.interrupted else ""
        return f"<BatchResult of {len(self):,} rows: {said or 'empty'}{ended}>"

    def _repr_html_(self) -> str:
        from elbowroom.present.batch import fragment

        return fragment(self)

    def plot(self, ax: Axes | None = None) -> Any:
        """The distribution of distances and the most used levers."""
        from elbowroom.present.batch import BatchDisplay

        return BatchDisplay.from_batch(self).plot(ax)

    def to_html(self, path: str | Path | None = None) -> str:
        """An overview on one page, every row with its sentence."""
        from elbowroom.present.batch import page

        text = page(self)
        if path is not None:
            write_whole(path, text)
        return text

    def to_csv(self, path: str | Path) -> None:
        write_whole(path, csv_of(self.frame))

    def to_parquet(self, path: str | Path) -> None:
        """Needs pyarrow."""
        write_whole(path, parquet_of(self.frame))

    # ---- further questions ------------------------------------------------------------------------------------------
    def audit(self, groups: object = None, *, radii: Sequence[float] = (), sigma: float | None = None) -> Audit:
        """Who has no recourse at all (proven), who is out of time, what recourse costs by group with 95 % intervals, which
        columns carry it. ``groups`` is a column of the table, a Series or a list. With ``radii``: what more room would
        cost; with ``sigma``: how many plain counterfactuals would not survive a Gaussian slip."""
        from elbowroom.batch.audit import audit

        return audit(self, groups, radii=radii, sigma=sigma)

    def _with_model(self) -> tuple[Explainer, pd.DataFrame, BatchQuestion, int]:
        if self._asked is None:
            raise InputError("this batch was read from a store, without its model; ask it with explain_many and store=")
        return self._asked

    @property
    def explainer(self) -> Explainer:
        return self._with_model()[0]

    @property
    def asked(self) -> pd.DataFrame:
        """The table that was asked about."""
        return self._with_model()[1]

    def again(self, radius: float) -> BatchResult:
        """The same question about the same rows with another scalar radius."""
        from elbowroom.batch.ask import explain_many

        explainer, frame, question, n_jobs = self._with_model()
        kind: Any = type(question.room)
        room = kind(radius, categories=question.room.categories)
        return explain_many(explainer, frame, replace(question, room=room), n_jobs=n_jobs)


def csv_of(frame: pd.DataFrame) -> str:
    """A table with its index as the text of a CSV file."""
    content = StringIO()
    frame.to_csv(content, index_label="index" if frame.index.name is None else None)
    return content.getvalue()


def parquet_of(frame: pd.DataFrame) -> bytes:
    content = BytesIO()
    try:
        frame.to_parquet(content)
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install pyarrow; or write a CSV file") from None
    return content.getvalue()
