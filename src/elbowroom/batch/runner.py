"""A batch from its first row to its last.

Rows are handed out in small chunks, through joblib, and every chunk is committed to the store when it comes back. The
explainer travels as one array of bytes: local processes read it from one file, joblib sends it to each machine of a
cluster once; every process unpacks it once. A worker that dies takes the rows it had with it: those are asked again,
each alone, and a row that ends its worker a second time is reported with that error.

With a limit for the whole batch, every row is first asked with a share of it that leaves time over; what remains goes
to the rows that are not proven, so that each has a certified answer before any gets a long proof.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pandas as pd

from elbowroom.batch.parcel import Parcel, work
from elbowroom.batch.question import BatchQuestion
from elbowroom.batch.record import ERROR, LOST, Record, ask, failed
from elbowroom.batch.store import Store

if TYPE_CHECKING:
    from elbowroom.explainer import Explainer

MOST_IN_CHUNK: Final = 16  # rows: what a killed process loses at most
CHUNKS_PER_WORKER: Final = 8  # so that the last ones end together
MOST_PER_CORE: Final = 4  # processes on this machine; more would only take each other's time and memory
FIRST_SHARE: Final = 0.5  # of a limit for the whole batch: for the first answer of every row
MORE: Final = 4.0  # times the seconds that a row had, when it is asked again
LEAST: Final = 0.01  # seconds for a row that is asked again
LONG: Final = 0.05  # seconds: rows that may take longer are handed out one by one where the whole batch has a limit
UNPROVEN: Final = ("CERTIFIED", "UNKNOWN")
DIED: Final = (
    "the process that searched this row ended twice (killed, or out of memory); ask it alone with a shorter time limit"
)

OnBatchProgress: TypeAlias = "Callable[[BatchProgress], None]"


@dataclass(frozen=True)
class BatchProgress:
    """How far a batch is.

    Attributes:
        done: Rows that have an answer, those of earlier runs on the same store included.
        total: All rows.
        counts: Rows that have an answer, by status.
        seconds: Of this run.
        before: Rows that had an answer when this run began.

    Examples:
        >>> heard = []
        >>> found = explainer.explain_many(X.head(2), on_progress=heard.append)
        >>> heard[-1].done, heard[-1].counts
        (2, {'OPTIMAL': 2})
    """

    done: int  # rows that have an answer, those of earlier runs on the same store included
    total: int
    counts: dict[str, int]  # of them, by status
    seconds: float  # of this run
    before: int = 0  # rows that had an answer when this run began

    @property
    def rate(self) -> float:
        """Rows per second of this run."""
        return (self.done - self.before) / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float:
        """Until the end, at this rate; inf before the first answer."""
        return (self.total - self.done) / self.rate if self.rate > 0 else float("inf")


@dataclass(eq=False)
class Run:
    """One call of `explain_many`."""

    explainer: Explainer
    frame: pd.DataFrame
    question: BatchQuestion
    store: Store
    n_jobs: int
    on_progress: OnBatchProgress | None
    total_limit: float | None = None
    start: float = field(default_factory=time.perf_counter)
    interrupted: bool = False

    def __post_init__(self) -> None:
        self.known: dict[int, tuple[str, float]] = {}  # of every row that has an answer: status, and the time it had
        self.counts: dict[str, int] = {}
        for position, found in self.store.statuses().items():
            self._count(position, *found)
        self.before = len(self.known)

    def run(self) -> None:
        """Ask what is open."""
        try:
            if self.total_limit is None:
                self._answer(self._open_rows(self.question.time_limit), partial(_always, self.question))
            else:
                self._within()
        except KeyboardInterrupt:
            self.interrupted = True

    # ---- which rows, with how much time -----------------------------------------------------------------------------
    def _open_rows(self, limit: float) -> list[int]:
        """Rows without an answer, and those that are not proven, or lost with their process, and had less time."""
        return [position for position in range(len(self.frame)) if self._is_open(position, limit)]

    def _is_open(self, position: int, limit: float) -> bool:
        status, had = self.known.get(position, ("", LOST))
        return had == LOST or (status in UNPROVEN and had < limit)

    @property
    def _left(self) -> float:
        assert self.total_limit is not None
        return self.total_limit - (time.perf_counter() - self.start)

    def _within(self) -> None:
        """First an answer for every row, then proofs: the time that is left is shared out anew until none is.

        With L seconds left for n rows on w workers, the next one gets L w / (2 n): rows that need less leave more for the
        others, and when all have been asked something is left for proofs.
        """
        most = self.question.time_limit
        fresh = [position for position in range(len(self.frame)) if position not in self.known]
        self._answer(
            fresh,
            lambda rows: self.question.within(min(most, FIRST_SHARE * max(0.0, self._left) * self._workers / rows)),
        )
        while self._left > 0.0:
            open_rows = [p for p in self._open_rows(most) if self.known[p][0] != ERROR]
            if not open_rows:
                return
            unknown = [p for p in open_rows if self.known[p][0] == "UNKNOWN"]
            open_rows = sorted(unknown or open_rows, key=lambda p: self.known[p][1])  # who had least comes first
            share = min(self._left * self._workers / len(open_rows), most)
            shortest = self.known[open_rows[0]][1]
            longer = min(max(MORE * shortest, LEAST), most, self._left)
            if unknown:  # a first answer for them comes before any proof, but some may have none to be found
                share = min(share, longer)
            if share <= 1.5 * shortest:  # hardly more than they had: all of it to as many rows as that allows
                share = longer
                open_rows = open_rows[: max(1, int(self._left * self._workers / max(share, LEAST)))]
            if share <= shortest:
                return  # the limit of a row, or the end of the batch, allows no more than they had
            open_rows = [p for p in open_rows if self.known[p][1] < share]  # the others would be asked in vain
            self._answer(open_rows, partial(_always, self.question.within(share)))

    @cached_property
    def _workers(self) -> int:
        """How many rows are worked at; on this machine no more processes than are of use."""
        if self.n_jobs == 1:
            return 1
        from joblib import cpu_count, effective_n_jobs

        wanted = max(1, int(effective_n_jobs(self.n_jobs)))
        wanted = min(wanted, max(1, len(self.frame)))
        return min(wanted, MOST_PER_CORE * int(cpu_count())) if self._is_local else wanted

    @cached_property
    def _is_local(self) -> bool:
        """Are the processes on this machine, so that they can read its files?"""
        from joblib.parallel import get_active_backend

        return type(get_active_backend()[0]).__name__ in ("LokyBackend", "MultiprocessingBackend", "ThreadingBackend")

    # ---- asking -----------------------------------------------------------------------------------------------------
    def _answer(self, positions: Sequence[int], asking: Callable[[int], BatchQuestion]) -> None:
        """Ask about these rows; ``asking`` says with how much time, given the number of rows that wait."""
        if not positions:
            return

        def is_wanted(position: int) -> bool:
            """Not answered meanwhile by another process that shares the store."""
            found = None if position in self.known else self.store.answered(position)
            if found is not None:
                self._count(position, *found)
            return found is None

        if self.n_jobs == 1:
            for place, position in enumerate(positions):
                if self._is_over:
                    return
                if is_wanted(position):
                    question = asking(len(positions) - place)
                    self._keep([ask(self.explainer, question, position, self.frame.iloc[[position]])])
            return
        with Parcel.of(self.explainer, as_file=self._is_local) as parcel:
            chunks = self._chunks(positions, asking(len(positions)))
            while chunks and not self._is_over:
                wanted = ([p for p in chunk if is_wanted(p)] for chunk in chunks)
                suspects, begun = self._in_parallel(parcel, wanted, len(positions), asking)
                chunks = chunks[begun:]
                for position in suspects:  # each alone, so that whoever ends its worker is known
                    if self._in_parallel(parcel, iter([[position]]), 1, asking)[0]:
                        self._keep([failed(position, DIED, limit=LOST)])

    @property
    def _is_over(self) -> bool:
        return self.total_limit is not None and self._left <= 0.0

    def _chunks(self, positions: Sequence[int], question: BatchQuestion) -> list[list[int]]:
        size = min(MOST_IN_CHUNK, max(1, len(positions) // (CHUNKS_PER_WORKER * self._workers)))
        if self.total_limit is not None and question.time_limit > LONG:
            size = 1  # what was handed out cannot be called back when the time is over
        return [list(positions[i : i + size]) for i in range(0, len(positions), size)]

    def _in_parallel(
        self, parcel: Parcel, chunks: Iterator[list[int]], waiting: int, asking: Callable[[int], BatchQuestion]
    ) -> tuple[list[int], int]:
        """Ask about chunks: the rows that were lost with a worker, and how many chunks were begun."""
        from joblib import delayed

        begun: list[list[int]] = []
        done: set[int] = set()

        def tasks() -> Iterator[Any]:
            left = waiting
            for chunk in chunks:
                if self._is_over:
                    return
                begun.append(chunk)
                if chunk:
                    question = asking(max(1, left))
                    yield delayed(work)(parcel.data, parcel.digest, question, chunk, self.frame.iloc[chunk])
                left -= len(chunk)

        results = self._results(tasks())
        while True:
            try:
                records = next(results, None)
            except Exception as error:
                if not _lost_a_worker(error):
                    raise
                break
            if records is None:
                break
            self._keep(records)
            done.update(record.position for record in records)
        return [position for chunk in begun for position in chunk if position not in done], len(begun)

    def _results(self, tasks: Iterator[Any]) -> Iterator[list[Record]]:
        """As they come in; from backends that cannot do that, all at once."""
        from joblib import Parallel
        from joblib.parallel import get_active_backend

        if getattr(get_active_backend()[0], "supports_return_generator", False):
            yield from Parallel(n_jobs=self._workers, batch_size=1, return_as="generator_unordered")(tasks)
        else:
            yield from Parallel(n_jobs=self._workers, batch_size=1)(tasks)

    def _keep(self, records: Sequence[Record]) -> None:
        self.store.keep(records)
        for record in records:
            self._count(record.position, record.status, record.limit)
        if self.on_progress is not None:
            counts = {status: count for status, count in self.counts.items() if count}
            seconds = time.perf_counter() - self.start
            self.on_progress(BatchProgress(len(self.known), len(self.frame), counts, seconds, self.before))

    def _count(self, position: int, status: str, limit: float) -> None:
        if position in self.known:
            self.counts[self.known[position][0]] -= 1
        self.known[position] = status, limit
        self.counts[status] = self.counts.get(status, 0) + 1


def _always(question: BatchQuestion, waiting: int) -> BatchQuestion:
    """The same time for each row, however many wait."""
    return question


def _lost_a_worker(error: BaseException) -> bool:
    """True for what joblib's backends raise when a process is gone."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(
        names & {"TerminatedWorkerError", "BrokenProcessPool", "KilledWorker", "CancelledError", "WorkerCrashedError"}
    )
