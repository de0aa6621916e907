"""Algorithm 1 against brute force, against the fast engines, and on every solver that is installed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elbowroom.problem import Box, LinearRule
from elbowroom.search.solvers.protocol import SolverName
from tests.support.brute import closest
from tests.support.linear_problems import random_problem
from tests.support.oblique_models import as_axis_aligned, oblique_question, question_about
from tests.support.referee import Engine, run_engine
from tests.support.searches import agree, check, needs, run
from tests.support.small_models import random_trees
from tests.support.small_questions import random_question

OPEN = [SolverName.HIGHS, SolverName.SCIP, SolverName.GUROBI]


@pytest.mark.parametrize("seed", range(100, 130))
def test_boxes_on_trees_equal_brute_force(seed: int) -> None:
    problem = random_question(np.random.default_rng(seed))
    truth = closest(problem)
    outcome = run(problem)
    assert outcome.lower_bound <= truth * (1 + 1e-9)
    assert outcome.distance == pytest.approx(truth, rel=1e-9)
    assert outcome.lower_bound == pytest.approx(truth, rel=1e-8)


@pytest.mark.parametrize("solver", OPEN[1:])
@pytest.mark.parametrize("seed", range(200, 206))
def test_boxes_on_trees_with_other_solvers(seed: int, solver: SolverName) -> None:
    needs(solver)
    problem = random_question(np.random.default_rng(seed))
    if problem.trouble is not None:
        pytest.skip(problem.trouble)
    assert run(problem, solver).distance == pytest.approx(closest(problem), rel=1e-9)


@pytest.mark.parametrize("shape", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_balls_and_diamonds_on_trees(seed: int, shape: int) -> None:
    rng = np.random.default_rng([seed, shape])
    cuts = [np.sort(rng.normal(size=5)) for _ in range(2)]
    problem = question_about(rng, random_trees(rng, 2, int(rng.integers(1, 4)), 3, cuts), shape)
    outcome = run(problem)
    agree(outcome, run_engine(Engine.AUTO, problem, seconds=10.0))
    boxed = replace(problem, room=Box(problem.room.size or 0.0))  # the room lies in this box
    assert outcome.lower_bound <= closest(boxed) * (1 + 1e-9)
    if outcome.center is not None:
        assert outcome.lower_bound >= outcome.distance * (1 - 1e-4)


@pytest.mark.parametrize("solver", OPEN)
@pytest.mark.parametrize("seed", range(9))
def test_linear_models(seed: int, solver: SolverName) -> None:
    needs(solver)
    problem = random_problem(seed)
    if problem.trouble is not None:
        pytest.skip(problem.trouble)
    outcome, fast = run(problem, solver), run_engine(Engine.AUTO, problem, seconds=10.0)
    agree(outcome, fast)
    if fast.center is not None:
        assert outcome.distance == pytest.approx(fast.distance, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_oblique_trees(seed: int) -> None:
    problem = oblique_question(seed)
    outcome = run(problem)
    if outcome.center is not None:
        assert outcome.lower_bound >= outcome.distance * (1 - 1e-4)


@pytest.mark.parametrize("seed", range(0, 24, 3))  # boxes, where the tree engine is exact
def test_oblique_trees_with_straight_splits_are_trees(seed: int) -> None:
    problem = oblique_question(seed, axis_aligned=True)
    outcome = run(problem)
    straight = replace(problem, model=as_axis_aligned(problem.model))
    fast = run_engine(Engine.AUTO, straight, seconds=10.0)
    agree(outcome, fast)
    if fast.center is not None:
        assert outcome.distance == pytest.approx(fast.distance, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("solver", OPEN[1:])
@pytest.mark.parametrize("seed", [2, 10, 36])
def test_oblique_trees_with_other_solvers(seed: int, solver: SolverName) -> None:
    needs(solver)
    problem = oblique_question(seed)
    ours = run(problem)
    theirs = run(problem, solver)
    agree(ours, theirs)
    assert ours.distance == pytest.approx(theirs.distance, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_linear_rules_on_trees(seed: int) -> None:
    rng = np.random.default_rng([9, seed])
    cuts = [np.sort(rng.normal(size=5)) for _ in range(2)]
    problem = question_about(rng, random_trees(rng, 2, 2, 3, cuts), 0)
    free = run(problem)
    at = float(problem.factual.sum())
    ruled = replace(problem, rules=(LinearRule({"x0": 1.0, "x1": 1.0}, at - 0.5, at + 0.25),))
    outcome = run(ruled)
    assert outcome.lower_bound >= free.lower_bound * (1 - 1e-9) or free.center is None
    if outcome.center is not None:
        assert at - 0.5 - 1e-6 <= float(outcome.center.sum()) <= at + 0.25 + 1e-6
        assert outcome.lower_bound >= outcome.distance * (1 - 1e-4)
        check(outcome)


def test_the_trace_shows_every_iterate_and_its_radius() -> None:
    rng = np.random.default_rng(3)
    cuts = [np.sort(rng.normal(size=8)) for _ in range(3)]
    for _ in range(20):
        problem = question_about(rng, random_trees(rng, 3, 4, 4, cuts), 0)
        outcome = run_engine(Engine.ADVERSARIAL, problem, seconds=10.0)
        size = problem.room.size
        rounds = [step for step in outcome.clock.trace if "master at" in step.note]
        if outcome.center is None or len(rounds) < 3 or not size:
            continue
        assert outcome.counters["rounds"] >= len(rounds)
        known = [step.certified_radius for step in rounds if step.certified_radius is not None]
        assert known
        assert all(0.0 <= radius < size for radius in known)
        return
    pytest.fail("no question needed several rounds")
