"""Rooms of one shape and many sizes: what may be given, what it means, and what the errors name."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.problem import Ball, Box, Diamond, Feature, Space
from elbowroom.problem.radii import MULTIPLES, SCALES, parse_jump, parse_radii, parse_unit

SPACE = Space((Feature("a", scale=2.0), Feature("b", scale=3.0, immutable=True)))


@pytest.mark.parametrize("given", [[0.2, 0.1, 0], (0.1, 0.2, 0.0), np.array([0.2, 0.0, 0.1]), iter([0.0, 0.2, 0.1])])
def test_radii_are_sorted_floats(given: object) -> None:
    found = parse_radii(given)
    assert found == [0.0, 0.1, 0.2]
    assert all(type(size) is float for size in found)
    assert math.copysign(1.0, parse_radii([-0.0])[0]) == 1.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "empty"),
        (0.1, "list of radii"),
        ("0.1", "list of radii"),
        ({0.1: 1}, "list of radii"),
        ([0.1, -0.2], r"radii\[1\] = -0.2"),
        ([math.inf], r"radii\[0\]"),
        ([math.nan], r"radii\[0\]"),
        ([True], "must be a number"),
        ([0.1, 0.2, 0.1], r"radii\[2\] = 0.1 occurs twice"),
        ([0.1, "wide"], r"radii\[1\]"),
    ],
)
def test_bad_radii_are_named(given: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_radii(given)


@pytest.mark.parametrize(("norm", "room"), [("linf", Box), ("l2", Ball), ("l1", Diamond)])
def test_norms_and_classes_are_rooms_in_units_of_the_scales(norm: str, room: type) -> None:
    for given in (norm, room, room(1.0)):
        unit, counts = parse_unit(given, SPACE)
        assert isinstance(unit, room)
        assert (unit.size, counts) == (1.0, SCALES)
        assert unit.walls(SPACE).up.tolist() == [2.0, 3.0]


def test_sizes_per_feature_are_multiplied() -> None:
    given = Box({"a": 0.5})
    assert parse_unit(given, SPACE) == (given, MULTIPLES)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("l3", "'l3' is unknown"),
        (Box(0.05), "has a radius already"),
        (Box({"a": 0.0}), "no size that radii could multiply"),
        (0.05, 'give "linf"'),
        (int, 'give "linf"'),
        (None, 'give "linf"'),
    ],
)
def test_bad_units_are_named(given: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_unit(given, SPACE)


def test_a_jump_is_a_positive_number() -> None:
    assert parse_jump(1) == 1.0
    assert parse_jump(np.float64(0.25)) == 0.25
    for size in (0.0, -1.0, math.inf, math.nan, True, "big", None):
        with pytest.raises(InputError, match="smallest_jump"):
            parse_jump(size)
