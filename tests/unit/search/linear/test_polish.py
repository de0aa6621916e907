"""From a nearly valid centre to the closest one that the judge accepts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.numerics import Floats
from elbowroom.problem import Ball, Box, Feature, RecourseProblem, Room, Space
from elbowroom.result import Counterexample, Undecided
from elbowroom.search.contract import Clock
from elbowroom.search.linear.least import LeastMoves
from elbowroom.search.linear.limits import MOST_REFUSALS
from elbowroom.search.linear.polish import Found, Polisher
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import read
from tests.support.referee import Judge, Referee


def polished(
    start: Floats, room: Room, judge: Judge | None = None, good_enough: float = 0.0, hopeless: float = math.inf
) -> tuple[Found | None, Polisher, RecourseProblem]:
    """2 x0 + x1 > 1 from the row (0, 0), between -3 and 3."""
    space = Space((Feature("x0", lower=-3.0, upper=3.0), Feature("x1", lower=-3.0, upper=3.0)))
    problem = RecourseProblem.ask(linear_model([[2.0, 1.0]], [-1.0]), space, [0.0, 0.0], room, 1)
    question, adversaries = read(problem)
    polisher = Polisher(question, adversaries, LeastMoves(problem.distance), Referee(problem, judge), Clock(60.0))
    unit = 1.0 / question.factor
    found = polisher.polish(start, (), question.lower, question.upper, unit, good_enough, hopeless)
    return found, polisher, problem


@pytest.mark.parametrize(("room", "loss"), [(Box(0.1), 0.3), (Ball(0.1), 0.1 * math.sqrt(5.0))])
@pytest.mark.parametrize("start", [[0.0, 0.0], [0.6, 0.0], [2.0, -1.0], [-1.0, 2.5]])
def test_any_start_ends_at_the_closest_accepted_centre(room: Room, loss: float, start: list[float]) -> None:
    """x0 gains most: (1 + loss) / 2, and the judge has said yes."""
    found, _, _ = polished(np.array(start), room)
    assert found is not None
    assert found.distance == pytest.approx((1.0 + loss) / 2.0, rel=1e-10)


def test_it_gives_up_above_what_is_known() -> None:
    assert polished(np.array([1.0, 1.0]), Box(0.1), hopeless=0.6)[0] is None


def test_it_stops_where_good_is_good_enough() -> None:
    found, _, _ = polished(np.array([1.0, 1.0]), Box(0.1), good_enough=2.5)
    assert found is not None
    assert found.values.tolist() == [1.0, 1.0]


def test_refusals_are_counted_and_end() -> None:
    """A judge that refuses by a little is met with more margin each time, and a few times only."""
    asked: list[Floats] = []

    def refuse(center: Floats, looks: float) -> Counterexample:
        asked.append(center)
        return Counterexample(center, 0, -1e-6)

    found, polisher, _ = polished(np.array([0.6, 0.0]), Box(0.1), refuse)
    assert found is None
    assert 2 <= polisher.refused == len(asked) <= MOST_REFUSALS + 1
    assert not polisher.undecided
    margins = [float(2.0 * c[0] + c[1]) for c in asked[1:]]
    assert margins == sorted(margins)
    assert margins[-1] > margins[0]


def test_an_undecided_judge_is_remembered() -> None:
    found, polisher, _ = polished(np.array([0.6, 0.0]), Box(0.1), lambda center, looks: Undecided("no time"))
    assert found is None
    assert polisher.undecided
