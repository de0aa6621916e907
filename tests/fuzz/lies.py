"""Solvers that lie, at random calls and in every way: wrong optimum, status, bound, length, not a number, exceptions.

The truth is what the same question got from an honest solver. Whatever was lied: a region holds at every hostile point,
no lower bound lies above the honest optimum, "none exists" is said only where it is so, and no exception leaves
``explain``.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from elbowroom import ElbowroomError, Explainer, NoRegion, Region, Status
from elbowroom.models import ObliqueEnsemble, TreeEnsemble
from elbowroom.problem import RecourseProblem
from tests.fuzz.kind import Outcome, accepted, failed, refused
from tests.support.hostile import attack
from tests.support.linear_problems import random_problem
from tests.support.lying_solvers import WAYS, Liar, lying_solvers
from tests.support.oblique_models import oblique_question
from tests.support.plane_questions import ROOMS, Family, plane_question
from tests.support.round_questions import random_round_question
from tests.support.small_questions import random_question

SECONDS: Final = 0.3  # a lied-to search may go on for ever
SLACK: Final = 1e-9  # relative, for the rounding of distances


@dataclass(frozen=True)
class Known:
    """A question and what an honest solver makes of it."""

    name: str
    problem: RecourseProblem
    method: str
    answer: Region | NoRegion


class Lies:
    name = "solvers' lies"

    def prepare(self, folder: Path) -> None:
        asked: list[tuple[str, RecourseProblem, str]] = []
        for seed in range(12):
            asked.append((f"linear {seed}", random_problem(seed), "auto"))
        for number, family in enumerate((Family.RELU, Family.LINEAR, Family.ENSEMBLE, Family.RELU)):
            for norm in ROOMS:
                asked.append((f"{family.value}, {norm}", plane_question(family, norm, 1000 + number), "auto"))
        for seed in range(4):
            asked.append((f"oblique {seed}", oblique_question(seed), "auto"))
            asked.append((f"round {seed}", random_round_question(np.random.default_rng([17, seed])), "auto"))
            asked.append((f"Algorithm 1, {seed}", random_question(np.random.default_rng([13, seed])), "adversarial"))
        self.known = []
        for name, problem, method in asked:
            answer = _ask(problem, method, 20.0)
            assert not isinstance(answer, Exception)
            if isinstance(answer, Region) or answer.status is Status.NONE_EXISTS:
                self.known.append(Known(name, problem, method, answer))

    def attempt(self, rng: random.Random) -> Outcome:
        known = rng.choice(self.known)
        ways = WAYS if rng.random() < 0.5 else tuple(rng.sample(WAYS, 2))
        often = rng.choice((0.02, 0.1, 0.5, 1.0))
        with lying_solvers(Liar(rng, often, ways)) as liar:
            answer = _ask(known.problem, known.method, SECONDS)
        story = f"{known.name}: {liar.lies} lies ({', '.join(ways) if len(ways) < 3 else 'all ways'}, {often})"
        if isinstance(answer, Exception):
            return failed(story, f"exception: {type(answer).__name__}: {answer!s:.150} left explain")
        trouble = _trouble(known, answer)
        if trouble is not None:
            return failed(story, trouble)
        return accepted(story) if isinstance(answer, Region) else refused(f"{story}: {answer.status.name}")


def _ask(problem: RecourseProblem, method: str, seconds: float) -> Region | NoRegion | Exception:
    explainer = Explainer(problem.model, problem.space)
    try:
        return explainer.explain(
            problem.factual, problem.room, problem.target, problem.distance.value, problem.rules, seconds, method
        )
    except ElbowroomError as error:
        return error
    except Exception as error:
        return error


def _trouble(known: Known, answer: Region | NoRegion) -> str | None:
    honest = known.answer
    best = honest.distance if isinstance(honest, Region) else np.inf
    if not answer.lower_bound <= best * (1 + SLACK):
        return f"false bound: {answer.lower_bound!r}, though a region is at {best!r}"
    if isinstance(answer, NoRegion):
        if answer.status is Status.NONE_EXISTS and isinstance(honest, Region):
            return f"false NONE_EXISTS: a region is at {best!r}"
        return None
    if answer.distance < honest.lower_bound * (1 - SLACK):
        return f"false region: distance {answer.distance!r}, below the proven bound {honest.lower_bound!r}"
    model = known.problem.model
    cuts = model.cuts if isinstance(model, TreeEnsemble) and not isinstance(model, ObliqueEnsemble) else None
    if answer.target.probability is None:
        try:
            attack(Explainer(model, known.problem.space).predict, answer.body, answer.target.label, cuts)
        except AssertionError as error:
            return f"false region: {error}"
    return None
