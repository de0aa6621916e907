"""Ties between the models of a OneVsRestClassifier: the first or the last class, whichever this release takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

from elbowroom.errors import ReplayMismatch
from elbowroom.importers import open_model, sklearn_one_vs_rest


@pytest.fixture
def tied() -> Any:
    """Pure leaves: many rows are of two classes at once, or of none."""
    X, y = load_iris(return_X_y=True)
    return OneVsRestClassifier(DecisionTreeClassifier(random_state=0)).fit(X[:, :2], y)


def test_ties_go_where_this_release_sends_them(tied: Any) -> None:
    parsed = open_model(tied).model
    rows = np.random.default_rng(0).uniform(1, 9, (2_000, 2))
    scores = np.sort(parsed.scores(rows), axis=1)
    assert (scores[:, -1] == scores[:, -2]).mean() > 0.02
    assert np.array_equal(np.array(parsed.info.classes)[parsed.info.labels_of(parsed.scores(rows))], tied.predict(rows))


def test_the_other_rule_is_caught(tied: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    really = sklearn_one_vs_rest._ties_go_to_the_first()
    monkeypatch.setattr(sklearn_one_vs_rest, "_ties_go_to_the_first", lambda: not really)
    with pytest.raises(ReplayMismatch):
        open_model(tied)
