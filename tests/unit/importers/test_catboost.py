"""Columns, refusals and nodes of CatBoost models."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("catboost")

from elbowroom import Explainer, Space
from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers import catboost_trees, columns_of, open_model
from elbowroom.importers.catboost_model import Split, Symmetric
from elbowroom.importers.catboost_nodes import Nodes, of_symmetric
from elbowroom.models import Link
from tests.support.catboost_cases import COLOURS, QUIET, case, classifier, coloured, numbers, words


# ---- columns ---------------------------------------------------------------------------------------------------------
def test_columns_have_the_models_names_and_the_callers_categories() -> None:
    found = columns_of(case("one-hot").model, {"c4": COLOURS})
    assert found.own_names and found.names == tuple(f"c{i}" for i in range(6))
    assert [c.categories for c in found.columns] == [None, None, None, None, COLOURS, None]
    assert not columns_of(case("oblivious").model, {}).own_names


def test_unknown_categories_are_asked_for_by_name() -> None:
    with pytest.raises(InputError, match=r"column 'c4' .*Space.from_frame\(X, categorical=\['c4'\]\)"):
        open_model(case("one-hot").model)


@pytest.mark.parametrize(("label", "shown"), [(None, "a missing value"), (1.5, "the category 1.5")])
def test_categories_that_the_library_refuses_are_named(label: Any, shown: str) -> None:
    with pytest.raises(InputError, match=f"column 'c4': {shown} is not one that CatBoost takes"):
        open_model(case("one-hot").model, known={"c4": (*COLOURS, label)})


def test_a_category_that_training_never_saw_is_read_as_the_library_reads_it() -> None:
    opened = open_model(case("one-hot").model, known={"c4": ("never seen", *COLOURS[:3])})
    assert opened.report is not None and opened.report.points > 10_000


def test_whole_numbers_and_bools_are_categories_in_their_own_words() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "grade": rng.choice([1, 2, 7], 300), "own": rng.random(300) < 0.5})
    y = frame.a + (frame.grade == 7) + frame.own > 0.7
    model = classifier(iterations=20, one_hot_max_size=255, cat_features=["grade", "own"]).fit(frame, y)
    explainer = Explainer(model, frame)
    assert {g.name: g.labels for g in explainer.space.groups} == {"grade": (1, 2, 7), "own": (False, True)}
    with pytest.raises(InputError, match="column 'grade'"):
        Explainer(model, Space.from_frame(frame))


# ---- refusals --------------------------------------------------------------------------------------------------------
def test_statistics_of_the_target_are_refused_with_the_cure() -> None:
    model = classifier(iterations=100, cat_features=["c4"]).fit(coloured(), words())
    with pytest.raises(UnsupportedModel, match=r"columns \['c4'\].*one_hot_max_size=255"):
        open_model(model, known={"c4": COLOURS})


def test_text_and_embeddings_are_refused_by_name() -> None:
    X, signal = numbers()
    texts = np.where(signal > 0, "a good day", "a bad night")
    frame = pd.DataFrame({"a": X[:, 0], "said": texts})
    with pytest.raises(UnsupportedModel, match=r"takes text \(columns \['said'\]\)"):
        open_model(classifier(iterations=3, text_features=["said"]).fit(frame, words()))
    vectors = pd.DataFrame({"a": X[:, 0], "vector": [[float(s), 1.0] for s in signal]})
    with pytest.raises(UnsupportedModel, match=r"takes embedding \(columns \['vector'\]\)"):
        open_model(classifier(iterations=3, embedding_features=["vector"]).fit(vectors, words()))


def test_what_is_not_fitted_or_no_classifier_is_refused() -> None:
    from catboost import CatBoost

    X, signal = numbers()
    with pytest.raises(InputError, match="not fitted; call fit first"):
        open_model(classifier())
    with pytest.raises(UnsupportedModel, match="loss 'RMSE'"):
        open_model(CatBoost({**QUIET, "iterations": 3}).fit(X, signal))
    many = np.stack([signal > 0, signal > 1], axis=1).astype(int)
    with pytest.raises(UnsupportedModel, match="loss 'MultiLogloss'"):
        open_model(classifier(iterations=3, loss_function="MultiLogloss").fit(X, many))


def test_a_subclass_with_its_own_predict_is_refused() -> None:
    from catboost import CatBoostClassifier

    class Changed(CatBoostClassifier):  # type: ignore[misc]
        def predict(self, *given: Any, **options: Any) -> Any:
            return super().predict(*given, **options)[::-1]

    X, _ = numbers()
    with pytest.raises(UnsupportedModel, match="its own 'predict'"):
        open_model(Changed(**{**QUIET, "iterations": 3}).fit(X, words()))


def test_too_many_leaves_are_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catboost_trees, "MOST_LEAVES", 1_000)
    with pytest.raises(
        UnsupportedModel, match="more than 1,000 leaves; fit it with a smaller depth or fewer iterations"
    ):
        open_model(case("oblivious").model)


def test_deep_symmetric_trees_are_read() -> None:
    X, _ = numbers()
    model = classifier(iterations=3, depth=14).fit(X, words())
    assert len(model.get_leaf_values()) == 3 * 2**14
    opened = open_model(model)
    assert (opened.model.feature < 0).sum() < 10_000  # type: ignore[union-attr]


# ---- what follows the sum --------------------------------------------------------------------------------------------
def test_links_are_declared_where_they_hold() -> None:
    links = {name: case(name).opened().model.info.link for name in ("oblivious", "three classes", "one against all")}
    assert links == {"oblivious": Link.LOGISTIC, "three classes": Link.SOFTMAX, "one against all": Link.NONE}
    assert case("probability threshold").opened().model.info.link is Link.NONE


@pytest.mark.parametrize("threshold", [0.5, 0.8, 0.3, 0.123, 1e-6])
def test_a_tie_at_the_threshold_goes_to_the_first_class(threshold: float) -> None:
    """The last float below, the threshold itself, and the first above, by the original and by the copy."""
    X, _ = numbers()
    model = classifier(iterations=1, depth=1).fit(X, words())
    model.set_leaf_values(np.zeros(2))
    model.set_probability_threshold(threshold)
    border = catboost_trees.logit(threshold)
    for score, label in ((np.nextafter(border, -np.inf), "no"), (border, "no"), (np.nextafter(border, np.inf), "yes")):
        model.set_scale_and_bias(1.0, float(score))
        parsed = open_model(model).model
        assert model.predict(X[:1])[0] == label
        assert parsed.info.classes[parsed.info.labels_of(parsed.scores(X[:1]))[0]] == label


def test_a_scale_that_is_a_power_of_two_is_exact() -> None:
    X, _ = numbers()
    model = classifier(iterations=20).fit(X, words())
    model.set_scale_and_bias(0.5, -0.1)
    parsed = open_model(model).model
    assert parsed.info.evaluation_error == 0.0 and not parsed.info.fused_products
    assert np.array_equal(parsed.scores(X)[:, 0], model.predict(X, prediction_type="RawFormulaVal"))


# ---- nodes -----------------------------------------------------------------------------------------------------------
def _number(column: int, border: float) -> Split:
    return Split(column, border, True)


def _category(column: int, value: int) -> Split:
    return Split(column, 0.0, True, value)


def _followed(nodes: Nodes, row: tuple[float, ...], hashes: dict[int, np.ndarray]) -> np.ndarray:
    here = 0
    while nodes.split[here] >= 0:
        split = nodes.splits[nodes.split[here]]
        x = row[split.column]
        right = x > split.border if split.category is None else hashes[split.column][int(x)] == split.category
        here = int(nodes.right[here] if right else nodes.left[here])
    return nodes.value[here]


def _computed(tree: Symmetric, row: tuple[float, ...], hashes: dict[int, np.ndarray]) -> np.ndarray:
    index = 0
    for bit, split in enumerate(tree.splits):
        x = row[split.column]
        right = x > split.border if split.category is None else hashes[split.column][int(x)] == split.category
        index |= int(right) << bit
    return tree.value[index]


@pytest.mark.parametrize("seed", range(40))
def test_a_symmetric_tree_is_the_same_function_with_fewer_leaves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hashes = {2: np.array([11, 12, 13, 11])}  # two categories with one hash
    splits = [
        _category(2, int(rng.choice([11, 12, 13, 99]))) if rng.random() < 0.4 else _number(int(rng.integers(2)), float(rng.integers(4)))
        for _ in range(int(rng.integers(0, 8)))
    ]  # fmt: skip
    values = rng.integers(0, 3, (2 ** len(splits), int(rng.integers(1, 3)))).astype(float)
    tree = Symmetric(tuple(splits), values)
    nodes = of_symmetric(tree, hashes)
    inner = np.flatnonzero(nodes.split >= 0)
    assert (nodes.left[inner] > inner).all() and (nodes.right[inner] > inner).all()
    reached = set()
    for row in product(np.arange(-0.5, 4.0, 0.5), np.arange(-0.5, 4.0, 0.5), range(4)):
        found = _followed(nodes, row, hashes)
        assert np.array_equal(found, _computed(tree, row, hashes))
        reached.add(tuple(found))
    leaves = np.flatnonzero(nodes.split < 0)
    assert {tuple(v) for v in nodes.value[leaves]} == reached  # none that no row reaches
    both_leaves = (nodes.split[nodes.left[inner]] < 0) & (nodes.split[nodes.right[inner]] < 0)
    pairs = inner[both_leaves]
    assert (nodes.value[nodes.left[pairs]] != nodes.value[nodes.right[pairs]]).any(axis=1).all()
