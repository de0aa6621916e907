"""What every engine is, what it gets and what it gives back.

An engine is an object that owns its state. ``refuses`` is asked before anything is computed; ``prepare`` loads or compiles
what questions about rooms of a shape need; ``search`` offers candidates to the referee in an order of its choice. The
best accepted centre lives in the referee alone, so that nothing certified is lost, whatever becomes of the engine. What
the judge refuses (a `Counterexample`) is a new cut for the engine. ``clock.report`` publishes both bounds at any moment.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.problem.body import Body
from elbowroom.problem.conditions import Takes
from elbowroom.problem.on import On
from elbowroom.problem.problem import RecourseProblem
from elbowroom.problem.shapes import Shape, unknown_to
from elbowroom.result.certificate import Verdict
from elbowroom.result.status import Step
from elbowroom.visible import listed

OnProgress: TypeAlias = Callable[[Step], None]
AcceptBody: TypeAlias = Callable[[Body, float, float], Verdict]  # the judge of any body, within seconds and looks

LOOKS_PER_SECOND: Final = 100.0  # of the judge, nominally: turns shares of a time limit into numbers of looks
NEAR_TIES: Final = (
    "near_ties"  # counter of an ending: closer centres than the bound allows are within rounding of a tie
)


class Accept(Protocol):
    """The judge's verdict on a centre. ``looks`` limits the work on this one, so that a hard candidate does not use up the
    time of all others: a number, not seconds, so that the same question gets the same answer on every machine. The time
    limit of the call holds as well."""

    def __call__(self, center: Floats, looks: float = math.inf, /) -> Verdict: ...


class Referee(Accept, Protocol):
    """The judge as seen by a search, and the memory of the best centre that it accepted."""

    @property
    def center(self) -> Floats | None:
        """The best accepted centre so far."""

    @property
    def distance(self) -> float:
        """Its distance; inf if there is none."""

    def about(self, problem: RecourseProblem) -> Referee:
        """The referee of a related question of the engine's own; what it accepts is not an answer to this one."""


class Clock:
    """Time limit, progress and trace of one call. Bounds only ever improve.

    ``nominal`` is the limit that the user gave, whatever has passed of it: work that is limited by numbers gets shares of
    this one, so that they do not depend on the machine. ``n_jobs``: threads that a search may use.
    """

    def __init__(
        self, time_limit: float, on_progress: OnProgress | None = None, nominal: float | None = None, n_jobs: int = 1
    ) -> None:  # fmt: skip
        self.start = time.perf_counter()
        self.deadline = self.start + time_limit
        self.time_limit = time_limit
        self.nominal = time_limit if nominal is None else nominal
        self.n_jobs = n_jobs
        self.lower_bound = 0.0
        self.ceiling = float("inf")  # bounds beyond it are not about all centres, and are not published
        self.best_distance = float("inf")
        self.trace: list[Step] = []
        self.diary: list[object] | None = (
            None  # where engines put the logs of their searches, if somebody asks for them
        )
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
        return Clock(max(self.remaining, 0.0) * share, nominal=self.nominal, n_jobs=self.n_jobs)

    def report(
        self,
        lower_bound: float | None = None,
        best_distance: float | None = None,
        certified_radius: float | None = None,
        note: str = "",
    ) -> None:
        """Record a step. ``best_distance`` must be the distance of an accepted centre."""
        if lower_bound is not None:
            self.lower_bound = max(self.lower_bound, min(lower_bound, self.ceiling))
        if best_distance is not None and best_distance < self.best_distance:
            self.best_distance = best_distance
        step = Step(self.seconds, min(self.lower_bound, self.best_distance), self.best_distance, certified_radius, note)
        self.trace.append(step)
        if self._on_progress is not None:
            self._on_progress(step)


def refusal(
    problem: RecourseProblem, who: str, shapes: Collection[Shape], takes: Takes, some_columns: bool = False
) -> str | None:
    """The words in which an engine refuses a shape or a condition that it was not written for, or room on some columns
    only (unless it takes ``some_columns``); None if it takes all."""
    unknown = unknown_to(who, shapes, problem.walls.shape)
    if unknown is not None:
        return unknown
    on, slanted = problem.walls.on, problem.metric.slant is not None
    what = "causes" if problem.space.causes is not None else "a covariance"
    if slanted and on is not On.ALL and not (takes.slant and some_columns):
        return f"{who} does not take {what} together with rooms with on={on.value!r}; use on='all'"
    if on is not On.ALL and not some_columns:
        return f"{who} does not take rooms with on={on.value!r}; use on='all', or for trees, linear models and networks method='auto'"
    priced = () if takes.prices else problem.metric.priced
    if priced:
        names = listed([problem.space.names[f] for f in priced])
        return f"{who} does not take prices that depend on the way or the length of a move: {names}; leave them out"
    if slanted and not takes.slant:
        return f"{who} does not take {what}; use method='auto' or method='adversarial'"
    beyond = problem.conditions.beyond(takes) if problem.ruled else None
    if beyond is None:
        return None
    return f"{who} does not take {beyond}; leave the rule out, or try another method"


@dataclass(frozen=True, eq=False)
class Ending:
    """How a search ended: what is proven about all centres, and why it stopped. The best centre is the referee's.

    ``lower_bound`` is proven for every valid centre; inf means that none exists. ``reason`` is human-readable, and is
    needed whenever no centre was accepted. ``tolerance`` is the relative gap at which this engine calls an answer
    optimal.
    """

    method: str
    lower_bound: float
    reason: str = ""
    tolerance: float = TOLERANCES.optimal_gap
    counters: dict[str, float] = field(default_factory=dict)


class Engine(Protocol):
    """Finds regions for the models of one family, or for all of them."""

    def refuses(self, problem: RecourseProblem) -> str | None:
        """What of a question this engine cannot answer, for any row, by name and with the cure; None: nothing."""

    def prepare(self, shape: Shape) -> None:
        """Load, or compile once, what questions about rooms of this shape need: before a clock starts."""

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        """The closest accepted centre, with a proof that none is closer, or what the time limit allows."""
