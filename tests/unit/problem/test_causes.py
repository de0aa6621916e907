"""Causes and covariances: what they mean, what is refused, files, words; and against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elbowroom import AtMost, Box, Causal, Covariance, Explainer, Feature, InputError, Price, Region, Space
from elbowroom.problem import Distance, Metric
from elbowroom.problem.causes import order_of
from tests.support.causal_truth import causes, covariance
from tests.support.linear_problems import linear_model

GRAPH = {"education": {"income": 3.0}, "income": {"debt": -0.5}}
NAMES = ("education", "income", "debt")
SPACE = Space(tuple(Feature(name, lower=-100.0, upper=100.0) for name in NAMES), causes=Causal(GRAPH))


class DiGraph:
    """What is used of networkx."""

    def is_directed(self) -> bool:
        return True

    def edges(self, data: bool) -> list[tuple[str, str, dict[str, float]]]:
        assert data
        return [("education", "income", {"coefficient": 3.0}), ("income", "debt", {"weight": -0.5})]


def test_the_distance_counts_actions_and_not_what_follows() -> None:
    now = np.array([10.0, 30.0, 5.0])
    for l1, then in ((2.0, [12.0, 36.0, 2.0]), (2.0 + 6.0, [12.0, 30.0, 5.0]), (0.0, now)):
        assert Metric.of(SPACE, Distance.L1)(now, np.array(then)) == pytest.approx(l1)
    assert Causal(DiGraph()) == Causal(GRAPH)
    assert SPACE.causes is not None and order_of(SPACE.causes) == NAMES


def test_an_action_on_the_cause_is_the_cheaper_way_and_is_said() -> None:
    model = linear_model(np.array([[0.0, 1.0, 0.0]]), np.array([-36.0]), NAMES)
    row = [10.0, 30.0, 5.0]
    answer = Explainer(model, SPACE).explain(row, Box({"income": 3.0}), 1)
    assert isinstance(answer, Region) and answer.actions is not None
    assert answer.distance == pytest.approx(3.0, rel=1e-5)
    assert answer.actions.round(4).tolist() == [3.0, 0.0, 0.0]
    assert "If you raised education by ≈ 3, income would follow from 30 to ≈ 39 and debt" in answer.sentence()
    again = Region.from_json(answer.to_json())
    assert again.space == SPACE and again.distance == answer.distance
    still = replace(SPACE, causes=Causal(GRAPH, acts=["debt"]))
    assert not Explainer(model, still).explain(row, Box(0.0), 1)
    own = replace(SPACE, causes=Causal(GRAPH, acts=["income"]))
    alone = Explainer(model, own).explain(row, Box(0.0), 1)
    assert isinstance(alone, Region) and alone.distance == pytest.approx(6.0, rel=1e-5)
    assert float(alone.center["education"]) == 10.0


def test_files_keep_a_covariance_and_l2_is_measured_by_it() -> None:
    frame = pd.DataFrame({"x0": [0.0, 1.0, 2.0, 3.0], "x1": [0.0, 1.0, 1.0, 3.0]})
    space = Space.from_frame(frame).with_covariance(frame)
    S = np.cov(frame.to_numpy(), rowvar=False)
    move = np.array([1.0, -2.0])
    assert Metric.of(space, Distance.L2)(np.zeros(2), move) == pytest.approx(np.sqrt(move @ np.linalg.inv(S) @ move))
    explainer = Explainer(linear_model(np.array([[1.0, 1.0]]), np.array([-3.0])), space)
    answer = explainer.explain([0.5, 0.5], Box(0.0), 1, "l2")
    assert isinstance(answer, Region) and Region.from_json(answer.to_json()).space == space
    with pytest.raises(InputError, match="distance='l2'"):
        explainer.explain([0.5, 0.5], Box(0.0), 1, "l1")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"a": {"b": 1.0}, "b": {"a": 1.0}}, "circles"),
        ({"a": {"a": 1.0}}, "circles"),
        ({"a": 3.0}, "effects"),
        ({"a": {"b": float("nan")}}, "finite"),
        ({"a": {"b": 0.0}}, "leave edges of 0 out"),
        ({1: {"b": 1.0}}, "names of columns"),
        ([("a", "b")], "DiGraph"),
    ],
)
def test_wrong_graphs_are_refused(wrong: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Causal(wrong)


def test_what_does_not_go_together_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="salary"):
        replace(SPACE, causes=Causal({"salary": {"debt": 1.0}}))
    with pytest.raises(InputError, match=r"prices of .'debt'"):
        SPACE.with_prices({"debt": Price(up=2)})
    with pytest.raises(InputError, match="leave one of them out"):
        replace(SPACE, covariance=Covariance(NAMES, tuple(map(tuple, np.eye(3).tolist()))))
    with pytest.raises(InputError, match="depend on each other"):
        Covariance(("a", "b"), ((1.0, 1.0), (1.0, 1.0)))
    with pytest.raises(InputError, match="do not vary"):
        Covariance(("a", "b"), ((1.0, 0.0), (0.0, 0.0)))
    with pytest.raises(InputError, match="AtMost"):
        model = linear_model(np.array([[0.0, 1.0, 0.0]]), np.array([-36.0]), NAMES)
        Explainer(model, SPACE).explain([10.0, 30.0, 5.0], Box(0.0), 1, rules=[AtMost(1)])


@pytest.mark.parametrize("family", ["linear", "trees", "network"])
@pytest.mark.parametrize("seed", range(3))
def test_actions_on_causes_equal_enumeration(seed: int, family: str) -> None:
    causes(seed, family)


@pytest.mark.parametrize("seed", range(5))
def test_mahalanobis_distances_equal_enumeration(seed: int) -> None:
    covariance(seed)
