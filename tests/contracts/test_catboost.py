"""CatBoost models against their own predict: labels, sums to the last bit, seeded mistakes, and regions under attack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("catboost")

from elbowroom import Box, Explainer, Region, Space, Target
from elbowroom.errors import ReplayMismatch
from elbowroom.importers import catboost_trees, open_model, replay
from elbowroom.models import TreeEnsemble
from elbowroom.numerics import next_down, next_up
from tests.support.catboost_cases import CASES, COLOURS, QUIET, case, classifier, coloured, hostile_rows, numbers, words
from tests.support.hostile import attack


# ---- the copy --------------------------------------------------------------------------------------------------------
def _compared(name: str, size: int) -> int:
    """Rows compared; every label must agree, and every sum to the last bit."""
    opened = case(name).opened()
    parsed, compared = opened.model, 0
    assert isinstance(parsed, TreeEnsemble)
    for start in range(0, size, 20_000):
        rows = hostile_rows(opened, min(20_000, size - start), start)
        scores, ask = parsed.scores(rows), opened.original.decision_function
        assert ask is not None
        theirs = opened.predict(rows)
        ours = np.array(parsed.info.classes)[parsed.info.labels_of(scores)]
        wrong = np.flatnonzero(ours != theirs)
        assert not wrong.size, (name, wrong.size, rows[wrong[0]])
        if case(name).exact:
            assert np.array_equal(scores, ask(rows)), name
        else:
            assert np.abs(scores - ask(rows)).max() <= parsed.info.evaluation_error
        compared += len(rows)
    return compared


@pytest.mark.parametrize("name", CASES)
def test_labels_and_sums_are_those_of_the_original(name: str) -> None:
    assert _compared(name, 20_000) == 20_000


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_labels_and_sums_are_those_of_the_original_on_many_rows(name: str) -> None:
    assert _compared(name, 200_000) == 200_000


@pytest.mark.parametrize("name", CASES)
def test_the_replay_agrees_and_asks_many_rows(name: str) -> None:
    report = case(name).opened(replay=True).report
    assert report is not None and report.points > 10_000 and report.open_points == 0


@pytest.mark.parametrize("size", [1, 7, 127, 128, 129])
def test_sums_do_not_depend_on_the_batch(size: int) -> None:
    for name in ("oblivious", "lossguide", "three classes"):
        opened = case(name).opened()
        rows, ask = hostile_rows(opened, 600), opened.original.decision_function
        assert ask is not None
        parts = [ask(rows[a:b]) for a, b in pairwise([*range(0, 600, size), 600])]
        assert np.array_equal(np.concatenate(parts), opened.model.scores(rows))


# ---- seeded mistakes -------------------------------------------------------------------------------------------------
def _caught(name: str) -> bool:
    try:
        case(name).opened(replay=True)
    except ReplayMismatch:
        return True
    return False


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("oblivious", "less than"), ("oblivious", "no cast"), ("oblivious", "bits reversed"), ("NaN as least", "NaN turned"),
        ("NaN as most", "NaN turned"), ("lossguide", "NaN turned"), ("depthwise", "less than"), ("one-hot", "sets turned"),
        ("one-hot, lossguide", "sets turned"), ("three classes", "classes turned"), ("scale and bias", "scale dropped"),
        ("scale and bias", "bias dropped"), ("probability threshold", "threshold dropped"),
    ],
)  # fmt: skip
def test_a_mistake_of_the_reader_is_caught(name: str, mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _caught(name)
    export = catboost_trees.exported

    def changed(edit: Callable[[Any], Any]) -> None:
        def wrong(*given: Any) -> Any:
            description, hashes = export(*given)
            return edit(description), hashes

        monkeypatch.setattr(catboost_trees, "exported", wrong)

    match mistake:
        case "less than":
            rule = lambda x, border: x.astype(np.float32) < border.astype(np.float32)  # noqa: E731
            monkeypatch.setattr(catboost_trees, "float32_not_above", rule)
        case "no cast":
            monkeypatch.setattr(catboost_trees, "float32_not_above", lambda x, border: x <= border)
        case "bits reversed":
            changed(lambda d: replace(d, trees=tuple(replace(t, splits=t.splits[::-1]) for t in d.trees)))
        case "NaN turned":
            add = catboost_trees.TreeBuilder.add

            def turned(self: Any, *parts: Any, missing_left: Any = None, sets: Any = None) -> None:
                add(self, *parts, missing_left=~np.asarray(missing_left), sets=sets)

            monkeypatch.setattr(catboost_trees.TreeBuilder, "add", turned)
        case "sets turned":
            other = catboost_trees._other_than
            monkeypatch.setattr(
                catboost_trees, "_other_than", lambda category, hashes: lambda codes: ~other(category, hashes)(codes)
            )
        case "classes turned":
            changed(lambda d: replace(d, trees=tuple(replace(t, value=t.value[:, ::-1]) for t in d.trees)))
        case "scale dropped":
            changed(lambda d: replace(d, scale=1.0))
        case "bias dropped":
            changed(lambda d: replace(d, bias=np.zeros(1)))
        case "threshold dropped":
            changed(lambda d: replace(d, threshold=0.5))
    assert _caught(name)


@pytest.mark.parametrize("name", ["oblivious", "one-hot", "depthwise"])
def test_one_cut_moved_by_one_float_is_caught(name: str) -> None:
    opened = case(name).opened()
    parsed = opened.model
    assert isinstance(parsed, TreeEnsemble)
    seen = np.zeros(len(parsed.feature), dtype=bool)
    seen[np.unique(parsed.apply(hostile_rows(opened, 20_000)))] = True  # leaves that a row reaches
    pairs = np.stack([parsed.left, parsed.right], axis=1)
    numeric = (parsed.feature >= 0) & ~np.isin(parsed.feature, np.concatenate([[-1], *opened.original.inputs.groups]))
    far = (np.abs(parsed.value[pairs[:, 0]] - parsed.value[pairs[:, 1]]) > 1e-9).any(axis=1)
    differ = np.flatnonzero(numeric & seen[pairs].all(axis=1) & far)
    assert len(differ) >= 6
    for node in differ[:3]:
        for move in (next_up, next_down):
            cut = parsed.cut.copy()
            cut[node] = move(cut[node])
            with pytest.raises(ReplayMismatch):
                replay(replace(parsed, cut=cut), opened.original)


# ---- regions ---------------------------------------------------------------------------------------------------------
def _attacked(explainer: Explainer, model: Any, row: Any, wanted: Any, room: Any, table: pd.DataFrame | None) -> Region:
    answer = explainer.explain(row, room, target=wanted, time_limit=30)
    assert isinstance(answer, Region), answer
    parsed = explainer.model
    assert isinstance(parsed, TreeEnsemble)

    def predict(rows: np.ndarray) -> np.ndarray:
        """The model itself, asked about the user's own table."""
        asked = rows if table is None else explainer.space.table(rows)[list(table.columns)]
        return np.asarray(model.predict(asked)).ravel()

    assert attack(predict, answer.body, wanted, parsed.cuts) > (500 if room != Box(0.0) else 0)
    return answer


def test_regions_in_raw_categories_hold() -> None:
    rng = np.random.default_rng(3)
    n = 900
    frame = pd.DataFrame(
        {
            "income": rng.lognormal(8, 0.6, n).round(2),
            "housing": rng.choice(["own", "rent", "free"], n, p=[0.4, 0.4, 0.2]),
            "purpose": pd.Categorical(rng.choice(["car", "radio", "house", "study"], n)),
            "owner": rng.choice([True, False], n),
            "grade": rng.choice([1, 2, 3], n),
        }
    )
    good = np.log(frame.income) - 8 + (frame.housing == "own") + (frame.purpose == "car") * 0.7 + frame.owner * 0.5
    labels = np.where(good + (frame.grade == 1) * 0.5 + 0.2 * rng.normal(size=n) > 1.2, "good", "bad")
    for policy in ("SymmetricTree", "Lossguide"):
        model = classifier(
            iterations=40, depth=4, one_hot_max_size=255, grow_policy=policy,
            cat_features=["housing", "purpose", "owner", "grade"],
        ).fit(frame, labels)  # fmt: skip
        explainer = Explainer(model, frame)  # says by itself that whole numbers and bools are categories here
        assert [group.name for group in explainer.space.groups] == ["housing", "purpose", "owner", "grade"]
        bad = frame[model.predict(frame) == "bad"]
        rooms = [Box(0.02), Box(0.03, categories={"purpose": "any"}), Box(0.0)]
        for i, room in enumerate(rooms):
            _attacked(explainer, model, bad.iloc[i], "good", room, frame)
        _by_categories_alone(model, frame, bad.iloc[4:10])


def _by_categories_alone(model: Any, frame: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Income stays: an answer is one of 72 tables of categories, and there is one iff the model itself likes one."""
    explainer = Explainer(model, Space.from_frame(frame, categorical=["owner", "grade"], immutable=["income"]))
    for i in range(len(rows)):
        every = product(*(frame[name].unique() for name in ("housing", "purpose", "owner", "grade")))
        tried = pd.DataFrame([(rows.income.iloc[i], *labels) for labels in every], columns=frame.columns)
        possible = bool((model.predict(tried) == "good").any())
        answer = explainer.explain(rows.iloc[i], Box(0.0), target="good", time_limit=30)
        assert isinstance(answer, Region) == possible
        if possible:
            assert model.predict(explainer.space.table(answer.body.center[None])[list(frame.columns)])[0] == "good"


@pytest.mark.parametrize("name", ["oblivious", "three classes", "depthwise", "probability threshold", "scale and bias"])
def test_regions_of_numbers_hold(name: str) -> None:
    model = case(name).model
    X = numbers()[0]
    explainer = Explainer(model, Space.from_frame(pd.DataFrame(X, columns=[f"x{i}" for i in range(6)]), numeric=["x4"]))
    labels = np.asarray(model.predict(X)).ravel()
    wanted = 20 if name == "three classes" else "yes"
    for row in X[labels != wanted][:3]:
        _attacked(explainer, model, row, wanted, Box(0.01), None)


def test_rows_with_missing_numbers_are_answered() -> None:
    model = case("NaN as most").model
    frame = pd.DataFrame(numbers()[0], columns=[f"x{i}" for i in range(6)])
    explainer = Explainer(model, Space.from_frame(frame, numeric=["x4"]))
    rows = frame[np.asarray(model.predict(frame.to_numpy())) == "no"].iloc[:3].copy()
    rows.iloc[:, 3] = np.nan
    asked = 0
    for i in range(len(rows)):
        if model.predict(rows.iloc[[i]].to_numpy())[0] == "yes":
            continue
        answer = explainer.explain(rows.iloc[i], Box(0.01), target="yes", time_limit=30)
        assert isinstance(answer, Region)

        def predict(points: np.ndarray) -> np.ndarray:
            points = points.copy()
            points[:, 3] = np.nan
            return np.asarray(model.predict(points))

        assert attack(predict, answer.body, "yes") > 100
        asked += 1
    assert asked


# ---- kinds of labels, and the plain class ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1]), np.array([-1, 1]), np.array([1.5, 2.5]), np.array(["a", "b"]), np.array([False, True]),
        np.array(["1", "2"]), np.array([10, 20, 30]), np.array(["x", "y", "z"]),
    ],
    ids=str,
)  # fmt: skip
def test_labels_are_those_of_the_original(labels: np.ndarray) -> None:
    X, signal = numbers()
    y = labels[np.digitize(signal, [0.0, 1.0][: len(labels) - 1])]
    model = classifier(iterations=10).fit(X, y)
    opened = open_model(model)
    assert opened.model.info.classes == tuple(model.classes_.tolist())  # bools are words in releases before 1.2.3
    assert [str(label) for label in opened.model.info.classes] == [str(label) for label in labels.tolist()]
    assert set(opened.predict(X)) == set(opened.model.info.classes) == set(np.ravel(model.predict(X)))


@pytest.mark.parametrize("loss", ["Logloss", "CrossEntropy", "MultiClass", "Focal:focal_alpha=0.5;focal_gamma=2.0"])
def test_the_plain_class_is_asked_for_classes(loss: str) -> None:
    from catboost import CatBoost

    X, signal = numbers()
    model = CatBoost({**QUIET, "iterations": 20, "loss_function": loss}).fit(X, (signal > 0.4).astype(int))
    opened = open_model(model)
    assert (opened.predict(X) == model.predict(X, prediction_type="Class").ravel()).all()
    assert set(opened.predict(X)) == {0, 1}


def test_a_model_without_names_takes_categories_by_position() -> None:
    frame = coloured()
    model = classifier(iterations=20, one_hot_max_size=255, cat_features=[4]).fit(frame.to_numpy(dtype=object), words())
    explainer = Explainer(model, frame)
    assert explainer.space.groups[0].labels == COLOURS
    row = frame[np.asarray(model.predict(frame.to_numpy(dtype=object))) == "no"].iloc[0]
    answer = explainer.explain(row, Box(0.01), target="yes", time_limit=30)
    assert isinstance(answer, Region)
    asked = lambda rows: model.predict(explainer.space.table(rows).to_numpy(dtype=object))  # noqa: E731
    assert attack(asked, answer.body, "yes") > 100


@pytest.mark.parametrize("loss", ["RMSE", "MAE", "Quantile:alpha=0.7", "Huber:delta=0.5", "Poisson"])
def test_wanted_values_of_regressors_hold(loss: str) -> None:
    from catboost import CatBoostRegressor

    X, signal = numbers()
    values = np.exp(np.minimum(signal, 3.0)).round() if loss == "Poisson" else signal
    model = CatBoostRegressor(**{**QUIET, "iterations": 40, "depth": 4, "loss_function": loss}).fit(X, values)
    opened = open_model(model)
    assert opened.report is not None and opened.report.points > 5_000
    explainer = Explainer(model, Space.from_frame(pd.DataFrame(X, columns=[f"x{i}" for i in range(6)]), numeric=["x4"]))
    predicted = model.predict(X)
    least = float(np.quantile(predicted, 0.8))
    for row in X[predicted < np.quantile(predicted, 0.5)][:2]:
        answer = explainer.explain(row, Box(0.01), target=Target(at_least=least), time_limit=30)
        assert isinstance(answer, Region)
        parsed = explainer.model
        assert isinstance(parsed, TreeEnsemble)
        assert attack(lambda rows: model.predict(rows) >= least, answer.body, True, parsed.cuts) > 100


def test_unreachable_and_equal_leaves_are_not_made() -> None:
    opened = case("oblivious").opened()
    parsed = opened.model
    assert isinstance(parsed, TreeEnsemble)
    stored = sum(
        len(tree.value)
        for tree in catboost_trees.exported(case("oblivious").model, opened.original.preprocessing)[0].trees
    )
    made = int((parsed.feature < 0).sum())
    assert made < 0.7 * stored
    assert made == len(parsed.leaves.value)  # every leaf that was made can be reached
