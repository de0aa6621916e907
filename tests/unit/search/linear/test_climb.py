"""Whole numbers that step up until their rows hold."""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import AtMost, Box, Feature, RecourseProblem, Rule, Space
from elbowroom.search.contract import Clock
from elbowroom.search.linear.adversary import Adversary
from elbowroom.search.linear.climb import climb
from elbowroom.search.linear.question import Question
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import read


def question_of(
    weights: list[float], need: float, top: int = 9, radius: float = 0.0, rules: tuple[Rule, ...] = ()
) -> tuple[Question, list[Adversary]]:
    """Whole columns from 0 to ``top``, and weights . x > need."""
    space = Space(tuple(Feature(f"x{f}", "integer", 0, top) for f in range(len(weights))))
    model = linear_model([weights], [-need])
    return read(RecourseProblem.ask(model, space, np.zeros(len(weights)), Box(radius), 1, rules=rules))


def short(question: Question, adversaries: list[Adversary], values: Floats) -> bool:
    adversary = adversaries[0]
    kept = adversary.kept(adversary.relative(values), adversary.attack(values).shift)
    return bool(question.base[0] + kept < question.needed[0])


def test_the_column_that_gains_most_for_its_price_steps() -> None:
    question, adversaries = question_of([1.0, 3.0], 7.5)
    start = np.zeros(2)
    values = climb(question, adversaries, start, np.zeros(1), Clock(60.0))
    assert values.tolist() == [0.0, 3.0]
    assert start.tolist() == [0.0, 0.0]  # the caller's own values stay


def test_a_full_column_leaves_the_rest_to_the_next() -> None:
    question, adversaries = question_of([1.0, 3.0], 10.5, top=3)
    assert climb(question, adversaries, np.zeros(2), np.zeros(1), Clock(60.0)).tolist() == [2.0, 3.0]


def test_steps_go_past_the_kink_of_a_clipped_room() -> None:
    """With two whole steps of room, the first two steps up gain nothing: the limit 0 stays the worst value."""
    question, adversaries = question_of([1.0], 0.5, radius=2.0)
    assert climb(question, adversaries, np.zeros(1), np.zeros(1), Clock(60.0)).tolist() == [3.0]


def test_what_the_groups_add_is_not_climbed_for() -> None:
    question, adversaries = question_of([1.0], 4.5)
    assert climb(question, adversaries, np.zeros(1), np.array([3.0]), Clock(60.0)).tolist() == [2.0]


def test_no_further_column_changes_under_a_limit_on_changes() -> None:
    question, adversaries = question_of([1.0, 3.0], 7.5, rules=(AtMost(1),))
    assert climb(question, adversaries, np.array([1.0, 0.0]), np.zeros(1), Clock(60.0)).tolist() == [8.0, 0.0]


def test_where_nothing_helps_it_ends_short() -> None:
    question, adversaries = question_of([1.0], 20.0)
    values = climb(question, adversaries, np.zeros(1), np.zeros(1), Clock(60.0))
    assert values.tolist() == [9.0]
    assert short(question, adversaries, values)


def test_random_questions_end_valid_if_the_top_is() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        weights = rng.normal(size=4)
        question, adversaries = question_of(list(weights), 0.5 * 9 * float(np.maximum(weights, 0).sum()), radius=1.0)
        values = climb(question, adversaries, np.zeros(4), np.zeros(1), Clock(60.0))
        best = np.where(weights > 0, 9.0, 0.0)
        assert ((values >= 0) & (values <= 9)).all()
        assert short(question, adversaries, values) == short(question, adversaries, best)
