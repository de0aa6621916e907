"""A batch from its first row to its last.

Rows are handed out in small chunks, through joblib, and every chunk is committed to the store when it comes back. The
explainer travels as one array of bytes: joblib shares such an array between local processes and sends it to each
machine of a cluster once; every process unpacks it once. A worker that dies takes the rows it had with it: those are
asked again, each alone, and a row that ends its worker a second time is reported with that error.

With a limit for the whole batch, every row is first asked with a share of it that leaves time over; what remains goes
to the rows that are not proven, so that each has a certified answer before any gets a long proof.
"""

from __future__ import annotations

import hashlib
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd

from elbowroom.batch.question import BatchQuestion
from elbowroom.batch.record import Record, ask, failed
from elbowroom.batch.store import Store
from elbowroom.errors import InputError

if TYPE_CHECKING:
    from elbowroom.explainer import Explainer

MOST_IN_CHUNK: Final = 16  # rows: what a killed process loses at most
CHUNKS_PER_WORKER: Final = 8  # so that the last ones end together
FIRST_SHARE: Final = 0.5  # of a limit for the whole batch: for the first answer of every row
DIED: Final = (
    "the process that searched this row ended twice (killed, or out of memory); ask it alone with a shorter time limit"
)
_EXPLAINERS: dict[str, Any] = {}  # of this process: unpacked once

OnBatchProgress: TypeAlias = "Callable[[BatchProgress], None]"


@dataclass(frozen=True)
class BatchProgress:
    """How far a batch is."""

    done: int
    total: int
    counts: dict[str, int]  # by status
    seconds: float

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float:
        return (self.total - self.done) / self.rate if self.rate > 0 else float("inf")


@dataclass(frozen=True, eq=False)
class Parcel:
    """An explainer on its way to other processes."""

    data: np.ndarray
    digest: str

    @classmethod
    def of(cls, explainer: Explainer) -> Parcel:
        try:
            data = pickle.dumps(explainer, protocol=5)
        except Exception as error:  # an own class inside the model, a lambda in a pipeline
            from joblib.externals import cloudpickle

            try:
                data = cloudpickle.dumps(explainer, protocol=5)
            except Exception:
                raise InputError(
                    f"n_jobs: the model cannot be sent to other processes ({type(error).__name__}: {error}); use n_jobs=1"
                ) from None
        return cls(np.frombuffer(data, dtype=np.uint8), hashlib.sha256(data).hexdigest())


def _work(
    data: np.ndarray, digest: str, question: BatchQuestion, positions: list[int], rows: pd.DataFrame
) -> list[Record]:
    """One chunk, in a worker."""
    explainer = _EXPLAINERS.get(digest)
    if explainer is None:
        _EXPLAINERS.clear()  # a worker serves one batch at a time
        explainer = _EXPLAINERS[digest] = pickle.loads(data.tobytes())
    return [ask(explainer, question, position, rows.iloc[[i]]) for i, position in enumerate(positions)]


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
        self.counts: dict[str, int] = {}
        self.before = len(self.store.statuses())  # answered by an earlier run

    def run(self) -> None:
        try:
            if self.total_limit is None:
                self._answer(self._open_rows(self.question.time_limit), self.question)
            else:
                self._within(self.total_limit)
        except KeyboardInterrupt:
            self.interrupted = True

    # ---- which rows, with how much time -----------------------------------------------------------------------------
    def _open_rows(self, limit: float) -> list[int]:
        """Rows without an answer, and those that are not proven and had less time than this."""
        known = self.store.statuses()
        unproven = ("CERTIFIED", "UNKNOWN")
        return [
            position
            for position in range(len(self.frame))
            if position not in known or (known[position][0] in unproven and known[position][1] < limit)
        ]

    @property
    def _left(self) -> float:
        assert self.total_limit is not None
        return self.total_limit - (time.perf_counter() - self.start)

    def _within(self, total: float) -> None:
        """First an answer for every row, then proofs: the time that is left is shared out anew until none is."""
        known = self.store.statuses()
        fresh = [position for position in range(len(self.frame)) if position not in known]
        if fresh:
            share = FIRST_SHARE * total * self._workers / len(fresh)
            self._answer(fresh, self.question.within(min(share, self.question.time_limit)))
        while self._left > 0.0:
            known = self.store.statuses()
            open_rows = [p for p, (status, limit) in known.items() if status in ("CERTIFIED", "UNKNOWN")]
            open_rows = [p for p in open_rows if known[p][1] < self.question.time_limit]
            if not open_rows:
                return
            share = min(self._left * self._workers / len(open_rows), self.question.time_limit)
            shortest = min(known[p][1] for p in open_rows)
            if share <= 1.5 * shortest:  # hardly more than they had: all of it to as many rows as that allows
                share = min(4.0 * shortest, self.question.time_limit, self._left)
                open_rows = open_rows[: max(1, int(self._left * self._workers / share))]
            self._answer(open_rows, self.question.within(share))

    @property
    def _workers(self) -> int:
        if self.n_jobs == 1:
            return 1
        from joblib import effective_n_jobs

        return max(1, int(effective_n_jobs(self.n_jobs)))

    # ---- asking -----------------------------------------------------------------------------------------------------
    def _answer(self, positions: Sequence[int], question: BatchQuestion) -> None:
        known = set(self.store.statuses())

        def is_wanted(position: int) -> bool:
            """Not answered meanwhile by another process that shares the store."""
            return position in known or not self.store.answered(position)

        if self.n_jobs == 1:
            for position in positions:
                if self._is_over:
                    return
                if is_wanted(position):
                    self._keep([ask(self.explainer, question, position, self.frame.iloc[[position]])])
            return
        chunks = self._chunks(positions)
        while chunks and not self._is_over:
            wanted = ([p for p in chunk if is_wanted(p)] for chunk in chunks)
            suspects, begun = self._in_parallel(wanted, question)
            chunks = chunks[begun:]
            for position in suspects:  # each alone, so that whoever ends its worker is known
                if self._in_parallel(iter([[position]]), question)[0]:
                    self._keep([failed(position, DIED)])

    @property
    def _is_over(self) -> bool:
        return self.total_limit is not None and self._left <= 0.0

    def _chunks(self, positions: Sequence[int]) -> list[list[int]]:
        size = min(MOST_IN_CHUNK, max(1, len(positions) // (CHUNKS_PER_WORKER * self._workers)))
        return [list(positions[i : i + size]) for i in range(0, len(positions), size)]

    @cached_property
    def _parcel(self) -> Parcel:
        return Parcel.of(self.explainer)

    def _in_parallel(self, chunks: Iterator[list[int]], question: BatchQuestion) -> tuple[list[int], int]:
        """Ask about chunks: the rows that were lost with a worker, and how many chunks were begun."""
        from joblib import delayed

        parcel = self._parcel
        begun: list[list[int]] = []
        done: set[int] = set()

        def tasks() -> Iterator[Any]:
            for chunk in chunks:
                if self._is_over:
                    return
                begun.append(chunk)
                if chunk:
                    yield delayed(_work)(parcel.data, parcel.digest, question, chunk, self.frame.iloc[chunk])

        try:
            for records in self._results(tasks()):
                self._keep(records)
                done.update(record.position for record in records)
        except Exception as error:
            if not _lost_a_worker(error):
                raise
        return [position for chunk in begun for position in chunk if position not in done], len(begun)

    def _results(self, tasks: Iterator[Any]) -> Iterator[list[Record]]:
        """As they come in; from backends that cannot do that, all at once."""
        from joblib import Parallel
        from joblib.parallel import get_active_backend

        if getattr(get_active_backend()[0], "supports_return_generator", False):
            yield from Parallel(n_jobs=self.n_jobs, batch_size=1, return_as="generator_unordered")(tasks)
        else:
            yield from Parallel(n_jobs=self.n_jobs, batch_size=1)(tasks)

    def _keep(self, records: Sequence[Record]) -> None:
        self.store.keep(records)
        for record in records:
            self.counts[record.status] = self.counts.get(record.status, 0) + 1
        if self.on_progress is not None:
            done = min(self.before + sum(self.counts.values()), len(self.frame))
            self.on_progress(BatchProgress(done, len(self.frame), dict(self.counts), time.perf_counter() - self.start))


def _lost_a_worker(error: BaseException) -> bool:
    """True for what joblib's backends raise when a process is gone."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(
        names & {"TerminatedWorkerError", "BrokenProcessPool", "KilledWorker", "CancelledError", "WorkerCrashedError"}
    )
