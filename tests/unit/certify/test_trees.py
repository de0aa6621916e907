"""What the judge of trees remembers about a model lives as long as the model, and is little."""

from __future__ import annotations

import gc
import math
import weakref
from dataclasses import fields

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from elbowroom import Box, Explainer
from elbowroom.certify import cells, trees
from elbowroom.certify.judge import certify
from elbowroom.models import TreeEnsemble
from elbowroom.models.tiny import two_stumps
from elbowroom.problem import RecourseProblem, Shape, Target
from elbowroom.result import Undecided
from tests.support.small_models import body_of


def test_a_judged_model_is_not_kept_alive() -> None:
    model = two_stumps()
    certify(model, Target(0), body_of(np.zeros(2), Shape.BOX, 0.1))
    assert model in trees._REMEMBERED
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_only_the_last_targets_are_remembered() -> None:
    model, body = two_stumps(), body_of(np.zeros(2), Shape.BOX, 0.1)
    for k in range(20):
        certify(model, Target(0, 0.5 + k / 100), body)
    assert len(trees._REMEMBERED[model]) == trees._MOST_TARGETS
    verdicts = [bool(certify(model, Target(0, tau), body)) for tau in (0.5, 0.6, 0.99)]
    assert verdicts == [bool(certify(two_stumps(), Target(0, tau), body)) for tau in (0.5, 0.6, 0.99)]


def test_leaves_in_blocks_are_the_same_leaves_and_the_clock_is_looked_at_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = make_classification(200, 5, n_informative=4, n_redundant=1, random_state=0)
    explainer = Explainer(RandomForestClassifier(9, random_state=0).fit(X, y))
    model = explainer.model
    assert isinstance(model, TreeEnsemble)
    problem = RecourseProblem.ask(model, explainer.space, X[0], Box(0.5))
    body = problem.body(X[0])
    whole = cells.Cells.of(model, body)
    monkeypatch.setattr(cells, "_BLOCK", 40)
    parts = cells.Cells.of(model, body)
    assert whole is not None and parts is not None
    for part in fields(whole):
        np.testing.assert_array_equal(getattr(parts, part.name), getattr(whole, part.name))
    assert cells.Cells.of(model, body, deadline=-math.inf) is None
    assert isinstance(certify(model, problem.target, body, -1.0), Undecided)
