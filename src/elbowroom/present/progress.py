"""Progress on stderr: a bar for anything that takes longer than a second, and the rows of a batch."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from elbowroom.present import screen as screens
from elbowroom.present import sink
from elbowroom.present.screen import NotebookLine, Screen
from elbowroom.result.status import Step

if TYPE_CHECKING:
    from elbowroom.batch.runner import BatchProgress

QUICK = 1.0  # seconds before a bar appears


class SearchProgress:
    """Hand it to ``on_progress``. The bar runs over the time limit; the text says what is known so far."""

    def __init__(self, time_limit: float, screen: Screen, enabled: bool = True) -> None:
        self._bar = screen.bar(time_limit)
        self._timer = threading.Timer(QUICK, self._appear)
        self._timer.daemon = True
        self._enabled = enabled and screen.is_terminal
        self._lock = threading.Lock()
        self._over = False
        self._shown = False  # stopping a bar that never appeared would print an empty line

    def __enter__(self) -> SearchProgress:
        if self._enabled:
            self._timer.start()
        return self

    def __call__(self, step: Step) -> None:
        known = f"lower bound {step.lower_bound:.4g}"
        if step.best_distance < float("inf"):
            known = f"best distance {step.best_distance:.4g}, {known}"
        self._bar.update(known, step.seconds)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._over = True
            self._timer.cancel()
            if self._shown:
                self._bar.stop()

    def _appear(self) -> None:
        with self._lock:
            if not self._over:
                self._bar.start()
                self._shown = True


@contextmanager
def batch_progress(shown: bool, what: str = "rows") -> Iterator[Callable[[BatchProgress], None] | None]:
    """How far a batch is: a bar on a terminal, one line in a notebook, and nothing where nobody would see it."""
    if shown and in_notebook():
        with NotebookLine(sink.stderr(), what) as line:
            yield line
    elif shown and screens.stderr().is_terminal:
        with screens.stderr().counter(what) as counter:
            yield counter
    else:
        yield None


def in_notebook() -> bool:
    """Is this a kernel of Jupyter? (A terminal with IPython is a terminal.)"""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
