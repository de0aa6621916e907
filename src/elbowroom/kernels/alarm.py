"""Kernels that end in time, however large the model is.

A kernel cannot look at the clock, and the steps between two returns to Python grow with the model: for a forest with a
million leaves one of them may take minutes. So kernels let Python run on meanwhile, and look at a flag in their innermost
costly loops; an alarm raises it at the deadline. Whatever a kernel was about to find is then given up, never kept
half-done: the clock decides when a search ends, and nothing else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from elbowroom.numerics import Ints


@contextmanager
def alarm(flag: Ints, deadline: float) -> Iterator[None]:
    """Set ``flag[0]`` to 1 once `time.perf_counter` passes the deadline; not any more once the block is left."""
    left = threading.Event()
    watch = threading.Thread(target=_wait, args=(flag, deadline, left), daemon=True)  # nobody waits for it at the exit
    watch.start()
    try:
        yield
    finally:
        left.set()
        watch.join()


def _wait(flag: Ints, deadline: float, left: threading.Event) -> None:
    while (seconds := deadline - time.perf_counter()) > 0.0:
        if left.wait(min(seconds, threading.TIMEOUT_MAX)):
            return
    flag[0] = 1
