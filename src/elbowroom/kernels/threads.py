"""Matrix products of networks on one thread.

The products of a search are many and small. Libraries that share each one out among all processors win nothing there, wait
for each other in busy loops, and spend several seconds of processors per second of a time limit. On one thread a question
costs what it costs, on any machine, and many can be asked side by side.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController


class _Threads:
    """Set to one by whoever comes first, and set back by whoever leaves last: questions may be asked in parallel."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._controller: Any = None
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._controller = self._controller or ThreadpoolController()  # looks for libraries: once
                self._limit = self._controller.limit(limits=1, user_api="blas")

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_THREADS = _Threads()


@contextmanager
def one_thread() -> Iterator[None]:
    """Within the block, matrix products run on the thread that asks for them."""
    _THREADS.enter()
    try:
        yield
    finally:
        _THREADS.leave()
