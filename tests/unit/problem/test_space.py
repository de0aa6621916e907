"""The space: kinds, bounds and scales from data; rows checked by name, width and value."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from elbowroom import Box, Feature, Group, InputError, Space
from elbowroom.problem import Direction, Kind, RecourseProblem
from elbowroom.search.linear.question import read_question
from tests.support.linear_problems import linear_model

pytestmark = pytest.mark.filterwarnings("ignore::elbowroom.ElbowroomWarning")  # few rows are enough here


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [20, 35, 60],
            "salary": [1e3, 5e4, 9e4],
            "owner": [0, 1, 0],
            "rent": [1, 0, 0],
            "free": [0, 0, 1],
            "own": [0, 1, 0],
        }
    )


def test_kinds_bounds_and_scales_come_from_the_data(frame: pd.DataFrame) -> None:
    space = Space.from_frame(
        frame, increasing=["age"], one_hot={"home": ["rent", "free", "own"]}, bounds={"salary": (None, math.inf)}
    )
    kinds = [f.kind for f in space.features]
    assert kinds == [Kind.INTEGER, Kind.NUMERIC, *[Kind.BINARY] * 4]
    assert space.features[0].direction is Direction.INCREASING
    assert (space.lower[0], space.upper[0], space.scale[0]) == (20.0, 60.0, 40.0)
    assert (space.lower[1], space.upper[1]) == (1e3, math.inf)
    assert space.group_of.tolist() == [-1, -1, -1, 0, 0, 0]


def test_scales(frame: pd.DataFrame) -> None:
    assert Space.from_frame(frame, scale="none").scale.tolist() == [1.0] * 6
    assert Space.from_frame(frame, scale="std").scale[0] == pytest.approx(np.std([20, 35, 60]))
    assert Space.from_frame(frame, scale={"age": 10}).scale[0] == 10.0
    constant = frame.assign(age=3)
    assert Space.from_frame(constant).scale[0] == 1.0


def test_immutable_group_freezes_its_members(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame, immutable=["home"], one_hot={"home": ["rent", "free", "own"]})
    assert [f.immutable for f in space.features] == [False] * 3 + [True] * 3


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"immutable": ["agee"]}, "did you mean 'age'"),
        ({"immutable": "age"}, "list of column names"),
        ({"bounds": {"age": (50, 20)}}, "lower bound 50.0 is above upper bound 20.0"),
        ({"bounds": {"age": (math.nan, 20)}}, "not numbers"),
        ({"bounds": {"age": 3}}, "pair"),
        ({"bounds": "tight"}, "unknown"),
        ({"scale": "wide"}, "unknown"),
        ({"scale": {"age": 0}}, "positive"),
        ({"weights": {"age": -1}}, "positive"),
        ({"binary": ["age"]}, "binary"),
        ({"integer": ["half"]}, "integer but holds 0.5"),
        ({"increasing": ["age"], "decreasing": ["age"]}, "both"),
        ({"one_hot": {"home": ["rent"]}}, "at least two"),
        ({"one_hot": {"home": ["rent", "castle"]}}, "castle"),
        ({"one_hot": {"a": ["rent", "own"], "b": ["own", "free"]}}, "two one-hot groups"),
    ],
)
def test_bad_declarations(frame: pd.DataFrame, keywords: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Space.from_frame(frame.assign(half=[0.5, 1.0, 2.0]), **keywords)  # type: ignore[arg-type]


def test_frames_that_say_nothing_are_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(InputError, match=r"'salary' holds no value at all"):
        Space.from_frame(frame.assign(salary=[np.nan, np.nan, np.nan]))
    with pytest.raises(InputError, match=r"'salary', row 1: inf"):
        Space.from_frame(frame.assign(salary=[1.0, np.inf, 2.0]))
    with pytest.raises(InputError, match="no rows"):
        Space.from_frame(frame.iloc[:0])
    with pytest.raises(InputError, match="DataFrame"):
        Space.from_frame(frame.to_numpy())  # type: ignore[arg-type]


def test_rows_are_matched_by_name(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame)
    shuffled = frame.iloc[1][["own", "salary", "age", "free", "rent", "owner"]]
    expected = frame.iloc[1].to_numpy(dtype=float)
    for row in (shuffled, shuffled.to_dict(), frame.iloc[[1]], expected, list(expected), expected[None]):
        assert space.row(row).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1, 2, 3], "3 values for 6 columns"),
        ([np.nan, 2, 0, 1, 0, 0], "column 'age': nan is not a finite number; fill it in"),
        ([20, np.inf, 0, 1, 0, 0], "column 'salary': inf"),
        ([20.5, 2, 0, 1, 0, 0], "whole number"),
        ([20, 2, 2, 1, 0, 0], "neither 0 nor 1"),
        ([20, 2, 0, 1, 1, 0], "here 2 are"),
        ([20, 2, 0, 0, 0, 0], "unseen category"),
        (["x", 2, 0, 1, 0, 0], "'x' is not a number"),
        ({"age": 1}, "missing columns"),
        ("age", "not str"),
        (np.zeros((2, 6)), "shape"),
    ],
)
def test_bad_rows(frame: pd.DataFrame, row: object, message: str) -> None:
    space = Space.from_frame(frame, one_hot={"home": ["rent", "free", "own"]})
    with pytest.raises(InputError, match=message):
        space.row(row)


def test_extra_columns_are_named(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame)
    with pytest.raises(InputError, match=r"unknown columns \['shoe'\]"):
        space.row(frame.assign(shoe=1).iloc[0])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Feature("a", kind="real"),
        lambda: Feature("a", direction="sideways"),
        lambda: Feature("a", lower=math.inf),
        lambda: Feature("a", kind="integer", lower=0.2, upper=0.8),
        lambda: Space(()),
        lambda: Space((Feature("a"), Feature("a"))),
        lambda: Space((Feature("a"), Feature("b")), (Group("g", ("a", "b")),)),
    ],
)
def test_bad_features(make: object) -> None:
    with pytest.raises(InputError):
        make()  # type: ignore[operator]


def test_select_reorders_and_refuses_strangers(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame)
    names = tuple(reversed(space.names))
    assert space.select(names).names == names
    with pytest.raises(InputError, match="does not describe"):
        space.select((*names, "more"))
    with pytest.raises(InputError, match="does not use"):
        space.select(names[1:])


def test_a_whole_centre_and_a_whole_room_are_two_things() -> None:
    """Today they are the same columns; here the room around a whole centre is made of all numbers."""
    space = Space((Feature("x0", "integer", 0, 9), Feature("x1", lower=0, upper=9)))
    assert space.whole_center.tolist() == space.whole_room.tolist() == [True, False]
    space.__dict__["whole_room"] = np.array([False, False])
    model = linear_model(np.array([[1.0, 1.0]]), np.array([-9.0]))
    problem = RecourseProblem.ask(model, space, [3.0, 3.0], Box(0.25), 1)
    assert problem.admissible(np.array([4.0, 4.5])) and not problem.admissible(np.array([4.5, 4.0]))
    assert problem.body(np.array([4.0, 4.5])).lower.tolist() == [3.75, 4.25]
    with pytest.raises(AssertionError):  # the linear engine knows one kind of whole column only
        read_question(problem, model)


@pytest.mark.parametrize(("weight", "scale"), [(1.0, 1e-310), (1e300, 1e-10), (1e-300, 1e300)])
def test_prices_beyond_all_floats_are_refused(weight: float, scale: float) -> None:
    with pytest.raises(InputError, match=r"feature 'income': weight .* over scale .* is beyond float64"):
        Feature("income", weight=weight, scale=scale)
