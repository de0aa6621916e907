"""Rooms that are as large as a Gaussian slip needs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom import Ball, Box, Diamond, Feature, Group, InputError, Space, chance

NORM = {Box: "linf", Ball: "l2", Diamond: "l1"}


@pytest.mark.parametrize("room", [Box, Ball, Diamond])
@pytest.mark.parametrize("probability", [1e-6, 0.3, 0.95, 0.999999])
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_room_is_large_enough_and_hardly_larger(room, probability: float, n: int) -> None:
    made = room.for_probability(probability, 0.02, n=n)
    assert chance.probability(made.size, 0.02, n, NORM[room]) >= probability * (1 - 4e-16)  # the law itself is rounded
    assert chance.probability(made.size * (1 - 1e-9), 0.02, n, NORM[room]) < probability


@pytest.mark.parametrize("room", [Box, Ball, Diamond])
def test_one_sigma_per_feature_gives_one_radius_per_feature(room) -> None:
    made = room.for_probability(0.9, {"salary": 1000.0, "age": 2.0, "sex": 0.0})
    t = made.radius["age"] / 2.0
    assert made.radius == pytest.approx({"salary": 1000 * t, "age": 2 * t, "sex": 0.0})
    assert chance.probability(t, 1.0, 2, NORM[room]) == pytest.approx(0.9, rel=1e-9)
    listed = room.for_probability(0.9, [1000.0, 2.0, 0.0])
    assert listed.radius == pytest.approx((1000 * t, 2 * t, 0.0))


def test_the_box_holds_the_share_of_slips_it_promises() -> None:
    made = Box.for_probability(0.8, {"a": 3.0, "b": 0.1})
    slips = np.random.default_rng(0).normal(size=(100_000, 2)) * [3.0, 0.1]
    inside = (np.abs(slips) <= [made.radius["a"], made.radius["b"]]).all(axis=1).mean()
    assert abs(inside - 0.8) < 5 * math.sqrt(0.16 / 100_000)


def test_the_space_counts_the_features_that_move() -> None:
    space = Space(
        (
            Feature("a"),
            Feature("b", immutable=True),
            Feature("c", lower=1.0, upper=1.0),
            Feature("d", "integer"),
            Feature("g1", "binary"),
            Feature("g2", "binary"),
        ),
        (Group("g", ("g1", "g2")),),
    )
    assert Box.for_probability(0.9, 0.1, space=space) == Box.for_probability(0.9, 0.1, n=2)


def test_categories_are_kept() -> None:
    assert Ball.for_probability(0.5, 0.1, n=3, categories={"g": "any"}).categories == {"g": "any"}


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"sigma": 0.1}, "how many"),
        ({"sigma": 0.1, "n": 2, "space": Space.plain(["a"])}, "how many"),
        ({"sigma": 0.1, "n": 0}, "n=0"),
        ({"sigma": 0.1, "n": 1.5}, "n=1.5"),
        ({"sigma": 0.1, "n": True}, "n=True"),
        ({"sigma": 0.1, "space": "here"}, "Space"),
        ({"sigma": 0.1, "space": Space((Feature("a", immutable=True),))}, "no feature"),
        ({"sigma": 0.0, "n": 2}, "sigma is 0"),
        ({"sigma": {"a": 0.0}}, "sigma is 0"),
        ({"sigma": {"a": 1.0}, "n": 2}, "only for a single sigma"),
        ({"sigma": -1.0, "n": 2}, "sigma"),
        ({"sigma": math.inf, "n": 2}, "sigma"),
        ({"sigma": 0.1, "n": 2, "probability": 1.0}, "probability"),
        ({"sigma": 0.1, "n": 2, "probability": 0.0}, "probability"),
        ({"sigma": 0.1, "n": 2, "probability": math.nan}, "probability"),
    ],
)
def test_bad_input_is_named(options: dict, word: str) -> None:
    with pytest.raises(InputError, match=word):
        Box.for_probability(**{"probability": 0.9, **options})


@pytest.mark.parametrize("room", [Box(0.5), Box({"a": 1.0}), Box(low=0.1, high=0.2), Ball(0.5), Diamond([0.5, 1.0])])
def test_a_multiplied_room_contains_the_smaller_one(room) -> None:
    space = Space.plain(["a", "b"])
    small, large = room.times(0.7).walls(space), room.times(0.9).walls(space)
    assert type(room.times(0.7)) is type(room)
    assert (small.down <= large.down).all() and (small.up <= large.up).all()
    assert room.times(1.0) == room
