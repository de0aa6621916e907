"""First regions: whatever descents and kicks offer, the judge decides; bounds by simplices never exceed the truth."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.problem import AtMost, Ball, Box, Diamond, Feature, RecourseProblem, Space
from elbowroom.search.contract import Clock
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.first_regions import FirstRegions
from elbowroom.search.network.nearest import nearest_answer
from elbowroom.search.network.simplices import Simplices, bound_at_once, fits
from tests.support.hostile import attack
from tests.support.referee import Referee
from tests.support.small_networks import network, solve, truth_on_a_line

ROOMS = (Box, Ball, Diamond)


def begun(seed: int, features: int, hidden: tuple[int, ...], reach: float | None, **asked: object) -> NetworkSearch:
    rng = np.random.default_rng(seed)
    model = network(rng, features, hidden, 2 + seed % 2)
    names = model.info.names
    space = Space.plain(names) if reach is None else Space(tuple(Feature(n, lower=-reach, upper=reach) for n in names))
    room = ROOMS[seed % 3](0.05)
    row = rng.uniform(-1.0, 1.0, features)
    label = int(model.info.labels_of(model.scores(row[None]))[0])
    target = (label + 1) % (2 + seed % 2)
    problem = RecourseProblem.ask(model, space, row, room, target, **asked)  # type: ignore[arg-type]
    return NetworkSearch.begin(problem, Referee(problem), Clock(20.0), 0)


@pytest.mark.parametrize("seed", range(9))
def test_regions_are_certified_and_kicks_only_ever_improve(seed: int) -> None:
    search = begun(seed, 4, (8, 8), 3.0 if seed % 2 else None)
    regions = FirstRegions(search)
    assert not regions.improve(1)  # there is nothing to kick yet
    if not regions.run():
        return
    problem, info = search.problem, search.problem.model.info
    before = search.best_distance
    assert regions.improve(6) == (search.best_distance < before)
    assert search.best is not None
    attack(lambda X: info.labels_of(problem.model.scores(X)), problem.body(search.best), problem.target_index)


def test_most_questions_get_a_region_from_descents_alone() -> None:
    assert sum(FirstRegions(begun(seed, 4, (8, 8), None)).run() for seed in range(12)) >= 9


def test_most_changes_are_kept() -> None:
    for seed in range(4):
        search = begun(seed, 4, (8, 8), None, rules=(AtMost(1),))
        if FirstRegions(search).run():
            assert search.best is not None
            assert search.problem.changed(search.best).sum() <= 1


@pytest.mark.parametrize("seed", range(12))
def test_simplices_stay_below_the_truth_on_a_line(seed: int) -> None:
    search = begun(2 * seed, 1, (4, 3) if seed % 2 else (3, 3, 3), 3.0)
    truth = truth_on_a_line(search.problem)
    regions = FirstRegions(search)
    assert bound_at_once(search, regions, regions.penalty.length) <= truth * (1.0 + 1e-9)
    for cutoff in (0.5, 3.0):
        simplices = Simplices(search, regions, cutoff)
        simplices.run(200)
        assert simplices.bound <= max(truth, cutoff) * (1.0 + 1e-9)
        assert min(simplices.bound, cutoff * (1.0 - 1e-9)) <= truth * (1.0 + 1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_simplices_stay_below_proven_optima(seed: int) -> None:
    search = begun(seed, 3, (5, 5), 2.0 if seed % 2 else None)
    outcome = solve(search.problem, seconds=30.0)
    best = np.inf if outcome.center is None else search.problem.measure(outcome.center)
    if not np.isfinite(best):
        return
    regions = FirstRegions(search)
    simplices = Simplices(search, regions, 1.3 * best)
    simplices.run(400)
    assert simplices.bound <= best * (1.0 + 1e-6)
    assert simplices.bound > 0.0


def test_simplices_are_for_l1_and_rooms_of_numbers() -> None:
    assert fits(begun(0, 3, (4, 4), None))
    assert not fits(begun(0, 3, (4, 4), None, distance="l2"))
    names = ("x0", "x1")
    model = network(np.random.default_rng(0), 2, (4, 4))
    whole = Space(tuple(Feature(n, lower=-3.0, upper=3.0, kind="integer") for n in names))
    problem = RecourseProblem.ask(model, whole, [0.0, 1.0], Box(1.0))
    assert not fits(NetworkSearch.begin(problem, Referee(problem), Clock(5.0), 0))


@pytest.mark.parametrize("seed", range(30))
def test_nearest_answers_are_below_every_point(seed: int) -> None:
    """Random points of the simplex inside the limits, with a bound that is not negative: none is nearer."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    F, distance = rng.normal(size=n + 1), rng.uniform(0.0, 2.0, n + 1)
    V = rng.normal(size=(n + 1, n))
    low, high = np.full(n, -rng.uniform(0.1, 1.0)), np.full(n, rng.uniform(0.1, 1.0))
    value, a, b, share = nearest_answer(F, distance, V, low, high, bool(seed % 2))
    theta = rng.dirichlet(np.full(n + 1, 0.5), 4000)
    points = theta @ V
    fits_in = (theta @ F >= 0.0) & (((points >= low) & (points <= high)).all(axis=1) if seed % 2 else True)
    assert (theta[fits_in] @ distance >= value - 1e-9).all()
    assert 0 <= a <= n and 0 <= b <= n and 0.0 <= share <= 1.0


def test_simplices_that_were_stopped_are_not_done() -> None:
    """The time is over with simplices left: asked again, they do not say that all is proven."""
    search = begun(0, 3, (5, 5), None)
    simplices = Simplices(search, FirstRegions(search), 5.0)
    search.clock.deadline = search.clock.start
    assert [simplices.run(50), simplices.run(50)] == [False, False]
    assert simplices.bound < 5.0
