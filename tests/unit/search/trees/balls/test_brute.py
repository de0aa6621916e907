"""Balls and diamonds on trees against brute force: all feature kinds, distances, rivals and rules on small problems."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom import Explainer, Region, Status
from tests.support.ball_truth import nearest
from tests.support.hostile import attack
from tests.support.round_questions import random_round_question

PROBLEMS = 240
PER_TEST = 20
SURELY_OPEN = 2  # questions per hundred that may stay open: ties of continuous columns, decided by single bits


@pytest.mark.parametrize("part", range(PROBLEMS // PER_TEST))
def test_both_bounds_hold_and_meet(part: int) -> None:
    still_open = 0
    for number in range(part * PER_TEST, (part + 1) * PER_TEST):
        problem = random_round_question(np.random.default_rng([9, number]))
        truth = nearest(problem, most=1500)
        explainer = Explainer(problem.model, problem.space)
        answer = explainer.explain(problem.factual, problem.room, problem.target, problem.distance, problem.rules)
        assert answer.lower_bound <= truth.high * (1 + 1e-12), number
        if answer.status is Status.NONE_EXISTS:
            assert math.isinf(truth.high), number
        if isinstance(answer, Region):
            assert answer.distance >= truth.low * (1 - 1e-9), number
            attack(explainer.predict, answer.body, problem.target.label, problem.model.cuts)
        if answer.status is Status.OPTIMAL:
            assert answer.distance <= truth.high * (1 + 1.1e-4), number
        still_open += answer.status in (Status.CERTIFIED, Status.UNKNOWN)
    assert still_open <= max(1, PER_TEST * SURELY_OPEN // 100)


def test_what_one_row_teaches_does_not_change_the_next_answer() -> None:
    rng = np.random.default_rng(7)
    for number in range(10):
        problem = random_round_question(np.random.default_rng([10, number]))
        shared = Explainer(problem.model, problem.space)
        question = (problem.room, problem.target, problem.distance, problem.rules)
        for _ in range(3):
            row = problem.factual.copy()
            moving = np.flatnonzero(~problem.space.whole_center)
            row[moving] += rng.normal(size=moving.size)
            here = shared.explain(row, *question)
            there = Explainer(problem.model, problem.space).explain(row, *question)
            assert here.status is there.status, number
            if isinstance(here, Region) and isinstance(there, Region):
                assert here.distance == pytest.approx(there.distance, rel=1.1e-4), number
                attack(shared.predict, here.body, problem.target.label, problem.model.cuts)
