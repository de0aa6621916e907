"""Who is served by a move: the judge's word for every row, and the best answer so far."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from elbowroom.certify.judge import certify, certify_answer
from elbowroom.explainer.attempt import MOMENT, CertifyingReferee
from elbowroom.models import LinearModel, TreeEnsemble
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.result import Certificate, Inadmissible, Verdict
from elbowroom.result.certificate import Undecided
from elbowroom.search.contract import Clock, Ending
from elbowroom.search.engines import engine_for
from elbowroom.search.group.linear import closest_linear_move
from elbowroom.search.group.members import Members


@dataclass
class Crowd:
    """All rows of a group; ``serve`` notes the closest move that serves at least ``least`` of them."""

    members: Members
    least: int
    clock: Clock
    move: Floats | None = None
    distance: float = math.inf
    certificates: dict[int, Certificate] = field(default_factory=dict)
    _known: dict[bytes, dict[int, Certificate]] = field(default_factory=dict)

    def serve(self, move: Floats) -> frozenset[int]:
        """The rows whose whole room is certified after the move."""
        move = np.asarray(move, dtype=np.float64) + 0.0
        key = move.tobytes()
        if key not in self._known:
            found = {i: v for i in range(len(self.members.problems)) if (v := self._judged(i, move)) is not None}
            self._known[key] = found
            length = self.members.metric(np.zeros(move.size), move)
            if len(found) >= self.least and length < self.distance:
                self.move, self.distance, self.certificates = move, length, found
                self.clock.report(best_distance=length, note=f"a move for {len(found)} rows")
        return frozenset(self._known[key])

    def _judged(self, i: int, move: Floats) -> Certificate | None:
        problem = self.members.problems[i]
        center = problem.factual + move
        if problem.why_outside(center) is not None:
            return None
        verdict = certify_answer(problem, problem.body(center), max(self.clock.remaining, MOMENT))
        return verdict if isinstance(verdict, Certificate) else None

    def best(self) -> float:
        return self.distance

    def closest(self, among: tuple[int, ...], seed: int) -> tuple[Ending, Floats | None]:
        """The closest move for all of these rows."""
        match self.members.first.model:
            case LinearModel():
                return closest_linear_move(self.members, among, self.serve, self.clock)
            case TreeEnsemble():
                return self._closest_of_trees(among, seed)
            case _ as other:
                raise TypeError(f"groups of {type(other).__name__} are refused before")

    def _closest_of_trees(self, among: tuple[int, ...], seed: int) -> tuple[Ending, Floats | None]:
        lower, upper = self.members.limits(among)
        if (lower > upper).any():
            return Ending("common move: limits", math.inf, "no move keeps all rows within their limits"), None
        still = np.zeros(lower.size)
        if frozenset(among) <= self.serve(still):
            return Ending("common move: none is needed", 0.0), still
        problem = self.members.of_trees(among)
        engine = engine_for(problem.model)
        engine.prepare(problem.walls.shape)
        referee = MoveReferee(self, among, problem)
        ending = engine.search(problem, referee, self.clock.part(1.0), seed)
        return ending, referee.center


@dataclass
class MoveReferee:
    """The judge of moves for some rows, as the engine for trees sees it: what it accepts is certified for every row; what it
    refuses is refused by the merged trees. What only rounding tells apart stays undecided."""

    crowd: Crowd
    among: tuple[int, ...]
    problem: RecourseProblem
    center: Floats | None = None
    distance: float = math.inf

    def __call__(self, center: Floats, looks: float = math.inf, /) -> Verdict:
        move = np.asarray(center, dtype=np.float64) + 0.0
        low, high = self.problem.centers
        if ((move < low) | (move > high)).any():
            return Inadmissible("the move leads a row beyond its limits")
        left = max(self.crowd.clock.remaining, MOMENT)
        verdict = certify(self.problem.model, self.problem.target, self.problem.body(move), left, looks)
        if not isinstance(verdict, Certificate):
            return verdict
        for tried in (move, self.crowd.members.longer(move, self.among)):
            if frozenset(self.among) <= self.crowd.serve(tried):
                length = self.problem.measure(tried)
                if length < self.distance:
                    self.center, self.distance = tried, length
                return verdict
        return Undecided("rounding decides whether the move serves all rows")

    def about(self, problem: RecourseProblem) -> CertifyingReferee:
        return CertifyingReferee(problem, Clock(max(self.crowd.clock.remaining, 0.0)))
