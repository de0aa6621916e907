"""What is missing in the row: fixed in the question, and never the result of a change."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from elbowroom import Box, ElbowroomWarning, Feature, Group, InputError, LinearRule, Space
from elbowroom.problem import RecourseProblem
from tests.support.linear_problems import linear_model


def space(missing: str = "keep") -> Space:
    members = ("g=a", "g=b", "g=missing")
    return Space(
        (
            Feature("x", lower=-2.0, upper=5.0),
            Feature("n", "integer", 1, 9),
            *(Feature(name, "binary", missing=missing) for name in members),
        ),
        (Group("g", members, labels=("a", "b", None)),),
    )


def ask(row: object, room: Box, missing: str = "keep", **options: object) -> RecourseProblem:
    about = space(missing)
    model = linear_model(np.array([1.0, 1.0, 0.5, -0.5, 0.2]), np.zeros(1), about.names)
    return RecourseProblem.ask(model, about, row, room, 1, **options)  # type: ignore[arg-type]


def test_numbers_that_are_missing_are_fixed_at_a_zero_that_means_nothing() -> None:
    with pytest.raises(InputError, match="column 'n': nan is not a finite number"):
        ask({"x": 1.0, "n": np.nan, "g": "a"}, Box(0.1))
    problem = ask({"x": 1.0, "n": None, "g": "a"}, Box(0.1), allow_missing=True)
    assert problem.missing == ("n",)
    assert problem.factual.tolist() == [1.0, 0.0, 1.0, 0.0, 0.0]
    assert (problem.lower[1], problem.upper[1]) == (0.0, 0.0)
    assert problem.trouble is None
    body = problem.body(problem.factual)
    assert (body.lower[1], body.upper[1]) == (0.0, 0.0)
    with pytest.raises(InputError, match=r"LinearRule .* is about column 'n', which is missing"):
        ask(
            {"x": 1.0, "n": None, "g": "a"},
            Box(0),
            allow_missing=True,
            rules=[LinearRule({"n": 1.0, "x": 1.0}, high=3)],
        )
    with pytest.raises(InputError, match="must be a column of numbers that is 0"):
        RecourseProblem(
            problem.model, problem.space, problem.factual, problem.target, Box(0), problem.distance, (), ("x",)
        )


@pytest.mark.parametrize(
    ("value", "missing", "room", "upper"),
    [
        ("a", "keep", Box(0), [1, 1, 0]),
        ("a", "may be filled", Box(0), [1, 1, 0]),
        ("a", "keep", Box(0, categories={"g": "any"}), [1, 1, 0]),
        (None, "keep", Box(0), [0, 0, 1]),
        (None, "keep", Box(0, categories={"g": "any"}), [0, 0, 1]),
        (None, "may be filled", Box(0), [1, 1, 1]),
        (None, "may be filled", Box(0, categories={"g": "any"}), [1, 1, 0]),
        (None, "may be filled", Box(0, categories={"g": ["b"]}), [0, 1, 0]),
        ("a", "keep", Box(0, categories={"g": ["b"]}), [0, 1, 0]),
    ],
)
def test_which_categories_are_left(value: object, missing: str, room: Box, upper: list[int]) -> None:
    problem = ask({"x": 1.0, "n": 2, "g": value}, room, missing)
    assert problem.upper[2:].tolist() == upper


def test_rooms_wider_than_the_range_are_remarked_upon() -> None:
    row = {"x": 1.0, "n": 2, "g": "a"}
    with pytest.warns(ElbowroomWarning, match=r"wider than the whole range of \['x'\]\, so .* 0\.05") as seen:
        ask(row, Box(7.0 + 0.1))
    assert [w.filename for w in seen] == [__file__]
    with pytest.warns(ElbowroomWarning, match=r"range of \['x'\], so it always takes all of it\.$"):
        ask(row, Box({"x": 7.01}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask(row, Box({"x": 7.0, "n": 8}))
