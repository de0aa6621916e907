"""Conditions that an engine does not know: the question is divided into parts that do without them.

A part has narrower limits for the centre (`RecourseProblem.case`) and leaves such conditions out, so what is proven of it
holds for all centres that obey them, too. If the closest centre of a part obeys everything, the part is settled. If not,
the condition that it breaks divides the part further:

    x_f in a domain    x_f <= the last value before x_f, or x_f >= the first one behind it
    a clause           one part per option, with the column within its range
    a price            on one side of the factual or on the other; kept or changed; on one side of a bend or on the other
    a row everywhere   the corner of a room that is clipped has a kink where clipping begins: left or right of it

Parts are asked nearest first, by the bound of the part that they were cut from; no region is closer than the smallest
bound of a part that is left. Works for every engine that keeps to `RecourseProblem.centers`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final, Protocol

import numpy as np

from elbowroom.numerics import EPS, Floats, next_value
from elbowroom.problem import Conditions, Distance, Metric, RecourseProblem, Takes, allowed_categories
from elbowroom.problem.conditions import Clause
from elbowroom.problem.domains import Domain, Values
from elbowroom.problem.on import On
from elbowroom.problem.problem import Case
from elbowroom.problem.shapes import Shape
from elbowroom.result.certificate import Certificate, Inadmissible, Verdict
from elbowroom.search.bends import bend
from elbowroom.search.contract import NEAR_TIES, Clock, Ending, Engine, Referee
from elbowroom.search.corners import Corners
from elbowroom.search.straight import straightened
from elbowroom.visible import listed

ROUNDING: Final = 1e-12  # of two sums of the same moves
STRAIGHT_SHARE: Final = 0.3  # of the time, for straight moves in place of linear forms of several columns


class Divisible(Engine, Protocol):
    """An engine that keeps to the limits of a case, and says which conditions it knows."""

    def takes(self, problem: RecourseProblem) -> Takes:
        """For questions like this one."""


class CaseEngine:
    """Any engine, for all conditions; ``otherwise`` answers what it refuses even then, and looks for regions under rules
    where it found none."""

    def __init__(self, engine: Divisible, otherwise: Divisible | None = None) -> None:
        self.engine, self.otherwise = engine, otherwise

    def refuses(self, problem: RecourseProblem) -> str | None:
        refusal = self._refusal(self.engine, problem)
        if refusal is None or self.otherwise is None:
            return refusal
        second = self._refusal(self.otherwise, problem)
        if second is not None and problem.metric.slant is not None:
            return second  # the other engine is the one for causes and covariances: what it lacks is the reason
        return None if second is None else refusal

    def _able(self, problem: RecourseProblem) -> Divisible:
        first = self.otherwise is None or self._refusal(self.engine, problem) is None
        return self.engine if first or self.otherwise is None else self.otherwise

    def _refusal(self, engine: Divisible, problem: RecourseProblem) -> str | None:
        division = Division(problem, engine.takes(problem))
        if problem.walls.on is not On.ALL and not division.is_trivial:
            return (
                f"rooms with on={problem.walls.on.value!r} are not known together with rules or prices that divide the question; "
                "leave these out, or use on='all'"
            )
        steep = [problem.space.names[f] for f in division.priced if not division.is_flat(f)]
        if steep and problem.distance is not Distance.L1:
            return (
                f"prices that change with the length of a move, as for {listed(steep)}, are known for distance='l1', and for "
                "other distances for boxes on trees without Plausible; use distance='l1', or one price for each way"
            )
        return engine.refuses(division.relaxed)

    def prepare(self, shape: Shape) -> None:
        self.engine.prepare(shape)

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        if problem.trouble is not None:
            return Ending("limits", math.inf, problem.trouble)
        engine = self._able(problem)
        if engine is self.otherwise and problem.metric.slant is not None:
            return self._straight_first(engine, problem, referee, clock, seed)
        ending = self._searched(engine, problem, referee, clock, seed)
        unsettled = math.isfinite(ending.lower_bound) and referee.center is None and not clock.expired
        if not unsettled or not problem.ruled or self.otherwise is None or engine is self.otherwise:
            return ending
        if self._refusal(self.otherwise, problem) is not None:
            return ending
        second = self._searched(self.otherwise, problem, referee, clock, seed)
        return replace(second, lower_bound=max(ending.lower_bound, second.lower_bound))

    def _straight_first(
        self, engine: Divisible, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int
    ) -> Ending:
        """Moves that are linear forms: a region and a bound at once, from the engine for straight moves (`straight`)."""
        straight, bound = straightened(problem), 0.0
        if straight is not None and self._refusal(self.engine, straight) is None:
            own = PartReferee(referee, straight, referee.about(straight))
            first = self._searched(self.engine, straight, own, clock.part(STRAIGHT_SHARE), seed)
            bound = first.lower_bound
            if math.isinf(bound):
                return first
            clock.report(lower_bound=bound)
        ending = self._searched(engine, problem, referee, clock, seed)
        return replace(ending, lower_bound=max(bound, ending.lower_bound))

    def _searched(
        self, engine: Divisible, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int
    ) -> Ending:
        division = Division(problem, engine.takes(problem))
        if division.is_trivial:
            return engine.search(problem, referee, clock, seed)
        return _Search(division, engine, referee, clock, seed).run()


@dataclass(frozen=True, eq=False)
class Part:
    """Where the centre lies."""

    lower: Floats
    upper: Floats

    def within(self, column: int, low: float, high: float) -> Part:
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[column], upper[column] = max(lower[column], low), min(upper[column], high)
        return Part(lower, upper)

    def is_empty(self) -> bool:
        return bool((self.lower > self.upper).any())


class Division:
    """A question, and how it is divided where an engine does not know its conditions."""

    def __init__(self, problem: RecourseProblem, takes: Takes) -> None:
        self.problem = problem
        self.conditions = problem.conditions
        known = replace(takes, rows=True, most_changes=True)  # these cannot be left out: the engine refuses them itself
        self.kept = self.conditions.within(known)
        self.domains: tuple[Domain, ...] = () if takes.domains else self.conditions.domains
        self.clauses: tuple[Clause, ...] = () if takes.clauses else self.conditions.clauses
        self.corners = Corners.of(problem)
        self.priced = {} if takes.prices else problem.metric.priced
        space, columns = problem.space, {domain.column for domain in self.domains}
        self.values = {
            f: Values(tuple(d for d in self.domains if d.column == f), bool(space.whole_center[f])) for f in columns
        }
        self.root = Part(*problem.centers)

    @property
    def is_trivial(self) -> bool:
        return not (self.domains or self.clauses or self.corners.rows or self.priced)

    @property
    def relaxed(self) -> RecourseProblem:
        return self.problem if self.is_trivial else self.question(self.root)

    def question(self, part: Part) -> RecourseProblem:
        """A part as a question that the engine understands."""
        kept: Conditions = self.kept
        if self.corners.rows:
            kept = replace(kept, rows=self.corners.plain + self.corners.relaxed(part.lower, part.upper))
        return replace(self.problem, case=Case(part.lower, part.upper, kept, self._within(part)[0]))

    def constant(self, part: Part) -> float:
        """What a part costs besides the metric of its question."""
        return self._within(part)[1]

    def _within(self, part: Part) -> tuple[Metric, float]:
        metric = self.problem.metric
        return metric.within(self.problem.factual, part.lower, part.upper) if self.priced else (metric, 0.0)

    def is_flat(self, column: int) -> bool:
        """True if each way has a single price per unit."""
        now = float(self.problem.factual[column])
        return all(self.problem.metric.pieces(column, now, way).is_flat for way in (True, False))

    def tightened(self, part: Part) -> Part | None:
        """The part without values that the conditions rule out at once; None if nothing is left of it."""
        lower, upper = part.lower.copy(), part.upper.copy()
        changed = True
        while changed:
            changed = False
            for f, values in self.values.items():
                low, high = values.at_or_above(lower[f], upper[f]), values.at_or_below(upper[f], lower[f])
                if low > high or (math.isinf(low) and low > 0) or (math.isinf(high) and high < 0):
                    return None
                lower[f], upper[f] = low, high
            for clause in self.clauses:
                if any(o.low <= lower[o.column] and upper[o.column] <= o.high for o in clause.options):
                    continue
                live = [o for o in clause.options if max(o.low, lower[o.column]) <= min(o.high, upper[o.column])]
                if not live:
                    return None
                if len(live) == 1:
                    f = live[0].column
                    lower[f], upper[f], changed = max(lower[f], live[0].low), min(upper[f], live[0].high), True
        for members in self.problem.space.members:
            if not allowed_categories(lower[members], upper[members]).any():
                return None
        made = Part(lower, upper)
        return None if made.is_empty() else made

    def divided(self, part: Part, center: Floats) -> list[Part]:
        """Parts that hold every centre of this one that obeys the condition which ``center`` breaks, and not ``center``."""
        for f, values in self.values.items():
            x = float(center[f])
            if not values.holds(x):
                below, above = values.at_or_below(x, part.lower[f]), values.at_or_above(x, part.upper[f])
                return [part.within(f, -math.inf, below), part.within(f, above, math.inf)]
        for clause in self.clauses:
            if not clause.holds(center):
                return list(self._options(part, clause))
        bent = self._bent(part, center)
        if bent is not None:
            f, below, above = bent
            return [part.within(f, -math.inf, below), part.within(f, above, math.inf)]
        kink = self.corners.kink(self.problem, center, part.lower, part.upper)
        if kink is not None:
            f, at = kink
            return [part.within(f, -math.inf, at), part.within(f, at, math.inf)]
        return []

    def _bent(self, part: Part, center: Floats) -> tuple[int, float, float] | None:
        """The column whose price at a centre is farthest above its line: how far down and from where up its parts go."""
        if not self.priced:
            return None
        problem, each = self.problem, np.arange(center.size)
        lines = self._within(Part(part.lower, part.upper))[0].costs(each, problem.factual, center)
        above = problem.metric.costs(each, problem.factual, center) - lines
        for f in sorted(self.priced, key=lambda f: -above[f]):
            now, whole = float(problem.factual[f]), bool(problem.space.whole_center[f])
            found = bend(problem.metric, f, now, whole, float(part.lower[f]), float(part.upper[f]), float(center[f]))
            if found is not None:
                return f, *found
        return None

    def divided_anyway(self, part: Part) -> list[Part]:
        """Parts of one in which the engine found nothing: those of a clause that is still open, or at a kink."""
        for clause in self.clauses:
            if not any(o.low <= part.lower[o.column] and part.upper[o.column] <= o.high for o in clause.options):
                return list(self._options(part, clause))
        kink = self.corners.open_kink(part.lower, part.upper)
        if kink is not None:
            f, at = kink
            return [part.within(f, -math.inf, at), part.within(f, at, math.inf)]
        return []

    def _options(self, part: Part, clause: Clause) -> Iterator[Part]:
        """One per option; what an option that is a half-line takes, later ones leave out."""
        whole = self.problem.space.whole_center
        for option in clause.options:
            f = option.column
            yield part.within(f, option.low, option.high)
            if math.isinf(option.low):
                part = part.within(f, float(next_value(option.high, whole[f])), math.inf)
            elif math.isinf(option.high):
                part = part.within(f, -math.inf, -float(next_value(-option.low, whole[f])))


@dataclass
class PartReferee:
    """The judge as the engine sees it while it works on a part. What obeys everything is an answer to the whole question;
    the rest is judged as an answer to the part alone."""

    main: Referee
    problem: RecourseProblem
    own: Referee
    center: Floats | None = None
    distance: float = math.inf

    def __call__(self, center: Floats, looks: float = math.inf, /) -> Verdict:
        center = np.asarray(center, dtype=np.float64) + 0.0
        trouble = self.problem.why_outside(center)  # whether a further margin is reached is for the judge
        if trouble is not None:
            return Inadmissible(trouble)
        verdict = self.main(center, looks)
        if isinstance(verdict, Inadmissible):
            verdict = self.own(center, looks)
        if isinstance(verdict, Certificate) and (distance := self.problem.measure(center)) < self.distance:
            self.center, self.distance = center, distance
        return verdict

    def about(self, problem: RecourseProblem) -> Referee:
        return self.main.about(problem)


@dataclass
class _Search:
    """Best first over parts."""

    division: Division
    engine: Engine
    referee: Referee
    clock: Clock
    seed: int
    tolerance: float = 0.0
    settled: float = math.inf  # smallest bound of a part that is not divided any further
    parts: int = 0
    method: str = "cases"
    reason: str = ""
    counters: dict[str, float] = field(default_factory=dict)
    _bound: float = 0.0  # of the part asked about last

    def run(self) -> Ending:
        order, heap = count(), [(0.0, 0, self.division.root)]
        while heap and not self.clock.expired:
            bound, _, part = heap[0]
            if bound >= (1.0 - self.tolerance) * self.referee.distance:
                break
            heapq.heappop(heap)
            for child in self._asked(bound, part):
                heapq.heappush(heap, (self._bound, next(order) + 1, child))
            if heap:
                self.clock.report(lower_bound=min(self.settled, heap[0][0]))
        lower_bound = min([self.settled, *(entry[0] for entry in heap)])
        if math.isinf(lower_bound) and not math.isfinite(self.referee.distance):
            self.reason = "no centre within the limits obeys the rules and has the wanted outcome in its whole room"
        elif heap and self.clock.expired and not self.reason:
            self.reason = "the time limit was reached"
        return Ending(
            self.method, lower_bound, self.reason, self.tolerance, {**self.counters, "parts": float(self.parts)}
        )

    def _is_answer(self, own: PartReferee) -> bool:
        """True if the closest centre of a part obeys everything, and costs no more than the part's own prices say."""
        problem = self.division.problem
        assert own.center is not None
        if self.division.priced:
            constant = self.division.constant(Part(*own.problem.centers))
            if problem.measure(own.center) > own.distance + constant + ROUNDING * (own.distance + abs(constant)):
                return False
        return problem.admissible(own.center)

    def _asked(self, bound: float, part: Part) -> list[Part]:
        """Settle a part, or divide it."""
        self._bound = bound
        tight = self.division.tightened(part)
        if tight is None:
            return []
        problem = self.division.question(tight)
        own = PartReferee(self.referee, problem, self.referee.about(problem))
        ending = self.engine.search(problem, own, self.clock.part(1.0), self.seed)
        self.parts += 1
        self.tolerance, self.method = max(self.tolerance, ending.tolerance), ending.method
        for name, value in ending.counters.items():
            known = self.counters.get(name, 0.0)
            self.counters[name] = max(known, value) if name == NEAR_TIES else known + value
        constant = self.division.constant(tight)
        self._bound = max(bound, ending.lower_bound + constant - 4 * EPS * abs(constant))
        if math.isinf(self._bound):
            return []
        children: list[Part] = []
        if own.center is None and not self.clock.expired:
            children = self.division.divided_anyway(tight)
        elif own.center is not None and not self._is_answer(own):
            children = self.division.divided(tight, own.center)
        if children:
            return [child for child in children if not child.is_empty()]
        self.settled = min(self.settled, self._bound)
        self.reason = self.reason or ending.reason
        return []
