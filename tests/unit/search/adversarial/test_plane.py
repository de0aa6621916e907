"""Algorithm 1, the fast engines and brute force over the whole plane, for every family of models and every room.

The same questions as `python -m benchmarks agreement`, which asks 300 of each and also another solver."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom import Explainer, Status
from elbowroom.problem import Ball, Box, Diamond, Feature, RecourseProblem, Space
from tests.support.agreement import contradictions
from tests.support.linear_problems import linear_model
from tests.support.plane_questions import ROOMS, Family, plane_question
from tests.support.plane_truth import closest_in_the_plane


@pytest.mark.parametrize("family", Family)
@pytest.mark.parametrize("norm", ROOMS)
def test_all_ways_agree(family: Family, norm: str) -> None:
    for number in range(10):
        problem = plane_question(family, norm, number)
        explainer = Explainer(problem.model, problem.space)
        answers = {
            method: explainer.explain(
                problem.factual, problem.room, problem.target, problem.distance, time_limit=60.0, method=method
            )
            for method in (("adversarial",) if family is Family.OBLIQUE else ("auto", "adversarial"))  # the same engine
        }
        truth = closest_in_the_plane(problem)
        assert not contradictions(problem, truth, answers), number
        # Algorithm 1 also proves what it finds, near and far
        assert answers["adversarial"].status in (Status.OPTIMAL, Status.NONE_EXISTS), number


# ---- brute force itself, where the answer is known by hand ---------------------------------------------------------
WEDGE = linear_model(np.array([[3.0, 4.0]]), np.array([-10.0]))  # good where 3 x + 4 y > 10


def _ask(room: object, distance: str, **limits: float) -> RecourseProblem:
    space = Space((Feature("x0", **limits), Feature("x1", **limits)))
    return RecourseProblem.ask(WEDGE, space, [0.0, 0.0], room, 1, distance)


@pytest.mark.parametrize(
    ("room", "distance", "truth"),
    [  # the score must be positive by rho times the dual norm of (3, 4): 7, 5, 4; the distance divides by its own
        (Box(0.1), "l2", (10 + 0.7) / 5),
        (Ball(0.1), "l2", (10 + 0.5) / 5),
        (Diamond(0.1), "l2", (10 + 0.4) / 5),
        (Ball(0.1), "l1", (10 + 0.5) / 4),
        (Ball(0.1), "linf", (10 + 0.5) / 7),
        (Box(0.1), "l1", (10 + 0.7) / 4),
        (Diamond(0.1), "linf", (10 + 0.4) / 7),
    ],
)
def test_brute_force_knows_the_half_plane(room: object, distance: str, truth: float) -> None:
    assert closest_in_the_plane(_ask(room, distance)).distance == pytest.approx(truth, rel=1e-10)


def test_brute_force_clips_rooms_to_the_limits() -> None:
    # the lower corner (x - .1, y - .1) of the room decides: y goes to its limit, x makes up for the rest
    found = closest_in_the_plane(_ask(Box(0.1), "l1", lower=0.0, upper=1.7))
    assert found.distance == pytest.approx(1.7 + (10.7 - 6.8) / 3, rel=1e-10)
    assert found.looked == math.inf
    assert closest_in_the_plane(_ask(Box(0.1), "l1", lower=0.0, upper=1.4)).distance == math.inf
