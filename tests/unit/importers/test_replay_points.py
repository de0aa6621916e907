"""The rows of the replay: neighbours of cuts, rows that reach their split, rows about the boundary."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from elbowroom.errors import ReplayMismatch
from elbowroom.importers import open_model
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.replay import replay
from elbowroom.importers.replay_points import Range, boundary_rows, cut_rows, neighbours, on_cuts, row_budget
from elbowroom.models import LinearModel, TreeEnsemble
from elbowroom.numerics import next_up, ordinal
from tests.support.importer_cases import fitted, table

FRAME, Y = table("cancer")
X = FRAME.to_numpy()


def test_neighbours_are_floats_of_both_kinds() -> None:
    cut = np.array([0.1, -7.25])
    found = neighbours(cut)
    assert (ordinal(found[:, :5]) - ordinal(cut)[:, None]).tolist() == [[0, 1, -1, 2, -2]] * 2
    singles = found[:, 5:]
    assert np.array_equal(singles, singles.astype(np.float32).astype(np.float64))
    assert all(len(set(row)) == 5 for row in singles)


def test_every_split_is_reached_on_both_sides_of_its_cut() -> None:
    parsed = open_model(fitted(DecisionTreeClassifier(random_state=0), X, Y), replay=False).model
    assert isinstance(parsed, TreeEnsemble)
    usual = Range.of(parsed, Preprocessing.of_numbers(parsed.info.names), None)
    rows = cut_rows(parsed, usual, 5_000, np.random.default_rng(0))
    assert 200 < len(rows) <= 5_000
    for node in np.flatnonzero(parsed.feature >= 0):
        through = rows[_passes(parsed, rows, node)]
        at = ordinal(through[:, parsed.feature[node]]) - ordinal(parsed.cut[node])
        assert {0, 1} <= set(at.tolist())


def _passes(parsed: TreeEnsemble, rows: np.ndarray, wanted: int) -> np.ndarray:
    node, passed = np.zeros(len(rows), dtype=int), np.zeros(len(rows), dtype=bool)
    for _ in range(50):
        passed |= node == wanted
        feature = parsed.feature[node]
        left = rows[np.arange(len(rows)), feature] <= parsed.cut[node]
        node = np.where(feature < 0, node, np.where(left, parsed.left[node], parsed.right[node]))
    return passed


def test_budgets_hold_for_many_splits_and_wide_rows() -> None:
    parsed = open_model(fitted(DecisionTreeClassifier(random_state=0), X, Y), replay=False).model
    assert isinstance(parsed, TreeEnsemble)
    usual = Range.of(parsed, Preprocessing.of_numbers(parsed.info.names), None)
    assert len(cut_rows(parsed, usual, 7, np.random.default_rng(0))) <= 7
    assert row_budget(20_000, 30) == 20_000
    assert row_budget(20_000, 10_000) == 2_000


def test_boundary_rows_come_in_pairs_across_the_boundary() -> None:
    parsed = open_model(fitted(LogisticRegression(max_iter=500), X, Y), replay=False).model
    assert isinstance(parsed, LinearModel)
    rows = boundary_rows(parsed, X, 400, np.random.default_rng(0))
    a, b, off_a, off_b = np.split(rows, 4)
    labels = [parsed.info.labels_of(parsed.scores(part)) for part in (a, b)]
    assert len(a) > 50 and (labels[0] != labels[1]).all()
    assert (np.abs(a - b) <= 4 * np.spacing(np.maximum(np.abs(a), np.abs(b)))).all()
    assert (off_a != a).any(axis=1).all() and (off_b != b).any(axis=1).all()


def test_ranges_follow_the_data_the_cuts_or_the_scaler() -> None:
    parsed = open_model(fitted(DecisionTreeClassifier(random_state=0), X, Y), replay=False).model
    assert isinstance(parsed, TreeEnsemble)
    preprocessing = Preprocessing.of_numbers(parsed.info.names)
    by_data = Range.of(parsed, preprocessing, X)
    assert np.array_equal(by_data.low, X.min(axis=0)) and np.array_equal(by_data.high, X.max(axis=0))
    by_cuts = Range.of(parsed, preprocessing, None)
    for f, cuts in enumerate(parsed.cuts):
        assert not cuts.size or (by_cuts.low[f] < cuts[0] and cuts[-1] < by_cuts.high[f])


def test_rows_on_cuts_take_the_same_way_through_every_tree() -> None:
    parsed = open_model(fitted(RandomForestClassifier(20, random_state=0), X, Y), replay=False).model
    assert isinstance(parsed, TreeEnsemble)
    rng = np.random.default_rng(0)
    rows = X[:200] + rng.normal(size=(200, X.shape[1]))
    sharp = on_cuts(parsed, rows, rng)
    assert np.array_equal(parsed.apply(sharp), parsed.apply(rows))
    for f, cuts in enumerate(parsed.cuts):
        if cuts.size:
            assert np.isin(sharp[:, f], np.concatenate([cuts, next_up(cuts)])).all()
            assert np.isin(sharp[:, f], cuts).any() and np.isin(sharp[:, f], next_up(cuts)).any()


def test_a_large_forest_with_one_wrong_leaf_is_refused() -> None:
    """Fewer rows are tried where there are many trees, and labels are asked for on some of them: scores are on all."""
    model = fitted(RandomForestClassifier(150, max_depth=4, random_state=0), X, Y)
    opened = open_model(model)
    assert opened.report is not None and opened.report.points < 15_000
    parsed = opened.model
    assert isinstance(parsed, TreeEnsemble)
    value = parsed.value.copy()
    leaf = int(parsed.apply(X[:1])[0, 77])
    value[leaf] = value[leaf, ::-1]
    with pytest.raises(ReplayMismatch):
        replay(replace(parsed, value=value), opened.original, data=X)
