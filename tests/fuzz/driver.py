"""Many tries over several workers, counted by kind."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Final

from tests.fuzz.kind import Outcome, Verdict, failed
from tests.fuzz.kinds import Entry
from tests.fuzz.worker import Task, work

CHUNK: Final = 50
PATIENCE: Final = 60.0  # seconds without a word; processor time is limited by the worker itself
PREPARATION: Final = 900.0  # seconds: kernels may have to be compiled first


@dataclass(frozen=True)
class Failure:
    """A try that failed, and the command that repeats it."""

    kind: str
    seed: int
    number: int
    story: str
    trouble: str

    def __str__(self) -> str:
        again = f"python -m tests.fuzz --kind '{self.kind}' --seed {self.seed} --only {self.number}"
        return f"{again}\n    {harmless(self.story)}\n    {harmless(self.trouble)}"


def harmless(text: str) -> str:
    """A report about hostile texts must not be one."""
    return text.encode("unicode_escape").decode("ascii").replace("\\n", "\n    ")


@dataclass
class Count:
    """What became of the tries of one kind; ``seconds`` are those of all workers together."""

    tries: int = 0
    refused: int = 0
    accepted: int = 0
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    stories: list[str] = field(default_factory=list)

    def add(self, task: Task, number: int, outcome: Outcome) -> None:
        self.tries += 1
        self.stories.append(outcome.story)
        match outcome.verdict:
            case Verdict.REFUSED:
                self.refused += 1
            case Verdict.ACCEPTED:
                self.accepted += 1
            case Verdict.FAILED:
                self.failures.append(Failure(task.kind, task.seed, number, outcome.story, outcome.trouble or ""))


@dataclass
class _Worker:
    """A forked process, the task it has, and the try it is at."""

    process: ForkProcess
    pipe: Connection
    task: Task | None = None
    at: int | None = None  # None: between tries
    since: float = 0.0
    last_kind: str = ""


class Run:
    """Tries of several kinds, shared among workers; a worker that dies is replaced, and its try has failed."""

    def __init__(self, kinds: Mapping[str, Entry], jobs: int, root: Path) -> None:
        self.kinds, self.jobs, self.root = kinds, jobs, root
        self.counts = {name: Count() for name in kinds}
        self.todo: dict[str, list[Task]] = {name: [] for name in kinds}
        self.workers: list[_Worker] = []

    def run(self, tasks: Iterable[Task]) -> dict[str, Count]:
        for task in tasks:
            first, end = task.numbers.start, task.numbers.stop
            pieces = [replace(task, numbers=range(i, min(i + CHUNK, end))) for i in range(first, end, CHUNK)]
            self.todo[task.kind] += pieces
        try:
            for _ in range(min(self.jobs, sum(map(len, self.todo.values())))):
                self._hand_out(self._fork())
            while busy := [worker for worker in self.workers if worker.task is not None]:
                for ready in wait([worker.pipe for worker in busy], timeout=1.0):
                    self._listen(next(worker for worker in busy if worker.pipe is ready))
                for worker in busy:
                    patience = PREPARATION if worker.at is None else PATIENCE
                    if worker.task is not None and time.monotonic() - worker.since > patience:
                        self._lost(worker, f"hang: nothing happened for {patience:.0f} s")
        finally:
            self._end()
        return self.counts

    def _fork(self) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(target=work, args=(self.kinds, theirs, self.root))
        process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self.workers.append(worker)
        return worker

    def _hand_out(self, worker: _Worker) -> None:
        """The next chunk, of the kind that the worker has prepared if there is one left."""
        left = [name for name, chunks in self.todo.items() if chunks]
        worker.task, worker.at, worker.since = None, None, time.monotonic()
        if not left:
            return
        name = worker.last_kind if worker.last_kind in left else max(left, key=lambda kind: len(self.todo[kind]))
        worker.task, worker.last_kind = self.todo[name].pop(0), name
        try:
            worker.pipe.send(worker.task)
        except OSError:
            self._lost(worker, "the worker died between two tries")

    def _listen(self, worker: _Worker) -> None:
        assert worker.task is not None
        try:
            word, number, *rest = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join(10.0)
            code = worker.process.exitcode or 0
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            what = "hang" if code == -signal.SIGPROF else "crash"
            self._lost(worker, f"{what}: the process ended with {how}")
            return
        now = time.monotonic()
        count = self.counts[worker.task.kind]
        count.seconds += now - worker.since
        worker.since = now
        match word:
            case "begin":
                worker.at = number
            case "end":
                worker.at = None
                count.add(worker.task, number, rest[0])
            case "done":
                self._hand_out(worker)

    def _lost(self, worker: _Worker, trouble: str) -> None:
        """Count the try that ended its worker, and put what is left of its task back."""
        task = worker.task
        assert task is not None
        worker.process.kill()
        worker.process.join()
        self.workers.remove(worker)
        if worker.at is None:  # in its preparation: without one there is nothing to try
            raise RuntimeError(f"{task.kind}: {trouble}, while preparing")
        self.counts[task.kind].add(task, worker.at, failed("the worker died at this try", trouble))
        rest = range(worker.at + 1, task.numbers.stop)
        if rest:
            self.todo[task.kind].insert(0, replace(task, numbers=rest))
        self._hand_out(self._fork())

    def _end(self) -> None:
        for worker in self.workers:
            try:
                worker.pipe.send(None)
                worker.process.join(5.0)
            except OSError:
                pass
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def fuzz(
    kinds: Mapping[str, Entry], tasks: Iterable[Task], jobs: int = 2, keep: Path | None = None
) -> dict[str, Count]:
    """All tries of the tasks, counted by kind; with ``keep`` the files of the run stay in that folder."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix="elbowroom-fuzz-", dir=keep))
    try:
        return Run(kinds, jobs, root).run(tasks)
    finally:
        if keep is None:
            shutil.rmtree(root, ignore_errors=True)
