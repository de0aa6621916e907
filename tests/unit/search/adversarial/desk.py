"""The judge as a search sees it, and the check that every test here makes on every answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.certify import certify
from elbowroom.errors import SolverMissing
from elbowroom.models import LinearModel, TreeEnsemble
from elbowroom.models.margins import linear_margins
from elbowroom.problem import RecourseProblem
from elbowroom.result import Certificate, Undecided, Verdict
from elbowroom.search.adversarial.loop import search_adversarial
from elbowroom.search.contract import Accept, Clock, Outcome
from elbowroom.search.solvers.protocol import Solver, SolverName, open_solver
from tests.support.hostile import attack


class Referee:
    def __init__(self, problem: RecourseProblem) -> None:
        self.problem = problem

    def __call__(self, center: np.ndarray, seconds: float | None = None, /) -> Verdict:
        if not self.problem.admissible(center):
            return Undecided("not admissible")
        return certify(self.problem.model, self.problem.target, self.problem.body(center), seconds or 10.0)

    def about(self, problem: RecourseProblem) -> Accept:
        return Referee(problem)


def run(
    problem: RecourseProblem,
    solver: SolverName = SolverName.HIGHS,
    solvers: list[Solver] | None = None,
    seconds: float = 10.0,
) -> Outcome:
    """Search, and attack whatever comes back."""
    outcome = search_adversarial(problem, Referee(problem), Clock(seconds), 0, solver, solvers)
    check(problem, outcome)
    return outcome


def check(problem: RecourseProblem, outcome: Outcome) -> None:
    if outcome.center is None:
        assert outcome.reason
        return
    assert isinstance(outcome.certificate, Certificate)
    assert problem.admissible(outcome.center)
    info, model = problem.model.info, problem.model
    cuts = model.cuts if isinstance(model, TreeEnsemble) else None
    labels = np.array(info.classes)
    body = problem.body(outcome.center)
    if problem.target.probability is None:
        attack(lambda X: labels[info.labels_of(model.scores(X))], body, problem.target.label, cuts)
    else:  # a probability below 1/2 does not decide the label
        assert isinstance(model, LinearModel)
        affine = linear_margins(model, problem.target_index, problem.target.probability).affine
        attack(lambda X: (affine(X) >= 0).all(axis=1), body, True)
    assert outcome.lower_bound <= distance(problem, outcome) * (1 + 1e-12)


def distance(problem: RecourseProblem, outcome: Outcome) -> float:
    return math.inf if outcome.center is None else problem.measure(outcome.center)


def agree(problem: RecourseProblem, one: Outcome, other: Outcome) -> None:
    """No bound of one lies above the distance of the other."""
    assert one.lower_bound <= distance(problem, other) * (1 + 1e-9) + 1e-12
    assert other.lower_bound <= distance(problem, one) * (1 + 1e-9) + 1e-12


def needs(name: SolverName) -> None:
    try:
        open_solver(name)
    except SolverMissing as missing:
        pytest.skip(str(missing))
