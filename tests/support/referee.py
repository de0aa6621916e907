"""The judge as an engine meets it, and the one place where tests call an engine.

`Referee` is what a search is given: it judges candidates and keeps the best accepted one. `run_engine` is the only
caller of engines in the unit tests, so that a change of their calling convention is one edit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias, assert_never

import numpy as np

from elbowroom.certify.judge import certify_answer
from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem, Shape
from elbowroom.result import Certificate, Inadmissible, Verdict
from elbowroom.search import contract
from elbowroom.search.adversarial import AdversarialEngine
from elbowroom.search.adversarial.one_leaf import OneLeafEngine
from elbowroom.search.cases import CaseEngine
from elbowroom.search.contract import Clock
from elbowroom.search.engines import engine_for
from elbowroom.search.linear import LinearEngine
from elbowroom.search.network import NetworkEngine
from elbowroom.search.trees import TreeEngine

SECONDS = 10.0  # for one verdict

Judge: TypeAlias = Callable[[Floats, float], Verdict]


class Referee:
    """Judges the candidates of one search and keeps the best accepted one: centre, certificate and distance.

    ``judge`` replaces the true judge where a test needs a strict, slow or undecided one. ``asked`` lists every candidate,
    ``inadmissible`` those that break a limit, a whole number, a one-hot group or a rule: they are never judged.
    """

    def __init__(self, problem: RecourseProblem, judge: Judge | None = None) -> None:
        self.problem = problem
        self.judge = judge or self.true_verdict
        self.asked: list[Floats] = []
        self.inadmissible: list[Floats] = []
        self.center: Floats | None = None
        self.certificate: Certificate | None = None
        self.distance = math.inf

    def __call__(self, center: Floats, looks: float = math.inf, /) -> Verdict:
        center = np.asarray(center, dtype=np.float64) + 0.0
        self.asked.append(center)
        trouble = self.problem.why_outside(center)
        if trouble is not None:
            self.inadmissible.append(center)
            return Inadmissible(trouble)
        verdict = self.judge(center, looks)
        distance = self.problem.measure(center)
        if isinstance(verdict, Certificate) and distance < self.distance:
            self.center, self.certificate, self.distance = verdict.body.center, verdict, distance
        return verdict

    def true_verdict(self, center: Floats, looks: float = math.inf) -> Verdict:
        """What the real judge says, whatever ``judge`` would say."""
        return certify_answer(self.problem, self.problem.body(center), SECONDS, looks)

    def about(self, problem: RecourseProblem) -> Referee:
        """The referee of a related question; what it accepts is not an answer to this one."""
        return Referee(problem)


class Engine(Enum):
    """Every engine, by name."""

    AUTO = "auto"
    LINEAR = "linear"
    BOXES = "boxes"
    BALLS = "balls"
    NETWORK = "network"
    ADVERSARIAL = "adversarial"
    ONE_LEAF = "one leaf"


def _made(engine: Engine, problem: RecourseProblem, options: dict[str, Any]) -> contract.Engine:
    match engine:
        case Engine.AUTO:
            return engine_for(problem.model)
        case Engine.LINEAR:
            return LinearEngine()
        case Engine.BOXES | Engine.BALLS:
            return TreeEngine(**options)
        case Engine.NETWORK:
            return NetworkEngine()
        case Engine.ADVERSARIAL:
            return CaseEngine(AdversarialEngine(**options))
        case Engine.ONE_LEAF:
            return OneLeafEngine(**options)
        case _ as never:
            assert_never(never)


@dataclass(frozen=True, eq=False)
class Run:
    """One finished search: what the engine claims, and the best centre that its referee accepted."""

    problem: RecourseProblem
    referee: Referee
    clock: Clock
    method: str
    lower_bound: float
    reason: str
    tolerance: float
    counters: dict[str, float]

    @property
    def center(self) -> Floats | None:
        return self.referee.center

    @property
    def certificate(self) -> Certificate | None:
        return self.referee.certificate

    @property
    def distance(self) -> float:
        """Of the best accepted centre; inf without one."""
        return self.referee.distance


def run_engine(
    engine: Engine,
    problem: RecourseProblem,
    referee: Referee | None = None,
    *,
    seconds: float = 60.0,
    clock: Clock | None = None,
    seed: int = 0,
    **options: Any,
) -> Run:
    """Search as the front door does: what the engine refuses is an `InputError`.

    ``options`` are the engine's own (``memory`` of trees, ``solver`` and ``solvers`` of Algorithm 1).
    """
    referee = referee or Referee(problem)
    clock = clock or Clock(seconds)
    chosen = _made(engine, problem, options)
    refusal = chosen.refuses(problem)
    if refusal is not None:
        raise InputError(refusal)
    outcome = chosen.search(problem, referee, clock, seed)
    return Run(
        problem,
        referee,
        clock,
        outcome.method,
        outcome.lower_bound,
        outcome.reason,
        outcome.tolerance,
        dict(outcome.counters),
    )


@dataclass(frozen=True)
class StubEngine:
    """Ends as it is told, without a search."""

    ending: Callable[[], contract.Ending]

    def refuses(self, problem: RecourseProblem) -> str | None:
        return None

    def prepare(self, shape: Shape) -> None:
        """There is nothing to compile."""

    def search(self, problem: RecourseProblem, referee: contract.Referee, clock: Clock, seed: int) -> contract.Ending:
        return self.ending()
