"""One search, from the first candidate to its ending: the only place where engines and the judge meet."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.certify.judge import certify_answer
from elbowroom.errors import ElbowroomError
from elbowroom.models import LinearModel, ReluNetwork
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem
from elbowroom.result import Certificate, Counterexample, Inadmissible, KeptProbability, Undecided, Verdict
from elbowroom.result.status import NEAR_TIE
from elbowroom.search.contract import Clock, Ending, Engine
from elbowroom.search.frontier import INTERRUPTED, Known

RECALLED = "known from another radius"
FAILED = "ended by a fault"
LOGGER = logging.getLogger("elbowroom")
MOMENT = 0.05  # seconds that a verdict gets even after the time limit


@dataclass
class CertifyingReferee:
    """The judge as an engine sees it: judges candidates and keeps the best accepted one, whatever becomes of the engine."""

    problem: RecourseProblem
    clock: Clock
    certificate: Certificate | None = None
    distance: float = math.inf

    @property
    def center(self) -> Floats | None:
        return None if self.certificate is None else self.certificate.body.center

    def final(self, seconds: float = math.inf) -> KeptProbability | None:
        """What is proven of the best one's slips, where something was promised; bounds are closed for so long at most."""
        return None

    def __call__(self, center: Floats, looks: float = math.inf, /) -> Verdict:
        """Judge a candidate within a number of looks; the best accepted one is the answer."""
        center = np.asarray(center, dtype=np.float64) + 0.0
        trouble = self.problem.why_outside(center)
        if trouble is not None:
            return Inadmissible(trouble)
        left = max(self.clock.remaining, MOMENT)
        verdict = certify_answer(self.problem, self.problem.body(center), left, looks)
        if isinstance(verdict, Certificate):
            distance = self.problem.measure(center)
            if distance < self.distance:
                self.certificate, self.distance = verdict, distance
                self.clock.report(best_distance=distance, note="certified")
        return verdict

    def about(self, problem: RecourseProblem) -> CertifyingReferee:
        """Its steps are not published: what it accepts is not an answer to the question."""
        return CertifyingReferee(problem, Clock(max(self.clock.remaining, 0.0)))


def referee_of(problem: RecourseProblem, clock: Clock) -> CertifyingReferee:
    """Who judges candidates for a question: the room alone, or a promise as well."""
    if problem.keeps is None:
        return CertifyingReferee(problem, clock)
    from elbowroom.explainer.keeping import KeepingReferee

    return KeepingReferee(problem, clock)


@dataclass
class Attempt:
    """One question, one engine: what is known without a search, what other radii know, and the search itself."""

    problem: RecourseProblem
    clock: Clock
    engine: Engine

    def __post_init__(self) -> None:
        self.referee = referee_of(self.problem, self.clock)
        self.near_tie = ""  # why the row itself could be neither accepted nor refused, if a tie is the reason

    def run(self, seed: int, known: Known | None = None) -> Ending:
        """The engine's ending; an interrupt or a fault ends the search with the best certified answer so far."""
        try:
            if known is None:
                return self._honest(self._trivial() or self._search(seed))
            new = known.search and known.lower_bound <= 0.0  # a bound above 0 rules the factual out
            trivial = self._trivial() if new else None
            ending = self._honest(trivial or self._recall(known) or self._search(seed))
            return replace(ending, lower_bound=max(ending.lower_bound, known.lower_bound))
        except KeyboardInterrupt:
            bound = min(self.clock.lower_bound, self.referee.distance)
            return Ending(INTERRUPTED, bound, "interrupted before a region was certified")
        except ElbowroomError:
            raise  # about the question, not about the search
        except Exception as fault:  # whatever fails, solver or engine: what was certified and proven until then holds
            LOGGER.exception("the search failed; its best certified answer is returned")
            bound = min(self.clock.lower_bound, self.referee.distance)
            return Ending(FAILED, bound, f"the search failed: {type(fault).__name__}: {fault}")

    def _honest(self, ending: Ending) -> Ending:
        """A row within rounding of a tie may have the wanted class. Engines for continuous scores prove what they prove of
        centres that can be proven; those for trees count ties as good, and need no correction."""
        if not self.near_tie or self.referee.certificate is not None:
            return ending
        if not math.isinf(ending.lower_bound):
            told = NEAR_TIE in ending.reason
            return ending if told else replace(ending, reason=f"{ending.reason}; around the row, {self.near_tie}")
        if isinstance(self.problem.model, LinearModel | ReluNetwork):
            return replace(ending, lower_bound=0.0, reason=f"too close to a tie to prove: {self.near_tie}")
        return ending

    def _search(self, seed: int) -> Ending:
        return self.engine.search(self.problem, self.referee, self.clock, seed)

    def _recall(self, known: Known) -> Ending | None:
        """What rooms of other sizes say about this one; None if that does not settle it."""
        if math.isinf(known.lower_bound):
            return Ending(RECALLED, math.inf, "no region exists for a smaller room, so none exists for this one")
        self.clock.report(lower_bound=known.lower_bound)
        for center in known.centers:
            self.referee(center)
        distance = self.referee.distance
        closed = math.isfinite(distance) and distance - known.lower_bound <= known.tolerance * distance
        if known.search and not closed:
            return None
        return Ending(
            RECALLED, known.lower_bound, "the time limit was reached before this radius was searched", known.tolerance
        )  # fmt: skip

    def _trivial(self) -> Ending | None:
        """Answers that need no search: nothing can exist, the factual is good already, or nothing may move."""
        problem = self.problem
        if problem.trouble is not None:
            return Ending("limits", math.inf, problem.trouble)
        verdict = self.referee(problem.factual)
        if isinstance(verdict, Inadmissible):
            return None
        if isinstance(verdict, Certificate):
            return Ending("factual", 0.0)
        if isinstance(verdict, Counterexample) and verdict.near_tie:
            self.near_tie = verdict.reason
        if not bool((problem.lower == problem.upper).all()):
            return None
        if isinstance(verdict, Undecided) or self.near_tie:
            return Ending("limits", 0.0, f"nothing may move, and the judge could not decide: {verdict.reason}")
        return Ending(
            "limits", math.inf, "every feature is immutable, and the row itself does not have the wanted outcome"
        )
