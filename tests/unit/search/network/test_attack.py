"""Attacks beyond full gradient steps: input by input, and short steps to where neurons switch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from elbowroom.problem import Body, Shape
from elbowroom.search.network.attack import find_weak_points
from elbowroom.search.network.margins import MarginNetwork


def random_network(rng: np.random.Generator, sizes: tuple[int, ...]) -> MarginNetwork:
    weights = tuple(rng.normal(size=(b, a)) for a, b in pairwise(sizes))
    return MarginNetwork(weights, tuple(rng.normal(size=w.shape[0]) * 0.3 for w in weights))


def box(n: int, radius: float) -> Body:
    width = np.full(n, radius)
    return Body(np.zeros(n), -width, width, Shape.BOX, width, np.zeros(n, dtype=bool))


@pytest.mark.parametrize("seed", range(20))
def test_every_point_is_inside_and_has_the_stated_margin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network, body = random_network(rng, (6, 8, 8, 1)), box(6, 0.4)
    plain, _ = find_weak_points(network, body, np.random.default_rng(0), 12, 10)
    values, points = find_weak_points(network, body, np.random.default_rng(0), 12, 10, flips=4, slides=30)
    assert body.contains(points).all()
    assert np.allclose(network.worst(points), values, atol=1e-12)
    assert (np.diff(values) >= 0.0).all()
    assert values[0] <= plain[0]


def test_short_steps_find_a_valley_between_the_corners() -> None:
    """|x0| - 0.1 is good at both ends and bad in the middle; the centre does not tell."""
    weight = np.array([[1.0, 0.0], [-1.0, 0.0]])
    network = MarginNetwork((weight, np.array([[1.0, 1.0]])), (np.zeros(2), np.array([-0.1])))
    width = np.array([1.0, 1.0])
    body = Body(np.array([0.7, 0.0]), np.array([-0.3, -1.0]), np.array([1.7, 1.0]), Shape.BOX, width, np.zeros(2, bool))
    corner = np.array([[1.7, 1.0]])
    far = MarginNetwork(network.weights, (np.zeros(2), np.array([-0.1])))
    full, _ = find_weak_points(far, body, np.random.default_rng(0), 1, 10, corner)
    short, _ = find_weak_points(far, body, np.random.default_rng(0), 1, 10, corner, slides=60)
    assert full[0] > 0.0
    assert short[0] < -0.05
