"""What counts as a change is one question with one answer, for rules and for engines."""

from __future__ import annotations

import numpy as np

from elbowroom.problem import AtMost, Box, Feature, Group, RecourseProblem, Space
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import Layout, lay_out
from tests.support.small_models import random_trees


def _problem(rules=(), **first) -> RecourseProblem:
    features = [Feature("x0", **first), Feature("x1"), *(Feature(f"x{f}", "binary") for f in (2, 3, 4))]
    space = Space(tuple(features), (Group("city", ("x2", "x3", "x4")),))
    rng = np.random.default_rng(0)
    cuts = [np.array([0.25, 1.0]), np.array([0.5]), *(np.array([0.5]) for _ in range(3))]
    model = random_trees(rng, 5, 6, 3, cuts)
    return RecourseProblem.ask(model, space, np.array([0.0, 0.0, 1.0, 0.0, 0.0]), Box(0.1), 1, rules=rules)


def test_columns_and_groups_count_once_each() -> None:
    problem = _problem()
    assert problem.changed(problem.factual).tolist() == [False] * 6
    assert problem.changed(np.array([0.5, 0.0, 0.0, 1.0, 0.0])).tolist() == [True, False, False, False, False, True]


def test_a_move_too_small_to_cost_anything_is_a_change() -> None:
    """1e-300 times 1e-10 is 0 in floating point; the value has changed nevertheless."""
    problem = _problem((AtMost(0),), weight=1e-300)
    center = problem.factual.copy()
    center[0] = 1e-10
    assert problem.measure(center) < 1e-300
    center[0] = 1e-30
    assert problem.measure(center) == 0.0
    assert problem.changed(center).sum() == 1
    assert problem.admissible(problem.factual) and not problem.admissible(center)


def test_what_the_limits_force_uses_up_the_allowance_of_the_engine() -> None:
    for weight in (1.0, 1e-320):
        problem = _problem((AtMost(2),), lower=1e-10, upper=5.0, weight=weight)
        layout = lay_out(problem, TreeMemory.of(problem).dimensions)
        assert isinstance(layout, Layout)
        assert layout.question.changes == 1  # one of two is gone before the search begins
