"""Candidates and the judge's looks: slices, second looks, and local search with a trust region."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.problem import Ball, Box, Feature, RecourseProblem, Space
from elbowroom.result import Certificate, Undecided, Verdict
from elbowroom.search.contract import LOOKS_PER_SECOND, Clock
from elbowroom.search.network.ascent import climb_and_settle
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.limits import LARGEST_SLICE, UNDECIDED_SHARE
from tests.support.hostile import attack
from tests.support.referee import Engine, Referee, run_engine
from tests.support.small_networks import network, solve, truth_on_a_line


class SlowReferee(Referee):
    """Cannot decide anything in a slice of the looks; knows everything when there is (nearly) no limit."""

    def __init__(self, problem: RecourseProblem, clock: Clock) -> None:
        super().__init__(problem)
        self.clock, self.slices = clock, []

    def __call__(self, center: np.ndarray, looks: float = np.inf, /) -> Verdict:
        if looks < 0.5 * self.clock.time_limit * LOOKS_PER_SECOND:
            self.slices.append(looks / LOOKS_PER_SECOND)
            return Undecided("too few looks")
        return super().__call__(center, looks)


@pytest.mark.parametrize("hidden", [(4,), (3, 3)])
def test_a_hard_candidate_gets_a_slice_and_a_second_look(hidden: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    problem = RecourseProblem.ask(network(rng, 2, hidden), Space.plain(("x0", "x1")), [0.3, -0.4], Box(0.05))
    clock = Clock(120.0)
    referee = SlowReferee(problem, clock)
    outcome = run_engine(Engine.NETWORK, problem, referee, clock=clock)
    assert referee.slices
    assert max(referee.slices) <= LARGEST_SLICE * clock.time_limit
    assert sum(s for s in referee.slices if s > 0.5) <= UNDECIDED_SHARE * clock.time_limit
    assert outcome.center is not None
    plain = solve(problem, seconds=120.0)
    assert plain.center is not None
    assert problem.measure(outcome.center) == pytest.approx(problem.measure(plain.center), rel=2e-3)
    assert outcome.lower_bound <= problem.measure(plain.center)


def test_a_judge_that_never_decides_gives_no_answer() -> None:
    rng = np.random.default_rng(6)
    problem = RecourseProblem.ask(network(rng, 2, (4,)), Space.plain(("x0", "x1")), [0.3, -0.4], Box(0.05))
    never = Referee(problem, lambda center, looks: Undecided("never"))
    outcome = run_engine(Engine.NETWORK, problem, never, seconds=3.0)
    assert outcome.center is None
    assert np.isfinite(outcome.lower_bound)
    assert "never" in outcome.reason


@pytest.mark.parametrize("seed", range(12))
def test_climbing_ends_at_certified_centres(seed: int) -> None:
    """On a line the truth is known: what local search finds is valid, and never closer than the optimum."""
    rng = np.random.default_rng(seed)
    model = network(rng, 1, (3, 3))
    space = Space((Feature("x0", lower=-3.0, upper=3.0),))
    problem = RecourseProblem.ask(model, space, [rng.uniform(-2, 2)], (Box, Ball)[seed % 2](0.1))
    clock = Clock(20.0)
    search = NetworkSearch.begin(problem, Referee(problem), clock, 0)
    improved = climb_and_settle(search, problem.factual)
    assert improved == isinstance(search.referee.certificate, Certificate)
    if search.best is None:
        return
    assert search.best_distance >= truth_on_a_line(problem) * (1 - 1e-9) - 1e-9
    info = model.info
    attack(lambda X: info.labels_of(model.scores(X)), problem.body(search.best), problem.target_index)


def test_climbing_finds_what_tangents_far_away_miss() -> None:
    """Most random questions about deep networks get a centre from local search alone."""
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        problem = RecourseProblem.ask(
            network(rng, 4, (6, 6)), Space.plain(tuple(f"x{i}" for i in range(4))), rng.normal(size=4), Box(0.02)
        )
        search = NetworkSearch.begin(problem, Referee(problem), Clock(20.0), 0)
        found += climb_and_settle(search, problem.factual)
    assert found >= 8
