"""Distance against radius: many questions that differ in the size of the room alone.

Let B(c, r) be the room of radius r around c, as `Body.around` says: rounded inwards, clipped to the bounds, whole where
declared. For r <= r' we have B(c, r) <= B(c, r') as sets, because every step is monotone in r: the half widths r * unit,
the inward rounding of c -+ half width, the clipping (the bounds do not depend on r, nor do those of one-way and
immutable columns), rounding up or down to whole numbers, and for balls and diamonds the membership test
sum phi(|x_f - c_f| / (r unit_f)) <= 1. Rules and bounds of the centre do not mention r. Hence:

* a centre that is valid for r' is valid for r: its distance is an upper bound for every smaller radius;
* a lower bound for r holds for r', and if no centre exists for r, none exists for r';
* an optimal centre for r whose room of radius r' is certified as well is optimal for r': nothing needs to be searched.

What was learned about the model (bad regions, good centres) is kept by the engine's own memory.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from elbowroom.numerics import Floats
from elbowroom.result import NoRegion, Region, Status, Step
from elbowroom.search.contract import Clock, OnProgress

INTERRUPTED = "interrupted"
GRACE = 0.2  # seconds after the limit in which known centres are still judged


@dataclass(frozen=True, eq=False)
class Known:
    """What other radii say about this one: a proven bound, the gap at which it counts as closed, centres to judge first.

    Without ``search`` nothing but these centres is looked at.
    """

    lower_bound: float = 0.0
    tolerance: float = 0.0
    centers: tuple[Floats, ...] = ()
    search: bool = True


@dataclass(frozen=True, eq=False)
class Point:
    """One radius with its answer, and the relative gap at which its engine calls an answer optimal."""

    radius: float
    answer: Region | NoRegion
    tolerance: float

    @property
    def distance(self) -> float:
        """Of the certified region; inf if there is none."""
        return self.answer.distance if isinstance(self.answer, Region) else math.inf

    @property
    def lower_bound(self) -> float:
        return self.answer.lower_bound

    @property
    def settled(self) -> bool:
        return self.answer.status in (Status.OPTIMAL, Status.NONE_EXISTS)


def report_with_radius(radius: float, clock: Clock, on_progress: OnProgress | None) -> OnProgress | None:
    """Progress of one radius within the whole: seconds since the start, and a note that names the radius."""
    if on_progress is None:
        return None

    def tell(step: Step) -> None:
        note = f"radius {radius:g}" + (f": {step.note}" if step.note else "")
        on_progress(replace(step, seconds=clock.seconds, note=note))

    return tell


class Ask(Protocol):
    """One question: the answer for a radius within a number of seconds, starting from what is known."""

    def __call__(self, radius: float, known: Known, seconds: float) -> Point: ...


class Front:
    """All radii answered so far, in increasing order."""

    def __init__(self, ask: Ask, clock: Clock) -> None:
        self.ask, self.clock = ask, clock
        self.points: list[Point] = []
        self.interrupted = False

    def at(self, radius: float, share: float = 1.0) -> Point:
        """The answer for one radius, from its neighbours where they settle it, otherwise by a search with a share of
        the time that is left."""
        place = bisect_left(self.points, radius, key=lambda point: point.radius)
        if place < len(self.points) and self.points[place].radius == radius:
            return self.points[place]
        smaller, larger = self.points[:place], self.points[place:]
        point = self._ask(radius, smaller, larger, max(self.clock.remaining, 0.0) * share, not self.interrupted)
        self.points.insert(place, point)
        return point

    def _ask(
        self, radius: float, smaller: Sequence[Point], larger: Sequence[Point], seconds: float, search: bool
    ) -> Point:
        bound = max((point.lower_bound for point in smaller), default=0.0)
        near = (*smaller[-1:], *larger[:1])
        tolerance = max((point.tolerance for point in near), default=0.0)
        centers = tuple(point.answer.body.center for point in near if isinstance(point.answer, Region))
        if self.points and self.clock.remaining < 0.0:  # many radii must not add up to much more than the limit
            search, centers = False, centers if self.clock.remaining > -GRACE else ()
        point = self.ask(radius, Known(bound, tolerance, centers, search), seconds)
        self.interrupted = self.interrupted or point.answer.method == INTERRUPTED
        return point

    def walk(self, radii: Sequence[float]) -> None:
        """All radii in increasing order; the time is shared evenly, and what one does not need goes to the others."""
        for i, radius in enumerate(radii):
            self.at(radius, 1.0 / (len(radii) - i))
        self.pull_down()

    def pull_down(self) -> None:
        """A farther radius may have a closer answer than an unfinished nearer one: then it serves both."""
        for i in range(len(self.points) - 2, -1, -1):
            here, beyond = self.points[i], self.points[i + 1]
            if beyond.distance < here.distance and self.clock.remaining > -GRACE:
                better = self._ask(
                    here.radius, self.points[: i + 1], self.points[i + 1 :], max(self.clock.remaining, 0.0), False
                )
                if better.distance < here.distance:
                    self.points[i] = better
