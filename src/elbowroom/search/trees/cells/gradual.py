"""The model in cells, made as far as the time of each question allows.

What one question has made stays for the next one, so that a model that takes seconds is ready after a few questions of
half a second each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from elbowroom.search.contract import Clock
from elbowroom.search.trees.cells.leaves import Ensemble

NOT_READY = (
    "the time limit was reached while the model was being prepared for the search; what is prepared is kept, so that "
    "the next question goes on from there, and a longer time limit gets an answer at once"
)
Steps = Generator[None, None, Ensemble]


class GradualEnsemble:
    """``begin`` starts the work; its steps pause often (see `build`)."""

    def __init__(self, begin: Callable[[], Steps]) -> None:
        self._begin = begin
        self._paused: Steps | None = None
        self._made: Ensemble | None = None

    @classmethod
    def of(cls, made: Ensemble) -> GradualEnsemble:
        """One that is made already."""
        gradual = cls(_nothing_to_do)
        gradual._made = made
        return gradual

    def ready(self, clock: Clock) -> bool:
        """Go on until everything is made or the time is over; True if everything is made."""
        if self._made is None:
            self._go_on(clock)
        return self._made is not None

    @property
    def ensemble(self) -> Ensemble:
        """All of it, whatever time it takes."""
        if self._made is None:
            self._go_on(None)
        assert self._made is not None
        return self._made

    def _go_on(self, clock: Clock | None) -> None:
        steps, self._paused = self._paused or self._begin(), None  # nobody else goes on with these, nor after a fault
        while clock is None or not clock.expired:
            try:
                next(steps)
            except StopIteration as end:
                self._made = end.value
                return
        self._paused = steps

    def __getstate__(self) -> dict[str, Any]:
        """A copy in another process begins again: work that is paused cannot be sent."""
        return {**self.__dict__, "_paused": None}


def _nothing_to_do() -> Steps:
    raise AssertionError("what is made is not begun")
