"""One complete question: where centres may lie, which of them are admissible, and what makes all of them impossible."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.problem import AtMost, Box, Feature, Group, LinearRule, RecourseProblem, Rule, Space
from tests.support.linear_problems import linear_model

NAMES = ("real", "up", "down", "still", "whole", "red", "blue")
FACTUAL = np.array([0.5, 1.0, 2.0, 3.0, 4.0, 1.0, 0.0])


def space(**more: object) -> Space:
    features = (
        Feature("real", lower=0.0, upper=9.0),
        Feature("up", direction="increasing"),
        Feature("down", lower=-5.0, direction="decreasing"),
        Feature("still", immutable=True),
        Feature("whole", "integer", 0, 9),
        Feature("red", "binary", **more),  # type: ignore[arg-type]
        Feature("blue", "binary"),
    )
    return Space(features, (Group("colour", ("red", "blue")),))


def ask(*rules: Rule, **more: object) -> RecourseProblem:
    return RecourseProblem.ask(
        linear_model([np.ones(7)], [-1.0], NAMES), space(**more), FACTUAL, Box(0.5), 0, rules=rules
    )


def moved(**values: float) -> np.ndarray:
    center = FACTUAL.copy()
    for name, value in values.items():
        center[NAMES.index(name)] = value
    return center


def test_limits_are_bounds_directions_and_immutable_features() -> None:
    problem = ask()
    assert problem.lower.tolist() == [0.0, 1.0, -5.0, 3.0, 0.0, 0.0, 0.0]
    assert problem.upper.tolist() == [9.0, np.inf, 2.0, 3.0, 9.0, 1.0, 1.0]
    frozen = ask(immutable=True)  # one member freezes its group
    assert frozen.immutable.tolist() == [False, False, False, True, False, True, True]
    assert frozen.lower[5:].tolist() == frozen.upper[5:].tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("values", "fine"),
    [
        ({}, True),
        ({"real": 9.0, "up": 1e6, "down": -5.0, "whole": 0.0}, True),
        ({"red": 0.0, "blue": 1.0}, True),
        ({"real": 9.1}, False),
        ({"up": 0.9}, False),
        ({"down": 2.1}, False),
        ({"still": 3.0 + 1e-12}, False),
        ({"whole": 4.5}, False),
        ({"blue": 1.0}, False),
        ({"red": 0.0}, False),
        ({"real": np.nan}, False),
        ({"up": np.inf}, False),
    ],
)
def test_a_centre_obeys_limits_whole_numbers_and_groups(values: dict[str, float], fine: bool) -> None:
    assert ask().admissible(moved(**values)) == fine


def test_rules_bind_the_centre() -> None:
    few = ask(AtMost(2))
    assert few.admissible(moved(real=1.0, red=0.0, blue=1.0))  # a group is one change
    assert not few.admissible(moved(real=1.0, whole=5.0, red=0.0, blue=1.0))
    line = ask(LinearRule({"real": 1.0, "whole": 2.0}, 8.0, 9.0))  # 8.5 at the factual
    assert line.admissible(FACTUAL)
    assert line.admissible(moved(real=1.0))
    assert not line.admissible(moved(real=1.1))
    assert not line.admissible(moved(whole=3.0))
    assert not ask(AtMost(1), LinearRule({"real": 1.0}, low=0.7)).admissible(FACTUAL)


def test_changes_are_counted_by_column_and_by_group() -> None:
    changed = ask().changed(moved(up=2.0, red=0.0, blue=1.0))
    assert changed.tolist() == [False, True, False, False, False, False, False, True]


def test_what_leaves_nothing_is_trouble_and_names_the_column() -> None:
    assert ask().trouble is None
    narrow = Space((Feature("x0", lower=2.0, direction="decreasing"),))
    problem = RecourseProblem.ask(linear_model([[1.0]], [-1.0]), narrow, [1.0], Box(0.5), 0)
    assert problem.trouble is not None
    assert "'x0'" in problem.trouble and "[2, inf]" in problem.trouble


def test_the_room_is_clipped_to_the_limits_of_the_question() -> None:
    body = ask().body(FACTUAL)
    assert body.lower.tolist() == [0.0, 1.0, 1.5, 3.0, 4.0, 1.0, 0.0]
    assert body.upper.tolist() == [1.0, 1.5, 2.0, 3.0, 4.0, 1.0, 0.0]


def test_the_wanted_class_is_the_other_one() -> None:
    problem = RecourseProblem.ask(linear_model([[1.0]], [-1.0]), Space.plain(("x0",)), [3.0], Box(0.1))
    assert (problem.predicted, problem.target.label, problem.target_index) == (1, 0, 0)
    assert problem.measure(np.array([1.0])) == 2.0


def test_questions_that_do_not_fit_are_refused_at_birth() -> None:
    model = linear_model([[1.0]], [-1.0])
    with pytest.raises(InputError, match="columns"):
        RecourseProblem.ask(model, Space.plain(("other",)), [0.0], Box(0.1), 0)
    with pytest.raises(InputError, match="unknown"):
        RecourseProblem.ask(model, Space.plain(("x0",)), [0.0], Box(0.1), 0, rules=["be nice"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="nowhere"):
        RecourseProblem.ask(model, Space.plain(("x0",)), [0.0], Box(0.1), 0, rules=[LinearRule({"nowhere": 1.0}, 0.0)])
    alone = RecourseProblem.ask(model, Space.plain(("x0",)), [0.0], Box(0.1), 0, rules=AtMost(1))  # type: ignore[arg-type]
    assert alone.rules == (AtMost(1),)
