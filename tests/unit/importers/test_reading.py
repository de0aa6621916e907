"""The door: names, labels, one-class models, single leaves, odd but legal models."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from elbowroom.errors import InputError
from elbowroom.importers import open_model, read_model, supported_models
from elbowroom.importers.table import READERS, UNFOLDERS
from elbowroom.models import Decision, LinearModel, Link, ReluNetwork, TreeEnsemble
from tests.support.importer_cases import fitted, table

FRAME, Y = table("cancer")
X = FRAME.to_numpy()


def test_names_come_from_the_model_or_the_caller_or_are_made_up() -> None:
    named = fitted(DecisionTreeClassifier(max_depth=2), FRAME, Y)
    bare = fitted(DecisionTreeClassifier(max_depth=2), X, Y)
    given = tuple("abcdefgh")
    assert read_model(named).info.names == tuple(FRAME.columns)
    assert read_model(named, list(FRAME.columns)).info.names == tuple(FRAME.columns)
    assert read_model(bare, given).info.names == given
    assert read_model(bare).info.names == tuple(f"x{i}" for i in range(8))
    pipeline = fitted(Pipeline([("a", "passthrough"), ("b", StandardScaler()), ("c", LogisticRegression())]), FRAME, Y)
    assert read_model(pipeline).info.names == tuple(FRAME.columns)
    nested = fitted(make_pipeline(make_pipeline(StandardScaler()), make_pipeline(LogisticRegression())), FRAME, Y)
    assert read_model(nested).info.names == tuple(FRAME.columns)
    assert read_model(nested).info.source == "sklearn Pipeline(Pipeline(StandardScaler), LogisticRegression)"


def test_the_original_is_asked_in_its_own_shape_and_never_changes_the_rows() -> None:
    pipeline = fitted(make_pipeline(StandardScaler(copy=False), LogisticRegression()), FRAME.copy(), Y)
    opened = open_model(pipeline)
    rows = X[:20].copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = opened.predict(rows)
        probabilities = opened.original.predict_proba
    assert np.array_equal(rows, X[:20])
    assert np.array_equal(labels, pipeline.predict(FRAME.iloc[:20].copy()))
    assert probabilities is not None and probabilities(rows).shape == (20, 2)


@pytest.mark.parametrize(
    "model",
    [DecisionTreeClassifier(), RandomForestClassifier(3), HistGradientBoostingClassifier(max_iter=2), RidgeClassifier(),
     MLPClassifier((3,), max_iter=2)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_one_class_models_always_give_their_class(model: Any) -> None:
    opened = open_model(fitted(model, X, np.full(len(X), "only")))
    parsed = opened.model
    assert parsed.info.classes == ("only",)
    assert parsed.info.decision is Decision.ARGMAX
    assert parsed.scores(X).shape == (len(X), 1)
    assert set(parsed.info.labels_of(parsed.scores(X)).tolist()) == {0}


def test_a_single_leaf() -> None:
    constant = np.zeros((50, 2))
    labels = np.arange(50) % 2
    for model in (DecisionTreeClassifier(), RandomForestClassifier(3), GradientBoostingClassifier(n_estimators=2)):
        parsed = read_model(model.fit(constant, labels))
        assert isinstance(parsed, TreeEnsemble)
        assert (parsed.feature == -1).all()
        assert [cuts.size for cuts in parsed.cuts] == [0, 0]
        assert len(set(parsed.info.labels_of(parsed.scores(np.random.default_rng(0).normal(size=(9, 2)))))) == 1


def test_zero_coefficients() -> None:
    model = fitted(LogisticRegression(), X, Y)
    model.coef_ = np.zeros_like(model.coef_)
    parsed = read_model(model)
    assert isinstance(parsed, LinearModel) and not parsed.affine.weight.any()


@pytest.mark.parametrize(
    "start",
    ["zero", None, *(DummyClassifier(strategy=name) for name in ("prior", "most_frequent", "uniform"))],
    ids=str,
)
def test_boosting_starts_from_any_constant(start: Any) -> None:
    model = fitted(GradientBoostingClassifier(n_estimators=3, init=start), X, Y)
    parsed = read_model(model)
    assert isinstance(parsed, TreeEnsemble)
    assert np.array_equal(parsed.scores(X)[:, 0], model.decision_function(X))
    assert (parsed.base[0] == 0) == (start == "zero" or getattr(start, "strategy", "") == "uniform")


def test_links_that_are_no_logistic_function_of_the_score_count_as_none() -> None:
    exponential = fitted(GradientBoostingClassifier(n_estimators=2, loss="exponential"), X, Y)
    huber = fitted(SGDClassifier(loss="modified_huber"), X, Y)
    hinge = fitted(SGDClassifier(), X, Y)
    assert [read_model(m).info.link for m in (exponential, huber, hinge)] == [Link.NONE] * 3
    logistic = fitted(SGDClassifier(loss="log_loss"), X, Y)
    assert read_model(logistic).info.link is Link.LOGISTIC


def test_probability_decisions_of_networks_carry_an_evaluation_error() -> None:
    for size in ((), (4,)):
        parsed = read_model(fitted(MLPClassifier(size, max_iter=5), X, Y))
        assert isinstance(parsed, LinearModel if size == () else ReluNetwork)
        assert 0 < parsed.info.evaluation_error < 1e-14
    assert read_model(fitted(LogisticRegression(), X, Y)).info.evaluation_error == 0.0


def test_sparse_coefficients_and_missing_intercepts() -> None:
    model = fitted(LogisticRegression(fit_intercept=False), X, Y).sparsify()
    parsed = read_model(model)
    assert isinstance(parsed, LinearModel) and parsed.affine.bias.tolist() == [0.0]


def test_trees_that_saw_missing_values_are_read_for_rows_without() -> None:
    holed = X.copy()
    holed[::3, 0] = np.nan
    for model in (DecisionTreeClassifier(random_state=0), HistGradientBoostingClassifier(max_iter=5)):
        report = open_model(fitted(model, holed, Y)).report
        assert report is not None and report.points > 1_000


def _agrees(model: Any) -> None:
    """Many rows were replayed, and the rows of the table get the original's labels. Trees leave no row open; of the others
    only rows that were put on the boundary may stay open."""
    opened = open_model(model)
    assert opened.report is not None
    assert opened.report.points > 1_000
    assert opened.report.open_points <= (0 if isinstance(opened.model, TreeEnsemble) else opened.report.points // 4)
    ours = opened.model.info.labels_of(opened.model.scores(X))
    assert np.array_equal(np.array(opened.model.info.classes)[ours], model.predict(X))


def test_float32_training_data() -> None:
    single = X.astype(np.float32)
    for model in (MLPClassifier((4,), max_iter=10, random_state=0), LogisticRegression(), DecisionTreeClassifier()):
        _agrees(fitted(make_pipeline(StandardScaler(), model), single, Y))


def test_forests_with_threads_are_read() -> None:
    _agrees(fitted(RandomForestClassifier(20, n_jobs=2, random_state=0), X, Y))


def test_the_replay_is_deterministic_and_capped() -> None:
    model = fitted(RandomForestClassifier(60, random_state=0), FRAME, Y)
    reports = [open_model(model).report for _ in range(2)]
    assert reports[0] == reports[1]
    assert reports[0] is not None and 10_000 < reports[0].points <= 20_000
    with_data = open_model(model, data=FRAME).report
    assert with_data is not None and with_data.points <= 20_000
    for rows in (FRAME.rename(columns=str).iloc[:, ::-1], X, pd.DataFrame(X)):  # by name, or by position
        assert open_model(model, data=rows).report == with_data


def test_the_product_does_not_import_scikit_learn_before_a_model_is_read() -> None:
    code = "import sys, elbowroom, elbowroom.importers; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


FILE_MODULES = ("xgboost_files", "lightgbm_text", "catboost_file", "onnx_file")


def test_all_supported_classes_exist() -> None:
    """Every name of the table is a class of its library, and where it is read there is a function for it."""
    known = {("sklearn", name) for name, _ in all_estimators()} | {("sklearn", "Pipeline")}
    table = {**READERS, **UNFOLDERS}
    leaving = {("sklearn", f"PassiveAggressive{kind}") for kind in ("Classifier", "Regressor")}  # deprecated
    leaving |= {
        ("sklearn", name) for name in ("FixedThresholdClassifier", "TunedThresholdClassifierCV", "FrozenEstimator")
    }
    leaving |= {("sklearn", f"Halving{kind}SearchCV") for kind in ("Grid", "Random")}  # newer, and experimental ones
    assert {key for key in table if key[0] == "sklearn"} - leaving <= known
    for (library, name), reader in table.items():
        module = importlib.import_module(f"elbowroom.importers.{reader.module}")
        assert callable(getattr(module, reader.function)), name
        assert callable(module.columns), name
        if library != "sklearn" and importlib.util.find_spec(library) is not None:
            homes = {
                "imblearn": ["imblearn.ensemble", "imblearn.pipeline"],
                "torch": ["torch.nn"],
                "elbowroom": [f"elbowroom.importers.{m}" for m in FILE_MODULES],
            }
            places = homes.get(library, [library])
            assert any(isinstance(getattr(importlib.import_module(place), name, None), type) for place in places)
    assert supported_models() == tuple(name for _, name in table)


@pytest.mark.parametrize("count", [None, "7", -1, 10**9, 2.5])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_damaged_number_of_columns_is_refused_by_name(count: Any, scaled: bool) -> None:
    """Before anything of that size is made."""
    x = np.random.default_rng(0).normal(size=(40, 3))
    last = LogisticRegression().fit(x, x[:, 0] > 0)
    first = StandardScaler().fit(x)
    (first if scaled else last).n_features_in_ = count
    with pytest.raises(InputError, match=r"n_features_in_.*fit it again"):
        read_model(make_pipeline(first, last) if scaled else last)
