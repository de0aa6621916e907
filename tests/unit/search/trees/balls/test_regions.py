"""Balls and diamonds on trees: the store of bad regions finds those that a room meets."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import Feature, Space
from elbowroom.kernels.kernel import kernel
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Ball, Diamond
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.regions import BallRegions, look_around, next_met, used_up
from tests.support.balls import GRID, ball_geometry, random_regions, used_by_gaps


@kernel
def list_all(regions: BallRegions, geometry: Geometry, x: Floats, threshold: float, rows: Ints, used: Floats) -> int:
    look_around(regions, geometry, x)
    n = 0
    while True:
        row, room = next_met(regions, geometry, x, threshold)
        if row < 0:
            return n
        rows[n], used[n] = row, room
        if room != used_up(regions, geometry, row, x):
            return -1
        n += 1


def mixed(n_dims: int) -> Space:
    """One whole column, and one with limits."""
    columns = [Feature(f"x{i}") for i in range(n_dims)]
    columns[0] = Feature("x0", kind="integer")
    columns[1] = Feature("x1", lower=-1.0, upper=4.0)
    return Space(tuple(columns))


@pytest.mark.parametrize("room", [Ball(0.3), Diamond(0.3), Ball(1e-3), Diamond(2.0)])
@pytest.mark.parametrize("kind", ["plain", "mixed"])
def test_the_bits_leave_out_no_region_that_the_room_meets(room: Ball | Diamond, kind: str) -> None:
    found = 0
    for seed in range(6):
        random = np.random.default_rng(seed)
        n_dims = int(random.integers(2, 7))
        space, cuts = (mixed(n_dims), np.arange(6) - 0.5) if kind == "mixed" else (None, GRID)
        geometry = ball_geometry(random, room, n_dims, space=space, cuts=cuts)
        regions = random_regions(random, geometry, 150, 400)  # 250 of them replace earlier ones
        assert regions.count[0] == 150
        edges = np.concatenate([geometry.first, geometry.last])
        edges = edges[np.isfinite(edges)]
        for _ in range(60):
            x = random.uniform(edges.min() - 0.2, edges.max() + 0.2, n_dims)
            at = random.random(n_dims) < 0.4
            x[at] = random.choice(edges, at.sum()) + random.choice([0.0, 1.0, -1.0], at.sum()) * geometry.axis[at]
            x = np.where(geometry.whole == 1, np.round(x), x)
            rows, used = np.zeros(150, np.int64), np.zeros(150)
            threshold = float(random.choice([0.6, 1.0 - 1e-6, 1.0 + 1e-9]))
            n = list_all(regions, geometry, x, threshold, rows, used)
            truth = used_by_gaps(regions, geometry, x).sum(axis=1)
            clear = np.abs(truth - threshold) > 1e-12
            assert n >= 0
            assert list(rows[:n]) == sorted(rows[:n], reverse=True)
            met = np.zeros(150, bool)
            met[rows[:n]] = True
            assert (met == (truth < threshold))[clear].all()
            found += n
    assert found > 0
