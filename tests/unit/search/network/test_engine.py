"""The engine's short cut for one hidden layer, and the margin that candidates aim for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from elbowroom.models import Affine, Decision, Link, ModelInfo, ReluNetwork
from elbowroom.numerics import TOLERANCES
from elbowroom.problem import Box, Feature, RecourseProblem, Space
from elbowroom.result import Certificate, Undecided
from elbowroom.search.contract import Clock
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.convex_concave import improve
from elbowroom.search.network.engine import _close, _closes_at_once, farthest
from elbowroom.search.network.first_regions import FirstRegions
from elbowroom.search.network.limits import EASY, LEAST_SAFETY
from elbowroom.search.network.part import Part
from elbowroom.search.network.rising import Rising
from elbowroom.search.network.shallow import ShallowTree
from tests.support.hostile import attack
from tests.support.referee import Referee
from tests.support.small_networks import network, solve, truth_on_a_line


def question_of(seed: int, features: int = 1, hidden: int = 6) -> RecourseProblem:
    rng = np.random.default_rng(4000 + seed)
    model = network(rng, features, (hidden,))
    space = Space(tuple(Feature(f"x{i}", lower=-3.0, upper=3.0) for i in range(features)))
    row = rng.uniform(-2.0, 2.0, features)
    wanted = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    return RecourseProblem.ask(model, space, row, Box(0.1), wanted)


def search_of(seed: int, features: int = 1, hidden: int = 6) -> NetworkSearch:
    problem = question_of(seed, features, hidden)
    return NetworkSearch.begin(problem, Referee(problem), Clock(60.0), 0)


def test_closing_at_once_never_proves_too_much() -> None:
    """On a line the truth is known: True means proven optimal, False leaves an honest bound and little work done."""
    ends = []
    for seed in range(30):
        search = search_of(seed)
        if not improve(search, search.problem.factual):
            continue
        before = search.counters.get("nodes", 0.0)
        closed = _closes_at_once(search)
        ends.append(closed)
        truth = truth_on_a_line(search.problem)
        assert search.counters["nodes"] - before <= EASY
        assert search.lower_bound <= truth * (1.0 + 1e-9)
        if closed:
            assert search.best_distance <= truth * (1.0 + TOLERANCES.continuous_gap)
    assert any(ends)


def test_closing_at_once_says_no_while_a_better_centre_may_exist() -> None:
    """A best centre that is far too far away must not count as proven."""
    open_ends = 0
    for seed in range(12):
        search = search_of(seed, features=3, hidden=12)
        exact = solve(search.problem)
        if exact.center is None:
            continue
        best = search.problem.measure(exact.center)
        search.referee.center, search.referee.distance = exact.center, 3.0 * best  # as if only a poor one were known
        if _closes_at_once(search):
            assert search.best_distance <= best * (1.0 + TOLERANCES.continuous_gap)  # it was found on the way
        else:
            open_ends += 1
        assert search.lower_bound <= best * (1.0 + 1e-9)
    assert open_ends


def test_the_aim_has_a_floor() -> None:
    search = search_of(0)
    aims = [search.safety]
    while search.aim_lower():
        aims.append(search.safety)
        assert len(aims) < 100
    assert aims == sorted(aims, reverse=True)
    assert aims[-1] == max(LEAST_SAFETY, search.rounding) > 0.0
    assert not search.aim_lower() and search.safety == aims[-1]
    search.rounding = 1e-3  # margins below their own rounding mean nothing
    search.safety = 1e-5
    assert not search.aim_lower() and search.safety == 1e-5


def test_undecided_candidates_do_not_wear_the_aim_away() -> None:
    """A judge that never decides: every candidate asks for less margin, down to the floor and no further."""
    search = search_of(1, features=2)
    search = replace(search, referee=Referee(search.problem, lambda center, looks: Undecided("never", 0.0)))
    tree = ShallowTree(search)
    tree.cutoff = 10.0
    tree.loose = np.inf
    part = Part.everything(search.moves)
    v, before = search.moves.low, search.safety
    for _ in range(100):
        assert not tree._candidate(part, v, search.moves.point(v), 0.0)
    assert before > search.safety >= max(LEAST_SAFETY, search.rounding)


def test_the_floor_does_not_change_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with the smallest aim from the start the answer is certified and optimal, or proven not to exist."""
    begin, searches = NetworkSearch.begin, []

    def begin_at_the_floor(*question: Any) -> NetworkSearch:
        searches.append(begin(*question))
        while searches[-1].aim_lower():
            pass
        return searches[-1]

    monkeypatch.setattr(NetworkSearch, "begin", begin_at_the_floor)
    regions = 0
    for seed in range(8):
        problem = question_of(seed)
        truth, found = truth_on_a_line(problem), solve(problem)
        assert searches[-1].safety < 1e-10
        assert found.lower_bound <= truth * (1.0 + 1e-9)
        if np.isinf(truth):
            assert found.center is None
            assert found.lower_bound == np.inf
            continue
        regions += 1
        assert isinstance(found.certificate, Certificate)
        assert truth * (1.0 - 1e-9) <= found.distance <= truth * (1.0 + TOLERANCES.continuous_gap)
        assert found.lower_bound >= found.distance * (1.0 - TOLERANCES.continuous_gap)
    assert len(searches) == 8
    assert regions >= 5


@pytest.mark.parametrize("seed", [13, 248, 344])
def test_a_centre_on_the_boundary_is_polished_nearby(seed: int) -> None:
    """Rooms clipped by limits: tangents taken far away excluded the closest centre, and its part was given up."""
    rng = np.random.default_rng(seed)
    model = network(rng, 10, (8,))
    space = Space(tuple(Feature(f"x{i}", lower=0.0, upper=1.0) for i in range(10)))
    row = np.where(rng.random(10) < 0.6, np.round(rng.random(10)), rng.random(10))
    wanted = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    problem = RecourseProblem.ask(model, space, row, Box(0.1), wanted)
    found = solve(problem)
    assert found.center is not None
    assert found.lower_bound >= problem.measure(found.center) * (1.0 - TOLERANCES.continuous_gap)
    attack(lambda X: model.info.labels_of(model.scores(X)), problem.body(found.center), wanted)


@pytest.mark.parametrize("hidden", [1, 2])
def test_the_outermost_shell_is_looked_at(hidden: int) -> None:
    """Trees and simplices leave out the last half of a gap below their cutoff: one that hardly reaches the farthest corner proves
    nothing about the centres there, of which one is good."""
    upper = 0.05 * (1.0 - 1e-5)
    layers = [Affine.exact(np.ones((1, 1)), np.zeros(1)) for _ in range(hidden)]
    layers.append(Affine.exact(np.ones((1, 1)), np.array([-upper * (1.0 - 2e-5)])))
    model = ReluNetwork(ModelInfo(("x",), (0, 1), Decision.POSITIVE, Link.NONE, "made from arrays"), tuple(layers))
    space = Space((Feature("x", lower=0.0, upper=upper),))
    problem = RecourseProblem.ask(model, space, np.zeros(1), Box(0.0))
    search = NetworkSearch.begin(problem, Referee(problem), Clock(30.0), 0)
    assert isinstance(Referee(problem)(np.array([upper])), Certificate)
    if hidden == 1:
        _close(search, ShallowTree(search))
    else:
        rising = Rising(search, FirstRegions(search), farthest(search.moves))
        rising.cutoff = 0.05
        rising.go_on(100)
    assert search.lower_bound <= upper
