"""The linear engine on questions whose answer is known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.models import Link
from elbowroom.problem import Ball, Box, Diamond, Feature, Space, Target
from elbowroom.result import Certificate, Counterexample, Undecided
from tests.support.linear_problems import linear_model
from tests.support.linear_searches import DUAL, ROOM_DUAL, ask, hard_question, proven_distance
from tests.support.referee import Engine, run_engine
from tests.support.small_questions import hard_question as hard_trees


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
        found = ask(model, Space.plain(model.info.names), x, room(radius), distance=distance)
        need = 1.0 + radius * np.linalg.norm(w, ROOM_DUAL[room])
        assert proven_distance(found) == pytest.approx(need / np.linalg.norm(w, DUAL[distance]), rel=1e-11)
        assert found.counters["nodes"] == 1


@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_weights_and_scales_count(distance):
    rng = np.random.default_rng(4)
    w, x, scale, weight = rng.normal(size=4), rng.normal(size=4), np.exp(rng.normal(size=4)), np.exp(rng.normal(size=4))
    model = linear_model([w], [-float(w @ x) - 1.0])
    names = model.info.names
    space = Space(tuple(Feature(n, scale=s, weight=v) for n, s, v in zip(names, scale, weight, strict=True)))
    found = ask(model, space, x, Box(0.1), distance=distance)
    need = 1.0 + 0.1 * float(np.abs(w) @ scale)
    assert proven_distance(found) == pytest.approx(need / np.linalg.norm(w * scale / weight, DUAL[distance]), rel=1e-11)


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
        found = ask(model, space, x * u, Box(0.05), distance=distance)
        distances.append(proven_distance(found))
    assert distances[1] == pytest.approx(distances[0], rel=1e-9)


@pytest.mark.parametrize("tiny", [1e-9, 1e-6, 1.0, 1e6, 1e9])
def test_distances_of_every_size(tiny):
    """The same question in units of ``tiny``, unscaled: the distance scales along."""
    model = linear_model([[1.0, 0.5]], [-tiny])
    space = Space((Feature("x0", lower=-2 * tiny, upper=0.8 * tiny), Feature("x1", lower=-2 * tiny, upper=3 * tiny)))
    found = ask(model, space, [0.0, 0.0], Box([0.1 * tiny, 0.1 * tiny]))
    assert proven_distance(found) == pytest.approx((0.8 + 2 * (1.15 - 0.8)) * tiny, rel=1e-11)


def test_one_sided_boxes():
    model = linear_model([[1.0]], [-1.0])
    space = Space.plain(("x0",))
    assert proven_distance(ask(model, space, [0.0], Box(low=0.0, high=9.0))) == pytest.approx(1.0, rel=1e-11)
    assert proven_distance(ask(model, space, [0.0], Box(low=2.0, high=0.0))) == pytest.approx(3.0, rel=1e-11)


def test_already_good_rows():
    model = linear_model([[1.0, 1.0]], [0.0])
    space = Space.plain(("x0", "x1"))
    found = ask(model, space, [1.0, 1.0], Box(0.5), target=1)
    assert found.distance == 0.0 == found.lower_bound
    found = ask(model, space, [0.1, 0.1], Box(0.5), target=1)  # good, but its room is not
    assert proven_distance(found) == pytest.approx(0.8, rel=1e-11)


def test_multi_class_beats_every_rival():
    """Three classes on a line: the middle one has a bounded region."""
    model = linear_model([[-1.0], [0.0], [1.0]], [0.0, 1.0, 0.0])
    space = Space.plain(("x0",))
    found = ask(model, space, [5.0], Box(0.25), target=1)
    assert proven_distance(found) == pytest.approx(4.25, rel=1e-11)
    found = ask(model, space, [5.0], Box(1.5), target=1)  # wider than the region of the class
    assert found.lower_bound == math.inf and found.center is None and found.reason


def test_probability_target():
    model = linear_model([[1.0]], [0.0], link=Link.LOGISTIC)
    found = ask(model, Space.plain(("x0",)), [-1.0], Box(0.2), target=Target(1, probability=0.8))
    assert proven_distance(found) == pytest.approx(1.2 + math.log(4.0), rel=1e-11)


def test_one_way_features_and_forced_moves():
    model = linear_model([[1.0, 1.0]], [-1.0])
    space = Space((Feature("x0", direction="decreasing", weight=0.1), Feature("x1", lower=0.25)))
    found = ask(model, space, [0.0, 0.0], Box(0.0))
    assert proven_distance(found) == pytest.approx(1.0, rel=1e-11)
    model = linear_model([[1.0, 0.0]], [-1.0])  # x1 does not matter, but must enter its bounds
    found = ask(model, space, [2.0, 0.0], Box(0.0), target=1)
    assert proven_distance(found) == pytest.approx(0.25, rel=1e-11)


@pytest.mark.parametrize(
    ("weights", "features", "word"),
    [
        ([[0.0, 0.0]], (Feature("x0"), Feature("x1")), "zero"),
        ([[1.0, 2.0]], (Feature("x0", immutable=True), Feature("x1", immutable=True)), "move"),
        ([[1.0, 0.0]], (Feature("x0", immutable=True), Feature("x1")), "move"),
        ([[1.0, 1.0]], (Feature("x0", lower=-1, upper=0.1), Feature("x1", lower=-1, upper=0.1)), "short"),
        ([[1.0, 1.0]], (Feature("x0", direction="decreasing"), Feature("x1", direction="decreasing")), "short"),
        ([[1.0, 1.0]], (Feature("x0", lower=1.0, direction="decreasing"), Feature("x1")), "direction"),
    ],
)
def test_none_exists_says_why(weights, features, word):
    found = ask(linear_model(weights, [-1.0]), Space(features), [0.0, 0.0], Box(0.0))
    assert found.lower_bound == math.inf
    assert found.center is None
    assert word in found.reason


@pytest.mark.parametrize(("uppers", "bias"), [((0.5, 0.5), -1.0), ((0.1, 0.2), -0.3)])
def test_a_tie_at_the_best_corner_is_left_open(uppers, bias):
    """0.5 + 0.5 - 1 is a tie, 0.1 + 0.2 - 0.3 is positive by a rounding: both are too close to prove anything."""
    model = linear_model([[1.0, 1.0]], [bias])
    space = Space(tuple(Feature(f"x{i}", lower=-1, upper=upper) for i, upper in enumerate(uppers)))
    found = ask(model, space, [0.0, 0.0], Box(0.0))
    assert bool(model.scores(np.array([uppers]))[0, 0] > 0.0) == (bias == -0.3)
    assert found.center is None
    assert found.lower_bound < math.inf
    assert "rounding" in found.reason


def test_contradictory_classes_without_bounds():
    """Class 1 is the average of its rivals minus one: it wins nowhere, and no bound limits the search for it."""
    rng = np.random.default_rng(1)
    a, c = rng.normal(size=5), rng.normal(size=5)
    model = linear_model([a, (a + c) / 2, c], [0.0, -1.0, 0.0])
    for distance in ("l1", "l2", "linf"):
        found = ask(model, Space.plain(model.info.names), rng.normal(size=5), Box(0.0), target=1, distance=distance)
        assert found.center is None
        assert found.lower_bound == math.inf


def test_many_idle_features_cost_nothing():
    rng = np.random.default_rng(2)
    w = np.zeros(10_000)
    w[rng.choice(10_000, 100, replace=False)] = rng.normal(size=100)
    model = linear_model([w], [-5.0])
    found = ask(model, Space.plain(model.info.names), np.zeros(10_000), Box(0.05))
    assert proven_distance(found) == pytest.approx((5.0 + 0.05 * np.abs(w).sum()) / np.abs(w).max(), rel=1e-10)


def test_a_judge_that_refuses_everything_gives_no_region_and_no_false_proof():
    model = linear_model([[1.0, 0.5]], [-1.0])
    space = Space.plain(("x0", "x1"))
    for verdict in (Undecided("no time"), Counterexample(np.zeros(2), 0, -1e-3)):
        found = ask(model, space, [0.0, 0.0], Box(0.1), judge=lambda center, looks, v=verdict: v)
        assert found.center is None and found.certificate is None
        assert found.lower_bound <= 1.15 * (1 + 1e-12)
        assert found.reason


def test_undecided_about_whole_numbers_is_not_a_proof():
    model = linear_model([[1.0]], [-2.5])
    space = Space((Feature("x0", "integer", 0, 5),))
    found = ask(model, space, [0.0], Box(0.0), judge=lambda center, looks: Undecided("no time"))
    assert found.center is None
    assert found.lower_bound <= 3.0


def test_same_question_same_answer():
    model, space, row = hard_question()
    centers = [ask(model, space, row, Box(1.0)).center for _ in range(2)]
    assert np.array_equal(*centers)


def test_bounds_are_published():
    model, space, row = hard_question()
    found = ask(model, space, row, Box(1.0))
    assert isinstance(found.certificate, Certificate)
    assert found.clock.best_distance == found.distance
    assert found.clock.lower_bound <= found.clock.best_distance
    assert [s.lower_bound for s in found.clock.trace] == sorted(s.lower_bound for s in found.clock.trace)


def test_nothing_can_move_and_the_row_itself_decides():
    """No column is left: the row is the answer, is refused, or stays open with the judge."""
    space = Space((Feature("x0", immutable=True), Feature("x1")))
    good, bad = linear_model([[1.0, 0.0]], [1.0]), linear_model([[1.0, 0.0]], [-1.0])
    assert proven_distance(ask(good, space, [0.0, 0.0], Box(0.1), target=1)) == 0.0
    refused = ask(bad, space, [0.0, 0.0], Box(0.1), target=1)
    assert (refused.center, refused.lower_bound) == (None, math.inf)
    open_ = ask(bad, space, [0.0, 0.0], Box(0.1), target=1, judge=lambda center, looks: Undecided("no time"))
    assert (open_.center, open_.lower_bound) == (None, 0.0)
    assert "could not decide" in open_.reason


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="linear models"):
        run_engine(Engine.LINEAR, hard_trees(0))
