"""The paper's heuristic: always certified, never closer than the optimum, and the optimum for a room without size."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom import Explainer
from elbowroom.errors import UnsupportedModel
from elbowroom.models import TreeEnsemble
from elbowroom.problem import RecourseProblem
from tests.support.brute import closest
from tests.support.linear_problems import random_problem
from tests.support.oblique_models import question_about
from tests.support.referee import Engine, Run, run_engine
from tests.support.searches import check, run
from tests.support.small_models import random_trees
from tests.support.small_questions import random_question


def _search(problem: RecourseProblem) -> Run:
    found = run_engine(Engine.ONE_LEAF, problem, seconds=10.0)
    check(found)
    return found


def _covered_leaves(problem: RecourseProblem, center: np.ndarray) -> np.ndarray:
    """How many leaves of each tree meet the bounding box of the room."""
    assert isinstance(problem.model, TreeEnsemble)
    body, leaves = problem.body(center), problem.model.leaves
    meets = ((leaves.lower < body.upper) & (leaves.upper >= body.lower)).all(axis=1)
    return np.add.reduceat(meets.astype(int), leaves.offsets[:-1])


@pytest.mark.parametrize("seed", range(80))
def test_one_leaf_is_certified_and_never_closer_than_the_optimum(seed: int) -> None:
    problem = random_question(np.random.default_rng(seed))
    if problem.trouble is not None:
        pytest.skip(problem.trouble)
    outcome, truth = _search(problem), closest(problem)
    assert outcome.lower_bound == 0.0  # a heuristic claims nothing about other regions
    assert outcome.distance >= truth * (1 - 1e-9)
    walls = problem.walls
    if not walls.free_groups and not walls.up.any() and not walls.down.any():
        assert outcome.distance == pytest.approx(truth, rel=1e-9)
    if outcome.center is not None and not walls.free_groups:
        assert (_covered_leaves(problem, outcome.center) == 1).all()


@pytest.mark.parametrize("shape", [1, 2])
@pytest.mark.parametrize("n_trees", [1, 3])
def test_balls_and_diamonds(shape: int, n_trees: int) -> None:
    found = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, shape, n_trees])
        cuts = [np.sort(rng.normal(size=4)) for _ in range(2)]
        problem = question_about(rng, random_trees(rng, 2, n_trees, 3, cuts), shape)
        outcome = _search(problem)
        if outcome.center is not None:
            found += 1
            assert (_covered_leaves(problem, outcome.center) == 1).all()
    assert found >= 3


def test_a_room_that_needs_two_leaves_is_missed() -> None:
    """x <= 0 | 0 < x <= 1 good | 1 < x <= 2 good | 2 < x: a room of radius 0.8 fits only across the two good leaves."""
    from tests.support.small_models import info

    model = TreeEnsemble(
        info(1),
        np.array([0]),
        np.array([0, 0, -1, -1, 0, -1, -1]),
        np.array([1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]),
        np.array([1, 2, -1, -1, 5, -1, -1]),
        np.array([4, 3, -1, -1, 6, -1, -1]),
        np.array([[0.0], [0.0], [-1.0], [1.0], [0.0], [1.0], [-1.0]]),
        np.zeros(1),
    )
    from elbowroom.problem import Box, Space

    problem = RecourseProblem.ask(model, Space.plain(("x0",)), np.array([-1.0]), Box(0.8), 1)
    assert _search(problem).center is None
    exact = run(problem)
    assert exact.center is not None
    assert exact.center[0] == pytest.approx(0.8)


def test_other_families_are_refused_by_name() -> None:
    problem = random_problem(3)
    with pytest.raises(UnsupportedModel, match="axis-aligned"):
        Explainer(problem.model).explain(problem.factual, method="one_leaf")


def test_no_time_gives_no_answer() -> None:
    problem = random_question(np.random.default_rng(1))
    outcome = run_engine(Engine.ONE_LEAF, problem, seconds=0.0)
    assert outcome.center is None
    assert math.isfinite(outcome.lower_bound)
