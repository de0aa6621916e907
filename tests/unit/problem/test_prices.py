"""Prices for each way, and prices that change with the length of a move."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from elbowroom import Box, Explainer, Feature, InputError, Price, Region, Space, Status
from elbowroom.problem import Distance, Metric
from elbowroom.problem.reader import Reader
from elbowroom.result.question_json import space_in, space_out
from tests.support.linear_problems import linear_model

DEAR = Price(up=3, down=[(0, 1.0), (2, 0.5), (4, 10.0)])


def test_a_price_adds_up_its_pieces() -> None:
    moves = np.array([0.0, 2.0, -1.0, -3.0, -6.0])
    assert DEAR.of(moves).tolist() == [0.0, 6.0, 1.0, 2.5, 23.0]
    assert Price().is_plain and not DEAR.is_plain and not DEAR.is_flat and Price(up=2).is_flat
    space = Space((Feature("a", scale=2.0, weight=4.0, price_up=3), Feature("b")))
    metric = Metric.of(space, Distance.L1)
    assert metric(np.zeros(2), np.array([1.0, -1.0])) == 7.0 and metric(np.zeros(2), np.array([-1.0, 1.0])) == 3.0


@pytest.mark.parametrize(
    "wrong", [0, -1, float("nan"), float("inf"), True, "dear", [], [(1, 2.0)], [(0, 1), (0, 2)], [(0, 1, 2)], [(0, -1)]]
)
def test_wrong_prices_are_refused(wrong: object) -> None:
    with pytest.raises(InputError, match=r"Price up|price"):
        Price(up=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'a'"):
        Feature("a", price_down=wrong)  # type: ignore[arg-type]


def test_spaces_learn_show_and_keep_prices() -> None:
    frame = pd.DataFrame({"amount": [1.0, 5.0], "use": ["car", "boat"]})
    space = Space.from_frame(frame, prices={"amount": DEAR})
    assert space.features[0].price == DEAR
    assert "upwards 3, downwards 1, 0.5 from 2 on" in space.describe()["note"][0]
    again = space_in(Reader(space_out(space), "space", "file.json"))
    assert again == space
    with pytest.raises(InputError, match="weights="):
        Space.from_frame(frame, prices={"use": DEAR})
    with pytest.raises(InputError, match="give a Price"):
        Space.from_frame(frame, prices={"amount": 3})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="did you mean 'amount'"):
        Space.from_frame(frame, prices={"amout": DEAR})


@pytest.mark.parametrize("method", ["auto", "adversarial"])
def test_the_dear_way_is_avoided_where_the_cheap_one_leads_there(method: str) -> None:
    model = linear_model(np.array([[1.0, -1.0]]), np.array([-1.0]))  # a - b >= 1
    space = Space((Feature("x0", price_up=5.0), Feature("x1", price_down=2.0, price_up=0.1)))
    answer = Explainer(model, space).explain([0.0, 0.0], Box(0.0), 1, method=method)
    assert isinstance(answer, Region)
    assert answer.center["x0"] == 0.0 and answer.center["x1"] == pytest.approx(-1.0, abs=1e-6)
    assert answer.distance == pytest.approx(2.0, rel=1e-6) and answer.status is Status.OPTIMAL


def test_piecewise_prices_are_for_boxes_on_trees_and_refused_elsewhere() -> None:
    model = linear_model(np.array([[1.0, -1.0]]), np.array([-1.0]))
    space = Space((Feature("x0", price_up=[(0, 1.0), (2, 3.0)]), Feature("x1")))
    with pytest.raises(InputError, match=r"'x0'.*boxes on trees alone"):
        Explainer(model, space).explain([0.0, 0.0], Box(0.0), 1)
