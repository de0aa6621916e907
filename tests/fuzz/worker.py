"""Tries in forked processes: a try that crashes, hangs or eats all memory takes its process with it, not the run.

A worker says which try it begins and what came of it. Its processor time per try is limited by a timer that ends the
process, so that a hang is a death like any other; whoever waits without working (a pipe that nobody fills) is ended by
the driver's clock.
"""

from __future__ import annotations

import logging
import os
import random
import resource
import signal
import tempfile
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from threadpoolctl import threadpool_limits

from tests.fuzz.kind import Kind, Outcome, failed
from tests.fuzz.kinds import Entry

PROCESSOR_SECONDS: Final = 30.0  # of one try; honest ones need less than two
MEMORY: Final = 2 << 30  # bytes that a worker may map beyond what it is prepared with


@dataclass(frozen=True)
class Task:
    """Some tries of one kind."""

    kind: str
    seed: int
    numbers: range


def generator(kind: str, seed: int, number: int) -> random.Random:
    """All that is random in a try: the same for the same kind, seed and number, whatever was tried before."""
    return random.Random(f"{kind}/{seed}/{number}")


def work(kinds: Mapping[str, Entry], pipe: Connection, root: Path) -> None:
    """Until the driver hangs up: take a task, do its tries, tell what came of each."""
    _set_up()
    prepared: dict[str, Kind] = {}
    while (task := pipe.recv()) is not None:
        if task.kind not in prepared:
            prepared[task.kind] = kinds[task.kind].kind()
            prepared[task.kind].prepare(Path(tempfile.mkdtemp(prefix=task.kind.replace(" ", "-") + "-", dir=root)))
            _bound_memory()  # libraries that only this kind loads do not count
        for number in task.numbers:
            pipe.send(("begin", number))
            pipe.send(("end", number, one_try(prepared[task.kind], task.seed, number)))
        pipe.send(("done", -1))
    os._exit(0)  # nothing of the process that was forked is to be tidied up here


def one_try(kind: Kind, seed: int, number: int) -> Outcome:
    signal.setitimer(signal.ITIMER_PROF, PROCESSOR_SECONDS)
    try:
        return kind.attempt(generator(kind.name, seed, number))
    except Exception as error:
        where = " | ".join(
            f"{frame.name} in {Path(frame.filename).name}, line {frame.lineno}"
            for frame in traceback.extract_tb(error.__traceback__)[-4:]
        )
        return failed("the try itself", f"exception: {type(error).__name__}: {error!s:.200} from {where}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _set_up() -> None:
    """One thread, no talk; threads of libraries do not survive a fork, and none may be started."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threadpool_limits(1)
    warnings.simplefilter("ignore")
    logger = logging.getLogger("elbowroom")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False


def _bound_memory() -> None:
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
