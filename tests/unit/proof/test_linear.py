"""Linear models: both halves, in rational numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from elbowroom import Ball, Box, Diamond, Explainer, Feature, Region, Space, Target
from elbowroom.problem import RecourseProblem, Room
from elbowroom.proof.model_file import model_bytes
from elbowroom_checker import Refused, check
from tests.support.hostile import attack
from tests.support.proofs import packed


def fitted(classes: int = 2) -> tuple[object, np.ndarray]:
    X = np.random.default_rng(1).normal(size=(200, 5))
    y = np.digitize(X @ [1.0, -2.0, 0.5, 0.0, 3.0], np.linspace(-2, 2, classes - 1))
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), X


@pytest.mark.parametrize("room", [Box(0.05), Ball(0.1), Diamond(0.2)])
@pytest.mark.parametrize("distance", ["l1", "l2", "linf"])
def test_both_halves(room: Room, distance: str) -> None:
    model, X = fitted()
    explainer = Explainer(model)
    file = model_bytes(explainer.model)
    for row in X[:2]:
        region = explainer.explain(row, room=room, distance=distance, proof=True)
        assert isinstance(region, Region) and region.proof is not None and region.proof.is_complete, region.proof
        said = check(region.proof.text.encode(), file)
        assert said.valid and said.bound is not None and said.distance is not None
        assert said.distance == pytest.approx(region.distance, rel=1e-12)
        assert region.lower_bound * (1.0 - 1e-9) <= said.bound <= region.distance
        attack(lambda rows: model.predict(rows), region.body, region.target.label)


def test_several_classes_and_probabilities_are_valid_at_least() -> None:
    for classes, target in ((3, None), (2, Target(1, 0.8))):
        model, X = fitted(classes)
        explainer = Explainer(model)
        wanted = target or 2
        region = explainer.explain(X[0], room=Box(0.05), target=wanted, proof=True)
        assert isinstance(region, Region) and region.proof is not None
        assert region.proof.is_complete or region.proof.missing.startswith("optimality: weak duality with one rival")
        assert check(region.proof.text.encode(), model_bytes(explainer.model)).valid
        attack(lambda rows, m=model: m.predict(rows), region.body, region.target.label)


def test_whole_numbers_categories_and_limits_divide_the_centres() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, 300),
            "income": rng.normal(3000, 900, 300).round(2),
            "kids": rng.integers(0, 5, 300),
            "city": rng.choice(list("ABCD"), 300),
        }
    )
    score = frame["income"] / 1000 - frame["kids"] * 0.8 + (frame["city"] == "A") * 1.0 + frame["age"] / 50
    coding = make_column_transformer((OneHotEncoder(), ["city"]), (StandardScaler(), ["age", "income", "kids"]))
    model = make_pipeline(coding, LogisticRegression()).fit(frame, score > score.median())
    explainer = Explainer(model, Space.from_frame(frame, integer=["age", "kids"]))
    file, divided = model_bytes(explainer.model), 0
    for i in range(6):
        for room in (Box(0.02), Box(0.3)):
            region = explainer.explain(frame.iloc[i], room=room, proof=True)
            assert region.proof is not None and region.proof.is_complete, region.proof
            assert region.proof.document is not None
            divided += len(region.proof.document["optimality"]["tree"]) > 1
            said = check(region.proof.text.encode(), file)
            assert said.bound is not None and said.bound >= region.lower_bound * (1.0 - 1e-9)
            if isinstance(region, Region):
                assert said.bound <= region.distance
                attack(lambda rows: explainer.predict(rows), region.body, region.target.label)
    assert divided > 1


def test_none_exists() -> None:
    """Nothing may move but one column, and that not far enough."""
    model, X = fitted()
    features = tuple(Feature(f"x{f}", lower=float(x) - 0.01, upper=float(x) + 0.01) for f, x in enumerate(X[0]))
    explainer = Explainer(model, Space(features))
    answer = explainer.explain(X[0], room=Box({"x0": 0.001}), proof=True)
    assert not answer and answer.proof is not None and answer.proof.is_complete, answer.proof
    assert check(answer.proof.text.encode(), model_bytes(explainer.model)).bound == float("inf")


def test_false_claims_are_refused() -> None:
    model, X = fitted()
    explainer = Explainer(model)
    region = explainer.explain(X[0], room=Ball(0.1), proof=True)
    assert region.proof is not None and region.proof.document is not None
    document, file = region.proof.document, model_bytes(explainer.model)
    higher = {**document, "optimality": {**document["optimality"], "bound": region.distance * 1.0001}}
    with pytest.raises(Refused, match="does not reach the bound"):
        check(packed(higher), file)
    center = np.array(document["region"]["center"])
    nearer = np.array(document["question"]["factual"]) + 0.999 * (center - document["question"]["factual"])

    body = RecourseProblem.ask(explainer.model, region.space, region.factual_values, region.room, region.target).body(
        nearer
    )
    moved = {"center": nearer.tolist(), "lower": body.lower.tolist(), "upper": body.upper.tolist()}
    with pytest.raises(Refused, match="validity proof does not hold"):
        check(packed({**document, "region": moved}), file)
    longer = [[1.5 * s for s in shift] for shift in document["optimality"]["shifts"]]
    with pytest.raises(Refused, match="leaves the room"):
        check(packed({**document, "optimality": {**document["optimality"], "shifts": longer}}), file)
