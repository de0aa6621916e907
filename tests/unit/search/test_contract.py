"""What every engine gets: a clock whose bounds only improve, and the words in which it refuses a question."""

from __future__ import annotations

import math

from elbowroom import AtMost, Ball, Space
from elbowroom.models.tiny import two_stumps
from elbowroom.problem import RecourseProblem, Shape, Takes
from elbowroom.result import Step
from elbowroom.search.contract import Clock, refusal


def test_bounds_only_ever_improve_and_never_cross() -> None:
    told: list[Step] = []
    clock = Clock(60.0, told.append)
    clock.report(lower_bound=1.0, note="first")
    clock.report(lower_bound=0.5)
    clock.report(best_distance=4.0, certified_radius=0.25)
    clock.report(best_distance=5.0)
    clock.report(lower_bound=7.0)  # above the best distance: what is told stays true of the best
    assert [step.lower_bound for step in told] == [1.0, 1.0, 1.0, 1.0, 4.0]
    assert [step.best_distance for step in told] == [math.inf, math.inf, 4.0, 4.0, 4.0]
    assert told == clock.trace
    assert (told[0].note, told[2].certified_radius) == ("first", 0.25)
    assert [step.seconds for step in told] == sorted(step.seconds for step in told)


def test_a_spent_clock_is_expired_and_its_parts_are_too() -> None:
    assert Clock(0.0).expired
    assert Clock(0.0).part(0.5).expired
    clock = Clock(1000.0)
    assert not clock.expired
    part = clock.part(0.25)
    assert 0.0 < part.time_limit <= 250.0
    part.report(best_distance=1.0)
    assert clock.best_distance == math.inf and not clock.trace  # steps of a part are its own


def test_numbers_are_shares_of_the_limit_that_was_given() -> None:
    clock = Clock(60.0)
    clock.deadline -= 59.0  # nearly all of it has passed
    part = clock.part(0.5)
    assert part.time_limit < 1.0 and part.nominal == clock.nominal == 60.0
    assert Clock(2.0, nominal=60.0).nominal == 60.0


def test_an_engine_refuses_shapes_and_conditions_by_name_and_nothing_else() -> None:
    asked = RecourseProblem.ask(two_stumps(), Space.plain(("x", "y")), [0.0, 0.0], Ball(0.1), rules=[AtMost(1)])
    takes = Takes(most_changes=True)
    assert refusal(asked, "it", (Shape.BALL,), takes) is None
    assert "it does not know the shape Shape.BALL; it knows Shape.BOX" in str(refusal(asked, "it", (Shape.BOX,), takes))
    words = str(refusal(asked, "it", (Shape.BALL,), Takes(rows=True)))
    assert words.startswith("it does not take a limit on the number of changes: AtMost (at most one feature changes)")
