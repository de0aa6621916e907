"""One search, from the first candidate to its outcome: the only place where engines and the judge meet."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from elbowroom.certify.judge import certify
from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.result import Certificate, Undecided, Verdict
from elbowroom.search.contract import Accept, Clock, Outcome
from elbowroom.search.frontier import INTERRUPTED, Known

if TYPE_CHECKING:
    from elbowroom.search.trees.memory import TreeMemory

RECALLED = "known from another radius"


class Method(Enum):
    """How a region is searched for."""

    AUTO = "auto"
    ADVERSARIAL = "adversarial"
    ADVERSARIAL_SCIP = "adversarial-scip"
    ADVERSARIAL_GUROBI = "adversarial-gurobi"
    ONE_LEAF = "one_leaf"

    @classmethod
    def parse(cls, value: Method | str) -> Method:
        if isinstance(value, cls):
            return value
        try:
            return cls(value)
        except ValueError:
            raise InputError(f"method={value!r} is unknown; use one of {[m.value for m in cls]}") from None


@dataclass
class Attempt:
    """One search: offers candidates to the judge and keeps the best accepted one, whatever becomes of the engine."""

    problem: RecourseProblem
    clock: Clock
    center: Floats | None = None
    certificate: Certificate | None = None
    distance: float = math.inf

    def __call__(self, center: Floats, seconds: float | None = None, /) -> Verdict:
        """Judge a candidate, in so many seconds; the best accepted one is the answer."""
        center = np.asarray(center, dtype=np.float64) + 0.0
        if not self.problem.admissible(center):
            return Undecided("the centre breaks a limit, a whole number, a one-hot group or a rule")
        body = self.problem.body(center)
        verdict = certify(self.problem.model, self.problem.target, body, self._left(seconds))
        if isinstance(verdict, Certificate):
            distance = self.problem.measure(center)
            if distance < self.distance:
                self.center, self.certificate, self.distance = body.center, verdict, distance
                self.clock.report(best_distance=distance, note="certified")
        return verdict

    def about(self, problem: RecourseProblem) -> Accept:
        """The judge for a related question of the engine's own; what it accepts is no answer to this one."""

        def judge(center: Floats, seconds: float | None = None, /) -> Verdict:
            return certify(problem.model, problem.target, problem.body(center), self._left(seconds))

        return judge

    def _left(self, seconds: float | None) -> float:
        """What is left of the time limit, or less if the engine asks for less."""
        left = max(self.clock.remaining, 0.05)
        return left if seconds is None else min(left, max(seconds, 0.0))

    def run(self, method: Method, seed: int, memory: TreeMemory | None, known: Known | None = None) -> Outcome:
        """The engine's outcome; an interrupt ends the search with the best certified answer so far."""
        try:
            if known is None:
                return self._trivial() or self._engine(method, seed, memory)
            new = known.search and known.lower_bound <= 0.0  # a bound above 0 rules the factual out
            trivial = self._trivial() if new else None
            outcome = trivial or self._recall(known) or self._engine(method, seed, memory)
            return replace(outcome, lower_bound=max(outcome.lower_bound, known.lower_bound))
        except KeyboardInterrupt:
            return Outcome(
                INTERRUPTED,
                min(self.clock.lower_bound, self.distance),
                reason="interrupted before a region was certified",
            )

    def _engine(self, method: Method, seed: int, memory: TreeMemory | None) -> Outcome:
        from elbowroom.search.engines import search_auto, search_heuristic, search_paper
        from elbowroom.search.solvers.protocol import SolverName

        match method:
            case Method.AUTO:
                return search_auto(self.problem, self, self.clock, seed, memory)
            case Method.ADVERSARIAL:
                return search_paper(self.problem, self, self.clock, seed, SolverName.HIGHS)
            case Method.ADVERSARIAL_SCIP:
                return search_paper(self.problem, self, self.clock, seed, SolverName.SCIP)
            case Method.ADVERSARIAL_GUROBI:
                return search_paper(self.problem, self, self.clock, seed, SolverName.GUROBI)
            case Method.ONE_LEAF:
                return search_heuristic(self.problem, self, self.clock, seed)

    def _recall(self, known: Known) -> Outcome | None:
        """What rooms of other sizes say about this one; None if that does not settle it."""
        if math.isinf(known.lower_bound):
            return Outcome(
                RECALLED, math.inf, reason="no region exists for a smaller room, so none exists for this one"
            )
        self.clock.report(lower_bound=known.lower_bound)
        for center in known.centers:
            self(center)
        found = self.center is not None
        closed = found and self.distance - known.lower_bound <= known.tolerance * self.distance
        if known.search and not closed:
            return None
        return Outcome(
            RECALLED,
            known.lower_bound,
            self.center,
            self.certificate,
            reason="the time ended before this radius was searched",
            tolerance=known.tolerance,
        )

    def _trivial(self) -> Outcome | None:
        """Answers that need no search: nothing can exist, the factual is good already, or nothing may move."""
        problem = self.problem
        if problem.trouble is not None:
            return Outcome("limits", math.inf, reason=problem.trouble)
        if problem.admissible(problem.factual):
            verdict = self(problem.factual)
            if isinstance(verdict, Certificate):
                return Outcome("factual", 0.0, verdict.body.center, verdict)
            if bool((problem.lower == problem.upper).all()):
                if isinstance(verdict, Undecided):
                    return Outcome(
                        "limits", 0.0, reason=f"nothing may move, and the judge could not decide: {verdict.reason}"
                    )
                return Outcome(
                    "limits", math.inf, reason="every feature is immutable, and the factual itself is not good"
                )
        return None
