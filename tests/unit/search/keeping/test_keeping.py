"""Promised probabilities: against closed forms, brute force over centres, and the model's own predict."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from elbowroom import (
    Ball,
    Box,
    Explainer,
    Feature,
    InputError,
    NoRegion,
    Probability,
    Region,
    Space,
    Status,
    Target,
    UnsupportedModel,
)
from elbowroom.certify.kept import kept_probability
from elbowroom.certify.kept_needs import Needs
from elbowroom.explainer.keeping import KeepingReferee
from elbowroom.models import TreeEnsemble
from elbowroom.problem import RecourseProblem
from elbowroom.search.contract import Clock
from elbowroom.search.engines import engine_for
from elbowroom.search.keeping.engine import _Search
from tests.support.hostile import attack
from tests.support.oblique_models import random_oblique
from tests.support.small_questions import random_question

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(121)


def data(seed: int, columns: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(0.0, 1.0, (300, columns)), columns=list("abcdefgh"[:columns]))
    score = X.to_numpy() @ rng.uniform(0.2, 1.0, columns) + 0.05 * rng.normal(size=300)
    return X, (score > np.median(score)).astype(int)


def plain_space(columns: int = 2, **kinds: object) -> Space:
    return Space(tuple(Feature(n, lower=0.0, upper=1.0, **kinds) for n in "abcdefgh"[:columns]))  # type: ignore[arg-type]


def sampled(
    model: object, center: np.ndarray, sigma: np.ndarray, target: object, n: int = 40_000
) -> tuple[float, float]:
    """Share of slips that keep the class, by the model's own predict, and what chance alone may change about it."""
    slips = np.clip(center + sigma * np.random.default_rng(1).normal(size=(n, center.size)), 0.0, 1.0)
    share = float((model.predict(pd.DataFrame(slips, columns=list("abcdefgh"[: center.size]))) == target).mean())  # type: ignore[attr-defined]
    return share, 5.0 * math.sqrt(max(share * (1.0 - share), 1e-4) / n)


@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_one_rival_without_bounds_is_the_robust_row(distance: str) -> None:
    """min ||c - x|| with w.c + b >= z ||sigma w||: the closed form with dual norms."""
    X, y = data(3, 4)
    model = LogisticRegression(C=100.0).fit(X, y)
    w, b = model.coef_[0], float(model.intercept_[0])
    row = X.iloc[int(np.argmin(X.to_numpy() @ w))]
    sigma = np.array([0.1, 0.02, 0.05, 0.0])
    found = Explainer(model).explain(
        row, room=Box(0.0), distance=distance, keeps=Probability(0.97, sigma=tuple(sigma)), time_limit=20
    )
    short = float(stats.norm.ppf(0.97)) * float(np.linalg.norm(sigma * w)) - float(row.to_numpy() @ w) - b
    dual = {"l1": np.abs(w).max(), "l2": np.linalg.norm(w), "linf": np.abs(w).sum()}[distance]
    assert isinstance(found, Region)
    assert found.status is Status.OPTIMAL
    assert found.lower_bound <= short / dual * (1 + 1e-12) <= found.distance * (1 + 1e-12)
    assert found.distance == pytest.approx(short / dual, rel=1e-5)
    assert found.kept is not None
    assert 0.97 <= found.kept.lower <= found.kept.upper
    attack(model.predict, found.body, 1)


def chance_at(model: LogisticRegression, center: np.ndarray, sigma: float) -> float:
    """P(w . clip(c + s, 0, 1) + b > 0) in two columns, by quadrature over the first."""
    w, b = model.coef_[0], float(model.intercept_[0])
    first = np.clip(center[0] + sigma * NODES, 0.0, 1.0)
    need = (-b - w[0] * first) / w[1]  # w[1] > 0: the second must exceed this
    above = np.where(need >= 1.0, 0.0, np.where(need < 0.0, 1.0, special.ndtr((center[1] - need) / sigma)))
    return float(WEIGHTS @ above / WEIGHTS.sum())


def test_clipped_slips_of_a_linear_model_are_not_taken_for_normal_ones() -> None:
    """Near a bound half of the slips are clipped: the closest answer is closer than the row for unclipped ones says."""
    X, y = data(5)
    model = LogisticRegression(C=100.0).fit(X, y)
    explainer, sigma = Explainer(model, plain_space()), 0.15
    row = np.array([0.02, 0.3])
    found = explainer.explain(row, room=Box(0.0), keeps=Probability(0.9, sigma=sigma), time_limit=4)
    assert isinstance(found, Region)
    grid = np.linspace(0.0, 1.0, 101)
    truth = min(
        abs(p - row[0]) + abs(q - row[1])
        for p in grid
        for q in grid
        if chance_at(model, np.array([p, q]), sigma) >= 0.9 + 2e-3
    )
    assert found.lower_bound <= truth + 1e-12
    assert found.distance <= truth * 1.02 + 0.01
    share, noise = sampled(model, found.body.center, np.full(2, sigma), 1)
    assert found.kept is not None
    assert found.kept.lower - noise <= share <= found.kept.upper + noise


@pytest.mark.parametrize("seed", range(4))
def test_trees_against_every_centre_of_a_grid(seed: int) -> None:
    X, y = data(seed)
    estimator = (
        DecisionTreeClassifier(max_depth=3, random_state=0)
        if seed % 2
        else GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0)
    )
    model = estimator.fit(X, y)
    explainer = Explainer(model, plain_space())
    row, distance = X.iloc[int(np.flatnonzero(model.predict(X) == 0)[seed])], ("l1", "l2", "linf", "l1")[seed]
    found = explainer.explain(row, room=Box(0.0), distance=distance, keeps=Probability(0.85, sigma=0.08), time_limit=20)
    assert isinstance(found, Region)
    assert found.kept is not None
    order = {"l1": 1, "l2": 2, "linf": math.inf}[distance]
    grid = np.linspace(0.0, 1.0, 41)
    centers = np.array([[p, q] for p in grid for q in grid])
    lengths = np.linalg.norm(centers - row.to_numpy(), ord=order, axis=1)
    for k in np.argsort(
        lengths
    ):  # no centre that is closer than the bound keeps the promise, nor one by more than the grid
        if lengths[k] >= max(found.lower_bound, found.distance * 0.97):
            break
        near = explainer.probability_kept(centers[k], 0.08, target=1, factual=row, tolerance=1e-4)
        certain = model.predict(pd.DataFrame(centers[k : k + 1], columns=X.columns))[0] == 1
        assert near.lower < 0.85 or not certain, (centers[k], lengths[k], found.distance)
    share, noise = sampled(model, found.body.center, np.full(2, 0.08), 1)
    assert 0.85 <= found.kept.lower
    assert found.kept.lower - noise <= share <= found.kept.upper + noise
    attack(lambda P: model.predict(pd.DataFrame(P, columns=X.columns)), found.body, 1)


@pytest.mark.parametrize("seed", range(25))
def test_no_centre_of_a_box_that_is_ruled_out_keeps_the_promise(seed: int) -> None:
    """Random small ensembles with whole, clipped and one-way columns; centres drawn from the box, judged one by one."""
    rng = np.random.default_rng(seed)
    problem = random_question(rng)
    model = problem.model
    if not isinstance(model, TreeEnsemble):
        pytest.skip("about trees")
    spread = np.where(
        problem.immutable | (problem.space.group_of >= 0), 0.0, rng.choice([0.0, 0.3, 1.0], problem.factual.size)
    )
    limits = problem.lower, problem.upper, problem.space.whole_room
    needs = Needs(model, problem.target, spread, *limits)
    for _ in range(20):
        ends = np.sort(np.clip(problem.factual + rng.normal(size=(2, problem.factual.size)), *problem.limits), axis=0)
        low, high = np.where(problem.space.whole_center, np.round(ends), ends)
        low[problem.space.group_of >= 0] = high[problem.space.group_of >= 0] = problem.factual[
            problem.space.group_of >= 0
        ]
        wanted = float(rng.uniform(0.2, 0.9))
        if needs.of_box(low, high, wanted, math.inf) is not None:
            continue
        for share in (0.0, 1.0, *rng.uniform(size=4)):
            center = low + share * (high - low)
            center = np.where(problem.space.whole_center, np.round(center), center)
            kept = kept_probability(model, problem.target, needs.slip(center), None, 1e-6, 5.0)
            wrong = model.info.labels_of(model.scores(center[None]))[0] != problem.target_index
            assert kept.lower < wanted or wrong


def test_a_room_and_a_promise_hold_together() -> None:
    X, y = data(1, 3)
    model = GradientBoostingClassifier(n_estimators=8, max_depth=2, random_state=0).fit(X, y)
    explainer = Explainer(model, plain_space(3))
    row = X.iloc[int(np.flatnonzero(model.predict(X) == 0)[0])]
    room, promise = Ball(0.03), Probability(0.9, sigma={"a": 0.05, "b": 0.05})
    found = explainer.explain(row, room=room, keeps=promise, time_limit=3)
    assert isinstance(found, Region)
    assert found.kept is not None
    assert explainer.certify(found)
    share, noise = sampled(model, found.body.center, np.array([0.05, 0.05, 0.0]), 1)
    assert found.kept.lower - noise <= share <= found.kept.upper + noise
    assert found.distance >= explainer.explain(row, room=room).lower_bound
    attack(lambda P: model.predict(pd.DataFrame(P, columns=X.columns)), found.body, 1)
    assert "keeps the class with probability 0.9" in str(found)
    again = Region.from_json(found.to_json())
    assert again.keeps == promise
    assert again.kept is not None
    assert (again.kept.lower, again.kept.upper) == (found.kept.lower, found.kept.upper)


def test_what_no_centre_keeps_is_said_to_be_impossible() -> None:
    X, y = data(2)
    model = LogisticRegression(C=100.0).fit(X, y)
    explainer = Explainer(model, plain_space())
    found = explainer.explain(np.array([0.1, 0.1]), room=Box(0.0), keeps=Probability(0.999, sigma=3.0), time_limit=20)
    assert isinstance(found, NoRegion)
    assert found.status is Status.NONE_EXISTS
    assert NoRegion.from_json(found.to_json()).keeps == Probability(0.999, sigma=3.0)
    with pytest.raises(InputError, match="without keeps"):
        found.why_not()


def test_an_answer_that_already_keeps_it_stays() -> None:
    X, y = data(4)
    model = LogisticRegression(C=100.0).fit(X, y)
    explainer = Explainer(model, plain_space())
    found = explainer.explain(np.array([0.9, 0.9]), target=1, room=Box(0.0), keeps=Probability(0.9, sigma=0.01))
    assert found.status is Status.OPTIMAL
    assert isinstance(found, Region)
    assert found.distance == 0.0


def test_what_is_refused() -> None:
    X, y = data(0)
    explainer = Explainer(LogisticRegression().fit(X, y), plain_space())
    row, promise = X.iloc[0], Probability(0.9, sigma=0.05)
    for options, text in (
        ({"keeps": 0.9}, "give Probability"),
        ({"keeps": promise, "proof": True}, "leave proof"),
        ({"keeps": promise, "prefer_few": 0.1}, "leave proof"),
        ({"keeps": promise, "room": Box(0.05, on="changed")}, "leave on= out"),
        ({"keeps": Probability(0.9, sigma={"z": 1.0})}, "unknown column"),
        ({"keeps": promise, "target": Target(1, probability=0.7)}, "leave out the probability"),
    ):
        with pytest.raises(InputError, match=text):
            explainer.explain(row, **options)  # type: ignore[arg-type]
    for wrong in (0.0, 1.0, True, math.nan):
        with pytest.raises(InputError, match="strictly between"):
            Probability(wrong, sigma=0.1)
    with pytest.raises(UnsupportedModel, match="trees, linear models and networks"):
        Explainer(random_oblique(np.random.default_rng(0), 2, 2, 2)).explain(row.to_numpy(), keeps=promise)


def test_a_first_answer_far_away_is_pulled_back() -> None:
    """Where nothing limits the centres, the first box in which an answer is found may be a million scales wide."""
    X, y = data(1, 3)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    explainer = Explainer(model)
    row = X.iloc[int(np.flatnonzero(model.predict(X) == 0)[0])]
    asked = RecourseProblem.ask(explainer.model, explainer.space, row, Box(0.0))
    problem, clock = replace(asked, keeps=Probability(0.9, sigma=0.05)), Clock(20.0)
    referee = KeepingReferee(problem, clock)
    search = _Search(problem, engine_for(explainer.model), referee, clock, 0)
    assert search._offer(np.full(3, 1e4))
    assert referee.distance < 3.0
