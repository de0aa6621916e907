"""Proofs that no centre exists on columns without limits: exact, complete on small questions, and never wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from elbowroom import Explainer, Region, Status
from elbowroom.models import Decision, ObliqueEnsemble
from elbowroom.problem import Ball, Box, Feature, RecourseProblem, Space
from elbowroom.search.adversarial.loop import family_of
from elbowroom.search.adversarial.nowhere import Alternative, Disjunction, Form, NecessaryConditions, contradictory
from elbowroom.search.adversarial.scenario import Scenario, scenario_of, zero_shift
from tests.support.hostile import hostile_points
from tests.support.linear_problems import linear_model
from tests.support.plane_questions import ROOMS, Family, plane_question

FAMILIES = (Family.LINEAR, Family.OBLIQUE, Family.RELU)


def _strip(width: float) -> ObliqueEnsemble:
    """Class 1 where 0 < x0 + 2 x1 <= width, on an endless strip."""
    return ObliqueEnsemble.from_arrays(
        [[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [0.0, 0.0], [0.0, 0.0]],
        [0.0, 0.0, width, 0.0, 0.0],
        [1, -1, 3, -1, -1],
        [2, -1, 4, -1, -1],
        [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]],
        classes=(0, 1),
        decision=Decision.ARGMAX,
    )


@pytest.mark.parametrize("room", [Box(0.1), Ball(0.1)])
def test_a_strip_that_is_too_narrow_has_no_region_and_a_wider_one_has(room: Box | Ball) -> None:
    needed = 0.6 if isinstance(room, Box) else 0.2 * 5.0**0.5  # twice the radius times the dual norm of (1, 2)
    space = Space((Feature("x0"), Feature("x1")))
    narrow = Explainer(_strip(needed * 0.999), space).explain([-3.0, 0.0], room, 1)
    wide = Explainer(_strip(needed * 1.001), space).explain([-3.0, 0.0], room, 1)
    assert narrow.status is Status.NONE_EXISTS
    assert isinstance(wide, Region)


def test_rows_that_exclude_each_other_by_a_hair() -> None:
    """Three classes on a line: the middle one wins nowhere, by 1e-9, or on a short piece."""
    space = Space((Feature("x0"),))

    def ask(gap: float) -> Status:
        model = linear_model(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, gap, 0.0]))
        explainer = Explainer(model, space)
        return explainer.explain([1.0], Box(0.0), 1, method="adversarial").status

    assert ask(-1e-9) is Status.NONE_EXISTS
    assert ask(1e-3) is Status.OPTIMAL


def test_almost_parallel_rows_that_meet_far_away_are_no_contradiction() -> None:
    """x0 > 0 and x0 < 1e-9 x1 - 1 hold together beyond x1 = 1e9: farther than the master looks, but there."""
    model = linear_model(np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, -1e-9]]), np.array([0.0, 0.0, 1.0]))
    space = Space((Feature("x0"), Feature("x1")))
    answer = Explainer(model, space).explain([-1.0, 0.0], Box(0.0), 1, method="adversarial", time_limit=10.0)
    assert answer.status is not Status.NONE_EXISTS


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("norm", ROOMS)
def test_no_proof_where_a_region_is_known(family: Family, norm: str) -> None:
    """Whatever the scenarios: where the judge has accepted a centre, nothing may be proven empty."""
    known = 0
    for number in range(400, 404):
        problem = plane_question(family, norm, number)
        answer = Explainer(problem.model, problem.space).explain(
            problem.factual, problem.room, problem.target, problem.distance, time_limit=5.0
        )
        if isinstance(answer, Region):
            known += 1
            scenarios = _scenarios(problem, answer.body.center, 2)
            assert not family_of(problem).nowhere(scenarios, lambda: 10.0), number
    assert known > 0


def _scenarios(problem: RecourseProblem, center: np.ndarray, count: int) -> list[Scenario]:
    points = hostile_points(problem.body(center))
    chosen = np.random.default_rng(0).choice(len(points), min(count, len(points)), replace=False)
    return [zero_shift(problem), *(scenario_of(problem, center, points[i]) for i in chosen)]


def test_branches_and_scores() -> None:
    def fresh() -> NecessaryConditions:
        found = NecessaryConditions()
        x = found.column()
        found.forms.append(Form({x: Fraction(1)}, Fraction(-2)))  # x >= 2
        low = Alternative((Form({x: Fraction(-1)}, Fraction(1)),), np.array([1.0]))  # x <= 1
        high = Alternative((Form({x: Fraction(1)}, Fraction(-3)),), np.array([-1.0]))  # x >= 3
        found.disjunctions.append(Disjunction((low, high), owner=0))
        return found

    possible, excluded, unlikely = fresh(), fresh(), fresh()
    possible.needs[0] = np.array([-1.0])
    excluded.forms.append(Form({0: Fraction(-1)}, Fraction(5, 2)))  # x <= 5/2: neither branch
    unlikely.needs[0] = np.array([0.0])  # only the first branch scores enough, and it is empty
    assert not contradictory(possible, lambda: 10.0)
    assert contradictory(excluded, lambda: 10.0)
    assert contradictory(unlikely, lambda: 10.0)
    assert not contradictory(excluded, lambda: 0.0)  # no time, no proof
