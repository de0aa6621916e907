"""A linear question in rows and columns: what can move, what it adds, and what is hopeless."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.problem import AtMost, Box, Feature, Group, LinearRule, RecourseProblem, Space
from elbowroom.search.linear.question import Hopeless, read_question
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import ask, proven_distance, random_questions, random_values, read


def test_clipping_at_a_bound_makes_the_room_smaller():
    """x0 may stay at its lower bound, where the room cannot go down: cheaper than moving x1 against a full room."""
    model = linear_model([[1.0, 1.0]], [-1.0])
    space = Space((Feature("x0", lower=0.0, upper=5.0), Feature("x1")))
    found = ask(model, space, [0.0, 0.0], Box(0.5))
    # x0 at 0 is clipped to [0, .5], costs nothing: x1 - .5 >= 1
    assert proven_distance(found) == pytest.approx(1.5, rel=1e-11)
    assert found.center[0] == 0.0


def test_one_hot_groups_move_as_one_step():
    model = linear_model([[1.0, 0.0, 2.0, 3.0]], [-2.5], ("x0", "a", "b", "c"))
    features = (Feature("x0"), *(Feature(n, "binary") for n in "abc"))
    row = [0.0, 1.0, 0.0, 0.0]
    for price, wanted in ((0.4, 0.4), (9.0, 2.5)):
        space = Space(features, (Group("g", ("a", "b", "c"), price),))
        found = ask(model, space, row, Box(0.0))
        assert proven_distance(found) == pytest.approx(wanted, rel=1e-11)
    space = Space(features, (Group("g", ("a", "b", "c"), 0.1),))
    found = ask(model, space, row, Box(0.0, categories={"g": "any"}))  # the worst category always counts
    assert proven_distance(found) == pytest.approx(2.5, rel=1e-11)
    assert found.center[1:].tolist() == [1.0, 0.0, 0.0]


def test_only_what_matters_and_can_move_becomes_a_column() -> None:
    features = (
        Feature("idle"),
        Feature("still", immutable=True),
        Feature("real", lower=-1.0, upper=4.0),
        Feature("forced", lower=2.0),
        Feature("whole", "integer", 0, 9),
    )
    model = linear_model([[0.0, 5.0, 1.0, 0.0, -2.0]], [-1.0], tuple(f.name for f in features))
    rules = [LinearRule({"real": 1.0, "whole": 1.0}, high=7.0), AtMost(2), AtMost(3)]
    question, _ = read(RecourseProblem.ask(model, Space(features), [1.0, 1.0, 0.5, 0.0, 3.0], Box(0.5), 1, rules=rules))
    assert question.singles.tolist() == [2, 3, 4]
    assert question.start.tolist() == [0.5, 0.0, 3.0]
    assert question.lower.tolist() == [-1.0, 2.0, 0.0]
    assert (question.n_model_rows, question.n_rows, question.most_changes) == (1, 2, 2)
    assert question.base.tolist() == [-1.0 + 5.0 + 0.5 - 6.0, -3.5]  # the rule: -(real + whole) >= -7
    assert question.needed[1] == -7.0
    assert question.weight.tolist() == [[1.0, 0.0, -2.0], [-1.0, 0.0, -1.0]]
    assert question.axes_down.tolist() == [0.5, 0.5, 0.0]  # from a whole centre half a step leads nowhere


def test_values_of_rows_are_those_of_the_model() -> None:
    """base + what the columns add = the margin of the written-out centre, for every centre, groups included."""
    with_groups = 0
    for question, adversaries in random_questions(40):
        rng = np.random.default_rng(1)
        for _ in range(5):
            values = random_values(rng, question)
            free = bool(question.problem.walls.free_groups)  # then the worst category counts, not the centre's own
            if free:
                continue
            values[question.singles.size :] = rng.integers(0, 2, len(question.groups))
            categories = tuple(int(rng.integers(group.others.size)) for group in question.groups)
            with_groups += bool(question.groups)
            center = question.center(values, categories)
            margin = question.margins.affine(center[None])[0]
            for j in range(question.n_model_rows):
                added = sum(
                    group.delta[j, categories[i]]
                    for i, group in enumerate(question.groups)
                    if values[question.singles.size + i] > 0.5
                )
                moves = float(adversaries[j].sign * adversaries[j].gain @ (values - question.start))
                assert question.base[j] + added + moves == pytest.approx(margin[j], rel=1e-9, abs=1e-9)
    assert with_groups > 5


def test_what_the_judge_will_ask_is_at_least_what_any_centre_needs() -> None:
    rng = np.random.default_rng(2)
    for question, _ in random_questions(30):
        center = question.center(random_values(rng, question), tuple(0 for _ in question.groups))
        assert (question.strict_need(center) >= question.needed).all()


def test_bounds_that_leave_no_category_are_hopeless() -> None:
    names = ("a", "b")
    model = linear_model([[1.0, -1.0]], [0.0], names)
    space = Space(tuple(Feature(n, "binary", upper=0.0) for n in names), (Group("g", names),))
    found = read_question(RecourseProblem.ask(model, space, [1.0, 0.0], Box(0.0), 0), model)
    assert isinstance(found, Hopeless)
    assert "g" in found.reason


def test_a_free_group_counts_with_its_worst_category() -> None:
    names = ("a", "b", "c")
    model = linear_model([[1.0, -3.0, 2.0]], [0.0], names)
    space = Space(tuple(Feature(n, "binary") for n in names), (Group("g", names),))
    found = ask(model, space, [1.0, 0.0, 0.0], Box(0.0, categories={"g": "any"}), target=1)
    assert (found.center, found.lower_bound) == (None, math.inf)
    assert proven_distance(ask(model, space, [1.0, 0.0, 0.0], Box(0.0), target=1)) == 0.0
