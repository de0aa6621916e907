"""Prices for each way, and prices that change with the length of a move."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from elbowroom import Box, Explainer, Feature, InputError, Price, Region, Space, Status
from elbowroom.numerics import Floats
from elbowroom.problem import Distance, Metric, RecourseProblem
from elbowroom.problem.pieces import Pieces
from elbowroom.problem.reader import Reader
from elbowroom.result.question_json import space_in, space_out
from tests.support.brute import price_of
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model
from tests.support.rule_truth import with_further_prices

DEAR = Price(up=3, down=[(0, 1.0), (2, 0.5), (4, 10.0)])


def test_a_price_adds_up_its_pieces() -> None:
    up, down = (DEAR.pieces(0.0, way, 1.0, 1.0) for way in (True, False))
    assert up.of(np.array([0.0, 2.0])).tolist() == [0.0, 6.0]
    assert down.of(np.array([1.0, 3.0, 6.0])).tolist() == [1.0, 2.5, 23.0]
    assert Price().is_plain and not DEAR.is_plain and not down.is_flat and up.is_flat
    space = Space((Feature("a", scale=2.0, weight=4.0, price_up=3), Feature("b")))
    metric = Metric.of(space, Distance.L1)
    assert metric(np.zeros(2), np.array([1.0, -1.0])) == 7.0 and metric(np.zeros(2), np.array([-1.0, 1.0])) == 3.0


def test_any_change_costs_besides_and_percentiles_count_rows() -> None:
    space = Space(
        (Feature("a", scale=2.0, weight=4.0, price_change=0.5), Feature("b", percentiles=[(0, 0.1), (10, 0.9)]))
    )
    metric = Metric.of(space, Distance.L1)
    assert metric(np.zeros(2), np.array([1e-300, 0.0])) == 2.0 and metric(np.zeros(2), np.zeros(2)) == 0.0
    assert metric(np.zeros(2), np.array([1.0, 5.0])) == pytest.approx(4.0 + 0.4)
    assert metric(np.array([0.0, -5.0]), np.array([0.0, 20.0])) == pytest.approx(0.4 + 0.8 + 0.8)  # straight on beyond
    assert metric(np.array([0.0, 20.0]), np.array([0.0, -5.0])) == pytest.approx(0.4 + 0.8 + 0.8)
    price = Price.of_percentiles([3.0, 1.0, 1.0, np.nan, 7.0])
    assert price.percentiles == ((1.0, 0.25), (3.0, 0.625), (7.0, 0.875))
    many = Price.of_percentiles(np.arange(5000.0)).percentiles
    assert many is not None and len(many) <= 101 and many[0][0] == 0.0 and many[-1][0] == 4999.0


@pytest.mark.parametrize("seed", range(30))
def test_lines_below_a_price_touch_it_and_are_never_above_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = np.append(0.0, np.cumsum(rng.uniform(0.1, 2.0, 4)))
    pieces = Pieces(float(rng.choice([0.0, 0.7])), starts, rng.uniform(0.1, 3.0, 5))
    first = float(rng.choice([0.0, starts[2], rng.uniform(0, 5)]))
    last = float(rng.choice([np.inf, first + rng.uniform(0.1, 5)]))
    constant, slope = pieces.line_below(first, last, 1.0)
    lengths = np.append(np.linspace(first, min(last, first + 50), 2001), starts[(starts >= first) & (starts <= last)])
    assert (constant + slope * lengths <= pieces.of(lengths) + 1e-12).all()
    assert constant + slope * first == pytest.approx(float(pieces.of(np.array([first]))[0]), abs=1e-9)


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


def test_piecewise_prices_are_for_l1_and_refused_elsewhere() -> None:
    model = linear_model(np.array([[1.0, -1.0]]), np.array([-1.0]))
    space = Space((Feature("x0", price_up=[(0, 1.0), (2, 3.0)]), Feature("x1")))
    with pytest.raises(InputError, match=r"'x0'.*distance='l1'"):
        Explainer(model, space).explain([0.0, 0.0], Box(0.0), 1, "l2")


@pytest.mark.parametrize("wrong", [-1, float("nan"), "dear", True])
def test_wrong_prices_of_a_change_and_percentiles_are_refused(wrong: object) -> None:
    with pytest.raises(InputError, match="change"):
        Price(change=wrong)  # type: ignore[arg-type]
    for levels in ([(0, 1)], [(0, 1), (0, 2)], [(0, 1), (1, 1)], [(0, 1), (1, float("inf"))], wrong, [(1, 2, 3)]):
        with pytest.raises(InputError, match=r"percentiles"):
            Feature("a", percentiles=levels)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="leave up and down out"):
        Price(up=2, percentiles=((0.0, 0.1), (1.0, 0.9)))


def test_a_table_says_what_percentiles_are() -> None:
    frame = pd.DataFrame({"amount": [1.0, 5.0, 9.0], "flat": [2.0, 2.0, 2.0], "use": ["car", "boat", "car"]})
    space = Space.from_frame(frame, prices="percentiles")
    assert space.features[0].percentiles is not None and space.features[1].percentiles is None
    assert "share of rows" in space.describe()["note"][0]
    assert space_in(Reader(space_out(space), "space", "file.json")) == space
    every = Space.from_frame(frame, prices=Price(change=0.25))
    assert [f.price_change for f in every.features] == [0.25, 0.25, 0.0, 0.0]
    assert space_in(Reader(space_out(every), "space", "file.json")) == every


def _closest(weight: Floats, need: float, problem: RecourseProblem) -> float:
    """min sum_f price_f with weight . x >= need: all columns but one are at a bend, at home or at a limit."""
    space, now = problem.space, problem.factual
    places = []
    for f, feature in enumerate(space.features):
        pairs = [p for p in (feature.price_up, feature.price_down) if not isinstance(p, float)]
        bends = [now[f] + sign * start for slopes in pairs for start, _ in slopes for sign in (1, -1)]
        bends += [value for value, _ in feature.percentiles or ()]
        limits = [feature.lower, feature.upper]
        places.append([v for v in {now[f], *bends, *limits} if feature.lower <= v <= feature.upper])
    best = np.inf
    for free in range(now.size):
        for point in product(*(places[f] if f != free else [0.0] for f in range(now.size))):
            x = np.array(point)
            x[free] = (need - float(weight @ x) + weight[free] * x[free]) / weight[free]
            tries = [x] + [np.where(np.arange(x.size) == free, place, x) for place in places[free]]
            for y in tries:
                inside = all(f.lower <= v <= f.upper for f, v in zip(space.features, y, strict=True))
                if inside and weight @ y >= need - 1e-9:
                    costs = [price_of(f, float(a), float(v)) for f, a, v in zip(space.features, now, y, strict=True)]
                    best = min(best, sum(costs))
    return best


@pytest.mark.parametrize("seed", range(25))
def test_linear_models_with_prices_of_all_kinds_equal_enumeration(seed: int) -> None:
    rng = np.random.default_rng([210, seed])
    weight, bias = rng.choice([-2.0, -1.0, 0.5, 1.0, 3.0], 3), float(rng.uniform(-6.0, -1.0))
    model = linear_model(weight[None], np.array([bias]))
    space = Space(tuple(Feature(f"x{f}", lower=-8.0, upper=8.0) for f in range(3)))
    asked = RecourseProblem.ask(model, space, rng.uniform(-1, 1, 3).round(2), Box(0.0), 1)
    problem = with_further_prices(rng, asked)
    answer = Explainer(model, problem.space).explain(problem.factual, Box(0.0), 1)
    truth = _closest(weight, -bias, problem)
    assert isinstance(answer, Region) and answer.status is Status.OPTIMAL
    assert answer.distance == pytest.approx(truth, rel=1e-6, abs=1e-8)
    assert answer.lower_bound <= truth * (1 + 1e-9) + 1e-9
    attack(lambda rows: model.scores(rows)[:, 0] > 0, answer.body, True)
