"""Balls and diamonds on trees: the price of leaving many regions at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from elbowroom.kernels.bundle import blank
from elbowroom.kernels.kernel import kernel
from elbowroom.numerics import Floats
from elbowroom.problem import Ball, Diamond
from elbowroom.search.trees.balls.bounds.cover import Cover, cover_bound
from elbowroom.search.trees.balls.bounds.simplex import best_cover
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.limits import MAX_MET, MAX_SIGNED, MAX_SLOTS
from elbowroom.search.trees.balls.node import Node
from elbowroom.search.trees.balls.regions import BallRegions
from tests.support.balls import ball_geometry, random_regions, used_by_gaps


def _cover(n_dims: int) -> Cover:
    sides, slots = 2 * n_dims, min(2 * n_dims, MAX_SLOTS)
    return blank(Cover, dims=n_dims, sides=sides, rows=MAX_MET + MAX_SIGNED + 1, slots=slots, slots_and_one=slots + 1)


@kernel
def greedily(cover: Cover, n: int) -> float:
    return cover_bound(cover, n)


@kernel
def with_regions(
    geometry: Geometry, node: Node, regions: BallRegions, cover: Cover, n: int, proven: float, enough: float
) -> float:
    return best_cover(geometry, node, regions, cover, n, proven, enough)


def at_best(cover: Cover, n: int, proven: float, enough: float) -> float:
    """The program without any region but the given rows: the room is too small to be near anything."""
    n_dims = cover.at.size
    geometry = ball_geometry(np.random.default_rng(0), Diamond(1e-12), n_dims)
    node = blank(Node, dims=n_dims)
    node.low[:] = node.high[:] = node.x[:] = 0.5
    return with_regions(geometry, node, BallRegions.of(1, geometry), cover, n, proven, enough)


def made_up(random: np.random.Generator, n_dims: int, n_regions: int) -> tuple[Cover, np.ndarray]:
    """Regions with random ways out, some of them with the same ways, and their chords as a matrix."""
    cover, chords = _cover(n_dims), np.zeros((n_regions, 2 * n_dims))
    cover.slot_of[:] = cover.literal[:] = np.arange(2 * n_dims)
    cover.count[0] = 2 * n_dims
    for r in range(n_regions):
        keys = random.permutation(2 * n_dims)[: random.integers(1, 2 * n_dims + 1)]
        if r % 5 == 4:
            keys = np.flatnonzero(chords[r - 1])
        chords[r, keys] = 1.0 / random.choice([0.01, 0.1, 0.25, random.random() + 1e-3], keys.size)
        cover.size[r], cover.right[r] = keys.size, 1.0
        cover.slot[r, : keys.size], cover.chord[r, : keys.size] = keys, chords[r, keys]
        cover.value[r] = 1.0 / chords[r, keys].max()
    return cover, chords


@pytest.mark.parametrize("n_dims", [1, 3, 12])
def test_the_cover_is_the_optimum_of_the_linear_program(n_dims: int) -> None:
    random, better = np.random.default_rng(n_dims), 0
    for _ in range(60):
        n = int(random.integers(1, 60))
        cover, chords = made_up(random, n_dims, n)
        first = greedily(cover, n)
        proven = at_best(cover, n, first, np.inf)
        true = optimize.linprog(np.ones(2 * n_dims), -chords, -np.ones(n), method="highs").fun
        assert proven <= true * (1.0 + 1e-9)
        assert proven >= true * (1.0 - 1e-6)
        assert cover.best_load.max() <= 1.0 + 1e-12
        better += first < 0.99 * proven
    assert better > 0 or n_dims == 1


def test_loads_belong_to_what_is_proven() -> None:
    """Reduced prices: with moves at prices 1 - load, everything beyond the proven cost is still to be paid."""
    random = np.random.default_rng(7)
    for _ in range(60):
        n, n_dims = int(random.integers(2, 40)), 5
        cover, chords = made_up(random, n_dims, n)
        proven = at_best(cover, n, greedily(cover, n), np.inf)
        for _ in range(20):
            moves = random.random(2 * n_dims) * random.integers(0, 2, 2 * n_dims)
            slowest = (chords @ moves).min()
            if slowest > 0.0:
                moves = moves / slowest  # every region is covered now
                assert moves.sum() >= proven + (1.0 - cover.best_load) @ moves - 1e-9 * moves.sum()


def test_it_stops_once_enough_is_proven_and_stays_valid() -> None:
    random = np.random.default_rng(3)
    cover, chords = made_up(random, 10, 50)
    first = greedily(cover, 50)
    true = optimize.linprog(np.ones(20), -chords, -np.ones(50), method="highs").fun
    proven = at_best(cover, 50, first, 0.5 * true)
    assert 0.5 * true < proven <= true * (1.0 + 1e-9)


def test_free_ways_out_prove_nothing_and_spoil_nothing() -> None:
    """An infinite chord stands for a way out at no cost: its region adds nothing, the others count in full."""
    cover, _ = made_up(np.random.default_rng(5), 2, 2)
    cover.size[:2] = 2
    cover.slot[0, :2], cover.chord[0, :2] = (0, 1), (np.inf, 4.0)
    cover.slot[1, :2], cover.chord[1, :2] = (2, 3), (2.0, 5.0)
    assert at_best(cover, 2, greedily(cover, 2), np.inf) == pytest.approx(0.2, rel=1e-6)
    assert cover.best_load[0] == 0.0


def test_too_many_literals_leave_the_greedy_bound() -> None:
    cover, _ = made_up(np.random.default_rng(5), 200, 10)
    first = greedily(cover, 10)
    load = cover.load.copy()
    assert at_best(cover, 10, first, np.inf) == first
    assert (cover.best_load == load).all()


def signed_program(
    geometry: Geometry, node: Node, regions: BallRegions, enough: float
) -> tuple[Floats, Floats, Floats]:
    """Chords of all stored regions over the whole node, what each must reach, and longest moves."""
    n_dims = node.x.size
    used = used_by_gaps(regions, geometry, node.x)
    chords, longest = np.zeros((len(used), 2 * n_dims)), np.zeros(2 * n_dims)
    for d in range(n_dims):
        for side, room in enumerate([node.x[d] - node.low[d], node.high[d] - node.x[d]]):
            length = min(room, enough / geometry.rate[d])
            end = node.x.copy()
            end[d] += length if side == 1 else -length
            there = used_by_gaps(regions, geometry, end)[:, d]
            j = 2 * d + side
            longest[j] = length * geometry.rate[d]
            if length > 0.0:
                chords[:, j] = (there - used[:, d]) / longest[j]
    return chords, 1.0 - used.sum(axis=1), longest


@pytest.mark.parametrize("room", [Ball(0.3), Diamond(0.3)])
def test_moves_into_other_regions_count(room: Ball | Diamond) -> None:
    """The program over all stored regions at once, from those it asks for itself, and what it proves about centres."""
    solved = impossible = walked_into = tried = 0
    for seed in range(240):
        random = np.random.default_rng(seed)
        n_dims = int(random.integers(2, 6))
        geometry = ball_geometry(random, room, n_dims)
        regions = random_regions(random, geometry, 64, int(random.integers(1, 12)))
        node, cover = blank(Node, dims=n_dims), _cover(n_dims)
        starts = random.random((200, n_dims))  # a little within the reach of a region, most of the time
        nearest = [used_by_gaps(regions, geometry, x).sum(axis=1).min() for x in starts]
        node.x[:] = starts[np.argmin(np.abs(np.array(nearest) - 0.8))]
        node.low[:] = node.x - random.choice([0.0, 0.05, 0.3], n_dims)
        node.high[:] = node.x + random.choice([0.0, 0.05, 0.3], n_dims)
        enough = float(random.choice([0.1, 0.2, 0.29])) * float(geometry.rate.min())
        chords, right, longest = signed_program(geometry, node, regions, enough)
        proven = with_regions(geometry, node, regions, cover, 0, 0.0, enough)
        answer = optimize.linprog(
            np.ones(2 * n_dims), -chords, -right, bounds=list(zip(np.zeros(2 * n_dims), longest, strict=True))
        )
        if answer.status == 2:
            impossible += 1
            assert proven > enough
        else:
            assert answer.status == 0
            assert proven <= answer.fun * (1.0 + 1e-9) + 1e-12
            if answer.fun < enough:
                assert proven >= answer.fun * (1.0 - 1e-4) - 1e-5
            solved += 1
            met = used_by_gaps(regions, geometry, node.x).sum(axis=1) < 1.0
            alone = optimize.linprog(np.ones(2 * n_dims), -chords[met], -right[met])
            walked_into += met.any() and alone.status == 0 and alone.fun < answer.fun * 0.99
        centres = np.clip(node.x + random.normal(scale=0.1, size=(500, n_dims)), node.low, node.high)
        extra = np.abs(centres - node.x) @ geometry.rate
        tried += int((extra < min(enough, proven)).sum())
        for centre in centres[extra < min(enough, proven)]:
            assert (used_by_gaps(regions, geometry, centre).sum(axis=1) < 1.0 + 1e-12).any()
    assert min(solved, impossible, walked_into) >= 5
    assert tried > 1000
