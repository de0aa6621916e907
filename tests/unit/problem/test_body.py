"""A region as a set of points: ends rounded inwards, clipped and whole; membership exact on the surface; fair samples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from elbowroom.numerics import Floats
from elbowroom.problem import Body, Shape
from tests.support.small_models import body_of

ROUND = [Shape.BALL, Shape.DIAMOND]


@pytest.mark.parametrize("shape", list(Shape))
def test_ends_never_reach_beyond_the_room(shape: Shape) -> None:
    """|end - center| <= radius in real numbers, and the next float would be too far."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        center, radius = (rng.normal(size=1) * 10.0 ** rng.integers(-8, 9) for _ in range(2))
        radius = np.abs(radius)
        body = body_of(center, shape, radius)
        c, r = Fraction(float(center[0])), Fraction(float(radius[0]))
        for end, away in ((float(body.lower[0]), -np.inf), (float(body.upper[0]), np.inf)):
            assert abs(Fraction(end) - c) <= r
            assert abs(Fraction(float(np.nextafter(end, away))) - c) > r


def test_limits_and_whole_numbers_cut_the_room() -> None:
    whole = np.array([False, True, True])
    body = body_of(np.array([0.2, 3.0, 0.0]), Shape.BOX, np.array([0.5, 1.5, 0.9]), 0.0, 3.0, whole)
    assert body.lower.tolist() == [0.0, 2.0, 0.0]
    assert body.upper.tolist() == pytest.approx([0.7, 3.0, 0.0])
    assert body.moving.tolist() == [True, True, False]
    assert body.contains(np.array([[0.1, 2.0, 0.0], [0.1, 2.5, 0.0], [0.1, 2.0, 0.5], [-0.1, 2.0, 0.0]])).tolist() == [
        True, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("shape", list(Shape))
def test_a_centre_beyond_the_limits_is_inside_its_own_room(shape: Shape) -> None:
    body = body_of(np.array([5.0, 0.5]), shape, 0.25, 0.0, 1.0)
    assert body.contains(body.center[None])[0]
    assert body.upper[0] == 5.0 and body.upper[1] <= 0.75


@pytest.mark.parametrize(
    ("shape", "axes", "point", "inside"),
    [
        (Shape.BALL, [5.0, 5.0], [3.0, 4.0], True),
        (Shape.BALL, [5.0, 5.0], [3.0, float(np.nextafter(4.0, 5.0))], False),
        (Shape.BALL, [5.0, 10.0], [3.0, 8.0], True),
        (Shape.DIAMOND, [3.0, 3.0, 3.0], [1.0, -1.0, 1.0], True),
        (Shape.DIAMOND, [3.0, 3.0, 3.0], [1.0, -1.0, float(np.nextafter(1.0, 2.0))], False),
        (Shape.DIAMOND, [0.3, 0.3], [0.1, 0.2], False),  # as floats, 0.1 + 0.2 exceeds 0.3
        (Shape.BOX, [0.3, 0.3], [0.3, -0.3], True),
    ],
)
def test_the_surface_is_decided_exactly(shape: Shape, axes: list[float], point: list[float], inside: bool) -> None:
    body = body_of(np.zeros(len(axes)), shape, np.array(axes))
    assert body.contains(np.array(point))[0] == inside


def with_group(shape: Shape) -> Body:
    """One real column, one that is fixed by its limits, and a free group of three."""
    low, high = np.array([-9.0, 0.5, 0.0, 0.0, 0.0]), np.array([9.0, 0.5, 1.0, 1.0, 1.0])
    whole = np.array([False, False, True, True, True])
    return body_of(np.array([0.0, 0.5, 1.0, 0.0, 0.0]), shape, 0.8, low, high, whole, (np.array([2, 3, 4]),))


@pytest.mark.parametrize("shape", list(Shape))
def test_a_free_group_takes_any_single_category_and_none_of_the_budget(shape: Shape) -> None:
    body = with_group(shape)
    assert body.round_columns.tolist() == [0]
    edge = float(body.upper[0])
    X = np.array([[edge, 0.5, 0, 0, 1], [edge, 0.5, 0, 1, 0], [0, 0.5, 1, 1, 0], [0, 0.5, 0, 0, 0], [0, 0.4, 0, 0, 1]])
    assert body.contains(X).tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("shape", list(Shape))
def test_samples_are_inside_and_reach_everywhere(shape: Shape) -> None:
    body = with_group(shape)
    X = body.sample(3000, seed=1)
    assert body.contains(X).all()
    assert set(np.argmax(X[:, 2:], axis=1)) == {0, 1, 2}
    assert X[:, 0].min() < -0.7 and X[:, 0].max() > 0.7
    assert np.array_equal(X, body.sample(3000, seed=1))
    assert not np.array_equal(X, body.sample(3000, seed=2))


@pytest.mark.parametrize("shape", ROUND)
def test_samples_are_uniform_in_the_shape(shape: Shape) -> None:
    """In two columns half of the radius holds a quarter of the points, on every side."""

    def used(X: Floats) -> Floats:
        ratio = np.abs(X) / [1.0, 2.0]
        return np.sqrt(np.square(ratio).sum(axis=1)) if shape is Shape.BALL else ratio.sum(axis=1)

    X = body_of(np.zeros(2), shape, np.array([1.0, 2.0])).sample(20_000)
    assert (used(X) <= 0.5).mean() == pytest.approx(0.25, abs=0.02)
    for column in range(2):
        assert (X[:, column] > 0).mean() == pytest.approx(0.5, abs=0.02)


def test_whole_samples_stay_inside_by_rounding_towards_the_centre() -> None:
    body = body_of(np.array([2.0, 2.0]), Shape.BALL, 2.3, whole=np.ones(2, dtype=bool))
    X = body.sample(2000)
    assert (X == np.floor(X)).all()
    assert body.contains(X).all()
    assert len(np.unique(X, axis=0)) > 5


def test_samples_of_a_free_group_keep_to_the_allowed_categories() -> None:
    """A member whose upper bound is 0 is forbidden: no sample may have it."""
    center, whole = np.array([0.0, 0.0, 1.0, 0.0]), np.array([False, True, True, True])
    high = np.array([1.0, 0.0, 1.0, 1.0])
    body = body_of(center, Shape.BOX, 0.1, np.zeros(4), high, whole, (np.array([1, 2, 3]),))
    points = body.sample(500)
    assert body.contains(points).all()
    assert set(map(tuple, points[:, 1:])) == {(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)}
