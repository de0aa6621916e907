"""Scenarios as clamps of moves, and the lines above them."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.problem import Box, Feature, RecourseProblem, Space
from elbowroom.search.network.clamps import Clamps
from elbowroom.search.network.moves import Moves
from elbowroom.search.network.scenarios import Scenarios
from tests.support.small_networks import network


def setting(seed: int) -> tuple[RecourseProblem, Moves, Scenarios, np.random.Generator]:
    rng = np.random.default_rng(seed)
    model = network(rng, 3, (3,))
    space = Space(tuple(Feature(f"x{i}", lower=-1.0, upper=1.0, weight=rng.uniform(0.5, 2)) for i in range(3)))
    problem = RecourseProblem.ask(model, space, rng.uniform(-1, 1, 3), Box(0.4))
    moves, scenarios = Moves.of(problem), Scenarios(problem)
    for _ in range(4):
        center = rng.uniform(-1, 1, 3)
        body = problem.body(center)
        scenarios.add(center, np.where(rng.random(3) < 0.5, body.lower, body.upper))
    return problem, moves, scenarios, rng


@pytest.mark.parametrize("seed", range(10))
def test_clamped_moves_lead_to_the_scenario_point(seed: int) -> None:
    problem, moves, scenarios, rng = setting(seed)
    clamps = Clamps.of(moves, scenarios)
    for _ in range(20):
        center = rng.uniform(-1, 1, 3)
        v = moves.of_center(center)
        np.testing.assert_allclose(moves.center(v), center, atol=1e-12)
        points = scenarios.points(center)
        for j in range(len(scenarios)):
            w = clamps(v, j)
            step = np.zeros(3)
            np.add.at(step, np.maximum(moves.plus, 0), np.where(moves.plus >= 0, w * moves.unit, 0.0))
            np.subtract.at(step, np.maximum(moves.minus, 0), np.where(moves.minus >= 0, w * moves.unit, 0.0))
            np.testing.assert_allclose(clamps.start[j] + step, points[j], atol=1e-12)
            body = problem.body(center)
            assert ((points[j] >= body.lower - 1e-12) & (points[j] <= body.upper + 1e-12)).all()


@pytest.mark.parametrize("seed", range(20))
def test_lines_lie_above(seed: int) -> None:
    _, moves, scenarios, rng = setting(seed)
    clamps = Clamps.of(moves, scenarios)
    size = moves.size
    for j in range(len(scenarios)):
        ends = np.sort(rng.uniform(0.0, 1.0, (2, size)) * moves.high, axis=0)
        low, high = ends[0], ends[1]
        slope = rng.normal(size=size)
        v = rng.uniform(low, high)
        constant, k = clamps.upper_line(j, slope, low, high, v)
        for t in np.linspace(0.0, 1.0, 101):
            at = low + t * (high - low)
            assert (constant + k * at >= slope * (clamps(at, j) - clamps(low, j)) - 1e-12).all()
