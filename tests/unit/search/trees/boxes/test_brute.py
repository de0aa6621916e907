"""Boxes on trees against brute force: all feature kinds, rooms, distances, rivals and rules on small problems."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom import Explainer, Region, Status
from tests.support.brute import closest
from tests.support.hostile import attack
from tests.support.small_questions import random_question

PROBLEMS = 320
PER_TEST = 20


@pytest.mark.parametrize("part", range(PROBLEMS // PER_TEST))
def test_status_and_distance_equal_brute_force(part: int) -> None:
    for number in range(part * PER_TEST, (part + 1) * PER_TEST):
        problem = random_question(np.random.default_rng([1, number]))
        truth = closest(problem)
        explainer = Explainer(problem.model, problem.space)
        answer = explainer.explain(problem.factual, problem.room, problem.target, problem.distance, problem.rules)
        if math.isinf(truth):
            assert answer.status is Status.NONE_EXISTS, (number, answer)
            continue
        assert isinstance(answer, Region), (number, answer)
        assert answer.status is Status.OPTIMAL, number
        assert abs(answer.distance - truth) <= 1e-9 * truth, number
        assert answer.lower_bound <= truth * (1 + 1e-12), number
        attack(explainer.predict, answer.body, problem.target.label, problem.model.cuts)


def test_what_one_row_teaches_does_not_change_the_next_answer() -> None:
    rng = np.random.default_rng(7)
    for number in range(12):
        problem = random_question(np.random.default_rng([2, number]))
        shared = Explainer(problem.model, problem.space)
        rows = [problem.factual]
        for _ in range(4):
            row = problem.factual.copy()
            moving = np.flatnonzero(~problem.space.whole_center)
            row[moving] += rng.normal(size=moving.size)
            rows.append(row)
        question = (problem.room, problem.target, problem.distance, problem.rules)
        for row in rows:
            here = shared.explain(row, *question)
            there = Explainer(problem.model, problem.space).explain(row, *question)
            assert here.status is there.status
            if isinstance(here, Region) and isinstance(there, Region):
                assert here.distance == pytest.approx(there.distance, rel=1e-9)
                attack(shared.predict, here.body, problem.target.label, problem.model.cuts)
