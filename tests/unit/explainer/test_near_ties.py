"""Continuous scores at a tie: a row that may have the wanted class is never told that nothing exists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from elbowroom import Box, Explainer, Feature, Space
from elbowroom.result import Counterexample, Status
from elbowroom.result.status import NEAR_TIE

ROWS = np.array([[-2.0], [-1.0], [1.0], [2.0]])


def line() -> LogisticRegression:
    """Class 1 iff x > 0."""
    model = LogisticRegression().fit(ROWS, [0, 0, 1, 1])
    model.coef_[:], model.intercept_[:] = 1.0, 0.0
    return model


def silent(model: Any) -> Any:
    """The score is exactly 0 everywhere, which is class 0."""
    if isinstance(model, LogisticRegression):
        model.coef_[:], model.intercept_[:] = 0.0, 0.0
        return model
    for array in (*model.coefs_, *model.intercepts_):
        array[:] = 0.0
    return model


def space(lower: float, upper: float, immutable: bool = False) -> Space:
    return Space((Feature("x0", lower=lower, upper=upper, immutable=immutable),))


@pytest.mark.parametrize("radius", [0.0, 0.2])
@pytest.mark.parametrize("name", ["linear", "network"])
def test_a_model_that_says_nothing(name: str, radius: float) -> None:
    model = line() if name == "linear" else MLPClassifier((3,), max_iter=1).fit(ROWS, [0, 0, 1, 1])
    answer = Explainer(silent(model), space(-3, 3)).explain([1.0], Box(radius), target=0)
    assert answer.status is Status.UNKNOWN
    assert NEAR_TIE in answer.reason


@pytest.mark.parametrize(("lower", "upper", "immutable"), [(0.0, 5.0, False), (-5.0, 5.0, True), (0.0, 0.0, False)])
def test_a_row_on_the_border_has_its_class(lower: float, upper: float, immutable: bool) -> None:
    explainer = Explainer(line(), space(lower, upper, immutable))
    answer = explainer.explain([0.0], Box(0), target=0)
    assert answer.status is Status.UNKNOWN
    assert NEAR_TIE in answer.reason
    verdict = explainer.certify([0.0], Box(0), target=0)
    assert isinstance(verdict, Counterexample)
    assert verdict.near_tie
    assert verdict.label == 0
    assert explainer.radius([0.0]).near_tie


def test_beyond_rounding_it_is_still_proven_that_nothing_exists() -> None:
    explainer = Explainer(line(), space(1e-9, 5.0))
    assert explainer.explain([1.0], Box(0), target=0).status is Status.NONE_EXISTS
    verdict = explainer.certify([1.0], Box(0), target=0)
    assert isinstance(verdict, Counterexample)
    assert not verdict.near_tie
