"""XGBoost's trees: labels, sums to the bit, what is refused, and that a wrong reader is found out."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from elbowroom.errors import InputError, ReplayMismatch, UnsupportedModel
from elbowroom.importers import open_model, xgboost_base, xgboost_models, xgboost_trees
from elbowroom.importers.xgboost_document import Learner
from elbowroom.models import Decision, LinearModel, Link, TreeEnsemble
from tests.support.xgboost_cases import (
    CASES,
    LINEAR,
    NEEDS_STORED_CATEGORIES,
    fitted,
    framed,
    hostile_rows,
    rows,
    table_of,
)

xgboost = pytest.importorskip("xgboost")
STORED = tuple(int(v) for v in xgboost.__version__.split(".")[:2]) >= (3, 1)
SIZE = 20_000


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def usable(case: str) -> Any:
    if case in NEEDS_STORED_CATEGORIES and not STORED:
        pytest.skip("this release does not store categories")
    return fitted(case)


def compared(case: str, size: int, seed: int) -> None:
    """Labels and float32 sums of copy and original on hostile rows."""
    model = usable(case)
    opened = open_model(model, replay=False)
    parsed = opened.model
    assert isinstance(parsed, TreeEnsemble)
    numbers = hostile_rows(xgboost_models.learner_of(model), size, seed)
    table = table_of(model, numbers)
    inner = opened.original.inputs.inner(table)
    assert len(inner) == size  # no row was left out
    scores = parsed.scores(inner)
    assert np.array_equal(scores, xgboost_models.raw_scores(model, table))
    theirs = xgboost_models.predict(model, table)
    ours = parsed.info.labels_of(scores)
    error = parsed.info.evaluation_error
    best = np.sort(np.column_stack([scores, np.zeros(size)]) if scores.shape[1] == 1 else scores, axis=1)
    certain = best[:, -1] - best[:, -2] > error
    assert (ours == theirs)[certain].all()
    assert certain.mean() > 0.999
    assert len(np.unique(theirs)) == len(parsed.info.classes)


@pytest.mark.parametrize("case", CASES)
def test_labels_and_sums_are_the_originals(case: str) -> None:
    compared(case, SIZE, 1)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_labels_and_sums_are_the_originals_on_many_rows(case: str) -> None:
    for seed in range(10):
        compared(case, SIZE, 100 + seed)


@pytest.mark.parametrize("case", [*CASES, *LINEAR])
def test_every_kind_is_opened_with_its_replay(case: str) -> None:
    opened = open_model(usable(case))
    assert opened.report is not None and opened.report.points > 5_000
    linear = case in LINEAR
    assert isinstance(opened.model, LinearModel if linear else TreeEnsemble)
    if not linear:
        assert opened.report.open_points < opened.report.points / 100


def test_rules_of_the_objectives() -> None:
    found = {
        case: open_model(fitted(case), replay=False).model.info for case in ("binary", "hinge", "logitraw", "softmax")
    }
    assert [found[c].decision for c in found] == [Decision.POSITIVE] * 3 + [Decision.ARGMAX]
    assert [found[c].link for c in found] == [Link.LOGISTIC, Link.NONE, Link.NONE, Link.SOFTMAX]
    assert found["binary"].evaluation_error > 0.0 == found["hinge"].evaluation_error
    assert found["binary"].classes == (0, 1) and found["softmax"].classes == (0, 1, 2)


def test_a_classifier_that_stopped_early_uses_fewer_trees_than_its_booster() -> None:
    model = fitted("early stopping")
    whole = open_model(model.get_booster(), replay=False).model
    used = open_model(model, replay=False).model
    assert isinstance(used, TreeEnsemble) and isinstance(whole, TreeEnsemble)
    assert used.n_trees == model.best_iteration + 1 < whole.n_trees


def test_the_labels_of_a_booster_are_ours_and_those_of_a_classifier_its_own() -> None:
    """logitraw: the classifier says 1 from a score of 0.5 on, we say 1 of a Booster where p > 0.5."""
    model = fitted("logitraw")
    _, holes, _, _ = rows()
    margin = model.predict(holes, output_margin=True)
    assert np.array_equal(xgboost_models.predict(model, holes), margin > 0.5)
    assert np.array_equal(xgboost_models.predict(model.get_booster(), holes), margin > 0.0)
    assert ((margin > 0.0) != (margin > 0.5)).any()
    assert np.array_equal(open_model(model).predict(holes), margin > 0.5)
    assert np.array_equal(open_model(model.get_booster()).predict(holes), margin > 0.0)


def test_categories_are_named_in_the_words_of_the_frame() -> None:
    model = usable("pandas categories")
    opened = open_model(model, replay=False)
    column = opened.original.inputs.columns[4]
    assert column.name == "colour" and column.pandas_category
    assert set(column.categories or ()) >= {f"k{i}" for i in range(9)}
    other = framed(rows()[1])  # another order of the same categories is the same table
    other["colour"] = other["colour"].cat.set_categories(sorted(other["colour"].cat.categories))
    assert np.array_equal(model.predict(other), opened.predict(opened.original.inputs.inner(other)))


@pytest.mark.skipif(STORED, reason="this release stores categories")
def test_a_release_that_stores_no_categories_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedModel, match=r"'colour'.*3\.1"):
        open_model(fitted("pandas categories"))


# ---- refusals --------------------------------------------------------------------------------------------------------
def test_another_missing_value_is_refused_and_the_cure_keeps_the_labels() -> None:
    X, _, y, _ = rows()
    model = xgboost.XGBClassifier(n_estimators=5, missing=0.0).fit(X, y)
    with pytest.raises(UnsupportedModel, match=r"missing=0\.0.*set_params"):
        open_model(model)
    before = model.predict(X)
    model.set_params(missing=float("nan"))
    cured = np.where(X.astype(np.float32) == 0.0, np.nan, X)
    assert np.array_equal(open_model(model).predict(cured), before)


def test_what_has_no_single_label_is_refused_by_name() -> None:
    X, _, y, _ = rows()
    few: dict[str, Any] = {"n_estimators": 2, "max_depth": 2}
    refused = [
        (xgboost.XGBClassifier(**few).fit(X, np.stack([y, 1 - y], axis=1)), "2 outputs at once"),
        (xgboost.XGBClassifier(**few).fit(X, np.zeros_like(y)), "one class"),
        (xgboost.XGBClassifier(**few, objective="multi:softprob", num_class=2).fit(X, y), "binary:logistic"),
        (xgboost.train({"objective": "rank:pairwise"}, xgboost.DMatrix(X, y), 2), "rank:pairwise"),
    ]
    for model, words in refused:
        with pytest.raises(UnsupportedModel, match=words):
            open_model(model)
    with pytest.raises(InputError, match="not fitted"):
        open_model(xgboost.XGBClassifier())


# ---- seeded bugs -----------------------------------------------------------------------------------------------------
def _bugs() -> dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]]:
    def at_most(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        return x.astype(np.float32).astype(np.float64) <= t

    def uncast(x: np.ndarray, t: np.ndarray) -> np.ndarray:
        return x < t

    def no_base(learner: Learner) -> tuple[np.ndarray, float]:
        return np.zeros(learner.outputs, np.float32), 0.0

    def changed(**change: Callable[[Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
        def patch(monkeypatch: pytest.MonkeyPatch) -> None:
            plain = xgboost_models.learner_of

            def wrong(model: Any) -> Learner:
                learner = plain(model)
                return dataclasses.replace(learner, **{key: of(learner) for key, of in change.items()})

            monkeypatch.setattr(xgboost_models, "learner_of", wrong)

        return patch

    def trees(**change: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda learner: tuple(
            dataclasses.replace(tree, **{key: of(tree) for key, of in change.items()}) for tree in learner.trees
        )

    left_of = xgboost_trees.left_of

    def swapped(listed: Any, default_left: bool) -> Callable[[np.ndarray], np.ndarray]:
        right = left_of(listed, not default_left)
        return lambda code: ~right(code)

    def one_leaf(learner: Any) -> Any:
        first = learner.trees[0]
        value = first.value.copy()
        value[np.flatnonzero(first.leaf)[0]] += np.float32(0.01)
        return (dataclasses.replace(first, value=value), *learner.trees[1:])

    return {
        "at most instead of below": ("binary", lambda m: m.setattr(xgboost_trees, "float32_below", at_most)),
        "cast dropped": ("binary", lambda m: m.setattr(xgboost_trees, "float32_below", uncast)),
        "base dropped": ("base 0.9, exact", lambda m: m.setattr(xgboost_models, "base_margins", no_base)),
        "missing side flipped": ("binary", changed(trees=trees(default_left=lambda tree: ~tree.default_left))),
        "sets swapped": ("sets", lambda m: m.setattr(xgboost_trees, "left_of", swapped)),
        "weight_drop ignored": ("dart", changed(weight_drop=lambda learner: np.ones_like(learner.weight_drop))),
        "children swapped": ("vector leaves", changed(trees=trees(left=lambda t: t.right, right=lambda t: t.left))),
        "last tree lost": ("three classes", changed(trees=lambda learner: learner.trees[:-1])),
        "all rounds used": ("early stopping", changed(attributes=lambda learner: {})),
        "a leaf off by 0.01": ("random forest", changed(trees=one_leaf)),
        "threshold of logitraw lost": (
            "logitraw",
            lambda m: m.setitem(xgboost_models.RULES, "binary:logitraw", xgboost_models.RULES["binary:hinge"]),
        ),
    }  # fmt: skip


@pytest.mark.parametrize("bug", _bugs())
def test_a_wrong_reader_is_found_out(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case, patch = _bugs()[bug]
    model = usable(case)
    open_model(model)
    patch(monkeypatch)
    if bug == "threshold of logitraw lost":  # the scores that are compared must be the true ones, then
        _, holes, _, _ = rows()
        parsed = open_model(model, replay=False).model
        assert not np.array_equal(parsed.info.labels_of(parsed.scores(holes)), model.predict(holes))
    with pytest.raises(ReplayMismatch):
        open_model(model)


# ---- the base --------------------------------------------------------------------------------------------------------
def test_the_base_is_the_librarys_to_the_bit_and_ours_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, y, _ = rows()
    off = 0
    for seed in range(12):
        base = float(np.random.default_rng(seed).uniform(0.02, 0.98))
        model = xgboost.XGBClassifier(n_estimators=1, max_depth=1, base_score=base, n_jobs=1).fit(X, y)
        learner = xgboost_models.learner_of(model)
        asked, sure = xgboost_base.base_margins(learner)
        tree = learner.trees[0]
        sums = {float(asked[0] + value) for value in tree.value[tree.leaf, 0]}
        assert set(model.predict(X, output_margin=True).astype(float)) == sums and sure == 0.0
        with monkeypatch.context() as patched:
            patched.setattr(xgboost_base, "has_library", lambda: False)
            ours, unsure = xgboost_base.base_margins(learner)
        assert abs(float(ours[0]) - float(asked[0])) <= unsure < 1e-6
        off += ours[0] != asked[0]
    assert off <= 6
