"""Scenarios and breakpoints in exact floats; bounds by weak duality."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from elbowroom.problem import Box, Feature, RecourseProblem, Shape, Space
from elbowroom.search.adversarial.chain import breakpoints
from elbowroom.search.adversarial.proof import DualBound, prove
from elbowroom.search.adversarial.room_block import into_body, lowest_along
from elbowroom.search.adversarial.scenario import Scenario, scenario_of, shifted_point
from elbowroom.search.program import Builder, NormRow
from tests.support.hostile import hostile_points
from tests.support.linear_problems import linear_model
from tests.support.oblique_models import oblique_question
from tests.support.small_models import body_of
from tests.support.small_questions import random_question


def _center(problem, rng):  # type: ignore[no-untyped-def]
    center = np.clip(problem.factual + rng.normal(size=problem.factual.size), problem.lower, problem.upper)
    center = np.where(problem.space.whole_center, np.clip(np.round(center), problem.lower, problem.upper), center)
    for members in problem.space.members:
        center[members] = problem.factual[members]
    return center


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_a_scenario_of_one_room_lands_in_every_room(start: int) -> None:
    tried = 0
    for seed in range(start, start + 10):
        rng = np.random.default_rng(seed)
        problem = random_question(rng) if seed % 2 else oblique_question(seed)
        center = _center(problem, rng)
        if problem.trouble is not None or not problem.admissible(center):
            continue
        tried += 1
        for point in hostile_points(problem.body(center), seed=seed)[:60]:
            scenario = scenario_of(problem, center, point)
            for _ in range(3):
                other = _center(problem, rng)
                assert problem.body(other).contains(shifted_point(problem, scenario, other))[0]
    assert tried >= 7


@pytest.mark.parametrize("seed", range(30))
def test_breakpoints_are_the_last_centres_left_of_a_cut(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    problem = random_question(rng)
    if problem.trouble is not None or not problem.space.whole_center.size:
        pytest.skip("nothing to try")
    n = problem.factual.size
    single = problem.space.group_of < 0
    shift = np.where(single, rng.uniform(-problem.walls.down, problem.walls.up), 0.0)
    shift = np.where(problem.space.whole_room, np.trunc(shift), shift)
    scenario = Scenario(shift)
    feature = np.repeat(np.arange(n), 6)
    cut = np.concatenate([np.append(rng.normal(size=4) * 3, [0.5, -0.0]) for _ in range(n)])
    found = breakpoints(problem, scenario, feature, cut)
    for f, t, edge in zip(feature, cut, found, strict=True):
        whole = problem.space.whole_center[f]
        candidates = [edge] if math.isfinite(edge) else []
        candidates += [np.floor(t - shift[f]) + k for k in range(-2, 3)] if whole else [t - shift[f]]
        for value in list(candidates):
            if not whole:
                candidates += [np.nextafter(value, np.inf), np.nextafter(value, -np.inf)]
        for value in candidates:
            if not problem.lower[f] <= value <= problem.upper[f]:
                continue
            center = _center(problem, rng)
            center[f] = value
            assert (shifted_point(problem, scenario, center)[f] <= t) == (value <= edge)


def _random_program(rng: np.random.Generator):  # type: ignore[no-untyped-def]
    builder = Builder()
    n = int(rng.integers(2, 6))
    builder.columns(n, -2.0, 3.0, rng.random(n) < 0.8, cost=rng.normal(size=n))
    for _ in range(int(rng.integers(1, 5))):
        low = float(rng.normal() - 1)
        builder.row(np.arange(n), rng.normal(size=n), low, low + float(rng.exponential(2.0)))
    if rng.random() < 0.3:
        builder.norms.append(NormRow(np.arange(n), np.ones(n), np.zeros(n), -1, 2.5))
    return builder.program()


@pytest.mark.parametrize("seed", range(40))
def test_proven_bounds_are_bounds(seed: int) -> None:
    rng = np.random.default_rng([2, seed])
    program = _random_program(rng)
    points = np.array(list(product(np.arange(-2.0, 4.0), repeat=program.n_columns)))
    row = points @ program.matrix.toarray().T
    good = ((row >= program.row_lower) & (row <= program.row_upper)).all(axis=1)
    good &= np.array([all(norm.excess(x) <= 0 for norm in program.norms) for x in points])
    best = float((points @ program.cost)[good].min()) if good.any() else math.inf  # whole points only: an upper bound
    bound = prove(program, best, lambda: 10.0)
    assert bound <= best + 1e-9
    if program.whole.all() and not program.norms:
        assert bound == pytest.approx(best, abs=1e-6)
    dual = DualBound(program)
    for _ in range(20):  # any numbers are good enough to be harmless
        multipliers = rng.normal(size=program.row_lower.size) * 10.0 ** rng.integers(-3, 4)
        assert dual.value(multipliers, program.lower, program.upper) <= best + 1e-9
        if good.any():
            assert dual.best(multipliers, program.lower, program.upper, empty=True) == -math.inf


def test_an_empty_program_is_proven_empty() -> None:
    builder = Builder()
    x = builder.columns(2, 0.0, 1.0, True, cost=1.0)
    builder.row(x, [1.0, 1.0], 0.5, 1.5)
    builder.row(x, [1.0, -1.0], -0.5, 0.5)
    assert prove(builder.program(), math.inf, lambda: 10.0) == math.inf


@pytest.mark.parametrize("seed", range(12))
def test_the_lowest_point_along_a_slope(seed: int) -> None:
    """Without limits no sampled point of the room is lower."""
    rng = np.random.default_rng([3, seed])
    shape = (Shape.BOX, Shape.BALL, Shape.DIAMOND)[seed % 3]
    body = body_of(rng.normal(size=3), shape, rng.uniform(0.1, 1.0, 3))
    slope = rng.normal(size=3)
    lowest = into_body(body, lowest_along(body, slope, body.center))
    assert lowest is not None
    points = hostile_points(body, seed=seed)
    assert float(slope @ lowest) <= float((points @ slope).min()) + 1e-9


def test_at_a_limit_the_longest_shift_is_learned() -> None:
    """A room cut by a limit: the scenario of its edge lands there from every centre nearby, so one is enough."""
    space = Space((Feature("x0", lower=0.0), Feature("x1")))
    model = linear_model(np.array([[1.0, 1.0]]), np.array([-1.0]))
    problem = RecourseProblem.ask(model, space, [0.0, 0.0], Box(0.5), 1)
    scenario = scenario_of(problem, np.array([0.1, 0.0]), np.array([0.0, -0.5]))
    assert scenario.shift.tolist() == [-0.5, -0.5]
    for first in (0.0, 0.1, 0.5, 0.7):
        assert shifted_point(problem, scenario, np.array([first, 1.0])).tolist() == [max(first - 0.5, 0.0), 0.5]
