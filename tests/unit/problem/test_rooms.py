"""Rooms, bodies and distances."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbowroom import AtMost, Ball, Box, Diamond, Feature, Group, InputError, LinearRule, Space
from elbowroom.problem import Body, Distance, Metric, Shape

SPACE = Space(
    (
        Feature("a", scale=10.0),
        Feature("b", kind="integer", lower=0, upper=9, scale=2.0),
        Feature("c", lower=-1.0, upper=1.0),
        Feature("p", kind="binary"),
        Feature("q", kind="binary"),
    ),
    (Group("pq", ("p", "q"), weight=3.0),),
)


def body_of(room: object, center: list[float]) -> Body:
    walls = room.walls(SPACE)  # type: ignore[attr-defined]
    return Body.around(np.array(center), walls, SPACE.lower, SPACE.upper, SPACE.whole_room, SPACE.members)


def test_scalar_radius_counts_in_scales_and_mapping_in_raw_units() -> None:
    assert Box(0.5).walls(SPACE).up.tolist() == [5.0, 1.0, 0.5, 0.0, 0.0]
    assert Box({"a": 2}).walls(SPACE).up.tolist() == [2.0, 0.0, 0.0, 0.0, 0.0]
    assert Ball([1, 2, 3, 0, 0]).walls(SPACE).down.tolist() == [1.0, 2.0, 3.0, 0.0, 0.0]
    one_sided = Box(low=0, high={"a": 1}).walls(SPACE)
    assert (one_sided.down[0], one_sided.up[0]) == (0.0, 1.0)


def test_rooms_are_clipped_and_whole() -> None:
    body = body_of(Box({"a": 1, "b": 2.7, "c": 0.5}), [0, 1, 0.75, 1, 0])
    assert body.lower.tolist() == [-1.0, 0.0, 0.25, 1.0, 0.0]
    assert body.upper.tolist() == [1.0, 3.0, 1.0, 1.0, 0.0]


def test_a_free_group_may_take_any_category() -> None:
    body = body_of(Box(0, categories={"pq": "any"}), [0, 1, 0, 1, 0])
    rows = np.array([[0, 1, 0, 1, 0], [0, 1, 0, 0, 1], [0, 1, 0, 1, 1], [0, 1, 0, 0, 0]], dtype=float)
    assert body.contains(rows).tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Box(),
        lambda: Box(-0.1),
        lambda: Box(float("nan")),
        lambda: Ball(float("inf")),
        lambda: Diamond("wide"),
        lambda: Box(0.1, low=0.1),
        lambda: Box({"z": 1}).walls(SPACE),
        lambda: Box([1, 2]).walls(SPACE),
        lambda: Box({"p": 1}).walls(SPACE),
        lambda: Box(0.1, categories={"zz": "any"}).walls(SPACE),
        lambda: Box(0.1, categories={"pq": "some"}).walls(SPACE),
        lambda: Box({"a": -1}),
        lambda: AtMost(-1),
        lambda: AtMost(1.5),
        lambda: LinearRule({}),
        lambda: LinearRule({"a": 1}, low=2, high=1),
        lambda: LinearRule({"z": 1}).row(SPACE),
    ],
)
def test_bad_rooms_and_rules(make: object) -> None:
    with pytest.raises(InputError):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("room", [Box(0.3), Ball(0.3), Diamond(0.3), Box(low=0.0, high=0.2)])
def test_samples_are_inside(room: object) -> None:
    body = body_of(room, [3.0, 4, 0.9, 0, 1])
    assert body.contains(body.sample(2000)).all()


@given(st.floats(min_value=-2, max_value=2), st.floats(min_value=-2, max_value=2))
def test_ball_membership_is_exact(x: float, y: float) -> None:
    space = Space.plain(["x", "y"])
    body = Body.around(np.zeros(2), Ball(1.0).walls(space), space.lower, space.upper, space.whole_room)
    # scale the point onto the surface, where rounding would matter
    length = float(np.hypot(x, y)) or 1.0
    point = np.array([x / length, y / length])
    inside = Fraction(float(point[0])) ** 2 + Fraction(float(point[1])) ** 2 <= 1
    assert bool(body.contains(point[None])[0]) == inside


def test_distances() -> None:
    factual = np.array([0.0, 2.0, 0.0, 1.0, 0.0])
    center = np.array([30.0, 4.0, 0.5, 0.0, 1.0])
    moves = [3.0, 1.0, 0.5, 3.0]
    assert Metric.of(SPACE, Distance.L1)(factual, center) == pytest.approx(sum(moves))
    assert Metric.of(SPACE, Distance.L2)(factual, center) == pytest.approx(np.linalg.norm(moves))
    assert Metric.of(SPACE, Distance.LINF)(factual, center) == 3.0
    with pytest.raises(InputError, match="l1"):
        Distance.parse("l3")


def test_l2_distance_survives_tiny_and_huge_moves() -> None:
    assert Distance.L2.norm(np.array([3e-200, 4e-200])) == pytest.approx(5e-200)
    assert Distance.L2.norm(np.array([3e200, 4e200])) == pytest.approx(5e200)


def test_bodies_of_every_shape_know_their_kind() -> None:
    assert [r.walls(SPACE).shape for r in (Box(1), Ball(1), Diamond(1))] == [Shape.BOX, Shape.BALL, Shape.DIAMOND]
    assert isinstance(body_of(Ball(1), [0, 0, 0, 1, 0]).center, np.ndarray)
    assert pd.Series(body_of(Box(1), [0, 0, 0, 1, 0]).lower).notna().all()
