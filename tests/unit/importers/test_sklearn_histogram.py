"""Histogram boosting with categories and missing values, and trees that route missing numbers, against their own predict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from elbowroom.errors import ReplayMismatch, UnsupportedModel
from elbowroom.importers import open_model, replay, sklearn_histogram
from elbowroom.importers.reading import ReadModel
from elbowroom.models import TreeEnsemble
from tests.support.histogram_cases import array, boosted, cases, credit_table
from tests.support.importer_cases import one_thread

__all__ = ["one_thread"]
pytestmark = pytest.mark.usefixtures("one_thread")
SIZES = [4_000, pytest.param(200_000, marks=pytest.mark.long)]


NAMES = ("from_dtype", "mask", "indices", "names, three classes", "array", "numbers only", "behind an encoder")


def _hostile(opened: ReadModel, size: int, seed: int = 0) -> np.ndarray:
    """Inner rows: numbers on every cut, its float64 and float32 neighbours, NaN; categories of all kinds, None too."""
    parsed, inputs = opened.model, opened.original.inputs
    assert isinstance(parsed, TreeEnsemble) and parsed.may_miss is not None
    rng = np.random.default_rng(seed)
    rows = rng.normal(40, 40, (size, inputs.width))
    for f, cuts in enumerate(parsed.cuts):
        if cuts.size and inputs.is_number[np.searchsorted(inputs.starts, f, side="right") - 1]:
            chosen, step = rng.choice(cuts, size), rng.integers(-2, 3, size)
            near = np.where(
                step == 0, chosen, np.where(step > 0, np.nextafter(chosen, np.inf), np.nextafter(chosen, -np.inf))
            )
            single = near.astype(np.float32).astype(float)
            rows[:, f] = np.where(rng.random(size) < 0.7, np.where(np.abs(step) == 2, single, near), rows[:, f])
    rows = np.where(parsed.may_miss & (rng.random(rows.shape) < 0.15), np.nan, rows)
    return inputs.settled(rows)


def _raw(model: Any, table: Any) -> np.ndarray:
    return np.asarray(model.decision_function(table)).reshape(len(table), -1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_sums_and_labels_are_the_originals(name: str, size: int) -> None:
    model, rows = cases()[name]
    opened = open_model(model, data=rows)
    assert opened.report is not None and opened.report.points > 3_000 and opened.report.open_points == 0
    hostile = _hostile(opened, size)
    table = opened.original.inputs.table(hostile)
    assert np.array_equal(opened.model.scores(hostile), _raw(model, table))
    ours = np.array(opened.model.info.classes)[opened.model.info.labels_of(opened.model.scores(hostile))]
    assert np.array_equal(ours, model.predict(table))
    known = opened.original.inputs.inner(rows)  # and the user's own table, in its own types
    assert len(known) == len(rows)
    assert np.array_equal(opened.model.scores(known), _raw(model, rows))


def test_categories_are_those_of_the_models_own_encoder() -> None:
    columns = open_model(cases()["mask"][0], replay=False).original.inputs.columns
    assert columns[1].categories == ("car", "house", "radio", "study", None)  # sorted, whatever the dtype says
    assert columns[3].categories == (10, 20, 25, 30, None) and columns[4].categories == (False, True, None)
    opened = open_model(cases()["mask"][0], replay=False)
    assert isinstance(opened.model, TreeEnsemble) and opened.model.sets is not None


def test_categories_that_were_never_seen_are_missing_ones() -> None:
    model, frame = cases()["mask"]
    opened = open_model(model, replay=False)
    strange = frame.assign(purpose="boat", grade=15)
    missing = frame.assign(purpose=np.nan, grade=np.nan)
    assert not len(opened.original.inputs.inner(strange))  # no row of a question
    assert np.array_equal(opened.model.scores(opened.original.inputs.inner(missing)), _raw(model, strange))


def test_none_as_a_category_of_its_own_is_refused() -> None:
    frame, y, _ = credit_table()
    text = frame.assign(purpose=pd.Series([None, "a", "b", "c", "d", "e", "f"] * 100, dtype=object))
    model = boosted(categorical_features=["purpose"]).fit(text, y)
    with pytest.raises(UnsupportedModel, match=r"'purpose'.*takes None for a category.*astype\('category'\)"):
        open_model(model)


def _caught(copy: TreeEnsemble, opened: ReadModel) -> bool:
    try:
        replay(copy, opened.original, limit=4_000)
    except ReplayMismatch:
        return True
    return False


@pytest.mark.parametrize("name", ["mask", "array"])
def test_wrong_copies_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_model(cases()[name][0], replay=False)
    parsed = opened.model
    assert isinstance(parsed, TreeEnsemble) and parsed.missing_left is not None and parsed.sets is not None
    assert not _caught(parsed, opened)
    assert _caught(replace(parsed, missing_left=~parsed.missing_left), opened)
    assert _caught(replace(parsed, sets=replace(parsed.sets, left=parsed.sets.right, right=parsed.sets.left)), opened)
    with monkeypatch.context() as wrong:
        wrong.setattr(sklearn_histogram, "_order", lambda model: np.arange(model.n_features_in_))
        with pytest.raises((ReplayMismatch, UnsupportedModel)):
            open_model(cases()[name][0])
    with monkeypatch.context() as wrong:
        ask = sklearn_histogram._InSet.__call__
        wrong.setattr(
            sklearn_histogram._InSet, "__call__", lambda self, codes: ask(self, np.nan_to_num(codes, nan=10.0))
        )
        if name == "array":
            with pytest.raises(ReplayMismatch):
                open_model(cases()[name][0])


# ---- trees -----------------------------------------------------------------------------------------------------------
def _trees() -> dict[str, Any]:
    return {
        "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
        "random forest": RandomForestClassifier(7, max_depth=6, random_state=0),
        "extra tree": ExtraTreeClassifier(max_depth=6, random_state=0),
        "extra trees": ExtraTreesClassifier(7, max_depth=6, random_state=0),
    }


@pytest.mark.parametrize("seen", [True, False], ids=["NaN in training", "none in training"])
@pytest.mark.parametrize("name", ["tree", "random forest", "extra tree", "extra trees"])
def test_trees_route_missing_numbers_where_the_library_takes_them(name: str, seen: bool) -> None:
    rows, (_, y, _) = array(), credit_table()
    whole = np.nan_to_num(rows, nan=30.0)
    model = _trees()[name]
    try:
        model.fit(rows if seen else whole, y)
        model.predict(rows)
    except ValueError:  # an older release
        model.fit(whole, y)
        assert open_model(model).model.may_miss is None  # type: ignore[union-attr]
        return
    opened = open_model(model, data=rows)
    parsed = opened.model
    assert isinstance(parsed, TreeEnsemble) and parsed.may_miss is not None and parsed.may_miss.all()
    hostile = _hostile(opened, 4_000)
    assert np.isnan(hostile).any()
    assert np.array_equal(parsed.scores(hostile), model.predict_proba(hostile))
    assert parsed.missing_left is not None
    if seen:
        assert _caught(replace(parsed, missing_left=~parsed.missing_left), opened)


def test_trees_that_take_no_missing_numbers_say_so() -> None:
    rows, (_, y, _) = np.nan_to_num(array()), credit_table()
    for model in (GradientBoostingClassifier(n_estimators=3),):
        parsed = open_model(model.fit(rows, y)).model
        assert isinstance(parsed, TreeEnsemble) and parsed.may_miss is None and parsed.missing_left is None
