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
from elbowroom.present.screen import NotebookLine, Screen, counted
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
        self._bar.update(known_so_far(step), step.seconds)

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


def known_so_far(step: Step) -> str:
    """Both bounds, or the one that there is."""
    known = f"lower bound {step.lower_bound:.4g}"
    return f"best distance {step.best_distance:.4g}, {known}" if step.best_distance < float("inf") else known


@contextmanager
def search_progress(shown: bool, time_limit: float) -> Iterator[Callable[[Step], None] | None]:
    """How far a search is: a bar on a terminal, one line in a notebook, and nothing where nobody would see it."""
    if shown and in_notebook():
        with NotebookLine(
            sink.stderr(), lambda step: f"{known_so_far(step)}  {step.seconds:.1f} of {time_limit:g} s"
        ) as line:
            yield line
    elif shown and screens.stderr().is_terminal:
        with SearchProgress(time_limit, screens.stderr()) as bar:
            yield bar
    else:
        yield None


@contextmanager
def batch_progress(shown: bool, what: str = "rows") -> Iterator[Callable[[BatchProgress], None] | None]:
    """How far a batch is: a bar on a terminal, one line in a notebook, and nothing where nobody would see it."""
    if shown and in_notebook():
        with NotebookLine(sink.stderr(), lambda step: counted(step, what)) as line:
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
