"""A model with all models near it: against brute force, and attacked with members of the set, the worst ones among them."""

from __future__ import annotations

import copy
import json
import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from elbowroom import (
    Ball,
    Box,
    Diamond,
    Explainer,
    Feature,
    InputError,
    Nearby,
    NoRegion,
    Probability,
    Region,
    Space,
    Status,
    Target,
    UnsupportedModel,
)
from elbowroom.result.json_schema import json_schema
from tests.support.hostile import hostile_points
from tests.support.json_schema import Validator

COLUMNS = ["a", "b", "c"]
RNG = np.random.default_rng(5)
X = pd.DataFrame((RNG.normal(size=(200, 3)) * [1, 5, 2] + [0, 3, 1]).round(2), columns=COLUMNS)
Y = (X.a + 0.3 * X.b - X.c + 0.3 * RNG.normal(size=200) > 0).to_numpy().astype(int)
MANY = np.digitize(X.a + 0.3 * X.b - X.c, [-1.0, 1.0])
PLAIN = LogisticRegression().fit(X, Y)
SCALED = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
THREE = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, MANY)
ROOMS = {"box": Box(0.05), "wide": Box(0.4), "ball": Ball(0.1), "diamond": Diamond(0.1)}


def refused(model: object, wanted: int) -> pd.Series:
    return X[model.predict(X) != wanted].iloc[3]


def moved(model: object, weights: np.ndarray, intercept: np.ndarray) -> object:
    """The same pipeline with other weights."""
    made = copy.deepcopy(model)
    last = made[-1] if hasattr(made, "steps") else made
    last.coef_, last.intercept_ = last.coef_ + weights, last.intercept_ + intercept
    return made


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize(("model", "wanted"), [(PLAIN, 1), (SCALED, 1), (SCALED, 0), (THREE, 2), (THREE, 1)])
def test_every_model_of_the_set_says_what_is_wanted(model: object, wanted: int, room: str) -> None:
    eps, shift = 0.15, 0.05
    explainer, row = Explainer(Nearby(model, weights=eps, intercept=shift), X), refused(model, wanted)
    region = explainer.explain(row, ROOMS[room], target=wanted)
    if isinstance(region, NoRegion):
        assert region.status is Status.NONE_EXISTS and room == "wide"
        return
    assert region.status is Status.OPTIMAL
    alone = Explainer(model, X).explain(row, ROOMS[room], target=wanted)
    assert region.distance > alone.distance
    points = hostile_points(region.body)
    last = model[-1] if hasattr(model, "steps") else model
    rng, least = np.random.default_rng(0), math.inf
    corners = [np.array(s) for s in product((-1.0, 1.0), repeat=3)]
    for number in range(2 * len(corners) + 20):
        side = np.where(np.arange(len(last.coef_)) == wanted, -1.0, 1.0)[:, None]
        if len(last.coef_) == 1:
            side = np.array([[-1.0 if wanted == 1 else 1.0]])
        if number < len(corners):  # a worst model, for points whose columns have these signs
            off, at = side * eps * corners[number], side[:, 0] * shift
        else:
            off = eps * rng.uniform(-1.0, 1.0, last.coef_.shape)
            at = shift * rng.uniform(-1.0, 1.0, len(last.coef_))
        other = moved(model, off, at)
        assert (other.predict(pd.DataFrame(points, columns=COLUMNS)) == wanted).all()
        scores = other.decision_function(pd.DataFrame(points, columns=COLUMNS)).reshape(len(points), -1)
        if scores.shape[1] > 1:
            scores = (scores[:, [wanted]] - np.delete(scores, wanted, axis=1)).min(axis=1, keepdims=True)
        least = min(least, float((scores if wanted or scores.shape[1] > 1 else -scores).min()))
    assert least < 0.02  # and the worst of them only just


def _robust(
    points: np.ndarray, weight: np.ndarray, bias: np.ndarray, eps: float, shift: float, wanted: int
) -> np.ndarray:
    """Which points every model of the set gives the wanted class: score differences, minus what the set may take."""
    scores = points @ weight.T + bias
    loss = eps * np.abs(points).sum(axis=1) + shift
    if len(weight) == 1:
        return (scores[:, 0] if wanted else -scores[:, 0]) - loss > 0.0
    rivals = np.delete(scores, wanted, axis=1)
    return (scores[:, [wanted]] - rivals - 2.0 * loss[:, None] > 0.0).all(axis=1)


@pytest.mark.parametrize("seed", range(24))
def test_whole_numbers_against_every_point(seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    classes = int(rng.choice([2, 2, 3]))
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.arange(classes), 3
    rows = 1 if classes == 2 else 3
    model.coef_, model.intercept_ = rng.integers(-8, 9, (rows, 3)) / 4.0, rng.integers(-8, 9, rows) / 4.0 + 1 / 64
    low, high = rng.integers(-4, 0, 3), rng.integers(1, 5, 3)
    space = Space(tuple(Feature(f"x{i}", kind="integer", lower=float(low[i]), upper=float(high[i])) for i in range(3)))
    eps, shift = float(rng.choice([0.125, 0.25, 0.5])) + 1 / 256, float(rng.choice([0.0, 0.25]))
    points = np.array(list(product(*(np.arange(a, b + 1.0) for a, b in zip(low, high, strict=True)))))
    row, wanted = points[rng.integers(len(points))], int(rng.integers(classes))
    room = [Box(1.0), Box(2.0), Diamond(1.0), Ball(1.5)][rng.integers(4 if classes == 2 else 2)]
    answer = Explainer(Nearby(model, weights=eps, intercept=shift), space).explain(row, room, target=wanted)
    good = _robust(points, model.coef_, model.intercept_, eps, shift, wanted)
    norm = {Box: np.inf, Diamond: 1, Ball: 2}[type(room)]
    truth = math.inf
    for center in points:
        inside = np.linalg.norm(points - center, ord=norm, axis=1) <= room.radius
        if good[inside].all():
            truth = min(truth, float(np.abs(center - row).sum()))
    assert answer.lower_bound <= truth + 1e-9
    if isinstance(answer, NoRegion):
        assert answer.status is Status.NONE_EXISTS and math.isinf(truth), answer.reason
    else:
        assert answer.status is Status.OPTIMAL and answer.distance == pytest.approx(truth, abs=1e-9)


FORESTS = [
    (GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0), Y, 0.05, 1),
    (RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0), Y, 0.1, 1),
    (RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0), MANY, 0.05, 2),
    (GradientBoostingClassifier(n_estimators=4, max_depth=2, random_state=0), MANY, 0.02, 2),
    (DecisionTreeClassifier(max_depth=3, random_state=0), Y, 0.2, 1),
    (GradientBoostingRegressor(n_estimators=5, max_depth=2, random_state=0), X.a, 0.05, Target(at_least=0.3)),
]


def _with_leaves(model: object, rng: np.random.Generator, eps: float, wanted: object, worst: bool) -> object:
    """The same model with other values in its leaves; ``worst``: each as far against the wanted class as it may be."""
    made = copy.deepcopy(model)
    if isinstance(model, DecisionTreeClassifier):
        trees, rate = [(made, -1)], 1.0
    else:
        boosted = isinstance(model, (GradientBoostingClassifier, GradientBoostingRegressor))
        rate = model.learning_rate if boosted else 1.0
        trees = [(t, k) for row in np.atleast_2d(made.estimators_) for k, t in enumerate(np.atleast_1d(row))]
        trees = trees if boosted else [(t, -1) for t, _ in trees]
    for tree, k in trees:
        value = tree.tree_.value
        off = rng.uniform(-eps, eps, value.shape)
        if worst and k < 0:  # leaves hold one value per class
            off = np.full(value.shape, eps)
            off[:, 0, wanted] = -eps
        elif worst:
            several = getattr(model, "n_classes_", 2) > 2
            off = np.full(value.shape, eps if several and k != wanted else -eps)
        leaf = tree.tree_.children_left < 0
        value[leaf] += off[leaf] / rate
    return made


@pytest.mark.parametrize("which", range(len(FORESTS)))
def test_leaf_values_of_every_model_of_the_set(which: int) -> None:
    model, outcome, eps, wanted = FORESTS[which]
    model = copy.deepcopy(model).fit(X, outcome)
    row = X.iloc[int(np.argmin(X.a - X.c))]
    explainer = Explainer(Nearby(model, leaves=eps), X)
    region = explainer.explain(row, Box(0.01), target=wanted)
    alone = Explainer(model, X).explain(row, Box(0.01), target=wanted)
    assert region.lower_bound >= alone.lower_bound * (1.0 - 1e-9)
    if isinstance(region, NoRegion):
        assert region.status is Status.NONE_EXISTS
        return
    assert region.status is Status.OPTIMAL
    points = pd.DataFrame(hostile_points(region.body, explainer.model.cuts), columns=COLUMNS)
    rng = np.random.default_rng(0)
    for number in range(12):
        said = _with_leaves(model, rng, eps, wanted, worst=number == 0).predict(points)
        assert (said >= 0.3 - 1e-12).all() if isinstance(wanted, Target) else (said == wanted).all()


def test_leaves_are_a_raised_threshold() -> None:
    """For boosting with two classes: the score has to reach the sum of what its trees may be off."""
    model = GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0).fit(X, Y)
    row = refused(model, 1)
    nearby = Explainer(Nearby(model, leaves=0.05), X).explain(row, Box(0.02), target=1)
    raised = Explainer(model, X).explain(row, Box(0.02), target=Target(1, probability=1.0 / (1.0 + math.exp(-0.3))))
    assert nearby.distance == pytest.approx(raised.distance, rel=1e-9)


def test_files_and_other_questions() -> None:
    explainer, row = Explainer(Nearby(SCALED, weights=0.1), X), refused(SCALED, 1)
    region = explainer.explain(row, Box(0.05))
    again = Region.from_json(region.to_json())
    assert Validator(json.loads(json_schema())).fits(json.loads(region.to_json()))
    assert explainer.certify(again).seal == region.certificate.seal
    assert (
        "all weights within 0.1" in again.source
        and "weights are each within 0.1 of" in region.certificate.assumptions[-1]
    )
    others = [Nearby(SCALED, weights=0.2), Nearby(SCALED, weights=0.1, intercept=0.1), SCALED]
    for other in others:  # the same file, judged for another set of models
        assert Explainer(other, X).model.fingerprint != region.certificate.fingerprint
    assert not Explainer(Nearby(SCALED, weights=0.2), X).certify(again)
    assert "one of the models nearby" in explainer.certify(row, Box(0.3), 1).reason
    wide = explainer.widen(region)
    assert explainer.certify(wide.region) and wide.region.body.contains(region.body.center[None])[0]
    assert explainer.radius(region.center).lower < Explainer(SCALED, X).radius(region.center).lower
    assert explainer.frontier(row, [0.0, 0.05])["distance"].iloc[1] == pytest.approx(region.distance)
    assert explainer.menu(row, Box(0.05)).closest.distance == pytest.approx(region.distance)
    assert "no proofs" in str(explainer.explain(row, proof=True).proof)
    other = explainer.explain(row, Box(0.05), method="adversarial")
    assert other.distance == pytest.approx(region.distance, rel=1e-4)


def test_a_column_that_only_models_nearby_look_at_limits_the_radius() -> None:
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.arange(2), 2
    model.coef_, model.intercept_ = np.array([[1.0, 0.0]]), np.array([0.0])
    space = Space((Feature("x0", lower=-9.0, upper=9.0, immutable=True), Feature("x1", lower=-9.0, upper=9.0)))
    found = Explainer(Nearby(model, weights=0.25), space).radius(np.array([1.0, 0.0]))
    assert found.lower == pytest.approx(3.0, rel=1e-9) and found.upper == pytest.approx(3.0, rel=1e-9)


def test_what_is_not_known_is_refused_by_name() -> None:
    explainer, row = Explainer(Nearby(SCALED, weights=0.1), X), refused(SCALED, 1)
    for ask in (
        lambda: explainer.probability_kept(row, 0.05),
        lambda: explainer.explain(row, keeps=Probability(0.9, sigma=0.05)),
        lambda: explainer.explain_group(X.head(2)),
        lambda: explainer.export_model("nowhere.json"),
    ):
        with pytest.raises(InputError, match="is not known for"):
            ask()
    with pytest.raises(UnsupportedModel, match="is for linear models"):
        Explainer(Nearby(DecisionTreeClassifier(max_depth=2).fit(X, Y), weights=0.1), X)
    with pytest.raises(UnsupportedModel, match="is for trees"):
        Explainer(Nearby(PLAIN, leaves=0.1), X)
    with pytest.raises(UnsupportedModel, match="is for linear models"):
        Explainer(Nearby(MLPClassifier((2,), max_iter=5, random_state=0).fit(X, Y), weights=0.1), X)
    with pytest.raises(UnsupportedModel, match="asked by itself"):
        Explainer([Nearby(PLAIN, weights=0.1), PLAIN], X)
    for wrong in ({"weights": 0.1, "leaves": 0.1}, {}, {"weights": -1.0}, {"leaves": float("nan")}):
        with pytest.raises(InputError, match="Nearby"):
            Nearby(PLAIN, **wrong)


def test_values_of_a_regressor() -> None:
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, X.a + X.b)
    explainer, row = Explainer(Nearby(model, weights=0.1), X), X.iloc[0]
    wanted = Target(between=(0.0, 4.0))
    region = explainer.explain(row, Box(0.05), target=wanted)
    assert region.status is Status.OPTIMAL
    points = pd.DataFrame(hostile_points(region.body), columns=COLUMNS)
    for corner in product((-0.1, 0.1), repeat=3):
        said = moved(model, np.array(corner), np.zeros(())).predict(points)
        assert (said >= 0.0).all() and (said <= 4.0).all()


def test_trees_of_a_forest_that_never_met_a_class_may_give_it_a_probability() -> None:
    rows = np.arange(40.0)[:, None]
    said = np.repeat([0, 1, 2], [20, 18, 2])
    forest = RandomForestClassifier(5, max_depth=2, random_state=4).fit(rows, said)
    assert any((tree.tree_.value[:, 0, 2] == 0).all() for tree in forest.estimators_)
    place = np.array([[39.0]])
    shares = forest.predict_proba(place)[0]
    wanted, lead = int(shares.argmax()), float(np.diff(np.sort(shares))[-1])
    eps = lead / 1.9  # more than half of it: the worst member says something else
    worst = copy.deepcopy(forest)
    for tree in worst.estimators_:
        tree.tree_.value[...] += eps
        tree.tree_.value[:, :, wanted] -= 2.0 * eps
    assert worst.predict(place)[0] != wanted == forest.predict(place)[0]
    assert not Explainer(Nearby(forest, leaves=eps)).certify(place[0], Box(0.0), wanted)
    assert Explainer(Nearby(forest, leaves=lead / 2.1)).certify(place[0], Box(0.0), wanted)
