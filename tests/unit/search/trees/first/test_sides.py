"""`above` and `below` are the numbers of `question.positions`, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.search.trees.first.sides import left_of, right_of
from elbowroom.search.trees.question.positions import Room, first_right_of, last_left_of


@pytest.mark.parametrize("seed", range(30))
def test_same_numbers(seed: int) -> None:
    rng, n = np.random.default_rng(seed), 6
    room = Room.__new__(Room)
    lower = np.floor(rng.normal(size=n) * 3) - 3
    room.lower = np.where(rng.random(n) < 0.5, -np.inf, lower)
    room.upper = np.where(rng.random(n) < 0.5, np.inf, lower + np.floor(rng.random(n) * 9))
    room.down, room.up = (rng.choice([0.0, 0.1, 0.02, 1.0, 2.5, rng.random()], n) for _ in range(2))
    room.whole_center = room.whole_room = rng.random(n) < 0.3
    column = rng.integers(0, n, 400)
    cut = np.round(rng.normal(size=400) * 10.0 ** rng.integers(-3, 17, 400), int(rng.integers(0, 4)))
    cut = np.where(room.whole_room[column], np.floor(cut), cut)
    assert np.array_equal(right_of(room, column, cut), first_right_of(room, column, cut))
    assert np.array_equal(left_of(room, column, cut), last_left_of(room, column, cut))
