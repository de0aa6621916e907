"""The default scale: no single value decides it, whatever the column looks like."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elbowroom import Box, Explainer, InputError, Region, Space
from elbowroom.problem.scales import CATEGORY, Scale, usual_range
from elbowroom.result.schema import read_answer


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.arange(101.0), 90.0),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 2.0),
        ([1.0, 2.0], 1.0),
        ([7.0], 0.0),  # a constant: from_frame makes it 1
        ([0.0] * 95 + [10.0, 20.0, 30.0, 40.0, 50.0], 30.0),  # mostly one value: each counts once, 10 to 40
        ([0.0] * 999 + [5.0], 5.0),  # there is nothing else to go by
        ([1.0] * 60 + [2.0] * 30 + [3.0] * 8 + [4.0] * 2, 2.0),
    ],
)
def test_usual_ranges(values: list[float], expected: float) -> None:
    assert usual_range(np.asarray(values, dtype=float)) == expected


@given(st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=80), st.floats(-1e12, 1e12))
def test_no_single_value_decides(values: list[float], odd: float) -> None:
    """Whatever one value is, the middle lies between other values of the column."""
    column = np.array([*values, odd])
    scale = usual_range(column)
    assert scale <= np.ptp(values) or np.ptp(np.sort(column)[1:-1]) == 0.0


def income(outlier: bool) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    values = rng.lognormal(10, 0.5, 300).round()
    return pd.DataFrame({"income": [*values, 5e7] if outlier else values, "age": rng.integers(18, 80, 300 + outlier)})


def test_an_outlier_changes_no_answer() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, odd = (Space.from_frame(income(outlier), numeric=["income"]) for outlier in (False, True))
    assert odd.scale[0] == pytest.approx(plain.scale[0], rel=0.05)
    assert odd.upper[0] == 5e7  # bounds are those of the data
    X = income(False)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X["income"] > 25_000)
    row = X[X["income"] < 20_000].iloc[0]
    regions = [Explainer(model, space).explain(row, room=Box(0.05), target=True) for space in (plain, odd)]
    assert all(isinstance(region, Region) for region in regions)
    widths = [region.upper["income"] - region.lower["income"] for region in regions]
    assert widths[1] == pytest.approx(widths[0], rel=0.05) and widths[1] < 10_000


def frame() -> pd.DataFrame:
    return pd.DataFrame({"x": np.arange(100.0), "y": [0, 1] * 50, "city": ["Oslo", "Bergen"] * 50})


def test_prices_stand_in_proportion_to_the_scale() -> None:
    usual = Space.from_frame(frame(), numeric=["x"])
    assert usual.measure is Scale.USUAL and usual.scale[0] == 89.0
    assert (
        usual.groups[0].weight == CATEGORY and usual.features[1].weight == CATEGORY and usual.features[0].weight == 1.0
    )
    for scale in ("range", "std", "none"):
        other = Space.from_frame(frame(), numeric=["x"], scale=scale)
        assert other.measure is Scale(scale) and other.groups[0].weight == other.features[1].weight == 1.0
    own = Space.from_frame(frame(), numeric=["x"], weights={"city": 2.0, "y": 0.5})
    assert own.groups[0].weight == 2.0 and own.features[1].weight == 0.5
    given_ = Space.from_frame(frame(), numeric=["x"], scale={"x": 10.0})
    assert given_.measure is None and given_.scale[0] == 10.0
    with pytest.raises(InputError, match='use "usual", "range", "std", "none"'):
        Space.from_frame(frame(), scale="iqr")


def test_said_in_the_answer_and_kept_in_files() -> None:
    X = frame()
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[["x", "y"]], X["x"] > 50)
    region = Explainer(model, Space.from_frame(X[["x", "y"]], numeric=["x"], units={"x": "km"})).explain(
        [10.0, 0], target=True
    )
    words = "A distance of 1 is the usual range of a number (the middle 90 % of the data), for example 89 km of x; a change of yes or no costs"
    assert words in str(region) and words in region.to_html() and words in region._repr_html_()
    again = read_answer(region.to_json())
    assert again.space.measure is Scale.USUAL and str(again) == str(region)
    none = Explainer(model).explain([10.0, 0], target=True)
    assert "A distance of 1 is one unit of a number." in str(none)


def test_a_space_prints_as_a_table() -> None:
    text = str(Space.from_frame(frame(), numeric=["x"]))
    assert text.splitlines()[0].split() == ["column", "kind", "values", "scale", "weight", "may", "change"]
    assert "0.3333" in text and "89" in text and "Bergen, Oslo" in text and len(text.splitlines()) == 4
    evil = frame().rename(columns={"x": "x\x1b[2J\nValid <b>"})
    for shown in (str(Space.from_frame(evil)), Space.from_frame(evil)._repr_html_(), repr(Space.from_frame(evil))):
        assert (
            "\x1b" not in shown
            and "\nValid" not in shown
            and "<b>" not in shown.replace(str(Space.from_frame(evil)), "")
        )
