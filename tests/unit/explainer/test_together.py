"""Several models at once: one region in which each of them says what is wanted of it, by its own rules."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elbowroom import (
    AllOf,
    AtLeast,
    Box,
    Causal,
    Diamond,
    Explainer,
    InputError,
    NoRegion,
    Region,
    Space,
    Status,
    Target,
    UnsupportedModel,
)
from elbowroom.result.json_schema import json_schema
from tests.support.exact import together
from tests.support.hostile import attack
from tests.support.json_schema import Validator

COLUMNS = ["a", "b", "c"]


def table(rows: int = 200) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(rows, 3)).round(2), columns=COLUMNS)
    return X, (X.a + X.b * X.c + 0.3 * rng.normal(size=rows) > 0).to_numpy().astype(int)


X, Y = table()


def bootstraps(model: object, count: int = 3) -> list:
    made = []
    for seed in range(count):
        rows = np.random.default_rng(seed).integers(0, len(X), len(X))
        made.append(clone(model).fit(X.iloc[rows], Y[rows]))
    return made


FAMILIES = {
    "trees": GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0),
    "linear": make_pipeline(StandardScaler(), LogisticRegression()),
    "networks": MLPClassifier((4,), max_iter=200, random_state=0),
}


def refused_by_all(models: list) -> pd.Series:
    said = np.column_stack([model.predict(X) for model in models])
    return X[(said == 0).all(axis=1)].iloc[0]


def attacked(region: Region, models: list, wanted: list) -> None:
    """The region, with every model's own predict."""
    for model, label in zip(models, wanted, strict=True):
        attack(lambda rows, model=model: model.predict(pd.DataFrame(rows, columns=COLUMNS)), region.body, label)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_one_region_for_all(family: str) -> None:
    models = bootstraps(FAMILIES[family])
    row, explainer = refused_by_all(models), Explainer(models, X)
    region = explainer.explain(row, Box(0.05))
    assert isinstance(region, Region) and region.status is Status.OPTIMAL
    attacked(region, models, [1, 1, 1])
    singles = [Explainer(model, X).explain(row, Box(0.05)) for model in models]
    assert region.distance >= max(one.lower_bound for one in singles) - 1e-12  # what all need, each needs
    assert region.predicted == (0, 0, 0) and region.target.is_met((1, 1, 1)) and not region.target.is_met((1, 0, 1))
    assert "Each of the 3 models said 0. If " in region.sentence()
    assert "each of the 3 models predicts 1" in region.sentence()
    assert explainer.predict(X.iloc[:4]).shape == (4, 3)


def test_two_engines_agree() -> None:
    models = bootstraps(FAMILIES["trees"])
    row, explainer = refused_by_all(models), Explainer(models, X)
    first, second = (explainer.explain(row, Box(0.05), method=method) for method in ("auto", "adversarial"))
    assert first.distance == pytest.approx(second.distance, rel=1e-9)


def test_judging_and_measuring() -> None:
    models = bootstraps(FAMILIES["trees"])
    row, explainer = refused_by_all(models), Explainer(models, X)
    region = explainer.explain(row, Box(0.05))
    assert explainer.certify(region)
    verdict = explainer.certify(region.center, Box(2.0), 1)
    assert not verdict and verdict.reason.startswith("model ")
    wrong = [model.predict(pd.DataFrame([verdict.point], columns=COLUMNS))[0] for model in models]
    assert 0 in wrong and tuple(wrong) == verdict.label
    found = explainer.radius(region.center)
    each = [Explainer(model, X).radius(region.center) for model in models]
    assert found.lower == pytest.approx(min(one.lower for one in each), rel=1e-9)
    kept = explainer.probability_kept(region, 0.05)
    assert kept.lower <= min(Explainer(model, X).probability_kept(region.center, 0.05).upper for model in models)
    assert explainer.frontier(row, [0.0, 0.05])["distance"].iloc[1] == pytest.approx(region.distance)
    assert explainer.menu(row, Box(0.05))
    wide = explainer.widen(region)
    attacked(wide.region, models, [1, 1, 1])
    assert explainer.map(region, "a", "b").names == ("another answer", "each of the 3 models predicts 1")


def test_files_hold_every_fingerprint() -> None:
    models = bootstraps(FAMILIES["trees"])
    row, explainer = refused_by_all(models), Explainer(models, X)
    region = explainer.explain(row, Box(0.05), target=[1, Target(1, probability=0.6), 1])
    assert [one.probability for one in region.target.each] == [None, 0.6, None]
    again = Region.from_json(region.to_json())
    assert again.target == region.target and again.predicted == region.predicted
    assert again.origin.members == tuple(Explainer(model, X).model.fingerprint for model in models)
    assert explainer.certify(again)
    other = Explainer(models[::-1], X)
    assert other.model.fingerprint != explainer.model.fingerprint
    none = explainer.explain(row, Box(50.0), time_limit=5)
    assert isinstance(none, NoRegion)
    assert NoRegion.from_json(none.to_json()).target == none.target
    for answer in (region, none):
        assert Validator(json.loads(json_schema())).fits(json.loads(answer.to_json()))
    assert pickle.loads(pickle.dumps(explainer)).explain(row, Box(0.05)).distance >= 0.0


def test_models_with_their_own_classes_and_columns() -> None:
    bank = RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0).fit(X[["a", "b"]], Y)
    insurer = RandomForestClassifier(n_estimators=5, max_depth=3, random_state=1).fit(
        X[["c", "a"]], np.where(X.a > X.c, "yes", "no")
    )
    value = GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, X.a + X.b)
    explainer = Explainer(AllOf({"bank": bank, "insurer": insurer, "value": value}), X)
    wanted = {"bank": 1, "insurer": "yes", "value": Target(at_least=0.25)}
    row = X.iloc[int(np.argmin(X.a))]
    region = explainer.explain(row, Diamond(0.05), target=wanted)
    points = pd.DataFrame(region.sample(3000, seed=1), columns=list(explainer.space.names))
    assert (bank.predict(points[["a", "b"]]) == 1).all() and (insurer.predict(points[["c", "a"]]) == "yes").all()
    assert (value.predict(points[COLUMNS]) >= 0.25).all()
    assert "model 2 predicts 'yes' and model 3 predicts at least 0.25" in region.sentence()
    assert Region.from_json(region.to_json()).predicted == region.predicted
    with pytest.raises(InputError, match="do not agree about the row"):
        explainer.explain(row)
    with pytest.raises(InputError, match="insurer: target 1 is not a class"):
        explainer.explain(row, target=1)
    with pytest.raises(InputError, match="the models are called"):
        explainer.explain(row, target={"bank": 1})


def test_refusals_by_name() -> None:
    trees, linear = bootstraps(FAMILIES["trees"], 1)[0], bootstraps(FAMILIES["linear"], 1)[0]
    with pytest.raises(UnsupportedModel, match="must be of one family"):
        Explainer([trees, linear], X)
    with pytest.raises(InputError, match="two models or more"):
        Explainer([trees], X)
    with pytest.raises(InputError, match="not lists of models"):
        AllOf([[trees], trees])
    with pytest.raises(InputError, match="two models are called '1'"):
        AllOf({1: trees, "1": trees})
    with pytest.raises(InputError, match="always=None"):
        AtLeast(1, [trees, trees], always=None)
    explainer = Explainer([trees, trees], X)
    with pytest.raises(InputError, match="2 models"):
        explainer.explain(X.iloc[0], target=[1, 1, 1])
    with pytest.raises(UnsupportedModel, match="holds one model"):
        explainer.export_model("nowhere.json")
    row = refused_by_all([trees])
    answer = explainer.explain(row, proof=True)
    assert "several models at once" in str(answer.proof)


def test_the_same_model_twice_asks_nothing_more() -> None:
    model = bootstraps(FAMILIES["trees"], 1)[0]
    row = refused_by_all([model])
    once, twice = Explainer(model, X).explain(row), Explainer([model, model], X).explain(row)
    assert once.distance == twice.distance


@pytest.mark.parametrize(
    ("family", "first", "count"), [("trees", 0, 25), ("linear", 0, 15), ("oblique", 0, 6), ("network", 0, 3)]
)
def test_whole_numbers_against_every_point(family: str, first: int, count: int) -> None:
    for seed in range(first, first + count):
        together(seed, (family,))


def test_causes_of_the_space_are_kept() -> None:
    models = bootstraps(FAMILIES["linear"], 2)
    space = replace(Space.from_frame(X), causes=Causal({"a": {"b": 0.5}}))
    explainer = Explainer(models, space)
    assert explainer.space.causes == space.causes
    attacked(explainer.explain(refused_by_all(models), Box(0.02)), models, [1, 1])
