"""The engine against exhaustive truth: same status, distance within the stated gap, bounds never above the truth."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.numerics import TOLERANCES
from elbowroom.problem import (
    AtMost,
    Ball,
    Box,
    Diamond,
    Feature,
    Group,
    LinearRule,
    RecourseProblem,
    Room,
    Space,
)
from elbowroom.result import Undecided
from tests.support.hostile import attack
from tests.support.referee import Engine, Referee, Run, run_engine
from tests.support.small_networks import (
    network,
    solve,
    truth_on_a_line,
    truth_on_whole_numbers,
)

ROOMS = {"box": Box, "ball": Ball, "diamond": Diamond}
DISTANCES = ("l1", "l2", "linf")


def check(problem: RecourseProblem, outcome: Run, truth: float) -> None:
    """The three promises, and hostile points."""
    assert outcome.lower_bound <= truth * (1 + 1e-9) + 1e-9
    if truth == np.inf:
        assert outcome.center is None
        assert outcome.lower_bound == np.inf or outcome.lower_bound > 1e6  # open features: proven as far as it matters
        return
    assert outcome.center is not None, outcome.reason
    distance = problem.measure(outcome.center)
    assert truth * (1 - 1e-9) - 1e-9 <= distance <= truth * (1 + TOLERANCES.continuous_gap) + 1e-9
    assert outcome.lower_bound >= distance * (1 - TOLERANCES.continuous_gap) - 1e-9
    info = problem.model.info
    attack(lambda X: info.labels_of(problem.model.scores(X)), problem.body(outcome.center), problem.target_index)


def quick(some: int, most: int) -> list[object]:
    """The first seeds always, the others among the long tests."""
    return [seed if seed < some else pytest.param(seed, marks=pytest.mark.long) for seed in range(most)]


@pytest.mark.parametrize("seed", range(24))
def test_one_feature(seed: int) -> None:
    """A piecewise linear function of one variable: the valid centres are known exactly."""
    rng = np.random.default_rng(seed)
    model = network(rng, 1, ((3,), (6,), (3, 3), (2, 2, 2))[seed % 4])
    low, high = (-3.0, 3.0) if seed % 3 else (-np.inf, np.inf)
    feature = Feature("x0", lower=low, upper=high, weight=rng.uniform(0.2, 5), scale=rng.uniform(0.2, 5))
    rooms: list[Room] = [Box(0.0), Box(0.3), Ball(0.05), Diamond(0.5), Box(low=0.3, high=0.0)]
    problem = RecourseProblem.ask(
        model, Space((feature,)), [rng.uniform(-2, 2)], rooms[seed % 5], distance=DISTANCES[seed % 3]
    )
    check(problem, solve(problem), truth_on_a_line(problem))


def whole_problem(seed: int) -> RecourseProblem:
    """Three whole columns, two or three classes, every room, distance and rule in turn."""
    rng = np.random.default_rng(1000 + seed)
    classes = 2 + seed % 2
    model = network(rng, 3, ((4,), (6,), (3, 3))[seed % 3], classes)
    features = tuple(
        Feature(
            f"x{i}", "integer", -3, 3, weight=rng.uniform(0.3, 3), immutable=bool(rng.random() < 0.1),
            direction=("any", "any", "increasing", "decreasing")[rng.integers(4)],
        )
        for i in range(3)
    )  # fmt: skip
    room = tuple(ROOMS.values())[seed % 3]((0.0, 1.0, 1.5, 2.0)[rng.integers(4)])
    rules = ((), (AtMost(int(rng.integers(3))),), (LinearRule({"x0": 1.0, "x1": -2.0}, -3, 4),))[rng.integers(3)]
    row = rng.integers(-3, 4, 3).astype(float)
    return RecourseProblem.ask(
        model, Space(features), row, room, int(rng.integers(classes)), DISTANCES[rng.integers(3)], rules
    )


@pytest.mark.parametrize("seed", quick(18, 36))
def test_whole_columns(seed: int) -> None:
    problem = whole_problem(seed)
    if problem.trouble is None:
        check(problem, solve(problem), truth_on_whole_numbers(problem))


@pytest.mark.parametrize("seed", quick(15, 30))
def test_one_hot_groups(seed: int) -> None:
    """A group that moves as one step, sometimes with a forbidden category, sometimes free inside the room."""
    rng = np.random.default_rng(2000 + seed)
    model = network(rng, 5, ((4,), (6,), (3, 3))[seed % 3])
    members = ("x2", "x3", "x4")
    features = [Feature(f"x{i}", "integer", -2, 2, weight=rng.uniform(0.3, 3)) for i in range(2)]
    features += [Feature(m, "binary", upper=0.0 if rng.random() < 0.15 else 1.0) for m in members]
    space = Space(tuple(features), (Group("city", members, float(rng.choice([0.1, 1.0, 3.0]))),))
    row = np.concatenate([rng.integers(-2, 3, 2).astype(float), np.eye(3)[rng.integers(3)]])
    room = tuple(ROOMS.values())[seed % 3](
        float(rng.choice([0.0, 1.0])), categories={"city": ("any", "fixed")[seed % 2]}
    )
    problem = RecourseProblem.ask(model, space, row, room, distance=DISTANCES[rng.integers(3)])
    check(problem, solve(problem), truth_on_whole_numbers(problem))


def test_same_seed_same_answer() -> None:
    rng = np.random.default_rng(5)
    model = network(rng, 3, (6,))
    space = Space(tuple(Feature(f"x{i}", lower=-2, upper=2) for i in range(3)))
    problem = RecourseProblem.ask(model, space, [0.1, 0.2, -0.3], Box(0.05))
    first, second = solve(problem), solve(problem)
    assert first.lower_bound == second.lower_bound
    assert first.counters == second.counters
    assert (first.center is None) == (second.center is None)
    if first.center is not None:
        np.testing.assert_array_equal(first.center, second.center)


def test_no_time_is_honest() -> None:
    rng = np.random.default_rng(6)
    model = network(rng, 3, (6, 6))
    space = Space(tuple(Feature(f"x{i}", lower=-2, upper=2) for i in range(3)))
    problem = RecourseProblem.ask(model, space, [0.1, 0.2, -0.3], Box(0.05))
    outcome = solve(problem, seconds=0.0)
    exact = solve(problem)
    truth = problem.measure(exact.center) if exact.center is not None else np.inf
    assert outcome.lower_bound <= truth
    if outcome.center is None:
        assert outcome.reason


def test_a_judge_that_refuses_everything_gives_no_answer() -> None:
    """Only accepted centres may come back; the lower bound stays honest."""
    rng = np.random.default_rng(7)
    model = network(rng, 2, (4,))
    space = Space(tuple(Feature(f"x{i}", lower=-2, upper=2) for i in range(2)))
    problem = RecourseProblem.ask(model, space, [0.1, 0.2], Box(0.05))
    exact = solve(problem)
    busy = Referee(problem, lambda center, looks: Undecided("busy"))
    outcome = run_engine(Engine.NETWORK, problem, busy, seconds=5.0)
    assert outcome.center is None
    assert "busy" in outcome.reason or exact.center is None
    if exact.center is not None:
        assert outcome.lower_bound <= problem.measure(exact.center)
