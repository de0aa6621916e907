"""One move for many rows: against enumeration, on a real model, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

from elbowroom import Ball, Box, Explainer, Feature, InputError, Price, Space, Status
from elbowroom.explainer.crowd import Crowd
from elbowroom.models.moved import last_move
from elbowroom.search.contract import Clock, Ending
from elbowroom.search.group.shares import closest_for_some
from tests.support.group_truth import actions, group
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model
from tests.support.small_networks import network


@pytest.mark.parametrize("family", ["linear", "trees"])
@pytest.mark.parametrize("seed", range(12))
def test_common_moves_equal_enumeration(seed: int, family: str) -> None:
    group(seed, family)


@pytest.mark.parametrize("seed", range(4))
def test_few_moves_serve_everybody(seed: int) -> None:
    actions(seed)


def test_the_last_move_left_of_a_cut_is_exact() -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=500), rng.normal(size=500) * 1e6, np.round(rng.normal(size=500), 1)])
    cut = np.concatenate([rng.normal(size=500), x[500:1000], np.round(rng.normal(size=500), 1)])
    last = last_move(x, cut)
    assert (x + last <= cut).all() and (x + np.nextafter(last, np.inf) > cut).all()
    assert last_move(np.zeros(2), np.array([np.inf, -np.inf])).tolist() == [np.inf, -np.inf]


def test_a_boosted_model_moves_a_table() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=list("abcd"))
    X["c"] = X["c"].round()
    y = (X["a"] + X["b"] + X["c"] > 0.5).astype(int)
    model = GradientBoostingClassifier(n_estimators=15, max_depth=2, random_state=0).fit(X, y)
    explainer = Explainer(model, Space.from_frame(X, immutable=["d"], integer=["c"]))
    rows = X[model.predict(X) == 0].head(5)
    answer = explainer.explain_group(rows, Box(0.02))
    assert answer.status is Status.OPTIMAL and answer.served == (0, 1, 2, 3, 4) and answer.gap <= 1e-9
    assert answer.move is not None and answer.move["d"] == 0.0 and float(answer.move["c"]).is_integer()
    for i in answer.served:
        attack(lambda T: model.predict(pd.DataFrame(T, columns=X.columns)), answer.certificates[i].body, 1)
    some = explainer.explain_group(rows, Box(0.02), share=0.6)
    assert len(some.served) >= 3 and some.distance <= answer.distance and "rows" in some.sentence()
    assert (answer.centers.to_numpy() == rows.to_numpy() + answer.move_values).all()


def test_nothing_uncertified_leaves_an_interrupted_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Crowd, "closest", interrupted)
    explainer = Explainer(linear_model(np.array([[1.0]]), np.array([-1.0])))
    answer = explainer.explain_group(np.array([[0.0], [0.5]]), Box(0.1), 1)
    assert answer.status is Status.UNKNOWN and answer.lower_bound == 0.0 and answer.move is None
    assert explainer.explain_group(np.array([[0.0], [0.5]]), Box(0.1), 1, time_limit=0.0).status is Status.UNKNOWN


def test_no_common_move_is_proven() -> None:
    space = Space((Feature("x0", lower=0.0, upper=1.0),))
    explainer = Explainer(linear_model(np.array([[1.0]]), np.array([-0.9])), space)
    answer = explainer.explain_group(np.array([[0.0], [0.5]]), Box(0.0), 1)
    assert (
        answer.status is Status.NONE_EXISTS and math.isinf(answer.lower_bound) and "No common move" in answer.sentence()
    )
    both = explainer.actions(np.array([[0.0], [0.5]]), Box(0.0), 1, within=2.0)
    assert both.members == ((0,), (1,)) and both.least == 2 and both.unserved == ()
    one = explainer.actions(np.array([[0.0], [0.5]]), Box(0.0), 1, within=2.0, most=1)
    assert len(one) == 1 and len(one.unserved) == 1


def test_what_is_not_known_is_refused_by_name() -> None:
    explainer = Explainer(linear_model(np.array([[1.0]]), np.array([-1.0])))
    rows = np.array([[0.0], [0.5]])
    for wrong, said in (({"share": 0.0}, "share"), ({"share": 2.0}, "share"), ({"room": Ball(0.1)}, "Box")):
        with pytest.raises(InputError, match=said):
            explainer.explain_group(rows, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one row"):
        explainer.explain_group([], Box(0.1), 1)
    with pytest.raises(InputError, match="within"):
        explainer.actions(rows, Box(0.1), 1, within=-1.0)
    with pytest.raises(InputError, match="most"):
        explainer.actions(rows, Box(0.1), 1, within=1.0, most=0)
    dear = explainer.with_space(explainer.space.with_prices(Price(up=2)))
    with pytest.raises(InputError, match="prices"):
        dear.explain_group(rows, Box(0.1), 1)
    with pytest.raises(InputError, match="linear models and trees"):
        Explainer(network(np.random.default_rng(0), 2, (3,))).explain_group(np.zeros((2, 2)), Box(0.1), 1)


def test_no_row_is_asked_about_once_the_time_is_over() -> None:
    asked = list[tuple[int, ...]]()

    def closest(rows: tuple[int, ...]) -> tuple[Ending, None]:
        asked.append(rows)
        return Ending("none", 0.0, ""), None

    still = np.zeros(1)
    ending = closest_for_some(5, 3, closest, lambda _: frozenset(), lambda: np.inf, still, Clock(0.0))
    assert not asked and ending.lower_bound == 0.0 and ending.reason == "the time limit was reached"
