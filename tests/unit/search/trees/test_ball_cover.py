"""Balls and diamonds on trees: the price of leaving many regions at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from elbowroom.compiling import kernel
from elbowroom.search.trees.ball_cover import Cover, best_cover, cover_bound


@kernel
def greedily(cover: Cover, n: int) -> float:
    return cover_bound(cover, n)


@kernel
def at_best(cover: Cover, n: int, proven: float, enough: float) -> float:
    return best_cover(cover, n, proven, enough)


def made_up(random: np.random.Generator, n_dims: int, n_regions: int) -> tuple[Cover, np.ndarray]:
    """Regions with random ways out, some of them with the same ways, and their chords as a matrix."""
    cover, chords = Cover.of(n_dims), np.zeros((n_regions, 2 * n_dims))
    for r in range(n_regions):
        keys = random.permutation(2 * n_dims)[: random.integers(1, 2 * n_dims + 1)]
        if r % 5 == 4:
            keys = np.flatnonzero(chords[r - 1])
        chords[r, keys] = 1.0 / random.choice([0.01, 0.1, 0.25, random.random() + 1e-3], keys.size)
        cover.size[r] = keys.size
        cover.key[r, : keys.size], cover.chord[r, : keys.size] = keys, chords[r, keys]
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
    cover.key[0, :2], cover.chord[0, :2] = (0, 1), (np.inf, 4.0)
    cover.key[1, :2], cover.chord[1, :2] = (2, 3), (2.0, 5.0)
    assert at_best(cover, 2, greedily(cover, 2), np.inf) == pytest.approx(0.2, rel=1e-6)
    assert cover.best_load[0] == 0.0


def test_too_many_literals_leave_the_greedy_bound() -> None:
    cover, _ = made_up(np.random.default_rng(5), 200, 10)
    first = greedily(cover, 10)
    load = cover.load.copy()
    assert at_best(cover, 10, first, np.inf) == first
    assert (cover.best_load == load).all()
