"""Ties on small models of scikit-learn, with the model's own predict as the truth, found by looking at every cell.

Integer data and few leaves make scores tie all the time: votes of pure leaves, halves, scores that are exactly 0. An answer
that is called closest, or a proof that none exists, must agree with predict; whatever does not must say that a tie is within
rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Ball, Box, Explainer, Feature, Space, Target
from elbowroom.problem import RecourseProblem
from elbowroom.result import Counterexample, NoRegion, Region, Status
from elbowroom.result.status import NEAR_TIE
from tests.support.brute import closest


def space_of(columns: int) -> Space:
    return Space(tuple(Feature(f"x{f}", lower=-1, upper=7) for f in range(columns)))


def small_model(rng: np.random.Generator, kind: str) -> tuple[Any, np.ndarray]:
    columns, n_classes, rows = int(rng.integers(1, 3)), int(rng.integers(2, 4)), int(rng.integers(8, 20))
    X = rng.integers(0, 6, (rows, columns)).astype(float)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, rows - n_classes)])
    leaves, trees, bootstrap = int(rng.integers(2, 6)), int(rng.integers(2, 6)), bool(rng.integers(2))
    seed = int(rng.integers(1000))
    common = {"max_leaf_nodes": leaves, "random_state": seed}
    weight = (None, "balanced", {0: 2, 1: 1, 2: 3} if n_classes == 3 else {0: 2, 1: 1})[int(rng.integers(3))]
    match kind:
        case "forest":
            model = RandomForestClassifier(trees, bootstrap=bootstrap, class_weight=weight, **common)
        case "threads":
            model = RandomForestClassifier(trees, bootstrap=bootstrap, n_jobs=2, **common)
        case "extra":
            model = ExtraTreesClassifier(trees, bootstrap=bootstrap, **common)
        case "tree":
            model = DecisionTreeClassifier(class_weight=weight, **common)
        case "boosting":
            model = GradientBoostingClassifier(n_estimators=int(rng.integers(1, 3)), init="zero", **common)
        case "prior":
            model = GradientBoostingClassifier(n_estimators=1, **common)
        case "histogram":
            size = int(rng.choice([1, 4, 30]))
            model = HistGradientBoostingClassifier(
                max_iter=2, min_samples_leaf=size, max_leaf_nodes=leaves, early_stopping=False
            )
        case _:
            model = make_pipeline(StandardScaler(), RandomForestClassifier(trees, bootstrap=bootstrap, **common))
    return model.fit(X, y), X


def points_of(region: Region, explainer: Explainer) -> np.ndarray:
    """The ends of the box, and both sides of every cut in it: a point of every cell."""
    axes = []
    for f, (low, high) in enumerate(zip(region.body.lower, region.body.upper, strict=True)):
        cuts = explainer.model.cuts[f]
        values = np.concatenate([[low, high], cuts, np.nextafter(cuts, np.inf)])
        axes.append(np.unique(values[(values >= low) & (values <= high)]))
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def check(answer: Region | NoRegion, explainer: Explainer, model: Any, truth: float, target: int) -> None:
    """The answer agrees with predict, or says that it cannot tell."""
    assert answer.lower_bound <= truth * (1.0 + 1e-9)
    if isinstance(answer, Region):
        assert (model.predict(points_of(answer, explainer)) == target).all()
        assert answer.distance >= truth * (1.0 - 1e-9) - 1e-15  # the brute force tries few floats per side
    match answer.status:
        case Status.OPTIMAL:
            assert answer.distance == pytest.approx(truth, rel=1e-9, abs=1e-12)
        case Status.NONE_EXISTS:
            assert truth == math.inf
        case Status.CERTIFIED:
            assert any(NEAR_TIE in step.note for step in answer.trace)
            assert NEAR_TIE in str(answer)
        case Status.UNKNOWN:
            assert isinstance(answer, NoRegion)
            assert NEAR_TIE in answer.reason


@pytest.mark.parametrize(
    "kind", ["forest", "threads", "extra", "tree", "boosting", "prior", "histogram", "pipeline"]
)  # fmt: skip
def test_closest_and_none_exists_agree_with_predict(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    for _ in range(8):
        model, X = small_model(rng, kind)
        explainer = Explainer(model, space_of(X.shape[1]))
        for radius in (0.0, float(rng.choice([0.25, 0.5]))):
            row, target = X[rng.integers(len(X))], int(rng.integers(len(model.classes_)))
            distance = str(rng.choice(["l1", "l2", "linf"]))
            problem = RecourseProblem.ask(
                explainer.model, explainer.space, row, Box(radius), Target(target), distance=distance
            )
            truth = closest(problem, lambda points, model=model, target=target: model.predict(points) == target)
            answer = explainer.explain(row, Box(radius), target=target, distance=distance)
            check(answer, explainer, model, truth, target)
            verdict = explainer.certify(row, Box(0.0), target=target)
            if isinstance(verdict, Counterexample):
                assert verdict.near_tie or model.predict(row[None])[0] != target


@pytest.mark.parametrize("labels", [[1, 1, 0, 1, 0, 0, 1, 1], [1, 1, 0, 1, 1, 1, 0, 1]])
def test_votes_of_pure_leaves_tie_although_another_leaf_holds_fractions(labels: list[int]) -> None:
    """Leaves (1, 0) and (0, 1) tie without rounding, and predict says 0; elsewhere the forest has thirds."""
    X = np.arange(8.0)[:, None]
    model = RandomForestClassifier(2, max_leaf_nodes=3, random_state=0).fit(X, labels)
    explainer = Explainer(model, space_of(1))
    assert model.predict_proba([[1.501]])[0].tolist() == [0.5, 0.5]
    for method in ("auto", "adversarial"):
        answer = explainer.explain([0.0], Box(0), target=0, method=method)
        assert answer.status is Status.OPTIMAL
        assert answer.distance == pytest.approx(1.5, rel=1e-6)
    assert explainer.explain([0.0], Ball(0.2), target=0).distance == pytest.approx(1.7, rel=1e-4)
    assert explainer.certify([1.6], Box(0.05), target=0)
    radius = explainer.radius([1.501])
    assert radius.lower == pytest.approx(0.001, rel=1e-3)
    assert model.predict(radius.witness[None])[0] == 1
    assert not radius.near_tie


def test_boosting_that_learned_nothing_says_the_first_class_everywhere() -> None:
    X = np.arange(40.0)[:, None]
    model = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=30).fit(X, np.arange(40) % 2)
    assert (model.decision_function(X) == 0.0).all()
    explainer = Explainer(model)
    assert explainer.explain(X[0], Box(1.0), target=0).distance == 0.0
    assert explainer.explain(X[0], Box(0), target=1).status is Status.NONE_EXISTS


def test_one_stage_of_boosting_compares_stored_numbers() -> None:
    X = np.repeat(np.arange(3.0), 6)[:, None]
    y = np.array([0] * 6 + [1, 2] * 6)
    model = GradientBoostingClassifier(n_estimators=1, init="zero", learning_rate=1.0, random_state=0).fit(X, y)
    assert model.predict([[2.0]])[0] == 1
    answer = Explainer(model).explain(X[0], Box(0), target=1)
    assert answer.status is Status.OPTIMAL
    assert Explainer(model).explain(X[0], Box(0), target=2).status is Status.NONE_EXISTS


def test_a_tie_within_rounding_is_never_a_proof_that_nothing_exists() -> None:
    """1/3 + 2/3 + 1/2 on both sides: only rounding decides, and everything that is said says so."""
    found = _forest_with_an_open_tie()
    assert found is not None
    model, point = found
    explainer, label = Explainer(model, Space((Feature("x0", lower=point, upper=point),))), model.predict([[point]])[0]
    answer = explainer.explain([point], Box(0), target=label)
    assert answer.status is Status.UNKNOWN
    assert NEAR_TIE in answer.reason
    free = Explainer(model, Space((Feature("x0", lower=-1, upper=12),)))
    for method in ("auto", "adversarial"):
        answer = free.explain([point], Box(0), target=label, method=method)
        assert answer.status in (Status.CERTIFIED, Status.UNKNOWN)
        assert answer.lower_bound <= 1e-9
    verdict = free.certify([point], Box(0), target=label)
    assert isinstance(verdict, Counterexample)
    assert verdict.near_tie
    assert verdict.label == label
    assert NEAR_TIE in verdict.reason
    radius = free.radius([point])
    assert radius.upper == 0.0
    assert radius.near_tie
    kept = free.probability_kept([point], 0.01, target=label)
    assert kept.lower == pytest.approx(0.0)
    assert kept.upper == pytest.approx(1.0)


def _forest_with_an_open_tie() -> tuple[Any, float] | None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X, y = np.arange(12.0)[:, None], rng.integers(0, 2, 12)
        if len(set(y)) < 2:
            continue
        model = RandomForestClassifier(3, max_leaf_nodes=3, random_state=seed).fit(X, y)
        leaves = np.array([tree.predict_proba(X)[:, 0] for tree in model.estimators_])
        odd = ((leaves * 64) % 1.0 != 0.0).any(axis=0)
        tied = np.flatnonzero(odd & (np.abs(leaves.sum(axis=0) - 1.5) < 1e-12))
        if tied.size:
            return model, float(X[tied[0], 0])
    return None
