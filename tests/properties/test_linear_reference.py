"""The linear engine against brute force on random questions: all rooms, distances, kinds, classes and rules."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.problem import Body, RecourseProblem
from elbowroom.result import Certificate
from tests.support.hostile import attack
from tests.support.linear_problems import random_problem
from tests.support.linear_reference import reference_distance
from tests.support.referee import Engine, run_engine

DEFAULT, ALL = 200, 500


def survives_hostile_points(problem: RecourseProblem, body: Body) -> None:
    model, tau = problem.model, problem.target.probability
    if tau is None:
        classes = np.array(model.info.classes)
        attack(lambda X: classes[model.info.labels_of(model.scores(X))], body, problem.target.label)
        return
    sign = 1.0 if problem.target_index == 1 else -1.0
    attack(lambda X: 1.0 / (1.0 + np.exp(-sign * model.scores(X)[:, 0])) >= tau, body, True)


def check(seed: int) -> None:
    problem = random_problem(seed)
    wanted = reference_distance(problem)
    outcome = run_engine(Engine.LINEAR, problem, seconds=120.0)
    if not math.isfinite(wanted):
        assert outcome.center is None
        assert outcome.lower_bound == math.inf
        assert outcome.reason
        return
    assert isinstance(outcome.certificate, Certificate), outcome.reason
    assert problem.admissible(outcome.center)
    distance = problem.measure(outcome.center)
    assert distance == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert outcome.lower_bound <= min(distance, wanted * (1 + 1e-10) + 1e-12)
    assert distance - outcome.lower_bound <= 1e-9 * distance
    survives_hostile_points(problem, outcome.certificate.body)


@pytest.mark.parametrize("seed", range(DEFAULT))
def test_distance_equals_brute_force(seed):
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(DEFAULT, ALL))
def test_distance_equals_brute_force_at_length(seed):
    check(seed)
