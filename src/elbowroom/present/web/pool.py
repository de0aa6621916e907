"""The processes at work and the questions that wait for them.

Each process has a thread here that hands it one question at a time and passes on what it says. A process that dies, or
that goes on long after its time, is replaced; the question that it had ends with an error, no other is touched.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import secrets
import signal
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final

from elbowroom.present.web.asked import Question
from elbowroom.present.web.process import begin
from elbowroom.present.web.setup import Setup

GRACE: Final = 30.0  # seconds beyond its limit that a question may take before its process is ended
MOST_KEPT: Final = 200  # ended questions whose answers are kept
LOOK: Final = 0.05  # seconds between two looks at a process
ENDED: Final = "the server ended before this was answered"
LATE: Final = "the search did not end in time and was ended"
DIED: Final = "the process at work ended (out of memory?)"
GONE: Final = "the process ended while it read the model"
AGAIN: Final = 0.5  # seconds after which a stop is asked for once more: it may have come before the search began


class BusyError(Exception):
    """Too many questions are waiting."""


@dataclass(eq=False)
class Job:
    """One question and all that has become of it. ``state``: waiting, running, done, refused, failed."""

    asked: Question | int
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: str = "waiting"
    steps: list[dict[str, Any]] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    asked_at: float = field(default_factory=time.time)
    stop_asked: threading.Event = field(default_factory=threading.Event)

    @property
    def over(self) -> bool:
        return self.state in ("done", "refused", "failed")


class Pool:
    """``size`` processes; at most ``waiting`` questions in line. ``about`` is what the first process said of the model."""

    def __init__(self, setup: Setup, size: int = 2, waiting: int = 40) -> None:
        self.setup, self.size = setup, size
        self._line: queue.Queue[Job | None] = queue.Queue(maxsize=waiting)
        self.jobs: OrderedDict[str, Job] = OrderedDict()
        self.about: dict[str, Any] | None = None
        self.trouble = ""  # why the model cannot be read
        self.pids: set[int] = set()  # of the processes at work
        self._lock = threading.Lock()
        self._closing = False
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(size)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def give_up(self) -> None:
        """No question is worked on any longer: whoever waits for one is told so. Safe in a handler of signals."""
        self._closing = True

    def close(self) -> None:
        """End all processes; questions that wait are given up."""
        self.give_up()
        for _ in self._threads:
            with contextlib.suppress(queue.Full):
                self._line.put_nowait(None)
        for thread in self._threads:
            thread.join(timeout=5.0)
        self._drain()

    def submit(self, asked: Question | int) -> Job:
        job = Job(asked)
        try:
            self._line.put_nowait(job)
        except queue.Full:
            raise BusyError from None
        if not isinstance(asked, int):
            with self._lock:
                self.jobs[job.id] = job
                for old in [key for key, each in self.jobs.items() if each.over][: max(len(self.jobs) - MOST_KEPT, 0)]:
                    del self.jobs[old]
        return job

    def stop(self, job: Job) -> None:
        """Ask for the best answer so far; one that still waits ends without any. Only the thread of its process sends the
        signal, which knows that the process works on this question and on no other."""
        job.stop_asked.set()

    # ---- one process -------------------------------------------------------------------------------------------------------
    def _serve(self) -> None:
        process, pipe = self._hire()
        while not self._closing:
            try:
                job = self._line.get(timeout=LOOK * 10)
            except queue.Empty:
                continue
            if job is None:
                break
            if pipe is None:
                process, pipe = self._hire()
            if pipe is None or process is None:
                job.error, job.state = ENDED if self._closing else self.trouble or GONE, "refused"
                continue
            if not self._run(job, process, pipe):
                self._end(process)
                process = pipe = None
        self._drain()
        if process is not None:
            self._end(process)

    def _drain(self) -> None:
        """Nobody comes for these any longer."""
        with contextlib.suppress(queue.Empty):
            while True:
                if (job := self._line.get_nowait()) is not None:
                    job.error, job.state = ENDED, "failed"

    def _hire(self) -> tuple[BaseProcess | None, Connection | None]:
        """A new process that has read the model; none if it could not."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=begin, args=(self.setup, theirs), daemon=True)
        process.start()
        theirs.close()
        try:
            while not self._closing and not ours.poll(LOOK * 10):
                if not process.is_alive():
                    break
            told: tuple[str, Any] = ours.recv() if ours.poll(0) else ("failed", GONE)
        except (EOFError, OSError):
            told = "failed", GONE
        kind, what = told
        if kind == "ready":
            with self._lock:
                self.pids.add(process.pid or 0)
                self.about = self.about if self.about is not None else dict(what)
            return process, ours
        self.trouble = str(what)
        self._end(process)
        return None, None

    def _run(self, job: Job, process: BaseProcess, pipe: Connection) -> bool:
        """Hand over one question; False if the process has to be replaced."""
        if job.stop_asked.is_set():
            job.error, job.state = "stopped before its turn came", "refused"
            return True
        limit = getattr(job.asked, "time_limit", 5.0)
        job.state = "running"
        deadline = time.monotonic() + limit + GRACE
        signalled = 0.0
        try:
            pipe.send(job.asked)
        except RecursionError:  # nothing was sent
            job.error, job.state = "the question is nested too deeply; give an answer as /explain gives it", "refused"
            return True
        except OSError:
            job.error, job.state = DIED, "failed"
            return False
        try:
            while time.monotonic() < deadline and not self._closing:
                if job.stop_asked.is_set() and process.pid is not None and time.monotonic() - signalled > AGAIN:
                    signalled = time.monotonic()
                    os.kill(process.pid, signal.SIGINT)
                if not pipe.poll(LOOK):
                    if not process.is_alive() and not pipe.poll(0):
                        break
                    continue
                kind, what = pipe.recv()
                if kind == "step":
                    job.steps.append(what)
                    continue
                if kind == "done":
                    job.result, job.state = what, "done"
                else:
                    job.error, job.state = str(what), kind
                return True
        except (EOFError, OSError):
            pass
        late = time.monotonic() >= deadline
        job.error = ENDED if self._closing else LATE if late else DIED
        job.state = "failed"
        return False

    def _end(self, process: BaseProcess) -> None:
        self.pids.discard(process.pid or 0)
        process.terminate()
        process.join(timeout=2.0)
        if process.is_alive():
            process.kill()
            process.join(timeout=2.0)
