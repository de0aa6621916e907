"""Which known class an object is, and whether it still computes what that class computes."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.recognise import find_known, key_of, refuse_overrides

KNOWN = {("sklearn", "LogisticRegression")}


class Trained(LogisticRegression):
    """Changes training, appearance and routing: nothing that is predicted."""

    def __init__(self, C: float = 1.0) -> None:
        super().__init__(C=C)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(X, y, sample_weight)

    def set_fit_request(self, **names: Any) -> Any:
        return self

    def __repr__(self) -> str:
        return "mine"


class Contrary(LogisticRegression):
    def predict(self, X: Any) -> Any:
        return super().predict(X)[::-1]


class Scored(LogisticRegression):
    def decision_function(self, X: Any) -> Any:
        return -super().decision_function(X)


class Hidden(Contrary):
    """The override is one class further up."""


class Evasive(LogisticRegression):
    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def test_private_modules_do_not_matter() -> None:
    assert key_of(LogisticRegression) == ("sklearn", "LogisticRegression")
    assert "." in LogisticRegression.__module__


def test_the_nearest_known_class_is_found() -> None:
    assert find_known(LogisticRegression(), KNOWN) is LogisticRegression
    assert find_known(Trained(), KNOWN) is LogisticRegression
    assert find_known(DecisionTreeClassifier(), KNOWN) is None
    assert find_known("LogisticRegression", KNOWN) is None
    impostor = type("LogisticRegression", (), {"__module__": "elsewhere.linear"})
    assert find_known(impostor(), KNOWN) is None


@pytest.mark.parametrize("model", [LogisticRegression(), Trained()])
def test_training_and_appearance_are_harmless(model: object) -> None:
    refuse_overrides(model, LogisticRegression)


@pytest.mark.parametrize(
    ("model", "name"),
    [(Contrary(), "predict"), (Scored(), "decision_function"), (Hidden(), "predict"), (Evasive(), "__getattr__")],
)
def test_an_own_prediction_is_refused_by_name(model: object, name: str) -> None:
    with pytest.raises(UnsupportedModel, match=f"own '{name}'.*plain LogisticRegression"):
        refuse_overrides(model, LogisticRegression)


def test_a_method_set_on_the_object_is_refused() -> None:
    model = LogisticRegression()
    model.note = "attributes that are no methods of the class do not matter"
    model.fit = lambda X, y: model  # training is harmless here, too
    refuse_overrides(model, LogisticRegression)
    model.predict = lambda X: X
    with pytest.raises(UnsupportedModel, match="'predict', set on the instance"):
        refuse_overrides(model, LogisticRegression)


def test_what_only_training_calls_may_be_replaced() -> None:
    """As imbalanced-learn does in its forests; what predictions go through may not."""

    class OutOfBag(RandomForestClassifier):
        def _compute_oob_predictions(self, X: Any, y: Any) -> Any:
            return None

    class Rows(OutOfBag):
        def _validate_X_predict(self, X: Any) -> Any:  # noqa: N802 - the original's name
            return X + 1

    refuse_overrides(OutOfBag(), RandomForestClassifier)
    with pytest.raises(UnsupportedModel, match="own '_validate_X_predict'"):
        refuse_overrides(Rows(), RandomForestClassifier)
