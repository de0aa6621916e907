"""Some of several models: one region throughout which at least k of them, the same ones, say what is wanted."""

from __future__ import annotations

import json
import pickle
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from elbowroom import (
    AtLeast,
    Box,
    Explainer,
    Feature,
    InputError,
    NoRegion,
    NotAll,
    Probability,
    Region,
    Space,
    Status,
    Target,
)
from elbowroom.explainer.method import Method
from elbowroom.models import TreeEnsemble
from elbowroom.present.checking import check_region
from elbowroom.present.findings import Outcome
from elbowroom.problem import RecourseProblem
from elbowroom.problem.shapes import Shape
from elbowroom.result.json_schema import json_schema
from elbowroom.search.contract import Clock, Ending, Referee
from elbowroom.search.some_models import SomeModelsEngine
from tests.support.exact import some_of
from tests.support.json_schema import Validator
from tests.unit.explainer.test_together import FAMILIES, X, attacked, bootstraps, refused_by_all


@pytest.fixture(scope="module")
def trees() -> tuple[list, pd.Series, Explainer, Region]:
    models = bootstraps(FAMILIES["trees"])
    row, explainer = refused_by_all(models), Explainer(AtLeast(2, models), X)
    region = explainer.explain(row, Box(0.05))
    assert isinstance(region, Region)
    return models, row, explainer, region


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_closest_of_all_sets_of_models(family: str) -> None:
    models = bootstraps(FAMILIES[family])
    row = refused_by_all(models)
    region = Explainer(AtLeast(2, models), X).explain(row, Box(0.05))
    pairs = [Explainer(list(pair), X).explain(row, Box(0.05)) for pair in combinations(models, 2)]
    assert region.status is Status.OPTIMAL
    assert region.distance == pytest.approx(min(pair.distance for pair in pairs), rel=1e-3)
    assert region.lower_bound <= min(pair.distance for pair in pairs)
    keepers = region.certificate.keepers
    assert len(keepers) >= 2
    attacked(region, [models[i] for i in keepers], [1] * len(keepers))


def test_the_same_models_at_every_point_and_not_a_majority_at_each() -> None:
    """Of three models two agree at every point of [0, 3], but nowhere the same two throughout a room of width 1.5."""
    models = [_between(0.0, 2.0), _between(1.0, 3.0), _either(1.0, 2.0)]
    space = Space((Feature("x", lower=-5.0, upper=5.0),))
    explainer = Explainer(AtLeast(2, models), space)
    row = np.array([-4.0])
    points = np.linspace(0.01, 2.99, 300)[:, None]
    said = np.column_stack([model.info.labels_of(model.scores(points)) for model in models])
    assert (said.sum(axis=1) >= 2).all()
    wide = explainer.explain(row, Box(0.75), target=1)
    assert wide.status is Status.NONE_EXISTS
    narrow = explainer.explain(row, Box(0.4), target=1)
    assert narrow.status is Status.OPTIMAL and narrow.certificate.keepers == (0, 2)
    assert narrow.distance == pytest.approx(4.4, abs=1e-9)
    assert explainer.explain(row, Box(0.4), target=Target(each=(Target(1),) * 3)).target.count == 2


def _between(low: float, high: float) -> TreeEnsemble:
    return _pieces([low, high], [0.0, 1.0, 0.0])


def _either(low: float, high: float) -> TreeEnsemble:
    return _pieces([low, high], [1.0, 0.0, 1.0])


def _pieces(cuts: list[float], values: list[float]) -> TreeEnsemble:
    """A tree of one column with these values between these two cuts."""
    from sklearn.tree import DecisionTreeClassifier

    from elbowroom import read_model

    middles = np.array([cuts[0] - 0.5, (cuts[0] + cuts[1]) / 2, cuts[1] + 0.5])
    x = np.concatenate([middles, [cuts[0] - 1e-3, cuts[0] + 1e-3, cuts[1] - 1e-3, cuts[1] + 1e-3]])
    y = np.array(values)[np.searchsorted(cuts, x)].astype(int)
    model = read_model(DecisionTreeClassifier(random_state=0).fit(x[:, None], y))
    return replace(model, info=replace(model.info, names=("x",)))


def test_words_and_files(trees: tuple) -> None:
    _, row, explainer, region = trees
    assert "2 of 3 models (models 2 and 3) predict 1" in region.sentence()
    assert "2 of 3 models (models 2 and 3) predict 1" in region._repr_html_()
    again = Region.from_json(region.to_json())
    assert again.target == region.target and again.certificate.keepers == (1, 2)
    assert explainer.certify(again).seal == region.certificate.seal
    none = explainer.explain(row, Box(50.0))
    assert isinstance(none, NoRegion) and none.status is Status.NONE_EXISTS
    assert "2 of 3 models (the same at every point) predict 1" in str(none)
    assert NoRegion.from_json(none.to_json()).target == none.target
    for answer in (region, none):
        assert Validator(json.loads(json_schema())).fits(json.loads(answer.to_json()))
    assert pickle.loads(pickle.dumps(explainer)).explain(row, Box(0.05)).distance == region.distance
    told = json.loads(region.to_json())
    told["certificate"]["keepers"] = [0, 1]
    with pytest.raises(InputError, match="seal"):
        Region.from_json(json.dumps(told))


def test_a_file_that_names_other_models_is_not_valid(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    y = (table.a + table.b > 0).astype(int)
    models = [LogisticRegression(C=c).fit(table[i::3], y[i::3]) for i, c in enumerate((0.1, 1, 10))]
    row = table[np.all([model.predict(table) == 0 for model in models], axis=0)].iloc[0]
    region = Explainer(AtLeast(2, models), table).explain(row, Box(0.05))
    assert region.certificate.keepers == (1, 2)
    files = [tmp_path / f"{i}.joblib" for i in range(3)]
    for model, file in zip(models, files, strict=True):
        joblib.dump(model, file)
    forged = replace(region, certificate=replace(region.certificate, keepers=(0, 1)))
    for answer, outcome in ((region, Outcome.VALID), (forged, Outcome.UNDECIDED)):
        answer.to_json(tmp_path / "answer.json")
        assert check_region(tmp_path / "answer.json", files[0], True, also=files[1:]).outcome is outcome


def test_judging_and_measuring(trees: tuple) -> None:
    models, row, explainer, region = trees
    verdict = explainer.certify(row, Box(2.0), 1)
    assert not verdict and verdict.member == "model 1, model 2"
    assert not Explainer(models, X).certify(region.center, region.room, 1)
    found = explainer.radius(region.center)
    each = sorted(Explainer(model, X).radius(region.center, target=1).lower for model in models)
    assert found.lower == pytest.approx(each[1], rel=1e-9)
    wide = explainer.widen(region)
    attacked(wide.region, models[1:], [1, 1])
    assert wide.region.target == region.target and wide.region.certificate.keepers == (1, 2)
    assert explainer.map(region, "a", "b").names[1].startswith("2 of 3 models")
    assert explainer.certify(Explainer(models, X).explain(row, Box(0.05)))


def test_every_question_is_answered_or_refused_by_name(trees: tuple) -> None:
    _, row, explainer, region = trees
    frame = explainer.frontier(row, [0.0, 0.05])
    assert frame["distance"].iloc[1] == pytest.approx(region.distance)
    assert explainer.menu(row, Box(0.05)).closest.distance == pytest.approx(region.distance)
    first, *others = explainer.explain_diverse(row, 2, Box(0.05))
    assert first.distance == pytest.approx(region.distance) and all(o.distance >= first.distance for o in others)
    assert explainer.explain(row, Box(0.05), method="adversarial").distance == pytest.approx(region.distance, rel=1e-6)
    assert explainer.explain(row, Box(0.05), prefer_few=0.5).certificate.keepers
    batch = explainer.explain_many(X.loc[[row.name]], Box(0.05), target=1)
    assert batch.frame["distance"].iloc[0] == pytest.approx(region.distance)
    blocked = explainer.explain(row, Box(0.05), rules=[NotAll([name]) for name in X.columns])
    assert blocked.status is Status.NONE_EXISTS and explainer.why_not(blocked).blocking
    assert "several models at once" in str(explainer.explain(row, Box(0.05), proof=True).proof)
    refusals = [
        lambda: explainer.probability_kept(region, 0.05),
        lambda: explainer.explain(row, Box(0.0), keeps=Probability(0.9, sigma=0.02)),
        lambda: explainer.explain_group(X.loc[[row.name]], Box(0.01)),
    ]
    for ask in refusals:
        with pytest.raises(InputError, match="2 of 3 models"):
            ask()


def test_some_models_have_to_be_among_them(trees: tuple) -> None:
    models, row, _, region = trees
    named = {"now": models[0], "then": models[1], "later": models[2]}
    explainer = Explainer(AtLeast(2, named, always=["now"]), X)
    found = explainer.explain(row, Box(0.05))
    assert 0 in found.certificate.keepers and found.distance >= region.distance
    pairs = [Explainer([models[0], other], X).explain(row, Box(0.05)).distance for other in models[1:]]
    assert found.distance == pytest.approx(min(pairs), rel=1e-6)
    assert Region.from_json(found.to_json()).target.always == (0,)
    assert Explainer(AtLeast(3, models), X).explain(row, Box(0.05)).target.count is None


def test_bad_numbers_are_refused_by_name(trees: tuple) -> None:
    models = trees[0]
    for k in (0, 4, True, 1.5):
        with pytest.raises(InputError, match="a number of models between 1 and 3"):
            AtLeast(k, models)
    with pytest.raises(InputError, match="always="):
        AtLeast(1, models, always=["model 7"])
    with pytest.raises(InputError, match="count="):
        Target(each=(Target(1), Target(1)), count=3)
    with pytest.raises(InputError, match="count="):
        Target(1, count=1)


@pytest.mark.parametrize(
    ("family", "first", "count"), [("trees", 0, 20), ("linear", 0, 15), ("oblique", 0, 6), ("network", 0, 3)]
)
def test_whole_numbers_against_every_point(family: str, first: int, count: int) -> None:
    for seed in range(first, first + count):
        assert some_of(seed, (family,)) != "open"


@pytest.mark.parametrize("seed", [50101, 50129, 50177])
def test_rows_that_only_a_hull_refuses(seed: int) -> None:
    """One model says what is wanted of the row as it is; the row lies outside the hull that is asked for."""
    assert some_of(seed, ("linear",)) == "region"


def test_a_hard_set_of_models_does_not_keep_the_others_from_answering() -> None:
    """The first model's engine uses up all the time that it gets and finds nothing; the second one is asked all the same."""
    models = [_between(0.0, 2.0), _between(1.0, 3.0)]
    explainer = Explainer(AtLeast(1, models), Space((Feature("x", lower=-5.0, upper=5.0),)))
    engine = explainer._engine(Method.AUTO, some=True)
    assert isinstance(engine, SomeModelsEngine)
    engine._engine((0,))
    engine._engines[(0,)] = engine._engines[(0,)][0], _Idle()
    found = explainer.explain(np.array([-4.0]), Box(0.25), target=1, time_limit=2.0)
    assert found.status is Status.CERTIFIED and 1 in found.certificate.keepers
    assert found.distance == pytest.approx(5.25, abs=1e-6) and found.lower_bound == 1.0
    none = explainer.explain(np.array([-4.0]), Box(1.5), target=1, time_limit=1.0)  # the second one has no such room
    assert none.status is Status.UNKNOWN and none.lower_bound == 1.0
    assert none.reason == "the time limit was reached"


class _Idle:
    """An engine that proves a bound of 1 and waits until its time is over."""

    def refuses(self, problem: RecourseProblem) -> None:
        return None

    def prepare(self, shape: Shape) -> None:
        pass

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        time.sleep(max(clock.remaining, 0.0))
        return Ending("idle", 1.0, "the time limit was reached")
