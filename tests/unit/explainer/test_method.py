"""What an engine refuses is refused at the door, for every row, before anything is computed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from elbowroom import Ball, Box, Explainer, LinearRule, SolverMissing, UnsupportedModel
from elbowroom.explainer.method import Method
from elbowroom.models.tiny import two_stumps
from elbowroom.search.adversarial import AdversarialEngine
from elbowroom.search.solvers import protocol
from tests.support.linear_problems import linear_model

RULE = LinearRule({"x": 1.0, "y": 1.0}, high=3.0)


@pytest.mark.parametrize("room", [Box(0.1), Ball(0.1)])
@pytest.mark.parametrize("row", [[0.0, 0.0], [0.9, 0.9]], ids=["bad", "good already"])
def test_a_rule_that_an_engine_does_not_know_goes_to_one_that_does(row: list[float], room: Box | Ball) -> None:
    """The second row needs no search: the judge accepts it at once."""
    explainer = Explainer(two_stumps())
    found = explainer.explain(row, room, target=1, rules=[RULE])
    other = explainer.explain(row, room, target=1, rules=[RULE], method="adversarial")
    assert found and other and found.distance == pytest.approx(other.distance, abs=1e-5)
    assert explainer.frontier(row, [0.1, 0.2], type(room), target=1, rules=[RULE])["certified"].all()


@pytest.mark.parametrize("row", [[1.0, 0.0], [-1.0, 0.0]])
def test_a_family_is_refused_for_every_row(row: list[float]) -> None:
    model = linear_model(np.array([[1.0, 0.0]]), np.zeros(1))
    with pytest.raises(UnsupportedModel, match="axis-aligned leaves"):
        Explainer(model).explain(row, target=1, method="one_leaf")


def test_a_missing_solver_is_noticed_before_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise ImportError

    monkeypatch.setitem(protocol._OPENERS, protocol.SolverName.SCIP, missing)
    with pytest.raises(SolverMissing, match="scip"):
        Explainer(two_stumps()).explain([0.9, 0.9], target=1, method="adversarial-scip")  # good already


def test_an_engine_is_kept_per_method_and_travels_with_its_explainer() -> None:
    explainer = Explainer(two_stumps())
    explainer.explain([0.0, 0.0], Box(0.1))
    explainer.explain([0.0, 0.0], Box(0.1), method="adversarial")
    assert set(explainer._engines) == {(Method.AUTO, False), (Method.ADVERSARIAL, False)}
    assert isinstance(explainer._engines[Method.ADVERSARIAL, False].engine, AdversarialEngine)
    copy = pickle.loads(pickle.dumps(explainer))
    assert copy.explain([0.0, 0.0], Box(0.1)).distance == explainer.explain([0.0, 0.0], Box(0.1)).distance
