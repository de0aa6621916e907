"""The original, asked in its own shape: names, frames, labels, and what it does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from elbowroom.errors import InputError
from elbowroom.importers.inputs import Columns, Inputs
from elbowroom.importers.original import Original
from elbowroom.importers.preprocessing import Preprocessing


class Recorder:
    """Labels by the first column; keeps what it was given, and spoils it."""

    def predict(self, X: Any) -> np.ndarray:
        self.given = X
        table = X.iloc if isinstance(X, pd.DataFrame) else X
        labels = np.where(np.asarray(table[:, 0]) > 0, "yes", "no")
        table[:, :] = -1.0
        return labels


class Scorer(Recorder):
    def predict_proba(self, X: Any) -> list[list[float]]:
        return [[0.25, 0.75]] * len(X)


def original(model: object, names: tuple[str, ...] | None = None) -> Original:
    return Original(model, Inputs.of(Columns.numbers(2, names)), Preprocessing.of_numbers(("a", "b")))


def test_names_are_the_originals_own_or_the_given_ones_or_made_up() -> None:
    assert Columns.numbers(2, ("a", "b")).named(None).names == ("a", "b")
    assert Columns.numbers(2, ("a", "b")).named(["a", "b"]).names == ("a", "b")
    assert Columns.numbers(2, None).named(pd.Index(["u", "v"])).names == ("u", "v")
    assert Columns.numbers(2, None).named([0, 1]).names == ("0", "1")
    assert Columns.numbers(3, None).named(None).names == ("x0", "x1", "x2")


@pytest.mark.parametrize(
    ("own", "given", "words"),
    [
        (None, ["a"], "1 names for a model with 2 columns"),
        (("a", "b"), ["b", "a"], "column 0: the given name 'b' is not the model's own 'a'"),
        (("a", "b"), ["a", "c"], "column 1: the given name 'c'"),
        (None, "ab", "give a list"),
        (None, 7, "give a list"),
    ],
)
def test_names_that_do_not_fit_are_refused(own: tuple[str, ...] | None, given: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Columns.numbers(2, own).named(given)


@pytest.mark.parametrize("names", [None, ("a", "b")])
def test_it_sees_what_it_was_fitted_on_and_cannot_spoil_the_rows(names: tuple[str, ...] | None) -> None:
    model, X = Recorder(), np.array([[1.0, 2.0], [-1.0, 5.0]])
    labels = original(model, names).predict(X)
    assert labels.tolist() == ["yes", "no"]
    assert X.tolist() == [[1.0, 2.0], [-1.0, 5.0]]
    assert isinstance(model.given, np.ndarray if names is None else pd.DataFrame)
    if names is not None:
        assert list(model.given.columns) == ["a", "b"]


def test_rows_that_it_refuses_are_named_as_its_own_refusal() -> None:
    """A tree computes in float32, and scikit-learn refuses what does not fit."""
    X = np.array([[0.0, 0.0], [1.0, 1.0]])
    tree = DecisionTreeClassifier().fit(X, ["no", "yes"])
    with pytest.raises(InputError, match=r"own predict refuses .* too large for dtype\('float32'\)"):
        original(tree).predict(np.array([[1e308, 0.0]]))
    with pytest.raises(InputError, match="expecting 2 features"):
        original(tree).predict(np.array([[0.0, 0.0, 0.0]]))


def test_labels_become_positions_and_strangers_minus_one() -> None:
    X = np.array([[1.0, 0.0], [-1.0, 0.0]])
    assert original(Recorder()).class_indices(X, ("no", "yes")).tolist() == [1, 0]
    assert original(Recorder()).class_indices(X, ("yes", "maybe")).tolist() == [0, -1]


def test_what_it_does_not_have_is_none() -> None:
    assert original(Recorder()).predict_proba is None
    assert original(Scorer()).decision_function is None
    probabilities = original(Scorer()).predict_proba
    assert probabilities is not None
    assert probabilities(np.zeros((3, 2))).tolist() == [[0.25, 0.75]] * 3
