"""First regions: whatever descents and kicks offer, the judge decides; bounds by simplices never exceed the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from elbowroom.numerics import Floats
from elbowroom.problem import AtMost, Ball, Box, Diamond, Feature, RecourseProblem, Space
from elbowroom.search.contract import Clock
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.engine import farthest
from elbowroom.search.network.first_regions import FirstRegions
from elbowroom.search.network.limits import MOST_SIMPLICES
from elbowroom.search.network.margins import MarginNetwork
from elbowroom.search.network.nearest import nearest_answer
from elbowroom.search.network.rising import Rising
from elbowroom.search.network.simplex_bounds import Signs, bounds_above
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


def test_aims_close_in_on_what_the_judge_can_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rooms of wide networks may need many times the usual margin: after a failure the aim does not fall far below what succeeds."""
    search, aims = begun(0, 4, (8, 8), None), list[float]()
    regions = FirstRegions(search)
    assert regions.run()

    def only_wide_rooms(v: Floats, seconds: float) -> bool:
        aims.append(regions.aim)
        return regions.aim >= 1.4

    monkeypatch.setattr(regions, "_descend", lambda *asked: search.moves.low)
    monkeypatch.setattr(regions, "offer", only_wide_rooms)
    regions.aim, regions.good, regions.hard = 2.0, 2.4, 1.5
    regions.improve(30)
    assert len(aims) == 30
    assert min(aims) > 1.0 and max(aims[10:]) < 1.7
    assert {aim >= 1.4 for aim in aims[10:]} == {False, True}


def test_while_bounds_rise_the_best_is_kicked_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    search, kicks = begun(4, 6, (20, 20), None), list[int]()
    regions = FirstRegions(search)
    assert regions.run()
    rising = Rising(search, regions, farthest(search.moves))
    monkeypatch.setattr(regions, "improve", lambda most: bool(kicks.append(most)))
    monkeypatch.setattr(rising, "go_on", lambda nodes: False)
    rising.simplices = Simplices(search, regions, search.best_distance)
    rising.simplices.nodes = 16 * MOST_SIMPLICES
    rising.while_it_rises(0.01)
    assert len(kicks) == 4  # after 1, 2, 4 and 8 runs more: those in vain get rare


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
def test_nearest_answers_are_those_of_another_solver(seed: int) -> None:
    """Few and many rows, rows that exclude all, the same row twice; never above, and hardly below."""
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(2, 40)), int(rng.integers(1, 10))
    distance, R = rng.uniform(0.0, 2.0, n), rng.normal(-0.5, 1.0, (rows, n)) * 10.0 ** rng.integers(-6, 7, (rows, 1))
    if seed % 3 == 0:
        R = np.vstack([R, R[:1], 2.0 * R[:1]])
    value, share, weight = nearest_answer(R, distance)
    assert (share >= 0.0).all() and share.sum() == pytest.approx(1.0) and (weight >= 0.0).all()
    scaled = R / np.abs(R).max(axis=1, keepdims=True)
    other = linprog(distance, A_ub=-scaled, b_ub=np.zeros(len(R)), A_eq=np.ones((1, n)), b_eq=[1.0])
    truth = other.fun if other.status == 0 else np.inf
    assert value <= truth + 1e-8
    assert value >= min(truth, 2.0) - 1e-6


def test_nearest_answers_without_a_violated_row_are_the_nearest_vertex() -> None:
    value, share, _ = nearest_answer(np.array([[1.0, 2.0, -1.0]]), np.array([0.5, 0.25, 0.75]))
    assert value == 0.25 and share.tolist() == [0.0, 1.0, 0.0]
    assert nearest_answer(-np.ones((1, 3)), np.ones(3))[0] == np.inf
    assert (
        nearest_answer(np.array([[np.nan, -1.0, -1.0]]), np.array([0.5, 0.25, 0.75]))[0] <= 0.5
    )  # what is not known is good


@pytest.mark.parametrize("seed", range(8))
def test_a_valid_centre_satisfies_the_rows_of_a_waiting_simplex(seed: int) -> None:
    """Rows are handed on from simplex to simplex: the proven answer, which the search is not told, must stay possible."""
    search = begun(seed, 3, (5, 5), 2.0 if seed % 2 else None)
    found = solve(search.problem, seconds=30.0).center
    if found is None:
        return
    distance = search.problem.measure(found)
    search.clock.deadline = np.inf
    regions = FirstRegions(search)
    regions.settle = lambda v: False  # type: ignore[method-assign]
    simplices = Simplices(search, regions, 1.5 * distance)
    for _ in range(4):
        simplices.run(40)
        waiting = [(bound, simplex) for bound, _, simplex, _ in simplices._heap]
        waiting += [(cut.bound, simplex) for cut in simplices._todo for simplex in cut.ways[-1]]
        assert any(
            bound <= distance * (1.0 + 1e-9) and _holds(simplices, one, found, distance) for bound, one in waiting
        )


@pytest.mark.parametrize("seed", range(20))
def test_bounds_on_simplices_are_above_margins_where_signs_are_decided(seed: int) -> None:
    """Signs that were decided for one shift of the room, bounds for another one: every point with these signs is below."""
    rng = np.random.default_rng(seed)
    n, depth, seen = 4, 2 + seed % 2, 0
    layers = network(rng, n, (7,) * depth, 2).layers
    net = MarginNetwork(tuple(layer.weight for layer in layers), tuple(layer.bias for layer in layers))
    V = np.vstack([np.zeros(n), 2.0 * np.eye(n)]) + rng.normal(size=n)
    first, other = rng.normal(size=(2, n))
    z = (V + first) @ net.weights[0].T + net.biases[0]
    signs = Signs.none(n + 1)
    for q in rng.choice(7, 3, replace=False):
        on = bool(rng.random() < 0.5)
        signs = signs.and_one(int(q), on, z[:, q] if on else -z[:, q])
    theta = rng.dirichlet(np.ones(n + 1) * 0.5, 4000)
    inside = theta[(theta @ signs.rows.T >= 0.0).all(axis=1)]
    for shift in (first, other):
        slopes = [rng.random((1, 7)) for _ in range(depth)]
        F, _ = bounds_above(net, (V + shift)[None], slopes, np.zeros(1, dtype=np.int64), [signs])
        plain, _ = bounds_above(net, (V + shift)[None], slopes, np.zeros(1, dtype=np.int64), [Signs.none(n + 1)])
        seen += int((F != plain).any())
        assert (inside @ F[0] >= net.margins(inside @ V + shift)[:, 0] - 1e-12).all()
    assert seen  # they do change something


def test_both_ways_to_divide_a_simplex_are_taken() -> None:
    search = begun(4, 3, (8, 8), None)
    regions = FirstRegions(search)
    simplices = Simplices(search, regions, 2.0 * bound_at_once(search, regions, regions.penalty.length))
    simplices.run(300)
    waiting = [simplex for _, _, simplex, _ in simplices._heap]
    assert any(simplex.signs.neuron.size for simplex in waiting)
    assert any(simplex.signs.neuron.size < simplex.depth for simplex in waiting)
    assert simplices._kept == sum(simplex.numbers for simplex in waiting)


def _holds(simplices: Simplices, waiting: Any, x: Any, distance: float) -> bool:
    """Whether x is in a simplex, no farther than it is, with all rows satisfied."""
    V, far = simplices._table[waiting.vertices], simplices._distance[waiting.vertices]
    rows = np.vstack([waiting.rows, waiting.signs.rows])
    fits_in = linprog(
        far, A_ub=-rows if len(rows) else None, b_ub=np.zeros(len(rows)) if len(rows) else None,
        A_eq=np.vstack([V.T, np.ones(len(V))]), b_eq=np.append(x, 1.0),
    )  # fmt: skip
    return bool(fits_in.status == 0 and fits_in.fun <= distance * (1.0 + 1e-7))


def test_growing_cutoffs_stay_below_the_truth_on_a_line() -> None:
    """With regions in between they come near the nearest one, or end with the proof that there is none within the limits."""
    near = none = 0
    for seed in range(0, 24, 2):
        search = begun(seed, 1, (4, 3), 1.2)
        truth = truth_on_a_line(search.problem)
        regions = FirstRegions(search)
        if np.isfinite(truth):
            regions.run()
        rising = Rising(search, regions, farthest(search.moves))
        rounds = 0
        while not rising.go_on(20) and rounds < 24:
            rounds += 1
        assert search.lower_bound <= truth * (1.0 + 1e-9)
        if rising.closed and search.best is None:
            assert truth == np.inf == search.lower_bound
            none += 1
        elif rising.closed:
            assert search.best_distance == pytest.approx(truth, rel=2e-3)
        near += np.isfinite(truth) and search.lower_bound >= 0.9 * truth
    assert none >= 3 and near >= 3


def test_simplices_that_were_stopped_are_not_done() -> None:
    """The time is over with simplices left: asked again, they do not say that all is proven."""
    search = begun(0, 3, (5, 5), None)
    simplices = Simplices(search, FirstRegions(search), 5.0)
    search.clock.deadline = search.clock.start
    assert [simplices.run(50), simplices.run(50)] == [False, False]
    assert simplices.bound < 5.0
