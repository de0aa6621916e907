"""The tree for one hidden layer where an attack finds nothing new."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import Diamond, Explainer, Region, Status
from elbowroom.problem import Box, RecourseProblem, Space
from elbowroom.search.contract import Clock
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.shallow import ShallowTree
from tests.support.referee import Referee
from tests.support.small_networks import network
from tests.support.touching import DISTANCE, touching


def test_a_violation_of_a_known_scenario_is_no_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attack on a node's point reports a violation and adds nothing to the pool: there is no row to make of it."""
    problem = RecourseProblem.ask(
        network(np.random.default_rng(5), 2, (4,)), Space.plain(("x0", "x1")), [0.3, -0.4], Box(0.05)
    )
    honest = NetworkSearch.begin(problem, Referee(problem), Clock(60.0), 0)
    ShallowTree(honest).run(10.0)
    assert honest.best is not None
    search = NetworkSearch.begin(problem, Referee(problem), Clock(60.0), 0)
    found = search.attack

    def rounded(center: np.ndarray, starts: int = 8, rounds: int = 10, remember: int = 1) -> float:
        value = found(center, starts, rounds, remember)
        return -1.0 if (starts, rounds, remember) == (8, 10, 1) and value >= -1e-7 else value

    monkeypatch.setattr(search, "attack", rounded)
    _, bound = ShallowTree(search).run(10.0)
    assert bound <= honest.best_distance


def test_the_closest_centre_may_touch_a_known_scenario() -> None:
    model, space, row = touching()
    region = Explainer(model, space).explain(row, Diamond(0.05), target=0, distance="l2")
    assert isinstance(region, Region) and region.status is Status.OPTIMAL
    assert region.distance == pytest.approx(DISTANCE, rel=1e-4)
