"""Folding scalers: cuts are exact half lines of floats, weights carry a sound bound on every rounding."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from elbowroom.importers import open_model
from elbowroom.importers.inputs import Inputs
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.trace import Trace
from elbowroom.importers.tree_builder import at_most, float32_at_most
from elbowroom.models import LinearModel, ReluNetwork, TreeEnsemble
from elbowroom.numerics import Floats, next_down, next_up

rng = np.random.default_rng(0)
SIZE = np.array([1.0, 1e-9, 1e9, 1e3, 1e-4, 10.0])
SHIFT = np.array([0.0, 1.0, 1e9, 1e6, -3.0, 1e5])  # the second and the last columns sit far from 0 for their spread
X = rng.normal(size=(200, 6)) * SIZE + SHIFT
Y = (((X - SHIFT) / SIZE) @ [1.0, -2.0, 1.0, 0.5, 1.0, -1.0] > 0.3).astype(int)

FRONTS: dict[str, Any] = {
    "standard": StandardScaler(),
    "standard, no mean": StandardScaler(with_mean=False),
    "standard, no scale": StandardScaler(with_std=False),
    "standard, nothing": StandardScaler(with_mean=False, with_std=False),
    "range": MinMaxScaler((-3, 7)),
    "robust": RobustScaler(),
    "robust, no centre": RobustScaler(with_centering=False),
    "robust, no scale": RobustScaler(with_scaling=False),
    "largest": MaxAbsScaler(),
    "in place": StandardScaler(copy=False),
    "chain": make_pipeline(StandardScaler(), "passthrough", MinMaxScaler(), make_pipeline(RobustScaler())),
    "columns by index": ColumnTransformer([("a", StandardScaler(), [5, 1]), ("b", MinMaxScaler(), [0, 2, 3, 4])]),
    "columns by slice": ColumnTransformer([("a", StandardScaler(), slice(2, 6))], remainder="passthrough"),
    "columns by mask": ColumnTransformer([("a", RobustScaler(), [True, False] * 3)], remainder=MaxAbsScaler()),
    "dropped columns": ColumnTransformer([("a", StandardScaler(), [4, 0])]),
    "column twice": ColumnTransformer(
        [("a", StandardScaler(), [0, 1, 2]), ("b", make_pipeline(MinMaxScaler(), StandardScaler()), [1, 2, 5])],
        remainder="passthrough",
    ),
    "identity function": make_pipeline(FunctionTransformer(), StandardScaler(), FunctionTransformer()),
    "nested columns": ColumnTransformer(
        [("a", ColumnTransformer([("c", StandardScaler(), [1])], remainder="passthrough"), [3, 1]), ("b", "drop", [0])],
        remainder=make_pipeline(MaxAbsScaler(), StandardScaler()),
    ),
}


def _fit(preprocessing: Any, model: Any) -> Any:
    import warnings

    from sklearn.base import clone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(clone(preprocessing), model).fit(X.copy(), Y)


@pytest.mark.parametrize("name", FRONTS)
def test_every_cut_is_the_last_float_that_goes_left(name: str) -> None:
    pipeline = _fit(FRONTS[name], DecisionTreeClassifier(random_state=0))
    parsed = open_model(pipeline).model
    assert isinstance(parsed, TreeEnsemble)
    tree = pipeline[-1].tree_
    inner = np.flatnonzero(tree.children_left >= 0)
    assert inner.size >= 3
    source = open_model(pipeline, replay=False).original.preprocessing.trace.variable
    for node in inner:
        raw = int(source[tree.feature[node]])
        assert raw == parsed.feature[node]
        for value, left in ((parsed.cut[node], True), (next_up(parsed.cut[node]), False)):
            row = np.zeros((1, 6))
            row[0, raw] = value
            moved = np.asarray(pipeline[:-1].transform(row))[0, tree.feature[node]]
            assert (np.float32(moved) <= tree.threshold[node]) == left


@pytest.mark.parametrize("name", FRONTS)
def test_the_declared_error_covers_what_the_original_computes(name: str) -> None:
    """Exactly, in rational numbers: |decision_function(x) - (W x + b)| <= error, on rows of all sizes."""
    pipeline = _fit(FRONTS[name], LogisticRegression(max_iter=50))
    parsed = open_model(pipeline).model
    assert isinstance(parsed, LinearModel)
    affine = parsed.affine
    rows = np.concatenate([X[:60], X[:20] * 1e3, np.zeros((1, 6)), X[:20] * rng.choice([1e-8, 1, 1e8], (20, 6))])
    computed = np.concatenate([pipeline.decision_function(rows.copy()), _one_by_one(pipeline, rows)])
    for row, score in zip(np.concatenate([rows, rows]), computed, strict=True):
        real = sum(
            (Fraction(float(w)) * Fraction(float(x)) for w, x in zip(affine.weight[0], row, strict=True)),
            Fraction(float(affine.bias[0])),
        )
        assert abs(Fraction(float(score)) - real) <= Fraction(float(affine.error(np.abs(row))[0]))
    typical = float(affine.error(np.abs(X).max(axis=0))[0])
    assert typical <= 1e-13 * float(np.abs(affine.weight[0]) @ np.abs(X).max(axis=0) + np.abs(affine.bias[0]) + 100)


def _one_by_one(pipeline: Any, rows: Floats) -> Floats:
    return np.concatenate([pipeline.decision_function(row[None].copy()) for row in rows])


@pytest.mark.parametrize("name", ["standard", "column twice", "chain"])
def test_first_layers_of_networks_are_folded_like_linear_models(name: str) -> None:
    pipeline = _fit(FRONTS[name], MLPClassifier((7,), max_iter=20, random_state=0))
    parsed = open_model(pipeline).model
    assert isinstance(parsed, ReluNetwork)
    network = pipeline[-1]
    first, moved = parsed.layers[0], np.asarray(pipeline[:-1].transform(X.copy()))
    hidden = moved @ network.coefs_[0] + network.intercepts_[0]
    allowed = 2 * np.array([first.error(np.abs(row)) for row in X])
    assert (np.abs(first(X) - hidden) <= allowed).all()
    assert np.array_equal(parsed.layers[1].weight, network.coefs_[1].T)


def test_dropped_columns_stay_in_the_model_without_weight() -> None:
    linear = open_model(_fit(FRONTS["dropped columns"], LogisticRegression())).model
    assert isinstance(linear, LinearModel)
    assert linear.info.names == ("x0", "x1", "x2", "x3", "x4", "x5")
    assert (linear.affine.weight[0] != 0).tolist() == [True, False, False, False, True, False]
    tree = open_model(_fit(FRONTS["dropped columns"], DecisionTreeClassifier(random_state=0))).model
    assert isinstance(tree, TreeEnsemble)
    assert set(tree.feature.tolist()) <= {-1, 0, 4}


def test_plain_cuts_fold_the_cast() -> None:
    preprocessing = Preprocessing.of_numbers(("a", "b"))
    threshold = np.array([0.1, 1.0, 16777217.0, np.inf, -0.0, 1e-46, -1e39])
    column = np.array([0, 1, 0, 1, 0, 1, 0])
    raw, cut, _ = preprocessing.cuts(column, threshold, float32_at_most)
    assert raw.tolist() == column.tolist()
    finite = np.isfinite(cut)
    assert finite.tolist() == [True, True, True, False, True, True, True]
    assert cut[3] == np.inf
    with np.errstate(over="ignore"):
        assert (cut[finite].astype(np.float32) <= threshold[finite]).all()
        assert (next_up(cut[finite]).astype(np.float32) > threshold[finite]).all()
    assert cut[0] != 0.1
    _, same, _ = preprocessing.cuts(column, threshold, at_most)
    assert np.array_equal(same, threshold)


def test_no_splits_at_all() -> None:
    raw, cut, _ = Preprocessing.of_numbers(("a",)).cuts(np.empty(0, dtype=np.int64), np.empty(0), at_most)
    assert raw.size == cut.size == 0


def test_overflow_in_a_chain_of_scalers_keeps_the_order() -> None:
    """The second scaler refuses infinity; the bisection passes there on its way and must not fail."""
    tiny = X * 1e-12
    pipeline = make_pipeline(StandardScaler(), MinMaxScaler(), DecisionTreeClassifier(random_state=0)).fit(tiny, Y)
    parsed = open_model(pipeline).model
    assert isinstance(parsed, TreeEnsemble)
    assert np.isfinite(parsed.cut).all()
    rows = np.concatenate([tiny, next_up(tiny), next_down(tiny)])
    assert (parsed.info.labels_of(parsed.scores(rows)) == pipeline.predict(rows)).all()


def test_scalings_compose_and_select() -> None:
    inputs = Inputs.numbers(("a", "b", "c"))
    both = Trace.of(inputs).then(np.array([2.0, 4.0, 8.0]), np.array([1.0, 0.0, -1.0]))
    chosen = Trace.side_by_side([both.take(np.array([2])), both.take(np.array([0, 0]))])
    assert chosen.variable.tolist() == [2, 0, 0]
    halved = chosen.then(np.full(3, 0.5), np.zeros(3))
    affine = halved.affine(np.array([[1.0, 1.0, 2.0]]), np.array([10.0]), inputs, np.empty((0, 0)), "a model")
    # 1 * (4 x2 - 1/2) + 3 * (x0 + 1/2) + 10
    assert affine.weight.tolist() == [[3.0, 0.0, 4.0]] and affine.bias.tolist() == [11.0]
    assert (affine.error_slope[0, [0, 2]] > 0).all() and affine.error_slope[0, 1] == 0.0


def test_wide_models_with_few_used_columns() -> None:
    wide = rng.normal(size=(60, 3_000))
    labels = (wide[:, 17] + wide[:, 2_500] > 0).astype(int)
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)).fit(wide, labels)
    opened = open_model(pipeline)
    assert opened.model.info.n_features == 3_000
    assert opened.report is not None and opened.report.points > 100
