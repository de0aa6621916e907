"""Norms of moves, and of the rooms whose unit balls they have."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.problem import Body, Shape, Walls
from elbowroom.problem.distances import Distance


@pytest.mark.parametrize("distance", list(Distance))
def test_infinite_moves_are_infinitely_far(distance: Distance) -> None:
    assert distance.norm(np.array([1.0, np.inf, 0.0])) == np.inf
    assert distance.norm(np.zeros(3)) == distance.norm(np.zeros(0)) == 0.0


@pytest.mark.parametrize("shape", list(Shape))
def test_a_room_holds_what_its_norm_calls_near(shape: Shape) -> None:
    random = np.random.default_rng(1)
    body = Body.around(
        np.zeros(3), Walls(shape, np.ones(3), np.ones(3)), np.full(3, -np.inf), np.full(3, np.inf), np.zeros(3, bool)
    )
    for point in random.uniform(-1.0, 1.0, (200, 3)):
        far = shape.distance.norm(np.abs(point))
        assert body.contains(point)[0] == (far <= 1.0) or abs(far - 1.0) < 1e-12
