"""The linear engine on questions whose answer is known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.models import Link
from elbowroom.problem import (
    AtMost,
    Ball,
    Box,
    Diamond,
    Feature,
    Group,
    LinearRule,
    RecourseProblem,
    Space,
    Target,
)
from elbowroom.result import Certificate, Counterexample, Undecided
from elbowroom.search.contract import Clock
from elbowroom.search.linear import least
from elbowroom.search.solvers.highs import LpSolution, LpStatus
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model
from tests.support.plane_questions import Family, plane_question
from tests.support.plane_truth import closest_in_the_plane
from tests.support.referee import Engine, Referee, run_engine


def ask(model, space, row, room, target=None, distance="l1", rules=(), limit=60.0, accept=None):
    problem = RecourseProblem.ask(model, space, row, room, target, distance, rules)

    clock = Clock(limit)
    judge = None if accept is None else lambda center, seconds: accept(center)
    outcome = run_engine(Engine.LINEAR, problem, Referee(problem, judge), clock=clock)
    if outcome.center is not None and problem.target.probability is None:
        classes = np.array(model.info.classes)
        attack(lambda X: classes[model.info.labels_of(model.scores(X))], outcome.certificate.body, problem.target.label)
    return problem, outcome, clock


def distance_of(problem, outcome):
    assert outcome.center is not None, outcome.reason
    assert problem.admissible(outcome.center)
    distance = problem.measure(outcome.center)
    assert outcome.lower_bound <= distance
    assert distance - outcome.lower_bound <= 1e-9 * distance
    return distance


DUAL = {"l1": np.inf, "l2": 2, "linf": 1}
ROOM_DUAL = {Box: 1, Ball: 2, Diamond: np.inf}


@pytest.mark.parametrize("room", [Box, Ball, Diamond])
@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_closed_form_by_dual_norms(room, distance, radius):
    """Unbounded features: distance = (deficit + radius |w|_room) / |w|_dual."""
    rng = np.random.default_rng(3)
    for n in (1, 2, 5):
        w = rng.normal(size=n)
        x = rng.normal(size=n)
        model = linear_model([w], [-float(w @ x) - 1.0])  # score -1 at x
        problem, outcome, _ = ask(model, Space.plain(model.info.names), x, room(radius), distance=distance)
        need = 1.0 + radius * np.linalg.norm(w, ROOM_DUAL[room])
        assert distance_of(problem, outcome) == pytest.approx(need / np.linalg.norm(w, DUAL[distance]), rel=1e-11)
        assert outcome.counters["nodes"] == 1


@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_weights_and_scales_count(distance):
    rng = np.random.default_rng(4)
    w, x, scale, weight = rng.normal(size=4), rng.normal(size=4), np.exp(rng.normal(size=4)), np.exp(rng.normal(size=4))
    model = linear_model([w], [-float(w @ x) - 1.0])
    names = model.info.names
    space = Space(tuple(Feature(n, scale=s, weight=v) for n, s, v in zip(names, scale, weight, strict=True)))
    problem, outcome, _ = ask(model, space, x, Box(0.1), distance=distance)
    need = 1.0 + 0.1 * float(np.abs(w) @ scale)
    assert distance_of(problem, outcome) == pytest.approx(
        need / np.linalg.norm(w * scale / weight, DUAL[distance]), rel=1e-11
    )


@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
@pytest.mark.parametrize("exponents", [(-9, 9), (9, -9), (-9, 0), (0, 9), (-6, 6)])
def test_scales_from_nano_to_giga(distance, exponents):
    """One feature in nano, one in giga units: rescaling the data does not change the distance."""
    unit = 10.0 ** np.array([exponents[0], exponents[1], 0.0])
    w, x = np.array([1.3, -0.7, 0.4]), np.array([0.2, 0.5, -0.3])
    bounds = np.array([0.9, 0.8, 0.7])
    distances = []
    for u in (np.ones(3), unit):
        model = linear_model([w / u], [-1.4])
        names = model.info.names
        space = Space(
            tuple(Feature(n, lower=-b * s, upper=b * s, scale=s) for n, b, s in zip(names, bounds, u, strict=True))
        )
        problem, outcome, _ = ask(model, space, x * u, Box(0.05), distance=distance)
        distances.append(distance_of(problem, outcome))
    assert distances[1] == pytest.approx(distances[0], rel=1e-9)


@pytest.mark.parametrize("tiny", [1e-9, 1e-6, 1.0, 1e6, 1e9])
def test_distances_of_every_size(tiny):
    """The same question in units of ``tiny``, unscaled: the distance scales along."""
    model = linear_model([[1.0, 0.5]], [-tiny])
    space = Space((Feature("x0", lower=-2 * tiny, upper=0.8 * tiny), Feature("x1", lower=-2 * tiny, upper=3 * tiny)))
    problem, outcome, _ = ask(model, space, [0.0, 0.0], Box([0.1 * tiny, 0.1 * tiny]))
    assert distance_of(problem, outcome) == pytest.approx((0.8 + 2 * (1.15 - 0.8)) * tiny, rel=1e-11)


def test_clipping_at_a_bound_makes_the_room_smaller():
    """x0 may stay at its lower bound, where the room cannot go down: cheaper than moving x1 against a full room."""
    model = linear_model([[1.0, 1.0]], [-1.0])
    space = Space((Feature("x0", lower=0.0, upper=5.0), Feature("x1")))
    problem, outcome, _ = ask(model, space, [0.0, 0.0], Box(0.5))
    # x0 at 0 is clipped to [0, .5], costs nothing: x1 - .5 >= 1
    assert distance_of(problem, outcome) == pytest.approx(1.5, rel=1e-11)
    assert outcome.center[0] == 0.0


def test_one_sided_boxes():
    model = linear_model([[1.0]], [-1.0])
    space = Space.plain(("x0",))
    assert distance_of(*ask(model, space, [0.0], Box(low=0.0, high=9.0))[:2]) == pytest.approx(1.0, rel=1e-11)
    assert distance_of(*ask(model, space, [0.0], Box(low=2.0, high=0.0))[:2]) == pytest.approx(3.0, rel=1e-11)


def test_already_good_rows():
    model = linear_model([[1.0, 1.0]], [0.0])
    space = Space.plain(("x0", "x1"))
    problem, outcome, _ = ask(model, space, [1.0, 1.0], Box(0.5), target=1)
    assert problem.measure(outcome.center) == 0.0 == outcome.lower_bound
    problem, outcome, _ = ask(model, space, [0.1, 0.1], Box(0.5), target=1)  # good, but its room is not
    assert distance_of(problem, outcome) == pytest.approx(0.8, rel=1e-11)


def test_whole_numbers_skip_the_tie():
    """x = 3 is a tie, which the positive class does not get: 4 is the closest whole answer."""
    model = linear_model([[1.0]], [-3.0])
    space = Space((Feature("x0", "integer", -10, 10),))
    problem, outcome, _ = ask(model, space, [0.0], Box(0.0))
    assert distance_of(problem, outcome) == 4.0
    problem, outcome, _ = ask(model, space, [0.0], Box(1.5))  # one whole step of room below
    assert distance_of(problem, outcome) == 5.0


def test_whole_shifts_on_the_surface_of_a_ball_count():
    """(3, 4) lies on the ball of radius 5 and is the worst whole shift; radius 4.99 reaches (2, 4) only."""
    model = linear_model([[3.0, 4.0]], [-0.5])
    space = Space((Feature("x0", "integer", -40, 40), Feature("x1", "integer", -40, 40)))
    for radius, loss in ((5.0, 25.0), (4.99, 22.0)):
        problem, outcome, _ = ask(model, space, [0.0, 0.0], Ball([radius, radius]))
        distance = distance_of(problem, outcome)
        need = loss + 0.5
        brute = min(abs(a) + abs(b) for a in range(-40, 41) for b in range(-40, 41) if 3 * a + 4 * b > need)
        assert distance == brute


def test_one_hot_groups_move_as_one_step():
    model = linear_model([[1.0, 0.0, 2.0, 3.0]], [-2.5], ("x0", "a", "b", "c"))
    features = (Feature("x0"), *(Feature(n, "binary") for n in "abc"))
    row = [0.0, 1.0, 0.0, 0.0]
    for price, wanted in ((0.4, 0.4), (9.0, 2.5)):
        space = Space(features, (Group("g", ("a", "b", "c"), price),))
        problem, outcome, _ = ask(model, space, row, Box(0.0))
        assert distance_of(problem, outcome) == pytest.approx(wanted, rel=1e-11)
    space = Space(features, (Group("g", ("a", "b", "c"), 0.1),))
    problem, outcome, _ = ask(model, space, row, Box(0.0, categories={"g": "any"}))  # the worst category always counts
    assert distance_of(problem, outcome) == pytest.approx(2.5, rel=1e-11)
    assert outcome.center[1:].tolist() == [1.0, 0.0, 0.0]


def test_categories_that_serve_different_rivals_are_told_apart():
    """The relaxation gives every rival its best category; cutting at the kinks of the clipped ball never ends that."""
    question = plane_question(Family.LINEAR, "l2", 224)
    problem, outcome, _ = ask(
        question.model, question.space, question.factual, question.room, question.target, question.distance
    )
    assert distance_of(problem, outcome) == pytest.approx(closest_in_the_plane(question).distance, rel=1e-9)
    assert outcome.counters["nodes"] < 50


def test_multi_class_beats_every_rival():
    """Three classes on a line: the middle one has a bounded region."""
    model = linear_model([[-1.0], [0.0], [1.0]], [0.0, 1.0, 0.0])
    space = Space.plain(("x0",))
    problem, outcome, _ = ask(model, space, [5.0], Box(0.25), target=1)
    assert distance_of(problem, outcome) == pytest.approx(4.25, rel=1e-11)
    problem, outcome, _ = ask(model, space, [5.0], Box(1.5), target=1)  # wider than the region of the class
    assert outcome.lower_bound == math.inf and outcome.center is None and outcome.reason


def test_probability_target():
    model = linear_model([[1.0]], [0.0], link=Link.LOGISTIC)
    problem, outcome, _ = ask(model, Space.plain(("x0",)), [-1.0], Box(0.2), target=Target(1, probability=0.8))
    assert distance_of(problem, outcome) == pytest.approx(1.2 + math.log(4.0), rel=1e-11)


def test_rules_bind_the_centre():
    model = linear_model([[1.0, 1.0]], [-2.0])
    space = Space.plain(("x0", "x1"))
    row = [0.0, 0.0]
    problem, outcome, _ = ask(
        model, space, row, Box(0.0), rules=[LinearRule({"x0": 1.0, "x1": -1.0}, 0.5, 0.5)], distance="linf"
    )
    assert distance_of(problem, outcome) == pytest.approx(1.25, rel=1e-10)
    problem, outcome, _ = ask(model, space, row, Box(0.0), rules=[AtMost(1)], distance="l2")
    assert distance_of(problem, outcome) == pytest.approx(2.0, rel=1e-10)
    assert (outcome.center != 0).sum() == 1
    problem, outcome, _ = ask(model, space, row, Box(0.0), rules=[LinearRule({"x0": 1.0, "x1": 1.0}, high=1.0)])
    assert outcome.lower_bound == math.inf and "rules" in outcome.reason
    problem, outcome, _ = ask(model, space, row, Box(0.0), rules=[AtMost(0)])
    assert outcome.lower_bound == math.inf


@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_at_most_k_of_many(distance):
    rng = np.random.default_rng(5)
    w = rng.normal(size=8)
    model = linear_model([w], [-3.0])
    problem, outcome, _ = ask(
        model, Space.plain(model.info.names), np.zeros(8), Ball(0.1), rules=[AtMost(3)], distance=distance
    )
    best = np.sort(np.abs(w))[-3:]
    need = 3.0 + 0.1 * np.linalg.norm(w)
    assert distance_of(problem, outcome) == pytest.approx(need / np.linalg.norm(best, DUAL[distance]), rel=1e-10)


def test_one_way_features_and_forced_moves():
    model = linear_model([[1.0, 1.0]], [-1.0])
    space = Space((Feature("x0", direction="decreasing", weight=0.1), Feature("x1", lower=0.25)))
    problem, outcome, _ = ask(model, space, [0.0, 0.0], Box(0.0))
    assert distance_of(problem, outcome) == pytest.approx(1.0, rel=1e-11)
    model = linear_model([[1.0, 0.0]], [-1.0])  # x1 does not matter, but must enter its bounds
    problem, outcome, _ = ask(model, space, [2.0, 0.0], Box(0.0), target=1)
    assert distance_of(problem, outcome) == pytest.approx(0.25, rel=1e-11)


@pytest.mark.parametrize(
    ("weights", "features", "word"),
    [
        ([[0.0, 0.0]], (Feature("x0"), Feature("x1")), "zero"),
        ([[1.0, 2.0]], (Feature("x0", immutable=True), Feature("x1", immutable=True)), "move"),
        ([[1.0, 0.0]], (Feature("x0", immutable=True), Feature("x1")), "move"),
        ([[1.0, 1.0]], (Feature("x0", lower=-1, upper=0.1), Feature("x1", lower=-1, upper=0.1)), "short"),
        ([[1.0, 1.0]], (Feature("x0", lower=-1, upper=0.5), Feature("x1", lower=-1, upper=0.5)), "short"),
        ([[1.0, 1.0]], (Feature("x0", direction="decreasing"), Feature("x1", direction="decreasing")), "short"),
        ([[1.0, 1.0]], (Feature("x0", lower=1.0, direction="decreasing"), Feature("x1")), "direction"),
    ],
)
def test_none_exists_says_why(weights, features, word):
    """The fifth case ends in an exact tie at the best corner: no rounding may hide it."""
    _problem, outcome, _ = ask(linear_model(weights, [-1.0]), Space(features), [0.0, 0.0], Box(0.0))
    assert outcome.lower_bound == math.inf
    assert outcome.center is None
    assert word in outcome.reason


def test_contradictory_classes_without_bounds():
    """Class 1 is the average of its rivals minus one: it wins nowhere, and no bound limits the search for it."""
    rng = np.random.default_rng(1)
    a, c = rng.normal(size=5), rng.normal(size=5)
    model = linear_model([a, (a + c) / 2, c], [0.0, -1.0, 0.0])
    for distance in ("l1", "l2", "linf"):
        _problem, outcome, _ = ask(
            model, Space.plain(model.info.names), rng.normal(size=5), Box(0.0), target=1, distance=distance
        )
        assert outcome.center is None
        assert outcome.lower_bound == math.inf


def test_many_idle_features_cost_nothing():
    rng = np.random.default_rng(2)
    w = np.zeros(10_000)
    w[rng.choice(10_000, 100, replace=False)] = rng.normal(size=100)
    model = linear_model([w], [-5.0])
    problem, outcome, _ = ask_without_attack(model, Space.plain(model.info.names), np.zeros(10_000), Box(0.05))
    assert distance_of(problem, outcome) == pytest.approx((5.0 + 0.05 * np.abs(w).sum()) / np.abs(w).max(), rel=1e-10)


def ask_without_attack(model, space, row, room):
    problem = RecourseProblem.ask(model, space, row, room)
    outcome = run_engine(Engine.LINEAR, problem)
    return problem, outcome, outcome.clock


def hard_question():
    rng = np.random.default_rng(9)
    n = 14
    w = rng.normal(size=n)
    space = Space(tuple(Feature(f"x{i}", "integer", -3, 3, weight=float(rng.uniform(0.5, 2))) for i in range(n)))
    return linear_model([w], [-0.6 * 3 * float(np.abs(w).sum())]), space, np.zeros(n)


def test_no_time_is_honest():
    model, space, row = hard_question()
    exact_problem, exact, _ = ask(model, space, row, Box(1.0))
    truth = distance_of(exact_problem, exact)
    for limit in (0.0, 0.02):
        problem, outcome, clock = ask(model, space, row, Box(1.0), limit=limit)
        assert outcome.lower_bound <= truth * (1 + 1e-12)
        if outcome.center is not None:
            assert problem.measure(outcome.center) >= truth * (1 - 1e-12)
        else:
            assert outcome.reason
        assert clock.lower_bound <= truth * (1 + 1e-12)


def test_a_judge_that_refuses_everything_gives_no_region_and_no_false_proof():
    model = linear_model([[1.0, 0.5]], [-1.0])
    space = Space.plain(("x0", "x1"))
    for verdict in (Undecided("no time"), Counterexample(np.zeros(2), 0, -1e-3)):
        _problem, outcome, _ = ask(model, space, [0.0, 0.0], Box(0.1), accept=lambda center, v=verdict: v)
        assert outcome.center is None and outcome.certificate is None
        assert outcome.lower_bound <= 1.15 * (1 + 1e-12)
        assert outcome.reason


def test_undecided_about_whole_numbers_is_not_a_proof():
    model = linear_model([[1.0]], [-2.5])
    space = Space((Feature("x0", "integer", 0, 5),))
    _problem, outcome, _ = ask(model, space, [0.0], Box(0.0), accept=lambda center: Undecided("no time"))
    assert outcome.center is None
    assert outcome.lower_bound <= 3.0


def test_same_question_same_answer():
    model, space, row = hard_question()
    centers = [ask(model, space, row, Box(1.0))[1].center for _ in range(2)]
    assert np.array_equal(*centers)


def test_bounds_are_published():
    model, space, row = hard_question()
    problem, outcome, clock = ask(model, space, row, Box(1.0))
    assert isinstance(outcome.certificate, Certificate)
    assert clock.best_distance == problem.measure(outcome.center)
    assert clock.lower_bound <= clock.best_distance
    assert [s.lower_bound for s in clock.trace] == sorted(s.lower_bound for s in clock.trace)


class LyingSolver:
    """Stands in for the LP solver and answers with a fixed lie."""

    def __init__(self, status, x, dual):
        self.status, self.x, self.dual = status, x, dual

    def solve(self, cost, matrix, row_lower, column_lower, column_upper, time_limit):
        return LpSolution(self.status, np.full(cost.size, self.x), np.full(row_lower.size, self.dual))


@pytest.mark.parametrize("status", list(LpStatus))
@pytest.mark.parametrize("x", [0.0, 1e6, math.nan, math.inf])
@pytest.mark.parametrize("dual", [0.0, 1e-3, 1e9, math.nan])
def test_a_lying_solver_cannot_make_a_false_region_or_bound(monkeypatch, status, x, dual):
    model = linear_model([[1.0, 0.2], [-0.3, 1.0], [-1.0, -1.0]], [0.0, 0.1, 2.0])
    space = Space((Feature("x0", lower=-2, upper=2), Feature("x1", lower=-2, upper=2)))
    honest, exact, _ = ask(model, space, [-1.0, -1.0], Box(0.2), target=0)
    truth = distance_of(honest, exact)
    monkeypatch.setattr(least, "HighsLp", lambda: LyingSolver(status, x, dual))
    problem, outcome, _ = ask(model, space, [-1.0, -1.0], Box(0.2), target=0, limit=0.3)
    assert outcome.lower_bound <= truth * (1 + 1e-12)
    if outcome.center is not None:
        assert problem.measure(outcome.center) >= truth * (1 - 1e-12)
