"""The promise, end to end: every point of every region gets the promised class from the model's own predict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from elbowroom import (
    AtMost,
    Ball,
    Box,
    Certificate,
    Diamond,
    Explainer,
    InputError,
    Region,
    Space,
    Status,
    Target,
    TreeEnsemble,
)
from tests.support.hostile import attack

Data = tuple[pd.DataFrame, np.ndarray]

MODELS = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "ridge": lambda: make_pipeline(MinMaxScaler(), RidgeClassifier()),
    "svc": lambda: make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
    "tree": lambda: DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": lambda: make_pipeline(StandardScaler(), RandomForestClassifier(25, max_depth=5, random_state=0)),
    "extra": lambda: ExtraTreesClassifier(15, max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=30, max_depth=2, random_state=0),
    "hist": lambda: HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8, random_state=0),
    "network": lambda: make_pipeline(StandardScaler(), MLPClassifier((8,), random_state=0, max_iter=2000)),
}
ROOMS = {"box": Box(0.02), "ball": Ball(0.02), "diamond": Diamond(0.02), "point": Box(0.0)}


def cuts_of(explainer: Explainer) -> object:
    return explainer.model.cuts if isinstance(explainer.model, TreeEnsemble) else None


@pytest.fixture(scope="module", params=list(MODELS))
def fitted(request: pytest.FixtureRequest, cancer: Data) -> Explainer:
    X, y = cancer
    return Explainer(MODELS[request.param]().fit(X, y), Space.from_frame(X, increasing=["mean texture"]))


@pytest.mark.parametrize("room", list(ROOMS))
def test_every_hostile_point_gets_the_promised_class(fitted: Explainer, cancer: Data, room: str) -> None:
    X, _ = cancer
    for i in (0, 30, 150):
        row = X.iloc[i]
        answer = fitted.explain(row, room=ROOMS[room], time_limit=10)
        assert isinstance(answer, Region), answer
        assert answer.target.label != fitted.predict(row.to_numpy()[None])[0]  # type: ignore[index]
        attack(fitted.predict, answer.body, answer.target.label, cuts_of(fitted))  # type: ignore[arg-type]
        assert answer.lower_bound <= answer.distance
        assert answer.center["mean texture"] >= row["mean texture"]
        again = fitted.certify(answer)
        assert isinstance(again, Certificate)
        assert again.seal == answer.certificate.seal


def test_multi_class_beats_every_rival(iris: Data) -> None:
    X, y = iris
    for make in (
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
        lambda: RandomForestClassifier(20, max_depth=3, random_state=0),
        lambda: GradientBoostingClassifier(n_estimators=10, max_depth=2, random_state=0),
        lambda: HistGradientBoostingClassifier(max_iter=10, random_state=0),
        lambda: make_pipeline(StandardScaler(), MLPClassifier((6,), random_state=0, max_iter=3000)),
    ):
        explainer = Explainer(make().fit(X, y), Space.from_frame(X))
        for target in ("virginica", "versicolor"):
            region = explainer.explain(X.iloc[3], room=Box(0.02), target=target, time_limit=10)
            assert isinstance(region, Region), region
            attack(explainer.predict, region.body, target, cuts_of(explainer))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["logistic", "forest", "boosting", "tree"])
def test_probability_targets_hold_at_every_point(cancer: Data, name: str) -> None:
    X, y = cancer
    model = MODELS[name]().fit(X, y)
    explainer = Explainer(model, Space.from_frame(X))
    index = list(model.classes_).index("benign")
    plain = explainer.explain(X.iloc[0], room=Box(0.01), target="benign")
    region = explainer.explain(X.iloc[0], room=Box(0.01), target=Target("benign", probability=0.8))
    assert isinstance(region, Region)
    assert region.distance >= plain.distance  # type: ignore[union-attr]

    def reaches(rows: np.ndarray) -> np.ndarray:
        return model.predict_proba(pd.DataFrame(rows, columns=X.columns))[:, index] >= 0.8

    attack(reaches, region.body, True, cuts_of(explainer))  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [(1, 2), (False, True), ("no", "yes"), (-1, 1)])
def test_any_labels(cancer: Data, labels: tuple[object, object]) -> None:
    X, y = cancer
    coded = np.where(y == "benign", labels[1], labels[0])
    for model in (DecisionTreeClassifier(max_depth=3, random_state=0), LogisticRegression(max_iter=5000)):
        explainer = Explainer(model.fit(X, coded), Space.from_frame(X))
        region = explainer.explain(X.iloc[0], room=Box(0.01))
        assert isinstance(region, Region)
        assert region.target.label == labels[1]
        attack(explainer.predict, region.body, labels[1], cuts_of(explainer))  # type: ignore[arg-type]


def test_at_most_one_change(cancer: Data) -> None:
    X, y = cancer
    explainer = Explainer(MODELS["logistic"]().fit(X, y), Space.from_frame(X, bounds="none"))
    region = explainer.explain(X.iloc[0], room=Box(0.01), distance="l2", rules=[AtMost(1)])
    assert isinstance(region, Region)
    assert region.changed.sum() == 1
    free = explainer.explain(X.iloc[0], room=Box(0.01), distance="l2")
    assert free.distance <= region.distance  # type: ignore[union-attr]


def test_an_answer_keeps_its_rules(cancer: Data) -> None:
    X, y = cancer
    explainer = Explainer(MODELS["logistic"]().fit(X, y), Space.from_frame(X, bounds="none"))
    region = explainer.explain(X.iloc[0], room=Box(0.01), rules=[AtMost(1)])
    assert isinstance(region, Region) and region.rules == (AtMost(1),)
    assert "in which at most one feature changes" in str(Region.from_json(region.to_json()))
    nothing = explainer.explain(X.iloc[0], room=Box(0.01), rules=[AtMost(0)])
    assert nothing.status is Status.NONE_EXISTS and nothing.rules == (AtMost(0),)
    front = explainer.frontier(X.iloc[0], radii=[0.0, 0.01], rules=[AtMost(1)])
    assert all(answer.rules == (AtMost(1),) for answer in front.answers)


def test_a_point_of_another_tool_can_be_judged(cancer: Data) -> None:
    X, y = cancer
    explainer = Explainer(MODELS["forest"]().fit(X, y), Space.from_frame(X))
    verdict = explainer.certify(X.iloc[20], Box(0.9))
    assert not verdict
    point = verdict.point  # type: ignore[union-attr]
    label = explainer.predict(point[None])[0]  # type: ignore[index]
    assert label == verdict.label != explainer.predict(X.iloc[[20]].to_numpy())[0]  # type: ignore[union-attr, index]


def test_one_way_features_limit_a_judged_room_only_with_a_factual(cancer: Data) -> None:
    X, y = cancer
    explainer = Explainer(MODELS["tree"]().fit(X, y), Space.from_frame(X, increasing=["mean texture"]))
    free = explainer.certify(X.iloc[20], Box({"mean texture": 0.1}))
    held = explainer.certify(X.iloc[20], Box({"mean texture": 0.1}), factual=X.iloc[20])
    assert isinstance(free, Certificate)
    assert isinstance(held, Certificate)
    column = list(X.columns).index("mean texture")
    assert free.body.lower[column] < X.iloc[20, column] == held.body.lower[column]


def test_a_region_about_other_columns_is_not_judged(cancer: Data) -> None:
    X, y = cancer
    region = Explainer(MODELS["logistic"]().fit(X, y), Space.from_frame(X)).explain(X.iloc[0])
    other = X[X.columns[::-1]]
    explainer = Explainer(MODELS["logistic"]().fit(other, y), Space.from_frame(other))
    with pytest.raises(InputError, match="about the columns"):
        explainer.certify(region)


@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
@pytest.mark.parametrize("name", ["logistic", "tree", "boosting", "network"])
def test_the_radius_is_where_certificates_end(cancer: Data, name: str, norm: str) -> None:
    X, y = cancer
    explainer = Explainer(MODELS[name]().fit(X, y), Space.from_frame(X, bounds="none"))
    found = explainer.radius(X.iloc[5], norm=norm, time_limit=20)
    room = {"linf": Box, "l2": Ball, "l1": Diamond}[norm]
    assert 0 < found.lower <= found.upper < np.inf
    assert explainer.certify(X.iloc[5], room(found.lower * (1 - 1e-9)))
    assert not explainer.certify(X.iloc[5], room(found.upper * (1 + 1e-6)))
    if name != "network":
        assert found.upper - found.lower <= 1e-9 * found.upper


@pytest.mark.parametrize("name", ["logistic", "forest", "boosting", "network"])
def test_same_seed_same_answer(cancer: Data, name: str) -> None:
    X, y = cancer
    answers = []
    for _ in range(2):
        explainer = Explainer(MODELS[name]().fit(X, y), Space.from_frame(X))
        answers.append(explainer.explain(X.iloc[7], room=Box(0.01), seed=3))
    first, second = answers
    assert isinstance(first, Region)
    assert isinstance(second, Region)
    assert first.certificate.seal == second.certificate.seal
    assert first.status is second.status


@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_a_time_limit_never_makes_a_wrong_answer(fitted: Explainer, cancer: Data, limit: float) -> None:
    X, _ = cancer
    answer = fitted.explain(X.iloc[1], room=Box(0.02), time_limit=limit)
    if isinstance(answer, Region):
        attack(fitted.predict, answer.body, answer.target.label, cuts_of(fitted))  # type: ignore[arg-type]
    else:
        assert answer.status in (Status.UNKNOWN, Status.NONE_EXISTS)
        assert answer.reason


def test_progress_is_reported_with_both_bounds(cancer: Data) -> None:
    X, y = cancer
    explainer = Explainer(MODELS["boosting"]().fit(X, y), Space.from_frame(X))
    steps: list[object] = []
    region = explainer.explain(X.iloc[0], room=Box(0.02), on_progress=steps.append)
    assert isinstance(region, Region)
    assert steps
    lower = [s.lower_bound for s in region.trace]
    best = [s.best_distance for s in region.trace]
    assert lower == sorted(lower)
    assert best == sorted(best, reverse=True)
    assert all(low <= high for low, high in zip(lower, best, strict=True))


def test_ctrl_c_returns_what_is_certified(cancer: Data) -> None:
    X, y = cancer
    explainer = Explainer(MODELS["boosting"]().fit(X, y), Space.from_frame(X))

    def interrupt(step: object) -> None:
        if step.best_distance < np.inf:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    answer = explainer.explain(X.iloc[0], room=Box(0.02), on_progress=interrupt)
    assert isinstance(answer, Region)
    assert answer.method == "interrupted"
    assert answer.lower_bound <= answer.distance
    attack(explainer.predict, answer.body, answer.target.label, cuts_of(explainer))  # type: ignore[arg-type]
