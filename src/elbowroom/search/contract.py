"""What every engine gets and gives back.

An engine is a function ``search(problem, accept, clock, seed) -> Outcome``. ``accept(center)`` asks the judge; an
engine offers candidates in order of its choice and never returns a centre that was not accepted. What the judge
refuses (a `Counterexample`) is a new cut for the engine. ``clock.report`` publishes both bounds at any moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem.problem import RecourseProblem
from elbowroom.result.certificate import Certificate, Verdict
from elbowroom.result.status import Step

OnProgress: TypeAlias = Callable[[Step], None]


class Accept(Protocol):
    """The judge's verdict on a centre. ``seconds`` limits this one verdict (never beyond the limit of the call), so that
    one hard candidate does not use up the time of all others."""

    def __call__(self, center: Floats, seconds: float | None = None, /) -> Verdict: ...


class Referee(Accept, Protocol):
    """The judge as seen by a search: callable as `Accept`; ``about`` judges a related question without counting."""

    def about(self, problem: RecourseProblem) -> Accept: ...


class Clock:
    """Time limit, progress and trace of one call. Bounds only ever improve."""

    def __init__(self, time_limit: float, on_progress: OnProgress | None = None) -> None:
        self.start = time.perf_counter()
        self.deadline = self.start + time_limit
        self.time_limit = time_limit
        self.lower_bound = 0.0
        self.best_distance = float("inf")
        self.trace: list[Step] = []
        self._on_progress = on_progress

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.start

    @property
    def remaining(self) -> float:
        return self.deadline - time.perf_counter()

    @property
    def expired(self) -> bool:
        return self.remaining <= 0.0

    def part(self, share: float) -> Clock:
        """A clock for a share of the remaining time; its steps are not published."""
        return Clock(max(self.remaining, 0.0) * share)

    def report(
        self,
        lower_bound: float | None = None,
        best_distance: float | None = None,
        certified_radius: float | None = None,
        note: str = "",
    ) -> None:
        """Record a step. ``best_distance`` must be the distance of an accepted centre."""
        if lower_bound is not None and lower_bound > self.lower_bound:
            self.lower_bound = lower_bound
        if best_distance is not None and best_distance < self.best_distance:
            self.best_distance = best_distance
        step = Step(self.seconds, min(self.lower_bound, self.best_distance), self.best_distance, certified_radius, note)
        self.trace.append(step)
        if self._on_progress is not None:
            self._on_progress(step)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an engine found: an accepted centre with its certificate, or none; a proven lower bound; and why it stopped.

    ``lower_bound`` is proven for every valid centre; inf means that none exists. ``reason`` is for people, and is
    needed whenever there is no certificate. ``tolerance`` is the relative gap at which this engine calls an answer
    optimal.
    """

    method: str
    lower_bound: float
    center: Floats | None = None
    certificate: Certificate | None = None
    reason: str = ""
    tolerance: float = 1e-9
    counters: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.center is None) != (self.certificate is None):
            raise ValueError("a centre comes with its certificate")
        center, certificate = self.center, self.certificate
        if center is not None and certificate is not None and not np.array_equal(center, certificate.body.center):
            raise ValueError("the certificate is about another centre")
