"""Frontiers: every radius as by a search of its own, monotone; jumps proven, and none missed."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Ball, Box, Diamond, Explainer, Feature, InputError, Space, Status
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.search.contract import Clock
from elbowroom.search.frontier import Front, Known, Point
from tests.support.brute import closest
from tests.support.hostile import attack
from tests.support.small_questions import random_question


@pytest.fixture(scope="module")
def plane() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.random((300, 2))
    return X, (np.sin(7 * X[:, 0]) + X[:, 1] > 0.8).astype(int)


def unit_of(problem: RecourseProblem) -> Box | None:
    """The room of radius 1 of a random question; None where nothing grows."""
    room = problem.room
    assert isinstance(room, Box)
    unit = Box(1.0, categories=room.categories) if room.size is not None else room
    walls = unit.walls(problem.space)
    return unit if walls.down.any() or walls.up.any() else None


def slope_of(problem: RecourseProblem, unit: Box) -> float:
    """More than the distance can rise per radius while the same cells are used."""
    walls = unit.walls(problem.space)
    return float((problem.metric.factor * np.maximum(walls.down, walls.up)).sum())


# ---- against everything there is --------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(24))
def test_every_radius_equals_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_question(rng)
    unit = unit_of(problem)
    if unit is None:
        pytest.skip("this room has no size")
    radii = np.unique(
        np.append(rng.choice([0.0, 0.125, 0.25, 0.5, 1.0, 2.0], 3, replace=False), rng.uniform(0, 1.5, 3))
    )
    explainer = Explainer(problem.model, problem.space)
    frontier = explainer.frontier(
        problem.factual, list(rng.permutation(radii)), unit, problem.target, problem.distance, problem.rules
    )
    assert frontier["radius"].tolist() == radii.tolist()
    for radius, answer in zip(radii, frontier.answers, strict=True):
        asked = replace(problem, room=unit.times(radius))
        truth = closest(asked)
        if math.isinf(truth):
            assert answer.status is Status.NONE_EXISTS
            continue
        assert answer.status is Status.OPTIMAL
        assert answer.distance == pytest.approx(truth, rel=1e-9, abs=1e-300)
        assert answer.lower_bound <= truth * (1 + 1e-12)
        assert answer.room == unit.times(radius)
        attack(explainer.predict, answer.body, problem.target.label, problem.model.cuts, seed)
    assert (np.diff(frontier["distance"].to_numpy()[np.isfinite(frontier["distance"])]) >= 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_jumps_are_true_and_none_is_missed(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    problem = random_question(rng)
    unit = unit_of(problem)
    if unit is None:
        pytest.skip("this room has no size")
    smallest, ends = 0.05, [0.0, 1.0]
    explainer = Explainer(problem.model, problem.space)
    frontier = explainer.frontier(
        problem.factual, ends, unit, problem.target, problem.distance, problem.rules, breakpoints=True,
        smallest_jump=smallest,
    )  # fmt: skip
    assert frontier.breakpoints_complete is True
    for point in frontier.breakpoints:
        before, beyond = (closest(replace(problem, room=unit.times(r))) for r in (point.radius, point.beyond))
        assert point.radius < point.beyond <= point.radius + 2.0**-50
        assert before == pytest.approx(point.distance, rel=1e-9, abs=1e-300)
        assert beyond == pytest.approx(point.distance_beyond, rel=1e-9)
        assert beyond - before >= point.jump * (1 - 1e-9) >= smallest * (1 - 1e-9)
    grid = np.linspace(*ends, 40)
    truth = [closest(replace(problem, room=unit.times(r))) for r in grid]
    room_for_slope = smallest + slope_of(problem, unit) * (grid[1] - grid[0])
    for a, b, low, high in zip(grid, grid[1:], truth, truth[1:], strict=False):
        if math.isfinite(low) and high - low > room_for_slope:
            steps = [p.jump for p in frontier.breakpoints if a <= p.radius < b]
            assert steps, f"the distance rises from {low} to {high} between {a} and {b}"


def test_the_jump_is_where_the_gap_between_two_cuts_closes() -> None:
    """Good for x in (1, 2] and for x > 5: from the factual 0, the near interval serves radii up to 1/2."""
    X = np.array([[0.0], [0.9], [1.1], [1.9], [2.1], [4.9], [5.1], [9.0]])
    tree = DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1, 0, 0, 1, 1])
    frontier = Explainer(tree).frontier([0.0], [0.0, 0.4, 0.6, 1.0], breakpoints=True)
    assert frontier["distance"].tolist() == pytest.approx([1.0, 1.4, 5.6, 6.0])
    (jump,) = frontier.breakpoints
    assert jump.exact and jump.radius == pytest.approx(0.5, rel=1e-6)
    assert (jump.distance, jump.distance_beyond) == pytest.approx((1.5, 5.5))
    assert frontier.jumps["exact"].tolist() == [True]


def test_the_last_jump_is_into_nothing() -> None:
    X = np.array([[0.0], [0.9], [1.1], [1.9], [2.1], [4.9]])
    tree = DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1, 0, 0])
    frontier = Explainer(tree).frontier([0.0], [0.1, 1.0], breakpoints=True)
    assert frontier["status"].tolist() == ["OPTIMAL", "NONE_EXISTS"]
    assert frontier["distance"].tolist()[1] == math.inf
    (jump,) = frontier.breakpoints
    assert jump.distance_beyond == jump.jump == math.inf and jump.radius == pytest.approx(0.5, rel=1e-6)


def test_whole_columns_step_where_a_whole_number_enters_the_room() -> None:
    X = np.arange(20.0)[:, None]
    tree = DecisionTreeClassifier(random_state=0).fit(X, (X[:, 0] > 9.5).astype(int))
    space = Space((Feature("x0", "integer", lower=0, upper=19),))
    frontier = Explainer(tree, space).frontier([4.0], [0.0, 3.5], breakpoints=True)
    assert frontier["distance"].tolist() == [6.0, 9.0]
    assert [(p.beyond, p.distance_beyond) for p in frontier.breakpoints] == [(1.0, 7.0), (2.0, 8.0), (3.0, 9.0)]
    assert all(p.exact for p in frontier.breakpoints)


def test_a_clipped_room_ends_at_the_limit_of_the_centre() -> None:
    """Good for x > 6 and x <= 8 only, the limit is 7: the centre can be at most 7, so the room must keep 7 - r > 6."""
    X = np.array([[5.9], [6.1], [7.9], [8.1]])
    tree = DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 1, 0])
    space = Space((Feature("x0", lower=0.0, upper=7.0),))
    frontier = Explainer(tree, space).frontier([1.0], [0.5, 0.9, 1.1], breakpoints=True)
    assert frontier["status"].tolist() == ["OPTIMAL", "OPTIMAL", "NONE_EXISTS"]
    (jump,) = frontier.breakpoints
    assert jump.exact and jump.radius == pytest.approx(1.0, rel=1e-6) and jump.distance == pytest.approx(6.0)


# ---- every family and shape ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("family", "room"),
    [*product(["linear", "tree", "forest"], ["linf", "l2", "l1"]), ("network", "l2")],
)
def test_points_equal_fresh_answers(family: str, room: str, plane) -> None:
    X, y = plane
    made = {
        "linear": lambda: LogisticRegression(),
        "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
        "forest": lambda: RandomForestClassifier(5, max_depth=3, random_state=0),
        "network": lambda: MLPClassifier((3,), solver="lbfgs", max_iter=2000, random_state=0),
    }[family]()
    model = made.fit(X, y)
    row = X[np.flatnonzero(model.predict(X) == 0)[0]]
    radii = [0.0, 0.03] if family == "network" else [0.0, 0.01, 0.02, 0.05]
    frontier = Explainer(model).frontier(row, radii, room, time_limit=20.0)
    shape = {"linf": Box, "l2": Ball, "l1": Diamond}[room]
    assert frontier["distance"].is_monotonic_increasing
    for radius, answer in zip(radii, frontier.answers, strict=True):
        fresh = Explainer(model).explain(row, shape(radius), time_limit=20.0)
        assert answer and fresh
        assert answer.distance <= fresh.distance + 1e-9 + 1.1e-4 * fresh.distance
        assert max(answer.lower_bound, fresh.lower_bound) <= min(answer.distance, fresh.distance) * (1 + 1e-9)
        if answer.status is fresh.status is Status.OPTIMAL:
            assert answer.distance == pytest.approx(fresh.distance, rel=2.1e-4, abs=1e-9)
        attack(model.predict, answer.body, 1)


def test_a_good_factual_costs_nothing_until_its_room_is_too_large(plane) -> None:
    X, y = plane
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    explainer = Explainer(tree)
    row = X[np.flatnonzero(tree.predict(X) == 1)[0]]
    reach = explainer.radius(row).lower
    frontier = explainer.frontier(row, [0.0, reach, 1.5 * reach], target=1)
    assert frontier["distance"].tolist()[:2] == [0.0, 0.0]
    assert frontier["distance"][2] > 0.0


# ---- radii help each other ----------------------------------------------------------------------------------------------
def test_a_centre_that_serves_the_next_radius_is_not_searched_again() -> None:
    """Good beyond 1, whole numbers: the centre 2 serves every radius below 1."""
    X = np.arange(6.0)[:, None]
    tree = DecisionTreeClassifier(random_state=0).fit(X, (X[:, 0] > 1).astype(int))
    space = Space((Feature("x0", "integer", lower=0, upper=5),))
    frontier = Explainer(tree, space).frontier([0.0], [0.1, 0.5, 0.9])
    assert frontier["distance"].tolist() == [2.0, 2.0, 2.0]
    assert frontier["method"].tolist()[1:] == ["known from another radius"] * 2
    assert frontier["status"].tolist() == ["OPTIMAL"] * 3


def test_nothing_for_a_small_room_is_nothing_for_a_large_one(plane) -> None:
    X, _ = plane
    tree = DecisionTreeClassifier(random_state=0).fit(X, np.zeros(len(X), int) + (X[:, 0] > 2))
    assert Explainer(tree).frontier(X[0], [0.1, 0.2])["status"].tolist() == ["NONE_EXISTS"] * 2
    X = np.array([[0.0], [0.9], [1.1], [1.9], [2.1], [4.9]])
    tree = DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1, 0, 0])
    frontier = Explainer(tree).frontier([0.0], [0.6, 0.7])
    assert frontier["status"].tolist() == ["NONE_EXISTS"] * 2
    assert "smaller room" in frontier.answers[1].reason


def test_answers_of_larger_radii_serve_smaller_ones_that_ran_out_of_time(plane) -> None:
    """The first radius gets no time; the second one's centre is judged for it afterwards."""
    X, y = plane
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    row = X[np.flatnonzero(tree.predict(X) == 0)[0]]
    explainer = Explainer(tree)
    asked: list[tuple[float, bool]] = []

    def ask(radius: float, known: Known, seconds: float) -> Point:
        asked.append((radius, known.search))
        hungry = radius == 0.01 and known.search
        answer = explainer.explain(row, Box(radius), time_limit=0.0 if hungry else 10.0)
        return Point(radius, answer, 1e-9)

    front = Front(ask, Clock(10.0))
    front.walk([0.01, 0.05])
    assert asked == [(0.01, True), (0.05, True), (0.01, False)]
    assert all(point.settled for point in front.points)


def test_no_time_means_no_claim(plane) -> None:
    X, y = plane
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    row = X[np.flatnonzero(forest.predict(X) == 0)[0]]
    frontier = Explainer(forest).frontier(row, [0.01, 0.02], time_limit=0.0, breakpoints=True)
    for answer in frontier.answers:
        assert answer.status is not Status.NONE_EXISTS
        assert answer.lower_bound <= Explainer(forest).explain(row, answer.room).distance
    assert frontier.breakpoints_complete in (False, True)
    if not frontier["certified"].all():
        assert frontier.breakpoints_complete is False


def test_an_interrupt_keeps_what_is_certified(plane) -> None:
    X, y = plane
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    row = X[np.flatnonzero(forest.predict(X) == 0)[0]]
    seen: list[str] = []

    def stop(step) -> None:
        seen.append(step.note)
        if step.note.startswith("radius 0.02"):
            raise KeyboardInterrupt

    frontier = Explainer(forest).frontier(row, [0.01, 0.02, 0.03], on_progress=stop)
    assert frontier["status"][0] == "OPTIMAL"
    assert frontier["method"][1] == "interrupted"
    assert len(frontier) == 3 and not any(note.startswith("radius 0.03: certified") for note in seen)


# ---- what comes back, what is refused -----------------------------------------------------------------------------------
def test_it_is_a_frame_and_what_is_cut_from_it_is_plain(plane) -> None:
    X, y = plane
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    row = X[np.flatnonzero(tree.predict(X) == 0)[0]]
    frontier = Explainer(tree).frontier(row, [0.05, 0.01])
    assert isinstance(frontier, pd.DataFrame) and len(frontier) == len(frontier.answers) == 2
    assert type(frontier[frontier["radius"] > 0.02]) is pd.DataFrame
    assert frontier.unit == "in units of the scales" and frontier.breakpoints_complete is None


def test_a_room_with_a_size_per_feature_is_multiplied(plane) -> None:
    X, y = plane
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    row = X[np.flatnonzero(tree.predict(X) == 0)[0]]
    explainer = Explainer(tree)
    frontier = explainer.frontier(row, [0.5, 2.0], Box({"x0": 0.02}))
    assert frontier.unit == "in multiples of the given room"
    assert frontier["distance"][1] == explainer.explain(row, Box({"x0": 0.04})).distance


@pytest.mark.parametrize(
    ("radii", "room", "word"),
    [
        ([], "linf", "empty"),
        (0.05, "linf", "list"),
        ("0.05", "linf", "list"),
        ([0.1, -0.1], "linf", r"radii\[1\]"),
        ([math.nan], "linf", "finite"),
        ([math.inf], "linf", "finite"),
        ([True], "linf", "number"),
        (["a"], "linf", "not a number"),
        ([0.1, 0.1], "linf", "twice"),
        ([0.1], "l3", "l3"),
        ([0.1], Box(0.05), "radius already"),
        ([0.1], Box({"x0": 0.0}), "no size"),
        ([0.1], 0.3, "room"),
    ],
)
def test_bad_radii_and_rooms_are_named(radii, room, word, plane) -> None:
    X, y = plane
    explainer = Explainer(LogisticRegression().fit(X, y))
    with pytest.raises(InputError, match=word):
        explainer.frontier(X[0], radii, room)


@pytest.mark.parametrize("jump", [0.0, -1.0, math.nan, True, "x"])
def test_bad_jumps_are_named(jump, plane) -> None:
    X, y = plane
    explainer = Explainer(LogisticRegression().fit(X, y))
    with pytest.raises(InputError, match="smallest_jump"):
        explainer.frontier(X[0], [0.1], breakpoints=True, smallest_jump=jump)


def test_distances_other_than_l1(plane) -> None:
    X, y = plane
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    row = X[np.flatnonzero(tree.predict(X) == 0)[0]]
    for distance in Distance:
        frontier = Explainer(tree).frontier(row, [0.0, 0.03], distance=distance)
        for radius, answer in zip((0.0, 0.03), frontier.answers, strict=True):
            assert answer.distance == Explainer(tree).explain(row, Box(radius), distance=distance).distance
