"""The paper's worked examples, with their numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.models import Decision, Link, ModelInfo, TreeEnsemble
from elbowroom.numerics import Floats
from elbowroom.problem import Ball, Box, Diamond, RecourseProblem, Space
from elbowroom.search.adversarial.center import Stance
from elbowroom.search.adversarial.encode_trees import TreeFamily
from elbowroom.search.adversarial.loop import _Loop
from elbowroom.search.adversarial.scenario import Scenario, zero_shift
from elbowroom.search.contract import Clock
from elbowroom.search.solvers.highs_mip import HighsMip
from elbowroom.search.solvers.protocol import Chain
from tests.support.linear_problems import linear_model
from tests.support.referee import Referee
from tests.support.searches import run


def _half_plane() -> RecourseProblem:
    """Class 1 iff x2 <= 1/2; the factual (0, 2) is of class 0; the room is the box of radius 1."""
    info = ModelInfo(("x1", "x2"), (0, 1), Decision.POSITIVE, Link.NONE, "the paper's example")
    model = TreeEnsemble(
        info,
        np.array([0]),
        np.array([1, -1, -1]),
        np.array([0.5, 0.0, 0.0]),
        np.array([1, -1, -1]),
        np.array([2, -1, -1]),
        np.array([[0.0], [1.0], [-1.0]]),
        np.zeros(1),
    )
    return RecourseProblem.ask(model, Space.plain(info.names), np.array([0.0, 2.0]), Box(1.0), 1, "l1")


class _ShallowFamily(TreeFamily):
    """The adversary of the example: any bad point will do, and it returns s^i = (1, 1/2 + sum of 4^-j up to i)."""

    calls = 0

    def attack(self, center: Floats, solver: Chain, seconds: float) -> list[Floats]:
        self.calls += 1
        depth = sum(0.25**j for j in range(1, self.calls + 1))
        point = center + np.array([1.0, 0.5 + depth])
        return [point] if self.spare(point[None])[0] < 0 else []


def _loop(family: TreeFamily) -> _Loop:
    problem = family.problem
    loop = _Loop(problem, Referee(problem), Clock(60.0), Chain([HighsMip()]), family)
    # the example starts with the master's solution (0, 0), which the shift (1, 1/2) makes optimal
    loop.scenarios = [zero_shift(problem), Scenario(np.array([1.0, 0.5]))]
    loop.farthest = math.inf
    return loop


def test_a_shallow_adversary_stalls_and_the_deepest_one_ends() -> None:
    family = _ShallowFamily(_half_plane())
    shallow = _loop(family)
    for rounds in range(1, 16):
        assert shallow._round() == ""
        assert not shallow.content
        assert len(shallow.scenarios) == 2 + rounds
        added = shallow.scenarios[-1].shift
        assert added == pytest.approx([1.0, 0.5 + sum(0.25**j for j in range(1, rounds + 1))])
    limit = 0.5 + sum(0.25**j for j in range(1, 40))  # the geometric series: 5/6, short of the room's 1
    assert limit == pytest.approx(5 / 6)
    master = family.master(shallow.scenarios, Stance.ASK, math.inf)
    x = master.decode(HighsMip().solve(master.program, 10.0).x)
    assert x == pytest.approx([0.0, -1 / 3], abs=1e-8)

    deepest = _loop(TreeFamily(_half_plane()))
    while not deepest.content:
        assert deepest._round() == ""
    assert deepest.rounds <= 3
    assert deepest.center == pytest.approx([0.0, -0.5])


def test_the_example_through_the_front() -> None:
    problem = _half_plane()
    outcome = run(problem)
    assert outcome.distance == pytest.approx(2.5, rel=1e-12)
    assert outcome.lower_bound == pytest.approx(2.5, rel=1e-9)
    assert outcome.counters["rounds"] <= 3


@pytest.mark.parametrize("room", [Box, Ball, Diamond])
@pytest.mark.parametrize(("rho", "rho_mod"), [(0.1, 0.05), (0.5, 0.5), (1.0, 0.01)])
def test_recourse_robust_is_not_model_robust(room: type, rho: float, rho_mod: float) -> None:
    """Hyperplane x2 - 1 = 0, factual (c, 0): the closest recourse-robust point is (c, 1 + rho), and a retrained model has
    the hyperplane -rho_mod x1 + x2 - 1 = 0, whose value there is rho - rho_mod c.

    The paper takes c = rho / (2 rho_mod), where that value is rho / 2 (it says -rho / 2): the centre survives the new
    model, its room does not. With c = 2 rho / rho_mod the value is -rho, and the point itself is lost, as the paper means.
    """
    model = linear_model(np.array([[0.0, 1.0]]), np.array([-1.0]))
    for first, survives in ((rho / (2 * rho_mod), True), (2 * rho / rho_mod, False)):
        problem = RecourseProblem.ask(model, Space.plain(("x0", "x1")), np.array([first, 0.0]), room(rho), 1, "l1")
        outcome = run(problem)
        assert outcome.center == pytest.approx([first, 1 + rho], rel=1e-5)
        retrained = -rho_mod * outcome.center[0] + outcome.center[1] - 1.0
        assert retrained == pytest.approx(rho / 2 if survives else -rho, rel=1e-4)
        assert retrained - rho < 0.0
        if room is Box:  # the corner (c + rho, 1) of the box
            lowest = -rho_mod * outcome.certificate.body.upper[0] + outcome.certificate.body.lower[1] - 1.0
            assert lowest == pytest.approx(retrained - rho * (1.0 + rho_mod), rel=1e-4)
