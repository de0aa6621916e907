"""Several answers that differ in what they change.

Let S(x) be the set of features that a centre x changes, as `AtMost` counts them. After answers with the sets S_1 .. S_m the
next one is the closest valid centre x such that S(x) contains none of them: from every S_i at least one feature stays.
(An answer that changes all that an earlier one changes, and more, would be the earlier one with extra work.)

**By frozen features alone.** Let D(H) be the distance of the closest valid centre that keeps all features of H, with x(H)
attaining it. A centre whose set contains no S_i keeps some H that meets all of them, so the next answer is at

    min D(H) over all H that meet S_1, ..., S_m.

Start from H = {} and search best first: take the open H with the smallest bound on D(H). If S(x(H)) contains no S_i, its
centre is the next answer, since all that is left has a bound at least as large. Otherwise every centre of H that may come
next keeps a feature of that S_i: replace H by H + {f} for all f in S_i. D only grows with H, so bounds are handed down; a set
H that was reached twice is asked once. An accepted answer's H is divided by its own set and stays for the next one. With
S(x) empty nothing else can come. Every answer's bound is the smallest of the open ones, so it is proven against all
centres of its kind.

**Frozen features keep their room.** A column that the centre keeps has its room K around the factual. It is frozen by
limits K and a room that always covers all of K (`frozen`): wherever a centre lies within K, the room in that column is
K, and the factual is the cheapest such centre. A category is frozen by declaring it immutable; one that the room leaves
open is never changed, unless it has to be.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count as counting

import numpy as np

from elbowroom.numerics import Floats, next_up
from elbowroom.problem import Box, Direction, RecourseProblem
from elbowroom.problem.on import On
from elbowroom.search.contract import Clock

Frozen = frozenset[int]  # features, as `Space.changed` numbers them: columns, then groups


@dataclass(frozen=True, eq=False)
class Found:
    """The end of one search with frozen features: the best centre accepted (None: none), its distance, the bound."""

    center: Floats | None
    distance: float
    lower_bound: float


Ask = Callable[[RecourseProblem, float], Found]  # an ordinary question, starting from a bound that is known already


@dataclass(frozen=True, eq=False)
class Next:
    """The next answer: its centre, and what is proven about all centres of its kind."""

    center: Floats
    distance: float
    lower_bound: float
    changed: Frozen


class Partition:
    """The open sets of frozen features, and the sets that were answered."""

    def __init__(self, problem: RecourseProblem, ask: Ask, clock: Clock) -> None:
        self.problem, self.ask, self.clock = problem, ask, clock
        self.sets: list[Frozen] = []  # what the answers change
        self.lower_bound = 0.0  # of whatever comes next; inf: nothing
        self.asked = 0
        self._number = counting()
        self._seen: set[Frozen] = set()
        self._open: list[tuple[float, int, Frozen, Found | None]] = []
        self._loose = math.inf  # smallest bound of a question that found nothing in time
        self._push(frozenset(), 0.0)

    def _push(self, frozen: Frozen, bound: float) -> None:
        if frozen not in self._seen and math.isfinite(bound):
            self._seen.add(frozen)
            heapq.heappush(self._open, (bound, next(self._number), frozen, None))

    def answers(self) -> Iterator[Next]:
        """The closest answer, the next one of another kind, ..., until none is left or the time is over."""
        while self._open:
            bound, _, frozen, found = heapq.heappop(self._open)
            if found is None:
                if self.clock.expired and self.asked > 0:
                    self._loose = min(self._loose, bound)
                    break
                found = self._solve(frozen, bound)
                if found.center is None:
                    self._loose = min(self._loose, found.lower_bound)
                else:  # by its distance: bounds that are handed down may be far below it
                    heapq.heappush(self._open, (found.distance, next(self._number), frozen, found))
                continue
            assert found.center is not None
            changed = changed_by(self.problem, found.center)
            former = next((one for one in self.sets if one <= changed), None)
            if former is not None:
                self._divide(frozen, former, found.lower_bound)
                continue
            least = min([found.lower_bound, self._loose, *self._bounds()])
            self.sets.append(changed)
            yield Next(found.center, found.distance, min(least, found.distance), changed)
            self._divide(frozen, changed, found.lower_bound)
        self.lower_bound = min([self._loose, *self._bounds()], default=math.inf)

    def _bounds(self) -> Iterator[float]:
        """Of all that is open."""
        return (bound if found is None else found.lower_bound for bound, _, _, found in self._open)

    def _divide(self, frozen: Frozen, former: Frozen, bound: float) -> None:
        for feature in sorted(former - frozen):
            self._push(frozen | {feature}, bound)

    def _solve(self, features: Frozen, bound: float) -> Found:
        question = frozen_question(self.problem, features)
        if question is None:  # a feature that has to change cannot stay
            return Found(None, math.inf, math.inf)
        self.asked += 1
        found = self.ask(question, bound)
        lower_bound = max(bound, found.lower_bound)
        if found.center is None:
            return replace(found, lower_bound=lower_bound)
        center = back_to_factual(self.problem, features, found.center)
        distance = self.problem.measure(center)
        return Found(center, distance, min(lower_bound, distance))


def is_separable(problem: RecourseProblem) -> bool:
    """True if features can be frozen one by one, each with its room: in a box, with nothing that ties the centre's columns
    together or cares where within K the centre lies."""
    conditions = problem.conditions
    tied = conditions.rows, conditions.domains, conditions.clauses, conditions.hulls
    at_center = any(not each.everywhere for each in problem.further)
    return isinstance(problem.room, Box) and not any(tied) and not at_center and problem.centers is problem.limits


def changed_by(problem: RecourseProblem, center: Floats) -> Frozen:
    """S(x)."""
    return frozenset(np.flatnonzero(problem.changed(center)).tolist())


def frozen_question(problem: RecourseProblem, features: Frozen) -> RecourseProblem | None:
    """The question with these features kept at the factual and their rooms as they are; None if one of them cannot be."""
    if not features:
        return problem
    space, size = problem.space, len(problem.space.names)
    columns = list(space.features)
    walls, (low, high) = problem.walls, problem.kept_ends
    down, up = walls.down.copy(), walls.up.copy()
    for number in features:
        if number >= size:
            if number - size in walls.free_groups:  # its category is any already, so it changes only where it must
                return None
            for f in space.members[number - size]:
                columns[f] = replace(columns[f], immutable=True)
            continue
        f = number
        if low[f] > high[f]:
            return None
        lower, upper = float(low[f]), float(high[f])
        if walls.on is On.CHANGED:
            lower = upper = float(problem.factual[f])
        down[f] = up[f] = float(next_up(next_up(upper - lower)))
        columns[f] = replace(columns[f], lower=lower, upper=upper, direction=Direction.ANY)
    room = Box(low=tuple(down.tolist()), high=tuple(up.tolist()), categories=problem.room.categories, on=walls.on)
    return replace(problem, space=replace(space, features=tuple(columns)), room=room)


def back_to_factual(problem: RecourseProblem, features: Frozen, center: Floats) -> Floats:
    """The centre with frozen columns at the factual, where their room is the same and the distance no larger."""
    point, size = center.copy(), len(problem.space.names)
    columns = [f for f in features if f < size]
    point[columns] = problem.factual[columns]
    return point


def names_of(problem: RecourseProblem, changed: Frozen) -> tuple[str, ...]:
    """Features by name: columns, then groups."""
    size = len(problem.space.names)
    return tuple(problem.space.names[f] if f < size else problem.space.groups[f - size].name for f in sorted(changed))
