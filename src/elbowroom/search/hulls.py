"""Centres in the hull of given points, for every engine that takes linear rows.

A hull is all rows a . x <= max_i a . p_i at once. The engine is asked with some of them: its question is wider, so what it
proves about all centres holds for those in the hull. If its nearest centre lies in the hull, that is the answer; if not, a row
that this centre breaks is added, and it is asked again. The points themselves are tried first: they lie in the hull.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import Conditions, RecourseProblem, Rule, Space
from elbowroom.problem.conditions import Row
from elbowroom.problem.reader import Reader
from elbowroom.problem.shapes import Shape
from elbowroom.result.certificate import Certificate, Verdict
from elbowroom.search.contract import Clock, Ending, Engine, Referee

MOST_ROUNDS: Final = 500
LOOKS_AT_POINT: Final = 5.0  # of the judge, at each of the points


@dataclass(frozen=True, eq=False)
class _Rows(Rule):
    """Rows that were cut off a hull so far."""

    rows: tuple[Row, ...]

    def lower(self, space: Space, factual: Floats) -> Conditions:
        return Conditions(rows=self.rows)

    @property
    def words(self) -> str:
        return "the centre lies near the nearest rows"

    def fields(self) -> dict[str, Any]:
        raise NotImplementedError("a rule of a search, which no file keeps")

    @classmethod
    def read(cls, entry: Reader) -> _Rows:
        raise NotImplementedError("a rule of a search, which no file keeps")


class _Widened:
    """The referee of the wider question: what it accepts and lies in the hull is an answer to the question itself."""

    def __init__(self, referee: Referee, problem: RecourseProblem, wider: RecourseProblem) -> None:
        self._referee, self._problem, self._wider = referee, problem, referee.about(wider)

    @property
    def center(self) -> Floats | None:
        return self._wider.center

    @property
    def distance(self) -> float:
        return self._wider.distance

    def __call__(self, center: Floats, looks: float = math.inf, /) -> Verdict:
        verdict = self._wider(center, looks)
        better = isinstance(verdict, Certificate) and self._problem.measure(center) < self._referee.distance
        if better and all(hull.holds(center) for hull in self._problem.conditions.hulls):
            self._referee(center)
        return verdict

    def about(self, problem: RecourseProblem) -> Referee:
        return self._wider.about(problem)


def within_hulls(engine: Engine, problem: RecourseProblem) -> Engine:
    """The engine for a question: itself, or asked again and again where the rules speak of hulls."""
    return WithinHulls(engine) if problem.conditions.hulls else engine


class WithinHulls:
    """Another engine, asked again and again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def refuses(self, problem: RecourseProblem) -> str | None:
        return self._engine.refuses(self._wider(problem, self._ranges(problem)))

    def prepare(self, shape: Shape) -> None:
        self._engine.prepare(shape)

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        hulls, rows = problem.conditions.hulls, self._ranges(problem)
        self._try_points(problem, referee, clock)
        bound, rounds, ending = 0.0, 0, None
        while not clock.expired and rounds < MOST_ROUNDS:
            rounds += 1
            wider = self._wider(problem, rows)
            asked = _Widened(referee, problem, wider)
            inner = Clock(max(clock.remaining, 0.0), nominal=clock.nominal)
            ending = self._engine.search(wider, asked, inner, seed)
            bound = max(bound, min(ending.lower_bound, math.inf))
            clock.report(lower_bound=min(bound, referee.distance))
            if math.isinf(bound) or bound >= (1.0 - ending.tolerance) * referee.distance or asked.center is None:
                break
            cuts = [(hull, hull.cut(asked.center)) for hull in hulls if not hull.holds(asked.center)]
            fresh = [Row(cut[0], -math.inf, cut[1], hull.source) for hull, cut in cuts if cut is not None]
            if not fresh:
                break
            rows = rows + tuple(fresh)
        if ending is None:
            return Ending("hull of rows", bound, "the time limit was reached before the search began")
        reason = ending.reason or "no centre between the rows was accepted within the limits"
        if math.isinf(bound):
            reason = f"no centre that obeys {hulls[0].source} has its whole room in the wanted outcome"
        return replace(
            ending, method=f"{ending.method}, within hulls", lower_bound=bound, reason=reason,
            counters={**ending.counters, "hull_rows": float(len(rows)), "hull_rounds": float(rounds)},
        )  # fmt: skip

    def _wider(self, problem: RecourseProblem, rows: tuple[Row, ...]) -> RecourseProblem:
        others = tuple(rule for rule in problem.rules if not rule.lower(problem.space, problem.factual).hulls)
        return replace(problem, rules=(*others, _Rows(rows)))

    def _ranges(self, problem: RecourseProblem) -> tuple[Row, ...]:
        """Every column lies in the range of the points."""
        found = []
        for hull in problem.conditions.hulls:
            for i, f in enumerate(hull.columns):
                row = np.zeros(len(problem.space.names))
                row[f] = 1.0
                values = hull.points[:, i]
                found.append(Row(row, float(values.min()), float(values.max()), hull.source))
        return tuple(found)

    def _try_points(self, problem: RecourseProblem, referee: Referee, clock: Clock) -> None:
        """A good centre without a search, if one of the points may be an answer."""
        idle = np.clip(problem.factual, problem.lower, problem.upper)
        for members in problem.space.members:
            idle[members] = problem.factual[members]
        for hull in problem.conditions.hulls[:1]:
            for point in hull.points:
                center = idle.copy()
                center[hull.columns] = point
                if clock.expired or isinstance(referee(center, LOOKS_AT_POINT), Certificate):
                    break
