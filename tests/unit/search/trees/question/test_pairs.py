"""Rows of two columns on trees, against a program over every leaf: no bound is above the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

from elbowroom import Box, Explainer, Feature, LinearRule, Space, Status
from elbowroom.models import TreeEnsemble
from elbowroom.problem import RecourseProblem
from elbowroom.search.trees.question import pairs
from tests.support.cells import small_trees
from tests.support.exact import attacked

NAMES = ("x0", "x1", "x2")


def _space(whole: tuple[bool, ...]) -> Space:
    return Space(
        tuple(
            Feature(name, kind="integer" if w else "numeric", lower=-9.0, upper=9.0)
            for name, w in zip(NAMES, whole, strict=True)
        )
    )


def _truth(problem: RecourseProblem) -> float:
    """The smallest l1 distance over all cells of the right class, one program for each; rooms are single points."""
    model, factual, n = problem.model, problem.factual, problem.factual.size
    assert isinstance(model, TreeEnsemble)
    whole = problem.space.whole_center
    edges = [np.unique(np.clip(np.r_[problem.lower[f], model.cuts[f], problem.upper[f]], -9.0, 9.0)) for f in range(n)]
    rows = np.array([row.coefficients for row in problem.conditions.rows])
    low, high = (np.array([getattr(row, side) for row in problem.conditions.rows]) for side in ("low", "high"))
    best = math.inf
    for cell in np.ndindex(*(edge.size - 1 for edge in edges)):
        lower = np.array([edges[f][k] for f, k in enumerate(cell)])
        upper = np.array([edges[f][k + 1] for f, k in enumerate(cell)])
        if model.info.labels_of(model.scores(((lower + upper) / 2.0)[None]))[0] != problem.target_index:
            continue
        lower, upper = np.where(whole, np.floor(lower) + (lower > -9.0), lower), np.where(whole, np.floor(upper), upper)
        if (lower > upper).any():
            continue
        still = np.zeros((n, n))
        found = milp(
            np.r_[np.zeros(n), np.ones(n)],
            constraints=[
                LinearConstraint(np.c_[rows, np.zeros_like(rows)], low, high),
                LinearConstraint(np.c_[np.eye(n), -np.eye(n)], -np.inf, factual),
                LinearConstraint(np.c_[np.eye(n), np.eye(n)], factual, np.inf),
                LinearConstraint(np.c_[np.eye(n), still], lower, upper),
            ],
            integrality=np.r_[whole.astype(int), np.zeros(n)],
            bounds=(-np.inf, np.inf),
        )
        if found.status == 0:
            best = min(best, float(found.fun))
    return best


def _asked(seed: int) -> tuple[Explainer, np.ndarray, list[LinearRule]]:
    """Rows over x0 and x1, some not parallel, some from both sides; now and then a chain to x2 and whole numbers."""
    rng = np.random.default_rng(seed)
    whole = (False, False, False) if seed % 3 else tuple((rng.random(3) < 0.4).tolist())
    explainer = Explainer(small_trees(seed, depth=3, trees=3), _space(whole))
    row = np.where(whole, rng.integers(-3, 4, 3), rng.normal(size=3) * 2.0)
    rules = []
    for _ in range(int(rng.integers(1, 4))):
        i, j = (0, 1) if rng.random() < 0.7 else (1, 2)
        a, b = rng.choice([-2.0, -1.0, 1.0, 2.0, 3.0], 2)
        start = a * row[i] + b * row[j] + abs(rng.normal()) * 3.0
        width = math.inf if rng.random() < 0.6 else abs(rng.normal())
        rules.append(LinearRule({NAMES[i]: a, NAMES[j]: b}, low=start, high=start + width))
    return explainer, row, rules


@pytest.mark.parametrize("seed", range(12))
def test_the_closest_centre_under_rows_is_found(seed: int) -> None:
    explainer, row, rules = _asked(seed)
    for target in explainer.model.info.classes:
        answer = explainer.explain(row, Box(0), target, rules=rules, time_limit=20.0)
        problem = RecourseProblem.ask(
            explainer.model, explainer.space, row, Box(0), answer.target, answer.metric, answer.rules
        )
        truth = _truth(problem)
        assert answer.lower_bound <= truth * (1.0 + 1e-6) + 1e-6, (answer.lower_bound, truth, rules)
        assert bool(answer) == math.isfinite(truth)
        if answer:
            attacked(explainer, answer)
            assert answer.distance == pytest.approx(truth, rel=1e-6, abs=1e-6)


def test_where_rows_cross_is_a_candidate() -> None:
    """x + 2y >= 4 and 2x + y >= 4 from (0, 0): 8/3, at their crossing and at no edge of either column."""
    explainer, rules = _crossing()
    answer = explainer.explain(np.zeros(3), Box(0), explainer.predict(np.zeros((1, 3)))[0], rules=rules)
    assert answer.distance == pytest.approx(8.0 / 3.0)
    assert answer.lower_bound <= 8.0 / 3.0 + 1e-9


def _crossing() -> tuple[Explainer, list[LinearRule]]:
    explainer = Explainer(small_trees(5, depth=1, trees=1), _space((False, False, False)))
    return explainer, [LinearRule({"x0": 1.0, "x1": 2.0}, low=4.0), LinearRule({"x0": 2.0, "x1": 1.0}, low=4.0)]


@pytest.mark.parametrize("seed", [1, 3])
def test_more_positions_than_are_searched_make_no_false_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    explainer, row, rules = _asked(seed)
    target = explainer.model.info.classes[1]
    full = explainer.explain(row, Box(0), target, rules=rules)
    monkeypatch.setattr(pairs, "MOST_POSITIONS", 3)
    few = explainer.explain(row, Box(0), target, rules=rules)
    assert few.lower_bound <= full.lower_bound * (1.0 + 1e-6) + 1e-6
    assert bool(few) == bool(full)
    assert few.status in (full.status, Status.CERTIFIED)
