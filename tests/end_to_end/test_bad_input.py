"""Bad input: a clear error that names the place and the cure, or a proven status; never a traceback, never a guess."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from elbowroom import (
    Ball,
    Box,
    Explainer,
    Feature,
    FrontierDisplay,
    InputError,
    Region,
    Space,
    Status,
    Target,
    UnsupportedModel,
)
from tests.support.hostile import attack

Cancer = tuple[pd.DataFrame, np.ndarray]


@pytest.fixture(scope="module")
def explainer(cancer: Cancer) -> Explainer:
    X, y = cancer
    return Explainer(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), Space.from_frame(X))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (lambda X: X.iloc[0].where(X.columns != "mean texture", np.nan), "'mean texture': the number is missing"),
        (lambda X: X.iloc[0].where(X.columns != "mean texture", np.inf), "'mean texture': inf"),
        (lambda X: X.iloc[0].rename({"mean texture": "mean txture"}), "mean txture"),
        (lambda X: X.iloc[0].to_numpy()[:3], "3 values for 6 columns"),
        (lambda X: X.iloc[:2], "one row"),
        (lambda X: X.iloc[0].drop("mean texture"), r"missing columns \['mean texture'\]"),
        (lambda X: None, "NoneType"),
    ],
)
def test_rows(explainer: Explainer, cancer: Cancer, row: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        explainer.explain(row(cancer[0]))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"room": 0.05}, "Box"),
        ({"room": Box([0.1, 0.2])}, "2 values for 6 columns"),
        ({"room": Box({"radius": 1.0})}, "unknown column 'radius'"),
        ({"target": "purple"}, "purple"),
        ({"target": 1}, "not a class"),
        ({"target": ["benign"]}, "not a class label"),
        ({"distance": "l3"}, "l1"),
        ({"method": "magic"}, "auto"),
        ({"time_limit": -1}, "time_limit"),
        ({"time_limit": float("nan")}, "time_limit"),
        ({"time_limit": "long"}, "time_limit"),
        ({"rules": ["be nice"]}, "AtMost"),
    ],
)
def test_questions(explainer: Explainer, cancer: Cancer, question: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        explainer.explain(cancer[0].iloc[0], **question)  # type: ignore[arg-type]


@pytest.mark.parametrize("radius", [-0.1, float("nan"), float("inf"), "wide"])
def test_radii(radius: object) -> None:
    for room in (Box, Ball):
        with pytest.raises(InputError, match="radius"):
            room(radius)  # type: ignore[arg-type]


def test_bounds_the_wrong_way_round() -> None:
    with pytest.raises(InputError, match="above upper bound"):
        Feature("a", lower=2, upper=1)
    with pytest.raises(InputError, match="not numbers"):
        Feature("a", lower=float("nan"))


def test_columns_in_another_order_are_matched_by_name(explainer: Explainer, cancer: Cancer) -> None:
    row = cancer[0].iloc[0]
    assert explainer.explain(row).distance == explainer.explain(row[::-1]).distance


def test_a_space_that_does_not_fit_the_model(cancer: Cancer) -> None:
    X, y = cancer
    model = LogisticRegression(max_iter=5000).fit(X, y)
    with pytest.raises(InputError, match="does not describe"):
        Explainer(model, Space.from_frame(X.drop(columns="mean texture")))
    with pytest.raises(InputError, match="does not use"):
        Explainer(model, Space.from_frame(X.assign(more=1.0)))
    with pytest.raises(InputError, match="Space"):
        Explainer(model, [X])  # type: ignore[arg-type]


def test_an_unfitted_model() -> None:
    with pytest.raises(InputError, match="not fitted"):
        Explainer(LogisticRegression())
    with pytest.raises(InputError, match="not fitted"):
        Explainer(make_pipeline(StandardScaler(), LogisticRegression()))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (MLPClassifier((3,), activation="tanh", max_iter=50), "tanh"),
        (MLPClassifier((3,), activation="logistic", max_iter=50), "logistic"),
        (SVC(kernel="rbf"), "SVC"),
        (DummyClassifier(), "DummyClassifier"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_that_cannot_be_read(cancer: Cancer, model: object, name: str) -> None:
    X, y = cancer
    with pytest.raises(UnsupportedModel, match=name):
        Explainer(model.fit(X, y))  # type: ignore[attr-defined]


class _Contrary(LogisticRegression):
    """Same coefficients, other answers."""

    def predict(self, X: object) -> np.ndarray:
        return super().predict(X)[::-1]


def test_a_subclass_with_its_own_predict(cancer: Cancer) -> None:
    X, y = cancer
    with pytest.raises(UnsupportedModel, match="_Contrary"):
        Explainer(_Contrary(max_iter=5000).fit(X, y))


def test_not_a_model_at_all() -> None:
    with pytest.raises(UnsupportedModel):
        Explainer("model.pkl")
    with pytest.raises(UnsupportedModel):
        Explainer(None)


def test_row_already_in_the_target_class(explainer: Explainer, cancer: Cancer) -> None:
    X, _ = cancer
    row = X.iloc[0]
    label = explainer.predict(row.to_numpy()[None])[0]  # type: ignore[index]
    region = explainer.explain(row, room=Box(0.001), target=label)
    assert isinstance(region, Region)
    assert (region.status, region.distance) == (Status.OPTIMAL, 0.0)
    assert region.center.equals(row.astype(float).rename("center"))
    attack(explainer.predict, region.body, label)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(max_iter=5000),
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(20, random_state=0),
    ],
)
def test_everything_immutable(cancer: Cancer, model: object) -> None:
    X, y = cancer
    explainer = Explainer(model.fit(X, y), Space.from_frame(X, immutable=list(X.columns)))  # type: ignore[attr-defined]
    answer = explainer.explain(X.iloc[0])
    assert answer.status is Status.NONE_EXISTS
    assert "immutable" in answer.reason  # type: ignore[union-attr]
    assert (answer.method, answer.counters) == ("limits", {})  # known without a search


def test_a_one_class_model(cancer: Cancer) -> None:
    X, _ = cancer
    model = RandomForestClassifier(3, random_state=0).fit(X, np.zeros(len(X)))
    answer = Explainer(model).explain(X.iloc[0])
    assert answer.status is Status.NONE_EXISTS
    assert "only the class" in answer.reason  # type: ignore[union-attr]


def test_zero_coefficients(cancer: Cancer) -> None:
    X, y = cancer
    model = LogisticRegression(max_iter=5000).fit(X, y)
    model.coef_[:] = 0.0
    answer = Explainer(model).explain(X.iloc[0])
    assert answer.status is Status.NONE_EXISTS
    assert answer.reason  # type: ignore[union-attr]


def test_a_single_leaf(cancer: Cancer) -> None:
    X, y = cancer
    # one leaf, two classes: nothing is split because no split may be made
    model = DecisionTreeClassifier(min_samples_split=10**6).fit(X, y)
    assert model.tree_.node_count == 1
    answer = Explainer(model).explain(X.iloc[0], target="malignant")
    assert answer.status is Status.NONE_EXISTS
    assert answer.reason  # type: ignore[union-attr]
    assert Explainer(model).explain(X.iloc[0], target="benign").distance == 0.0  # type: ignore[union-attr]


def test_a_direction_that_leaves_nothing(cancer: Cancer) -> None:
    X, y = cancer
    space = Space.from_frame(X, increasing=["mean texture"])
    explainer = Explainer(LogisticRegression(max_iter=5000).fit(X, y), space)
    outside = X.iloc[0].copy()
    outside["mean texture"] = 1e4
    answer = explainer.explain(outside)
    assert answer.status is Status.NONE_EXISTS
    assert "mean texture" in answer.reason  # type: ignore[union-attr]


def test_multi_class_needs_a_target(iris: Cancer) -> None:
    X, y = iris
    explainer = Explainer(LogisticRegression(max_iter=5000).fit(X, y))
    with pytest.raises(InputError, match="say which one is wanted"):
        explainer.explain(X.iloc[0])
    with pytest.raises(InputError, match="softmax over 3 classes"):
        explainer.explain(X.iloc[0], target=Target("virginica", probability=0.7))


@pytest.mark.parametrize("norm", ["l3", None, "linf "])
def test_radius_norms(explainer: Explainer, cancer: Cancer, norm: object) -> None:
    with pytest.raises(InputError, match="norm"):
        explainer.radius(cancer[0].iloc[0], norm=norm)  # type: ignore[arg-type]


def test_certify_needs_a_room_and_a_centre_within_bounds(explainer: Explainer, cancer: Cancer) -> None:
    with pytest.raises(InputError, match="room"):
        explainer.certify(cancer[0].iloc[0])
    far = cancer[0].iloc[0].copy()
    far["mean texture"] = 1e6
    with pytest.raises(InputError, match="outside"):
        explainer.certify(far, Box(0.1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radii": b"x"}, "list of radii"),
        ({"radii": {0.1: 1}}, "list of radii"),
        ({"radii": np.array(0.1)}, "list of radii"),
        ({"radii": ["much"]}, "plain number"),
        ({"breakpoints": "yes"}, "True or False"),
        ({"breakpoints": np.array([1, 2])}, "True or False"),
        ({"time_limit": 10**400}, "beyond float64"),
        ({"rules": np.array(1.0)}, "give a list of rules"),
        ({"target": pd.NA}, "not a class of the model"),
    ],
)
def test_frontiers(explainer: Explainer, cancer: Cancer, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        explainer.frontier(cancer[0].iloc[0], **{"radii": [0.01], **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("order", [np.array(1.0), {"mean radius": 1}, {"mean radius"}, b"mean radius"])
def test_orders_that_are_no_lists(explainer: Explainer, cancer: Cancer, order: object) -> None:
    region = explainer.explain(cancer[0].iloc[0], Box(0.001))
    with pytest.raises(InputError, match="list of column names"):
        region.widen(order=order)  # type: ignore[union-attr, arg-type]


def test_what_an_answer_is_handed(explainer: Explainer, cancer: Cancer) -> None:
    region = explainer.explain(cancer[0].iloc[0], Box(0.001))
    assert isinstance(region, Region)
    for seed in ("x", -1, 1.5, None, True):
        with pytest.raises(InputError, match="seed"):
            region.sample(2, seed=seed)  # type: ignore[arg-type]
    for path in (3, True, [], b"x"):
        with pytest.raises(InputError, match="path of a file"):
            region.to_json(path)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="path of a file"):
            region.to_html(path)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="ax=3"):
        region.plot(ax=3)  # type: ignore[arg-type]
    frontier = explainer.frontier(cancer[0].iloc[0], [0.001])
    with pytest.raises(InputError, match="ax='here'"):
        frontier.plot(ax="here")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"explainer\.frontier"):
        FrontierDisplay.from_frontier(pd.DataFrame({"radius": [0.1]}))  # type: ignore[arg-type]
