"""A progress bar on stderr for anything that takes longer than a second."""

from __future__ import annotations

import threading
from types import TracebackType

from elbowroom.present.screen import Screen
from elbowroom.result.status import Step

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
