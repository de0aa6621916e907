"""Balls and diamonds on trees: answers known by hand, and how a search ends."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.preprocessing import MinMaxScaler

from elbowroom import AtMost, Ball, Diamond, Explainer, Feature, LinearRule, NoRegion, Region, Space, Status
from elbowroom.models import TreeEnsemble
from elbowroom.problem import Box
from elbowroom.problem.conditions import ROW_SLACK
from elbowroom.search.trees.balls.calls import BallKernels
from elbowroom.search.trees.balls.kernels import TASK
from elbowroom.search.trees.heap import Nodes
from elbowroom.search.trees.stop import STOP
from tests.support.hostile import attack
from tests.support.small_models import info, random_trees

CORNER = math.sqrt(0.1**2 - 0.05**2)  # how far a ball of radius 0.1 stands off when 0.05 above a corner


def corner() -> TreeEnsemble:
    """Bad where x <= 0.5 and y <= 0.5, and where y > 0.65."""
    feature = [0, 1, -1, -1, -1, 1, -1, -1]
    cut = [0.5, 0.5, 0.0, 0.0, 0.0, 0.65, 0.0, 0.0]
    left, right = [1, 2, -1, -1, -1, 6, -1, -1], [4, 3, -1, -1, -1, 7, -1, -1]
    value = [0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, -2.0]
    ints = [np.array(a, dtype=np.int64) for a in ([0, 5], feature, left, right)]
    return TreeEnsemble(
        info(2), ints[0], ints[1], np.array(cut), ints[2], ints[3], np.array(value)[:, None], np.ones(1)
    )


@pytest.mark.parametrize(("room", "stand_off"), [(Ball(0.1), CORNER), (Diamond(0.1), 0.05)])
@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_a_room_passes_close_by_a_corner(room: Ball | Diamond, stand_off: float, distance: str) -> None:
    """The way up ends at y = 0.55, half a radius above the corner at (0.5, 0.5); from there the room goes around it."""
    explainer = Explainer(corner())
    answer = explainer.explain(np.array([0.2, 0.55]), room, target=1, distance=distance)
    truth = 0.3 + stand_off
    assert isinstance(answer, Region)
    assert answer.status is Status.OPTIMAL
    assert answer.lower_bound <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= answer.distance <= truth * (1 + 1.1e-4)
    attack(explainer.predict, answer.body, 1, corner().cuts)


def test_weights_choose_the_way_and_bounds_close_it() -> None:
    cheap_y = Space((Feature("x0", weight=10.0), Feature("x1", weight=0.1, lower=-5.0)))
    answer = Explainer(corner(), cheap_y).explain(np.array([0.2, 0.55]), Ball(0.1), target=1)
    assert isinstance(answer, Region)
    assert answer.distance == pytest.approx(10 * (0.3 + CORNER), rel=1.1e-4)  # there is no way around in y alone
    closed = Space((Feature("x0", upper=0.55), Feature("x1", upper=0.55)))
    none = Explainer(corner(), closed).explain(np.array([0.2, 0.4]), Ball(0.1))
    assert none.status is Status.NONE_EXISTS


def test_limits_cut_the_room() -> None:
    """With y >= 0.51 declared, no point of the room lies beside the corner: x may stay where it is."""
    space = Space((Feature("x0"), Feature("x1", lower=0.51, upper=0.6)))
    answer = Explainer(corner(), space).explain(np.array([0.2, 0.4]), Ball(0.1))
    assert isinstance(answer, Region)
    assert answer.distance == pytest.approx(0.11)
    one_way = Space((Feature("x0", direction="decreasing"), Feature("x1", immutable=True)))
    assert Explainer(corner(), one_way).explain(np.array([0.2, 0.4]), Ball(0.1)).status is Status.NONE_EXISTS


def test_at_most_one_change() -> None:
    answer = Explainer(corner()).explain(np.array([0.2, 0.4]), Ball(0.1), rules=[AtMost(1)])
    assert isinstance(answer, Region)
    assert answer.distance == pytest.approx(0.4, rel=1.1e-4)
    assert answer.status is Status.OPTIMAL


@pytest.mark.parametrize("coefficients", [{"x0": 1.0}, {"x0": 1.0, "x1": 1.0}])
def test_linear_rules_are_kept(coefficients: dict[str, float]) -> None:
    """A rule that the closest centre obeys changes nothing; one that it breaks is obeyed."""
    plain, row = Explainer(corner()), np.array([0.2, 0.4])
    free = plain.explain(row, Ball(0.1))
    loose = plain.explain(row, Ball(0.1), rules=[LinearRule(coefficients, high=3.0)])
    tight = plain.explain(row, Ball(0.1), rules=[LinearRule(coefficients, low=1.2)])
    assert isinstance(free, Region) and isinstance(loose, Region) and isinstance(tight, Region)
    assert loose.distance == pytest.approx(free.distance, abs=1e-6)
    reached = sum(c * tight.center[name] for name, c in coefficients.items())
    slack = ROW_SLACK * sum(abs(c * tight.center[name]) for name, c in coefficients.items())
    assert reached >= 1.2 - slack and tight.distance > free.distance + 0.1


def medium(seed: int) -> tuple[Explainer, np.ndarray]:
    rng = np.random.default_rng(seed)
    cuts = [np.round(rng.uniform(0.0, 1.0, 12), 3) for _ in range(8)]
    model = random_trees(rng, 8, 30, 3, cuts, exact=False)
    return Explainer(model), rng.uniform(0.0, 1.0, 8)


@pytest.mark.parametrize("room", [Ball(0.05), Diamond(0.08)])
def test_same_seed_same_answer_and_bounds_that_only_improve(room: Ball | Diamond) -> None:
    for seed in range(4):
        answers = [Explainer(e.model).explain(x, room) for e, x in (medium(seed), medium(seed))]
        assert answers[0].lower_bound == answers[1].lower_bound
        if isinstance(answers[0], Region) and isinstance(answers[1], Region):
            assert np.array_equal(answers[0].body.center, answers[1].body.center)
            attack(medium(seed)[0].predict, answers[0].body, answers[0].target.label, medium(seed)[0].model.cuts)
        lower = [step.lower_bound for step in answers[0].trace]
        best = [step.best_distance for step in answers[0].trace]
        assert lower == sorted(lower)
        assert best == sorted(best, reverse=True)


@pytest.mark.parametrize("room", [Ball(0.05), Diamond(0.08)])
def test_no_time_no_answer(room: Ball | Diamond) -> None:
    """Nothing is searched, nothing is claimed, and the reason says so; the same question has an answer."""
    explainer, x = medium(1)
    answer = explainer.explain(x, room, time_limit=0.0)
    assert answer.status is Status.UNKNOWN
    assert isinstance(answer, NoRegion)
    assert "time limit" in answer.reason
    assert answer.counters["nodes"] == 0
    with_time = explainer.explain(x, room)
    assert with_time.status is Status.OPTIMAL
    assert answer.lower_bound < with_time.lower_bound


def test_a_larger_room_is_never_closer() -> None:
    for seed in range(3):
        explainer, x = medium(seed)
        bounds = []
        for radius in (0.01, 0.03, 0.06):
            answer = explainer.explain(x, Ball(radius))
            assert answer.status in (Status.OPTIMAL, Status.NONE_EXISTS)
            bounds.append((answer.lower_bound, answer.distance if isinstance(answer, Region) else math.inf))
        for (low, _), (_, high) in pairwise(bounds):
            assert low <= high


def test_a_tiny_ball_is_hardly_harder_than_a_tiny_box() -> None:
    """Without room to share, balls are boxes: a weaker bound, or a worse choice of regions, shows in the nodes."""
    X, y = load_breast_cancer(return_X_y=True)
    X = MinMaxScaler().fit_transform(X)
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    nodes = {Box: 0.0, Ball: 0.0}
    for row in (4, 5, 8, 9):
        found = {room: Explainer(forest).explain(X[row], room(1e-7), target=1) for room in nodes}
        for room, answer in found.items():
            assert isinstance(answer, Region)
            assert answer.status is Status.OPTIMAL
            attack(forest.predict, answer.body, 1)
            nodes[room] += answer.counters["nodes"]
        assert found[Ball].distance == pytest.approx(found[Box].distance, rel=1e-6)
    assert nodes[Ball] < 2 * nodes[Box]


@pytest.mark.parametrize("room", [Ball(0.05), Diamond(0.05)])
def test_pauses_change_nothing(room: Ball | Diamond, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that stops after every node, also in the middle of a dive, goes on as if it had not."""
    X, y = load_breast_cancer(return_X_y=True)
    X = MinMaxScaler().fit_transform(X[:, :20])
    model = GradientBoostingClassifier(n_estimators=60, max_depth=2, learning_rate=1.0, random_state=0).fit(X, y)
    row = X[model.predict(X) == 0][5]
    whole = Explainer(model).explain(row, room)
    at_once, pauses = BallKernels.run, 0

    def node_by_node(self: BallKernels, task: int, nodes: Nodes, budget: float, noise: float, share: int) -> float:
        nonlocal pauses
        if task != TASK.EXPAND:
            return at_once(self, task, nodes, budget, noise, share)
        while True:
            state = at_once(self, task, nodes, budget, noise, 1)
            pauses += int(state == STOP.PAUSED and self.workspace.progress.dive[0] > 0)
            share -= 1
            if state != STOP.PAUSED or share <= 0:
                return state

    monkeypatch.setattr(BallKernels, "run", node_by_node)
    pieces = Explainer(model).explain(row, room)
    assert isinstance(whole, Region)
    assert isinstance(pieces, Region)
    assert pauses > 20
    assert pieces.counters == whole.counters
    assert (pieces.distance, pieces.lower_bound) == (whole.distance, whole.lower_bound)
