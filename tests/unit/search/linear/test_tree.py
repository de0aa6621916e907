"""The branch and bound itself: what it separates, and what it says when its time is short."""

from __future__ import annotations

import pytest

from elbowroom.problem import Box, Feature, Space
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import ask, hard_question, proven_distance
from tests.support.plane_questions import Family, plane_question
from tests.support.plane_truth import closest_in_the_plane


def test_whole_numbers_skip_the_tie():
    """x = 3 is a tie, which the positive class does not get: 4 is the closest whole answer."""
    model = linear_model([[1.0]], [-3.0])
    space = Space((Feature("x0", "integer", -10, 10),))
    found = ask(model, space, [0.0], Box(0.0))
    assert proven_distance(found) == 4.0
    found = ask(model, space, [0.0], Box(1.5))  # one whole step of room below
    assert proven_distance(found) == 5.0


def test_categories_that_serve_different_rivals_are_told_apart():
    """The relaxation gives every rival its best category; cutting at the kinks of the clipped ball never ends that."""
    question = plane_question(Family.LINEAR, "l2", 224)
    found = ask(question.model, question.space, question.factual, question.room, question.target, question.distance)
    assert proven_distance(found) == pytest.approx(closest_in_the_plane(question).distance, rel=1e-9)
    assert found.counters["nodes"] < 50


def test_no_time_is_honest():
    model, space, row = hard_question()
    truth = proven_distance(ask(model, space, row, Box(1.0)))
    for limit in (0.0, 0.02):
        found = ask(model, space, row, Box(1.0), seconds=limit)
        assert found.lower_bound <= truth * (1 + 1e-12)
        if found.center is not None:
            assert found.distance >= truth * (1 - 1e-12)
        else:
            assert found.reason
        assert found.clock.lower_bound <= truth * (1 + 1e-12)
