"""Regions over raw columns: what a user reads, samples and asks about is his own table."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from elbowroom import Box, InputError, Region
from elbowroom.result.schema import read_answer
from tests.support.answers import make_raw_region
from tests.support.forgery import resealed

COLUMNS = ["age", "purpose", "salary", "grade", "owner", "branch", "debt"]


def test_series_over_raw_columns() -> None:
    region = make_raw_region()
    for series in (region.center, region.factual, region.lower, region.upper):
        assert list(series.index) == COLUMNS
    assert region.factual.tolist()[:6] == [35.0, "repairs", 40_123.75, 1, False, "the only one"]
    assert region.center.tolist()[:6] == [35.0, "car", 52_104.5, 2.5, False, "the only one"]
    assert np.isnan(region.factual["debt"]) and np.isnan(region.center["debt"]) and np.isnan(region.lower["debt"])
    assert region.lower["purpose"] == region.upper["purpose"] == ("car", "radio")
    assert (region.lower["salary"], region.upper["salary"]) == (51_604.5, 52_604.5)
    assert region.lower["grade"] == region.upper["grade"] == 2.5
    assert region.changed.tolist() == [False, True, True, True, False, False, False]
    assert "3 features have to change" in repr(region)


def test_intervals_have_one_row_per_raw_column() -> None:
    table = make_raw_region().intervals.set_index("feature")
    told = ["factual", "center", "low", "high", "changed", "has_to_change", "kind", "categories"]
    assert list(table.columns) == told
    assert table["has_to_change"].tolist() == [False, True, True, True, False, False, False]
    assert list(table.index) == COLUMNS
    assert table.loc["purpose", "categories"] == ("car", "radio")
    assert table.loc["purpose", "low"] is None
    assert table.loc["salary", "categories"] == ()
    assert table.loc["grade", ["low", "high", "categories"]].tolist() == [2.5, 2.5, (2.5,)]
    assert np.isnan(table.loc["debt", "center"])


def test_samples_lie_in_the_region_and_keep_what_is_missing() -> None:
    region = make_raw_region()
    table = region.sample(200)
    assert list(table.columns) == COLUMNS
    assert set(table["purpose"]) == {"car", "radio"}
    assert table["grade"].dtype == pd.CategoricalDtype([1, 2.5])
    assert table["debt"].isna().all()
    assert region.contains(table).all()
    assert region.contains(table.iloc[0]).all()
    assert region.contains(table.to_numpy()).all()
    assert region.contains(table[COLUMNS[::-1]]).all()


@pytest.mark.parametrize(
    "change",
    [
        {"debt": 0.0},
        {"purpose": "repairs"},
        {"purpose": "yacht"},
        {"purpose": None},
        {"salary": np.nan},
        {"salary": 52_604.6},
        {"grade": 1},
        {"age": 36},
    ],
)
def test_rows_outside(change: dict[str, object]) -> None:
    region = make_raw_region()
    row = region.center.to_dict() | {"debt": np.nan}
    assert region.contains(pd.DataFrame([row])).all()
    assert not region.contains(pd.DataFrame([row | change])).any()


def test_without_labels_missing_numbers_are_nan_as_well() -> None:
    from tests.support.answers import CENTER, FACTUAL, make_region

    factual, center = FACTUAL.copy(), CENTER.copy()
    factual[-1] = center[-1] = 0.0
    region = make_region(factual=factual, center=center, room=Box({"salary": 1.0}), missing=("rate",))
    assert region.center.dtype == np.float64
    assert np.isnan(region.center["rate"])
    assert region.sample(5)["rate"].isna().all()
    assert region.contains(region.sample(5)).all()
    assert not region.contains(region.sample(5).fillna(0.0)).any()
    assert not region.contains(np.nan_to_num(region.sample(5).to_numpy())).any()


# ---- files --------------------------------------------------------------------------------------------------------------
def test_round_trip() -> None:
    region = make_raw_region()
    again = Region.from_json(region.to_json())
    assert again.to_json() == region.to_json()
    assert again.space == region.space
    for ours, theirs in zip(again.space.groups, region.space.groups, strict=True):
        assert [(type(label), label) for label in ours.labels or ()] == [(type(b), b) for b in theirs.labels or ()]
        assert ours.pandas_category == theirs.pandas_category
    assert [f.missing for f in again.space.features] == [f.missing for f in region.space.features]
    assert again.missing == ("debt",)
    assert again.room == region.room
    assert again.sample(20).equals(region.sample(20))


def test_files_without_labels_do_not_mention_them() -> None:
    from tests.support.answers import make_region

    document = json.loads(make_region().to_json())
    assert "missing" not in document
    assert set(document["space"]["groups"][0]) == {"name", "members", "weight"}
    assert all("missing" not in feature for feature in document["space"]["features"])


def forge(document: dict[str, Any], place: str) -> None:
    group = document["space"]["groups"][0]
    match place:
        case "twice":
            group["labels"][1] = group["labels"][0]
        case "fewer":
            group["labels"].pop()
        case "kind":
            group["labels"][0] = {"type": "bytes", "value": "00"}
        case "null":
            group["labels"] = None
        case "no labels":
            del group["labels"]
        case "dtype":
            group["pandas_category"] = 1
        case "order":
            group["members"].reverse()
        case "missing":
            document["missing"] = ["salary"]
        case "unknown":
            document["missing"] = ["debts"]
        case "category":
            document["missing"] = ["purpose=car"]
        case "again":
            document["missing"] = ["debt", "debt"]
        case "moving":
            document["missing"] = ["debt", "age"]
        case "may be":
            document["space"]["features"][0]["missing"] = "perhaps"


FORGED = ("twice", "fewer", "kind", "null", "dtype", "order", "missing", "unknown", "category", "again", "moving")


@pytest.mark.parametrize("place", [*FORGED, "no labels", "may be"])
def test_forged_labels_are_refused(place: str) -> None:
    document = json.loads(make_raw_region().to_json())
    read_answer(json.dumps(resealed(document)))
    forge(document, place)
    with pytest.raises(InputError):
        read_answer(json.dumps(resealed(document)))
