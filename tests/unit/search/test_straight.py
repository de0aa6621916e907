"""Straight moves in place of linear forms of several columns: never dearer, so that what is proven with them holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier

from elbowroom import Box, Causal, Covariance, Explainer, Feature, InputError, Plausible, Region, Space
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.search.straight import straightened
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model
from tests.support.small_models import random_trees


def _space(rng: np.random.Generator, n: int, covariance: bool) -> Space:
    scales = rng.choice([0.01, 1.0, 50.0], n)
    space = Space(tuple(Feature(f"x{f}", lower=-9.0, upper=9.0, scale=float(scales[f])) for f in range(n)))
    if covariance:
        rows = rng.normal(size=(4 * n, n)) @ rng.normal(size=(n, n)) * scales
        S = np.cov(rows, rowvar=False)
        return replace(space, covariance=Covariance(space.names, tuple(map(tuple, ((S + S.T) / 2).tolist()))))
    graph = {f"x{i}": {f"x{j}": float(rng.normal()) for j in range(i + 1, n)} for i in range(n - 1)}
    return replace(space, causes=Causal(graph))


def _question(rng: np.random.Generator, distance: Distance, covariance: bool) -> RecourseProblem:
    n = int(rng.integers(2, 6))
    space = _space(rng, n, covariance)
    model = random_trees(rng, n, 3, 2, [np.sort(rng.uniform(-5.0, 5.0, 3)) for _ in range(n)], exact=True)
    return RecourseProblem.ask(model, space, rng.uniform(-5.0, 5.0, n), Box(0.1), None, distance)


CASES = [*((distance, False) for distance in Distance), (Distance.L2, True)]


@pytest.mark.parametrize(("distance", "covariance"), CASES)
def test_straight_moves_never_cost_more(distance: Distance, covariance: bool) -> None:
    told = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        problem = _question(rng, distance, covariance)
        straight = straightened(problem)
        if straight is None:
            continue
        told += 1
        slant = problem.metric.slant
        assert slant is not None
        n = problem.factual.size
        ways = np.vstack([rng.normal(size=(50, n)), np.eye(n), np.linalg.inv(slant).T, np.linalg.svd(slant)[2]])
        for d in ways:
            assert straight.measure(problem.factual + d) <= problem.measure(problem.factual + d)
    assert told > 30


def test_nothing_is_lost_where_moves_are_straight() -> None:
    """Columns that do not vary together: only what stands for rounding is taken off."""
    covariance = Covariance(("x0", "x1"), ((4.0, 0.0), (0.0, 0.25)))
    space = Space((Feature("x0"), Feature("x1")), covariance=covariance)
    model = random_trees(np.random.default_rng(0), 2, 1, 2, [np.array([0.5]), np.array([1.5])])
    problem = RecourseProblem.ask(model, space, [0.0, 0.0], Box(0.0), None, Distance.L2)
    straight = straightened(problem)
    assert straight is not None
    assert straight.metric.factor == pytest.approx([0.5, 2.0], rel=2e-6)
    assert (straight.metric.factor < [0.5, 2.0]).all()


def test_trees_have_a_region_and_a_bound_at_once() -> None:
    """Algorithm 1 alone is slow on trees with many cuts; the engine for straight moves answers first."""
    X, y = make_classification(300, 5, n_informative=4, n_redundant=1, random_state=3)
    model = GradientBoostingClassifier(n_estimators=25, random_state=0).fit(X, y)
    space = Space.from_frame(pd.DataFrame(X, columns=[f"x{f}" for f in range(5)]))
    names = space.names
    explainer = Explainer(model, replace(space, causes=Causal({names[0]: {names[1]: 0.5}, names[1]: {names[2]: -0.5}})))
    row = X[np.flatnonzero(model.predict(X) == 0)[0]]
    answer = explainer.explain(row, room=Box(0.02), time_limit=6.0)
    assert isinstance(answer, Region)
    assert 0.0 < answer.lower_bound <= answer.distance
    attack(model.predict, answer.body, 1)


def test_room_on_some_columns_is_named_as_what_does_not_go_together() -> None:
    """The way out must not be the method that was asked already."""
    rng = np.random.default_rng(1)
    for covariance, what in ((True, "a covariance"), (False, "causes")):
        problem = _question(rng, Distance.L2, covariance)
        explainer = Explainer(problem.model, problem.space)
        with pytest.raises(InputError, match=f"{what} together with rooms with on='kept'; use on='all'"):
            explainer.explain(problem.factual, Box(0.1, on="kept"), distance="l2")


@pytest.mark.parametrize("covariance", [True, False])
def test_plausible_trees_beside_causes_are_named_as_what_is_not_taken(covariance: bool) -> None:
    """Algorithm 1 answers for causes on trees, and it does not take an isolation forest."""
    X, y = make_classification(120, 3, n_informative=3, n_redundant=0, random_state=3)
    table = pd.DataFrame(X, columns=list("abc"))
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(table, y)
    space = Space.from_frame(table)
    space = space.with_covariance(table) if covariance else replace(space, causes=Causal({"a": {"b": 0.5}}))
    explainer, row = Explainer(model, space), table[model.predict(table) == 0].iloc[0]
    with pytest.raises(InputError, match=r"does not take margins of further trees.*leave the rule out"):
        explainer.explain(row, Box(0.1), distance="l2", rules=[Plausible(table)])


@pytest.mark.parametrize("covariance", [True, False])
def test_linear_models_name_causes_as_what_does_not_go_with_some_columns(covariance: bool) -> None:
    model = linear_model(np.array([[1.0, 1.0]]), np.array([-5.0]))
    space = Space.plain(("x0", "x1"))
    matrix = Covariance(("x0", "x1"), ((1.0, 0.5), (0.5, 1.0)))
    space = replace(space, covariance=matrix) if covariance else replace(space, causes=Causal({"x0": {"x1": 0.5}}))
    with pytest.raises(InputError, match="together with rooms with on='changed'; use on='all'"):
        Explainer(model, space).explain(np.zeros(2), Box(0.1, on="changed"), distance="l2")
