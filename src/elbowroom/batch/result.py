"""The answers of a batch, in the order of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, overload

import pandas as pd

from elbowroom.batch.record import ERROR, NOT_ASKED, line_of, table_of
from elbowroom.batch.rows import table_of_rows
from elbowroom.batch.store import Store
from elbowroom.disk import write_whole
from elbowroom.errors import InputError
from elbowroom.problem import Box
from elbowroom.problem.reader import Reader
from elbowroom.problem.space import Space
from elbowroom.result import NoRegion, Region
from elbowroom.result.question_json import space_in
from elbowroom.result.schema import read_answer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from elbowroom.batch.audit import Audit
    from elbowroom.batch.question import BatchQuestion
    from elbowroom.batch.runner import OnBatchProgress
    from elbowroom.explainer import Explainer
    from elbowroom.present.batch import BatchDisplay


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

    Where Ctrl-C or the limit for the whole batch ended it before every row was asked, the others have the status
    NOT_ASKED, and the same call with the same store goes on with them.

    Args:
        store: Where the answers are kept.
        space: What the features mean.
        index: Of the table.
        seconds: That this run took.
        interrupted: By Ctrl-C.
        asked: The explainer, the table, the question and the number of processes; of a store alone, the table.

    Examples:
        >>> batch = explainer.explain_many(X.head(6))
        >>> batch.frame["status"].value_counts().to_dict()
        {'OPTIMAL': 6}
        >>> batch.levers().to_dict()
        {'salary': 6, 'debt': 4, 'age': 0}
    """

    def __init__(
        self,
        store: Store,
        space: Space,
        index: pd.Index,
        seconds: float,
        interrupted: bool,
        asked: tuple[Explainer, pd.DataFrame, BatchQuestion, int] | pd.DataFrame,
    ) -> None:
        self._store, self._space, self._index = store, space, index
        self.seconds, self.interrupted = seconds, interrupted
        self._asked = asked  # the table alone: read from a store, without the model

    @classmethod
    def from_store(cls, path: str | Path) -> BatchResult:
        """A batch that was kept in a file, without its model; nothing is written. Its index is text.

        Args:
            path: The file.

        Returns:
            The batch.
        """
        store = Store(path, reading=True)
        question = store.question
        asked = table_of_rows(store.rows(), [str(name) for name in question["columns"]])
        space = space_in(Reader(question["space"], "space", str(path)))
        return cls(store, space, asked.index, 0.0, False, asked)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def space(self) -> Space:
        """What the features mean."""
        return self._space

    @property
    def store(self) -> Path:
        """Where the answers are kept."""
        return self._store.path

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The flat table: status, distance, lower_bound, gap, changes, centre, ends and has_to_change of every column,
        sentence, seconds and error."""
        records = self._store.records(range(len(self)), answers=False)
        return table_of(map(line_of, records), self._space, self._index)

    @cached_property
    def regions(self) -> Answers:
        """The answers, `Region` or `NoRegion`, read when they are asked for."""
        return Answers(self._store, len(self))

    @property
    def is_complete(self) -> bool:
        """Was every row asked?"""
        return not (self.frame["status"] == NOT_ASKED).any()

    def summary(self) -> pd.DataFrame:
        """How many rows ended how, with the quantiles of their distances, changes and seconds.

        Returns:
            One row per status.
        """
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
        """In how many regions each column has to change, most used first.

        Returns:
            A number per column.
        """
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

    def plot(self, ax: Axes | None = None) -> BatchDisplay:
        """The distribution of distances and the most used levers.

        Args:
            ax: On these axes; None: on a new figure.

        Returns:
            The display; ``.ax`` are the axes drawn on, ``.figure`` the figure.
        """
        from elbowroom.present.batch import BatchDisplay

        return BatchDisplay.from_batch(self).plot(ax)

    def to_html(self, path: str | Path | None = None) -> str:
        """An overview on one page, every row with its sentence.

        Args:
            path: Where it is written, if given.

        Returns:
            The page.
        """
        from elbowroom.present.batch import page

        text = page(self)
        if path is not None:
            write_whole(path, text)
        return text

    def to_csv(self, path: str | Path) -> None:
        """Write the table; texts that a spreadsheet would take for formulas are disarmed.

        Args:
            path: Where it is written.
        """
        write_whole(path, csv_of(self.frame))

    def to_parquet(self, path: str | Path) -> None:
        """Write the table. Needs pyarrow.

        Args:
            path: Where it is written.
        """
        write_whole(path, parquet_of(self.frame))

    # ---- further questions ------------------------------------------------------------------------------------------
    def audit(
        self,
        groups: object = None,
        *,
        radii: Sequence[float] = (),
        sigma: float | None = None,
        on_progress: OnBatchProgress | None = None,
    ) -> Audit:
        """Who has no recourse at all (proven), who is out of time, what recourse costs by group with 95 % intervals, which
        columns carry it.

        Args:
            groups: A column of the table, a Series with its index, or a list of one value per row.
            radii: Also ask what more room would cost, in units of the scales.
            sigma: Also ask how many plain counterfactuals would not survive a Gaussian slip.
            on_progress: A function that is told by a `BatchProgress`.

        Returns:
            An `Audit`.
        """
        from elbowroom.batch.audit import audit

        return audit(self, groups, radii=radii, sigma=sigma, on_progress=on_progress)

    def _with_model(self) -> tuple[Explainer, pd.DataFrame, BatchQuestion, int]:
        if isinstance(self._asked, pd.DataFrame):
            raise InputError("this batch was read from a store, without its model; ask it with explain_many and store=")
        return self._asked

    @property
    def explainer(self) -> Explainer:
        """That was asked; a batch from a store alone has none."""
        return self._with_model()[0]

    @property
    def asked(self) -> pd.DataFrame:
        """The table that was asked about."""
        return self._asked if isinstance(self._asked, pd.DataFrame) else self._asked[1]

    @property
    def n_jobs(self) -> int:
        """How many processes were asked for."""
        return self._with_model()[3]

    def again(self, radius: float, on_progress: OnBatchProgress | None = None) -> BatchResult:
        """The same question about the same rows with another radius.

        Args:
            radius: A number in units of the scales.
            on_progress: A function that is told by a `BatchProgress`.

        Returns:
            A batch of its own.
        """
        from elbowroom.batch.ask import explain_many

        explainer, frame, question, n_jobs = self._with_model()
        ends = {"low": None, "high": None} if isinstance(question.room, Box) else {}
        asked = replace(question, room=replace(question.room, radius=radius, **ends))  # type: ignore[type-var]
        return explain_many(explainer, frame, asked, n_jobs=n_jobs, on_progress=on_progress)


# Programs that open CSV files take a text that begins so for a formula, and run it.
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_of(frame: pd.DataFrame) -> str:
    """A table with its index as the text of a CSV file. Text that a spreadsheet would run as a formula gets an apostrophe
    in front; Parquet keeps every text as it is."""
    unnamed = frame.index.nlevels == 1 and frame.index.name is None
    safe = frame.reset_index(names="index" if unnamed else None, allow_duplicates=True)
    for j, kind in enumerate(safe.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            safe.isetitem(j, [_harmless(value) for value in safe.iloc[:, j]])
    content = StringIO()
    safe.set_axis([_harmless(str(name)) for name in safe.columns], axis=1).to_csv(content, index=False)
    return content.getvalue()


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def parquet_of(frame: pd.DataFrame) -> bytes:
    content = BytesIO()
    try:
        frame.to_parquet(content)
    except UnicodeError as error:
        raise InputError(f"Parquet holds no such text ({error}); write a CSV file") from None
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install pyarrow; or write a CSV file") from None
    return content.getvalue()
