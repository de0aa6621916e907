"""The closest centre whose room has the class, and whose slips keep it with a promised probability.

Without its promise the question is answered by the engine of the family: no answer is closer than that one, and if it keeps
the promise, it is the answer. If not, boxes of centres are divided, closest first. Each box is first given to the judge, who
proves that no centre of it keeps the promise, or names rows that every centre of it needs that does (`certify.kept_needs`);
then the engine of the family is asked about the box with these rows, which bounds the distance from below. The smallest
bound of a box that is left is proven for all centres. Answers come from these searches, from rooms in which a slip stays
with the promised probability, and from a local search (`nearby`), for networks along an estimate (`guessed`); the judge
accepts them, or not.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Protocol, runtime_checkable

import numpy as np

from elbowroom.models import LinearModel, ReluNetwork
from elbowroom.numerics import Floats
from elbowroom.problem import Box, RecourseProblem
from elbowroom.problem.conditions import Row
from elbowroom.problem.on import On
from elbowroom.problem.shapes import Shape
from elbowroom.result.certificate import Certificate
from elbowroom.result.kept import KeptProbability
from elbowroom.search.contract import Clock, Ending, Engine, Referee
from elbowroom.search.keeping.guessed import Guess
from elbowroom.search.keeping.limits import (
    CORRECTIONS,
    FAR,
    GAP,
    GUESS_SHARE,
    LOOK_SHARE,
    PLAIN_SHARE,
    QUICK,
    RAISED,
    RAISES,
    ROOMS,
    START_SHARE,
)
from elbowroom.search.keeping.nearby import closer, slopes
from elbowroom.search.keeping.parts import Part, asked_in, by_category, divided, nearest, open_group, within_distance

METHOD = "keeping"


@runtime_checkable
class KeepingJudge(Referee, Protocol):
    """The referee of a promise."""

    def chance(self, center: Floats) -> KeptProbability:
        """Bounds on the chance that a slip of this centre keeps its class."""

    @property
    def least(self) -> float:
        """What a centre has to keep: what was promised."""

    def takes(self, center: Floats) -> bool:
        """Whether a candidate is accepted."""

    def needs(self, lower: Floats, upper: Floats) -> tuple[Row, ...] | None:
        """Rows that every centre of a box obeys that keeps the promise, or None if none does."""

    def rows_at(self, center: Floats, raised: float) -> tuple[Row, ...]:
        """What margins with the slips of this centre need to keep a promise that is raised by so much."""


class KeepingEngine:
    """Any engine, for questions with a promised probability."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def refuses(self, problem: RecourseProblem) -> str | None:
        """What cannot be asked together with a promise."""
        if problem.walls.on is not On.ALL:
            return "keeps= needs a room of one size around every centre; leave on= out of the room"
        if problem.metric.slant is not None:
            return "keeps= is not known together with causes or a covariance; leave one of them out"
        if problem.conditions.hulls:
            return f"keeps= is not known together with {problem.conditions.hulls[0].source}; leave one of them out"
        return self.engine.refuses(replace(problem, keeps=None))

    def prepare(self, shape: Shape) -> None:
        self.engine.prepare(shape)
        self.engine.prepare(Shape.BOX)

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        if not isinstance(referee, KeepingJudge):
            raise TypeError("a promised probability needs a referee who judges it")
        return _Search(problem, self.engine, referee, clock, seed).run()


@dataclass
class _Search:
    """Best first over boxes of centres."""

    problem: RecourseProblem
    engine: Engine
    referee: KeepingJudge
    clock: Clock
    seed: int
    settled: float = math.inf  # smallest bound of a part that is not divided any further
    parts: int = 0
    influence: Floats = field(default_factory=lambda: np.ones(0))

    def run(self) -> Ending:
        plain = replace(self.problem, keeps=None)
        own = self.referee.about(plain)
        ending = self.engine.search(plain, own, self.clock.part(PLAIN_SHARE), self.seed)
        bound = min(ending.lower_bound, own.distance)
        if math.isinf(bound):
            return Ending(METHOD, math.inf, ending.reason)
        self.clock.report(lower_bound=bound)
        if own.center is not None and isinstance(self.referee(own.center), Certificate):
            return replace(ending, method=METHOD)
        self._first(own.center)
        return self._divide(bound)

    # ---- first answers --------------------------------------------------------------------------------------------
    def _first(self, start: Floats | None) -> None:
        """An answer to improve on, and how much every column counts there."""
        self.influence = np.ones(self.problem.factual.size)
        if isinstance(self.problem.model, ReluNetwork):
            self._guessed(start)
            return
        clock = self.clock.part(START_SHARE)
        if not isinstance(self.problem.model, LinearModel):
            self._rooms(clock)
            if self.referee.center is not None:
                closer(self.problem, self.referee, clock)
        at = self.referee.center if self.referee.center is not None else start
        if at is not None and not isinstance(self.problem.model, LinearModel):
            found = np.abs(slopes(self.problem, self.referee, at, clock))
            self.influence = np.maximum(found, 0.02 * max(float(found.max()), 1e-3))

    def _guessed(self, start: Floats | None) -> None:
        """Where an estimate ends is judged; what the judge says of it corrects the estimate."""
        clock = self.clock.part(GUESS_SHARE)
        if start is not None:
            self._climbed(start, clock)
        if math.isinf(self.referee.distance):
            self._rooms(self.clock.part(START_SHARE))
            found = self.referee.center
            if found is not None:
                self._climbed(found, self.clock.part(START_SHARE))

    def _climbed(self, start: Floats, clock: Clock) -> None:
        raised = RAISED
        self._quick(start)
        for _ in range(CORRECTIONS):
            guess = Guess(self.problem, self.seed, raised)
            if not guess.begin(start, clock):
                return
            assert guess.center is not None
            closer(self.problem, guess, clock.part(0.5))
            start = guess.center
            if not guess.distance < self.referee.distance * (1.0 - 1e-4) or clock.expired:
                break
            self.referee.takes(start)
            kept = self.referee.chance(start)
            refused = kept.upper < self.referee.least
            known = 0.5 * (kept.lower + kept.upper) if refused else kept.lower
            raised = guess.share(start) - known + RAISED
        found = np.abs(slopes(self.problem, guess, start, clock))
        self.influence = np.maximum(found, 0.02 * max(float(found.max()), 1e-3))

    def _quick(self, start: Floats) -> None:
        """Farther than is needed, so that few cells suffice to prove it."""
        for raised in QUICK:
            guess = Guess(self.problem, self.seed, raised)
            if self.referee.center is not None or not guess.begin(start, self.clock):
                return
            assert guess.center is not None
            self.referee.takes(guess.center)
            start = guess.center

    def _rooms(self, clock: Clock) -> None:
        """A room in which a slip stays with the promised probability is enough; smaller ones often are."""
        from elbowroom import chance

        problem, keeps = self.problem, self.problem.keeps
        slipping = problem.spread > 0.0
        if keeps is None or not slipping.any():
            return
        t = float(chance.radius(keeps.probability, 1.0, int(slipping.sum()), "linf"))
        walls = np.where(problem.space.group_of < 0, np.maximum(problem.walls.down, problem.walls.up), 0.0)
        for share in ROOMS:
            widths = np.maximum(walls, share * t * problem.spread)
            room = Box(tuple(float(w) for w in widths), categories=problem.room.categories)
            wider = replace(problem, keeps=None, room=room)
            own = self.referee.about(wider)
            self.engine.search(wider, own, clock.part(1.0 / len(ROOMS)), self.seed)
            if own.center is None or own.distance >= self.referee.distance or clock.expired:
                return
            if isinstance(self.referee(own.center), Certificate):
                return

    # ---- dividing -------------------------------------------------------------------------------------------------
    def _divide(self, bound: float) -> Ending:
        whole = Part(bound, *(end.copy() for end in self.problem.centers))
        root = within_distance(self.problem, whole, self.referee.distance)
        if not math.isfinite(self.referee.distance) and not _same(root, whole):
            self.settled = FAR * float((self.problem.metric.factor * self.problem.space.scale).min())
        order, heap = count(), [(bound, 0, root)]
        while heap and not self.clock.expired:
            if heap[0][0] >= (1.0 - GAP) * self.referee.distance:
                break
            part = heapq.heappop(heap)[2]
            for child in self._looked(part):
                heapq.heappush(heap, (child.bound, next(order) + 1, child))
            self.clock.report(lower_bound=min([self.settled, *(heap[0][:1] if heap else ())]))
        left = min([self.settled, *(entry[0] for entry in heap)])
        counters = {"parts": float(self.parts)}
        if math.isinf(left) and self.referee.center is None:
            return Ending(METHOD, math.inf, "no centre keeps the class with the promised probability", GAP, counters)
        why = "the time limit was reached" if self.clock.expired else "what is left cannot be divided any further"
        return Ending(METHOD, max(bound, left), f"no centre was proven to keep the promise: {why}", GAP, counters)

    def _looked(self, part: Part) -> list[Part]:
        """Settle a part, or divide it."""
        self.parts += 1
        members = open_group(self.problem, part)
        if members is not None:
            children = [self._bounded(child) for child in by_category(part, members)]
            return [child for child in children if child.bound < self.referee.distance]
        rows = self.referee.needs(part.lower, part.upper)
        if rows is None:
            return []
        part, center = self._asked(part, rows)
        if part.bound >= self.referee.distance or math.isinf(part.bound):
            return []
        if not rows and not isinstance(self.problem.model, ReluNetwork):
            self._offer(0.5 * (part.lower + part.upper))
        children = [self._bounded(child) for child in divided(self.problem, part, center, self.influence)]
        if not children:
            self.settled = min(self.settled, part.bound)
        return [child for child in children if child.bound < self.referee.distance]

    def _bounded(self, part: Part) -> Part:
        """No centre of a part is closer than its closest point, up to rounding."""
        distance = self.problem.measure(nearest(self.problem, part)) * (1.0 - 1e-12)
        return replace(part, bound=max(part.bound, distance))

    def _asked(self, part: Part, rows: tuple[Row, ...]) -> tuple[Part, Floats | None]:
        """The part with the bound that the engine of the family proves, and its closest centre without the promise."""
        if not rows and (self.parts > 1 or isinstance(self.problem.model, ReluNetwork)):
            return part, None  # nothing new is asked
        question = asked_in(self.problem, part, rows)
        own = self.referee.about(question)
        ending = self.engine.search(question, own, self.clock.part(LOOK_SHARE), self.seed)
        found = replace(part, bound=max(part.bound, min(ending.lower_bound, own.distance)))
        if own.center is not None and not self._offer(own.center) and rows:
            self._raised(part, own.center)
        return found, own.center

    def _raised(self, part: Part, center: Floats) -> None:
        """Rows that are enough around a centre: those of its own slips, for a little more than was promised."""
        for raised in RAISES:
            for _ in range(2):  # the slips of the new centre may be clipped differently
                question = asked_in(self.problem, part, self.referee.rows_at(center, raised))
                own = self.referee.about(question)
                self.engine.search(question, own, self.clock.part(LOOK_SHARE), self.seed)
                if own.center is None or own.distance >= self.referee.distance or self.clock.expired:
                    return
                if self._offer(own.center):
                    return
                center = own.center

    def _offer(self, center: Floats) -> bool:
        """Ask the referee about a centre that would be better than the best one."""
        whole = self.problem.space.whole_center
        center = np.where(whole, np.round(center), center)
        if not self.problem.measure(center) < self.referee.distance:
            return False
        first, accepted = self.referee.center is None, isinstance(self.referee(center), Certificate)
        if first and accepted and not isinstance(self.problem.model, LinearModel):
            closer(self.problem, self.referee, self.clock.part(START_SHARE))
        return accepted


def _same(one: Part, other: Part) -> bool:
    return bool(np.array_equal(one.lower, other.lower) and np.array_equal(one.upper, other.upper))
