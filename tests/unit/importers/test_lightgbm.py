"""LightGBM against the library's own predict: sums to the last bit, labels, categories, missing values; and refusals."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

lightgbm = pytest.importorskip("lightgbm")

from elbowroom.errors import ElbowroomError, InputError, ReplayMismatch, UnsupportedModel  # noqa: E402
from elbowroom.importers import lightgbm_columns, lightgbm_splits, lightgbm_trees, open_model, replay  # noqa: E402
from elbowroom.importers.lightgbm_model import BELOW_ZERO, ZERO  # noqa: E402
from elbowroom.importers.lightgbm_text import LightGBMFile  # noqa: E402
from elbowroom.importers.reading import ReadModel  # noqa: E402
from elbowroom.models import Decision, Link, TreeEnsemble  # noqa: E402
from tests.support.importer_cases import LABELS, preprocessing, probing_rows, relabelled, table  # noqa: E402
from tests.support.lightgbm_cases import BY_CODES, CODES, MAKERS, data, holes, hostile_rows, model  # noqa: E402

SMALL: dict[str, Any] = {"n_estimators": 5, "num_leaves": 7, "verbose": -1, "n_jobs": 1}
LONG = [pytest.param(200_000, marks=pytest.mark.long, id="200,000 rows")]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")


def _inner(opened: ReadModel, rows: np.ndarray) -> np.ndarray:
    """Rows of the table as inner ones; a missing code is the category None."""
    found = opened.original.inputs.inner(rows)
    assert len(found) == len(rows)
    return found


def _same(opened: ReadModel, rows: np.ndarray, raw: np.ndarray, labels: np.ndarray) -> None:
    """Sums are bit-equal, and so are labels, up to ties within the declared error."""
    parsed = opened.model
    scores = parsed.scores(rows)
    assert np.array_equal(scores, raw)
    ours = np.array(parsed.info.classes)[parsed.info.labels_of(scores)]
    wrong = np.flatnonzero(ours != labels)
    assert not wrong.size, (rows[wrong[0]], scores[wrong[0]], labels[wrong[0]])


# ---- the twelve cases ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [20_000, *LONG])
@pytest.mark.parametrize("name", MAKERS)
def test_sums_and_labels_on_hostile_rows(name: str, size: int) -> None:
    fitted = model(name)
    text = lightgbm_columns.text_of(fitted)
    rows = hostile_rows(text, size, by_codes=name in BY_CODES, odd=False)
    opened = open_model(fitted, replay=False)
    raw = np.asarray(fitted.predict(rows, raw_score=True)).reshape(size, -1)
    _same(opened, _inner(opened, rows), raw / (text.rounds if text.average else 1), fitted.predict(rows))
    odd = hostile_rows(
        text, size // 4, 1, by_codes=name in BY_CODES
    )  # codes that no table should hold: by the rules alone
    raw = np.asarray(fitted.predict(odd, raw_score=True)).reshape(len(odd), -1)
    assert np.array_equal(text.raw(odd), raw / (text.rounds if text.average else 1))


def test_the_cases_reach_what_they_are_named_for() -> None:
    kinds = {name: {int(d) for t in lightgbm_columns.text_of(model(name)).trees for d in t.decision} for name in MAKERS}
    assert any(d >> 2 == 2 for d in kinds["NaN as missing"]) and any(d >> 2 == 1 for d in kinds["zero_as_missing"])
    assert all(d >> 2 == 0 for d in kinds["use_missing=False"]) and any(d & 1 for d in kinds["sets"])
    assert lightgbm_columns.text_of(model("random forest")).average
    stopped = model("early stopping")
    assert 0 < stopped.best_iteration_ < 400
    assert len(lightgbm_columns.text_of(stopped).trees) == stopped.best_iteration_
    info = {
        name: open_model(model(name), replay=False).model.info for name in ("sets", "three classes", "goss, sigmoid=2")
    }
    assert (info["sets"].decision, info["sets"].link) == (Decision.POSITIVE, Link.LOGISTIC)
    assert (info["three classes"].decision, info["three classes"].link) == (Decision.ARGMAX, Link.SOFTMAX)
    assert info["goss, sigmoid=2"].link is Link.NONE
    assert info["sets"].classes == ("no", "yes") and info["three classes"].classes == (0, 10, 20)


@pytest.mark.parametrize("name", ["NaN as missing", "sets", "one against all", "random forest"])
def test_a_booster_and_a_file_are_the_same_trees(name: str, tmp_path: Path) -> None:
    fitted = model(name)
    path = tmp_path / "model.txt"
    fitted.booster_.save_model(path)
    copies = [
        open_model(m).model for m in (fitted, fitted.booster_, lightgbm.Booster(model_file=path), LightGBMFile(path))
    ]
    first = copies[0]
    assert isinstance(first, TreeEnsemble)
    for copy in copies[1:]:
        assert isinstance(copy, TreeEnsemble)
        assert copy.info.classes == tuple(range(len(first.info.classes)))
        for part in ("feature", "cut", "left", "right", "value", "roots", "missing_left", "base"):
            assert np.array_equal(getattr(copy, part), getattr(first, part)), part
        assert copy.divisor == first.divisor


def test_a_file_is_read_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NaN as missing", "three classes", "one against all", "sets"):
        fitted, path = model(name), tmp_path / "model.txt"
        fitted.booster_.save_model(path)
        expected = np.array([list(fitted.classes_).index(label) for label in fitted.predict(data()[0])])
        with monkeypatch.context() as without:
            without.setattr(lightgbm_trees.importlib.util, "find_spec", lambda name: None)
            file = LightGBMFile(path)
            opened = open_model(file)
            assert file.booster is None and opened.report is not None and opened.report.points > 5_000
            assert np.array_equal(opened.predict(_inner(opened, data()[0])), expected)
    frame, labels = _frame()
    path = tmp_path / "frame.txt"
    fitted = _fit(frame, labels)
    fitted.booster_.save_model(path)
    monkeypatch.setattr(lightgbm_trees.importlib.util, "find_spec", lambda name: None)
    assert np.array_equal(
        lightgbm_trees.raw_scores(LightGBMFile(path), frame)[:, 0], fitted.predict(frame, raw_score=True)
    )


# ---- tables ----------------------------------------------------------------------------------------------------------
def _frame(rows: int = 600, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.normal(50, 20, rows),
            "purpose": pd.Categorical(
                rng.choice(["car", "house", "radio", "study"], rows), ["study", "radio", "house", "car"]
            ),
            "age": rng.integers(18, 80, rows),
            "grade": pd.Categorical(rng.choice([30, 10, 20], rows)),
            "owner": pd.Categorical(rng.choice([True, False], rows)),
        }
    )
    frame.loc[frame.index % 9 == 0, "income"] = np.nan
    frame.loc[frame.index % 11 == 0, "purpose"] = np.nan
    score = frame["income"].fillna(20) / 20 + frame["purpose"].isin(["car", "radio"]) * 2 - (frame["grade"] == 20) * 1.5
    return frame, np.where(score + (frame["owner"] == True) > 3.2, "good", "bad")  # noqa: E712


def _fit(frame: Any, labels: np.ndarray, **more: Any) -> Any:
    tame = {"min_data_per_group": 2, "cat_smooth": 1, "max_cat_to_onehot": 1, "min_child_samples": 5}
    return lightgbm.LGBMClassifier(**{**SMALL, **tame, "n_estimators": 20, **more}).fit(frame, labels)


def test_categories_of_pandas_columns_stand_in_the_model() -> None:
    frame, labels = _frame()
    fitted = _fit(frame, labels)
    opened = open_model(fitted, data=frame)
    purpose, grade, owner = (opened.original.inputs.columns[i] for i in (1, 3, 4))
    assert purpose.categories == ("study", "radio", "house", "car", None) and purpose.pandas_category
    assert grade.categories == (10, 20, 30, None) and owner.categories == (False, True, None)
    assert isinstance(opened.model, TreeEnsemble) and opened.model.sets is not None
    rows = opened.original.inputs.inner(frame)
    _same(opened, rows, fitted.predict(frame, raw_score=True)[:, None], fitted.predict(frame))
    other = frame.assign(purpose=frame["purpose"].cat.reorder_categories(["car", "study", "house", "radio"]))
    _same(
        opened,
        opened.original.inputs.inner(other),
        fitted.predict(other, raw_score=True)[:, None],
        fitted.predict(other),
    )
    stranger = frame.assign(purpose=pd.Categorical(["boat"] * len(frame)))  # never seen: as missing
    missing = frame.assign(purpose=pd.Categorical([None] * len(frame), frame["purpose"].cat.categories))
    assert np.array_equal(
        opened.model.scores(opened.original.inputs.inner(missing))[:, 0], fitted.predict(stranger, raw_score=True)
    )
    assert not len(opened.original.inputs.inner(stranger))  # and no row of a question


def test_codes_of_rare_categories_are_taken_from_the_table() -> None:
    X, y, _ = data()
    X = X.copy()
    X[0, CODES] = 77  # once: training drops it
    frame = pd.DataFrame(X, columns=list("abcdef"))
    fitted = lightgbm.LGBMClassifier(**SMALL).fit(frame, y, categorical_feature=["e"])
    plain = open_model(fitted, replay=False).original.inputs.columns[CODES]
    told = open_model(fitted, known={"e": (*map(float, range(40)), 77.0)})
    assert plain.categories is not None and 77 not in plain.categories
    column = told.original.inputs.columns[CODES]
    assert column.categories is not None and 77 in column.categories
    rows = told.original.inputs.inner(frame)
    _same(told, rows, fitted.predict(frame, raw_score=True)[:, None], fitted.predict(frame))


def test_which_column_a_list_of_categories_belongs_to() -> None:
    frame, labels = _frame()
    constant = frame.assign(purpose=pd.Categorical(["car"] * len(frame)))  # never split, but asked for
    assert open_model(_fit(constant, labels)).original.inputs.columns[1].categories == ("car", None)
    ordered = frame.assign(grade=frame["grade"].cat.as_ordered())
    with pytest.raises(UnsupportedModel, match=r"3 pandas columns and splits 2 columns.*as_unordered"):
        open_model(_fit(ordered, labels))
    codes = frame.assign(age=frame["age"] + 100)
    mixed = lightgbm.LGBMClassifier(**SMALL).fit(
        codes, labels, categorical_feature=["purpose", "age", "grade", "owner"]
    )
    columns = open_model(mixed).original.inputs.columns  # ages beyond 100 are no positions in a list of three
    assert columns[1].categories == ("study", "radio", "house", "car", None) and columns[2].categories is not None
    assert columns[2].categories[0] == 118 and not columns[2].pandas_category


def test_names() -> None:
    X, y, _ = data()
    assert open_model(_fit(X, y), replay=False).model.info.own_names is False
    named = open_model(_fit(pd.DataFrame(X, columns=list("abcdef")), y), replay=False)
    assert named.model.info.names == tuple("abcdef") and named.original.inputs.as_frame


# ---- labels and objectives -------------------------------------------------------------------------------------------
def test_one_class_and_cross_entropy_and_a_single_leaf() -> None:
    X, y, _ = data()
    only = open_model(lightgbm.LGBMClassifier(**SMALL).fit(X, np.zeros(len(X))))
    assert only.model.info.classes == (0.0,) and (only.predict(X[:9]) == 0).all()
    entropy = open_model(lightgbm.LGBMClassifier(**SMALL, objective="cross_entropy").fit(X, y == "yes"))
    assert entropy.model.info.link is Link.LOGISTIC
    stump = open_model(lightgbm.LGBMClassifier(**{**SMALL, "num_leaves": 2, "min_child_samples": 10_000}).fit(X, y))
    assert isinstance(stump.model, TreeEnsemble) and (stump.model.feature < 0).all()


def test_scores_at_which_one_against_all_is_saturated_are_refused() -> None:
    """p = 1.0 for two classes: the first wins, whichever score is larger."""
    X, _, y3 = data()
    tame = lightgbm.LGBMClassifier(**SMALL, objective="multiclassova").fit(X, y3)
    assert 0 < open_model(tame).model.info.evaluation_error < 1e-9
    text = lightgbm_columns.text_of(tame)
    wild = replace(text, trees=tuple(replace(tree, value=tree.value * 100 + 40) for tree in text.trees))
    with pytest.raises(UnsupportedModel, match=r"several probabilities are 1\.0"):
        lightgbm_trees._separate_error(wild, 1.0, "x")
    raw = np.array([[40.0, 50.0]])
    assert np.argmax(1 / (1 + np.exp(-raw))) == 0  # this is why


@pytest.mark.parametrize(
    "objective", ["regression", "regression_l1", "huber", "quantile", "mape", "poisson", "tweedie", "gamma"]
)
def test_regressors(objective: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, y3 = data()
    fitted = lightgbm.LGBMRegressor(**SMALL, objective=objective).fit(holes(), y3 + 1.0 + X[:, 1] ** 2)
    opened = open_model(fitted)
    info = opened.model.info
    assert info.is_regressor and (info.link is Link.EXPONENTIAL) == (objective in ("poisson", "tweedie", "gamma"))
    rows = hostile_rows(lightgbm_columns.text_of(fitted), 4_000)
    assert np.array_equal(opened.model.scores(rows)[:, 0], fitted.predict(rows, raw_score=True))
    path = tmp_path / "model.txt"
    fitted.booster_.save_model(path)
    for other in (fitted.booster_, LightGBMFile(path)):
        again = open_model(other)
        assert again.model.info.is_regressor and np.array_equal(again.predict(rows), fitted.predict(rows))
    monkeypatch.setattr(lightgbm_trees.importlib.util, "find_spec", lambda name: None)
    np.testing.assert_allclose(open_model(LightGBMFile(path)).predict(rows), fitted.predict(rows), rtol=1e-14)


def test_regressors_that_are_no_sums_are_refused() -> None:
    X, _, y3 = data()
    with pytest.raises(UnsupportedModel, match="reg_sqrt"):
        open_model(lightgbm.LGBMRegressor(**SMALL, reg_sqrt=True).fit(X, y3))


@pytest.mark.parametrize("piped", [False, True], ids=["bare", "piped"])
@pytest.mark.parametrize("labels", ["0/1", "1/2", "strings", "bools"])
@pytest.mark.parametrize("of", ["cancer", "wine"])
def test_labels_of_every_kind_bare_and_behind_scalers(of: str, labels: str, piped: bool) -> None:
    frame, y = table(of)
    if of == "wine" and labels == "bools":
        pytest.skip("three classes")
    fitted = lightgbm.LGBMClassifier(**SMALL)
    if piped:
        fitted = make_pipeline(preprocessing(frame), fitted)
    fitted.fit(frame if piped else frame.to_numpy(), relabelled(y, labels))
    opened = open_model(fitted)
    parsed = opened.model
    assert opened.report is not None and opened.report.points > 1_000 and opened.report.open_points == 0
    rows = probing_rows(parsed, frame, 2_000)
    theirs = fitted.predict(pd.DataFrame(rows, columns=frame.columns) if piped else rows)
    assert np.array_equal(np.array(parsed.info.classes)[parsed.info.labels_of(parsed.scores(rows))], theirs)
    assert list(parsed.info.classes) == LABELS[labels][: len(parsed.info.classes)]


def _own_objective(y: np.ndarray, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    p = 1 / (1 + np.exp(-raw))
    return p - y, p * (1 - p)


def test_refusals_name_the_cause_and_the_cure() -> None:
    X, y, _ = data()
    numbers = (y == "yes").astype(int)
    new = partial(lightgbm.LGBMClassifier, **SMALL)
    cases = [
        (new(linear_tree=True).fit(X, y), "linear_tree=False"),
        (new(objective=_own_objective).fit(X, numbers), 'objective="binary"'),
        (new(pred_early_stop=True).fit(X, y), r"set_params\(pred_early_stop=False\)"),
        (new(objective="regression").fit(X, numbers), "'regression'.*binary, cross_entropy"),
        (new(), "not fitted; call fit first"),
        (
            lightgbm.train({**SMALL, "objective": "cross_entropy_lambda"}, lightgbm.Dataset(X, numbers), 3),
            "entropy_lambda",
        ),
    ]
    for fitted, words in cases:
        with pytest.raises(ElbowroomError, match=words):
            open_model(fitted)
    assert open_model(new(pred_early_stop=True).fit(X, y).set_params(pred_early_stop=False)).report is not None


# ---- zeros as missing ------------------------------------------------------------------------------------------------
def test_zeros_as_missing_become_pieces_with_their_own_copies() -> None:
    opened = open_model(model("zero_as_missing"), replay=False)
    parsed, text = opened.model, lightgbm_columns.text_of(model("zero_as_missing"))
    assert isinstance(parsed, TreeEnsemble)
    leaves = int((parsed.feature < 0).sum())
    assert sum(len(tree.value) for tree in text.trees) < leaves < 8 * sum(len(tree.value) for tree in text.trees)
    assert {BELOW_ZERO, ZERO} <= set(parsed.cut[parsed.feature >= 0].tolist())


def test_zeros_as_missing_that_would_need_too_many_copies_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lightgbm_splits, "_MOST_COPIES", 1)
    monkeypatch.setattr(lightgbm_splits, "_FEW_NODES", 10)
    with pytest.raises(UnsupportedModel, match="replace zeros by NaN in the table and fit with zero_as_missing=False"):
        open_model(model("zero_as_missing"))


# ---- seeded faults ---------------------------------------------------------------------------------------------------
def _caught(copy: TreeEnsemble, opened: ReadModel) -> bool:
    try:
        replay(copy, opened.original, limit=4_000)
    except ReplayMismatch:
        return True
    return False


@pytest.mark.parametrize("name", ["NaN as missing", "zero_as_missing", "sets", "random forest"])
def test_wrong_copies_are_caught(name: str) -> None:
    opened = open_model(model(name), replay=False)
    parsed = opened.model
    assert isinstance(parsed, TreeEnsemble) and parsed.missing_left is not None
    assert not _caught(parsed, opened)
    cut = (parsed.feature < parsed.info.n_features) & np.isfinite(parsed.cut)
    leaf = int(np.flatnonzero(parsed.feature < 0)[3])
    dearer = parsed.value.copy()
    dearer[leaf] += 1e-9
    faults = {
        "< for <=": replace(parsed, cut=np.where(cut, np.nextafter(parsed.cut, -np.inf), parsed.cut)),
        "missing values on the other side": replace(parsed, missing_left=~parsed.missing_left),
        "a leaf off by 1e-9": replace(parsed, value=dearer),
        "the first tree left out": replace(parsed, roots=parsed.roots[1:]),
        "float32 cuts": replace(parsed, cut=parsed.cut.astype(np.float32).astype(np.float64)),
        "a base": replace(parsed, base=parsed.base + 1e-6),
    }
    if parsed.sets is not None:
        faults["sets swapped"] = replace(
            parsed, sets=replace(parsed.sets, left=parsed.sets.right, right=parsed.sets.left)
        )
    if parsed.divisor != 1.0:
        faults["sum for mean"] = replace(parsed, divisor=1.0)
    for fault, copy in faults.items():
        assert _caught(copy, opened), fault


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("zero rule", "zero_as_missing"),
        ("tiny numbers", "no NaN seen"),
        ("sets to the right", "sets"),
        ("NaN is 0", "no NaN seen"),
    ],
)
def test_wrong_rules_are_caught(fault: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "zero rule":
        monkeypatch.setattr(lightgbm_splits, "_pieces", lambda tree: np.zeros(len(tree.feature), dtype=bool))
    elif fault == "tiny numbers":
        monkeypatch.setattr(lightgbm_trees, "goes_left", lambda x, t: np.asarray(x <= t))
    elif fault == "NaN is 0":
        monkeypatch.setattr(lightgbm_splits, "NAN_IS_MISSING", 0)
    else:
        in_set = lightgbm_splits.in_set
        monkeypatch.setattr(lightgbm_splits, "in_set", lambda members, codes: ~in_set(members, codes))
    opened = open_model(model(name), replay=False)
    rows = hostile_rows(lightgbm_columns.text_of(model(name)), 20_000, by_codes=name in BY_CODES, odd=False)
    raw = np.asarray(model(name).predict(rows, raw_score=True)).reshape(len(rows), -1)
    assert not np.array_equal(opened.model.scores(_inner(opened, rows)), raw)


def test_not_a_model_file(tmp_path: Path) -> None:
    for content in (b"", b"tree\n", b"\xff\xfe", b"PK\x03\x04", b"{}"):
        path = tmp_path / "model.txt"
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"model\.txt: (this is no|it holds the character)"):
            LightGBMFile(path)


def test_rows_that_lack_numbers_are_answered_as_the_library_does() -> None:
    opened = open_model(model("NaN as missing"), data=holes())
    assert isinstance(opened.model, TreeEnsemble) and opened.model.may_miss is not None and opened.model.may_miss.all()
    missing = np.array([True, False, True, False, False, False])
    rows = np.where(missing, np.nan, data()[0][:200])
    left = opened.model.with_missing(missing)
    assert np.array_equal(left.scores(np.nan_to_num(rows)), opened.model.scores(rows))
    assert np.array_equal(opened.model.scores(rows)[:, 0], model("NaN as missing").predict(rows, raw_score=True))
