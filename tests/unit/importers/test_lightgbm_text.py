"""The reader of LightGBM's text format: what it takes, what it refuses, and damaged files by the hundred."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from elbowroom.errors import ElbowroomError, InputError
from elbowroom.importers import open_model
from elbowroom.importers.lightgbm_model import codes_of, in_set
from elbowroom.importers.lightgbm_text import LightGBMFile, parse
from tests.support.lightgbm_cases import data, hostile_rows
from tests.support.lightgbm_mutants import library_on, mutant, sized

# Two rounds over three columns: a cut with missing values on the left, a set {0, 3, 33}, a cut that parts numbers from NaN.
PLAIN = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=binary sigmoid:1
feature_names=age income job
feature_infos=[18:80] [0:1e5] -1:0:3:33
tree_sizes=0 0

Tree=0
num_leaves=3
num_cat=1
split_feature=0 2
split_gain=10 5
threshold=39.500000000000007 0
decision_type=10 1
left_child=-1 -2
right_child=1 -3
leaf_value=-0.5 0.25 1e-3
cat_boundaries=0 2
cat_threshold=9 2
is_linear=0
shrinkage=1


Tree=1
num_leaves=2
num_cat=0
split_feature=1
split_gain=1
threshold=inf
decision_type=8
left_child=-1
right_child=-2
leaf_value=0.125 -0.75
leaf_weight=1 2
is_linear=0
shrinkage=0.1


end of trees

feature_importances:
age=1

parameters:
[boosting: gbdt]
[categorical_feature: 2]
end of parameters

pandas_categorical:null
"""
TEXT = sized(PLAIN)


def test_a_text_is_read_number_by_number() -> None:
    model = parse(TEXT, "model.txt")
    assert model.names == ("age", "income", "job") and model.n_scores == 1 and model.rounds == 2
    assert model.logistic == ("binary", 1.0) and model.sets_asked == (2,) and model.categories is None
    assert codes_of(model.infos[2]) == (0, 3, 33) and codes_of(model.infos[0]) is None
    first = model.trees[0]
    assert first.threshold.tolist() == [39.500000000000007, 0.0] and first.value.tolist() == [-0.5, 0.25, 1e-3]
    assert np.flatnonzero(first.sets[0]).tolist() == [0, 3, 33]
    rows = np.array(
        [[20, 5, 0], [50, 5, 3], [50, 5, 33.9], [50, 5, 1], [50, np.nan, -0.5], [np.nan, np.inf, 3], [50, 1, np.nan]]
    )
    expected = [-0.375, 0.375, 0.375, 0.126, -0.5, -0.375, 0.126]
    assert model.raw(rows)[:, 0].tolist() == expected
    assert parse(model.checked_text(), "again").raw(rows)[:, 0].tolist() == expected


def test_codes_are_cut_towards_zero() -> None:
    members = np.array([True, False, True])
    codes = np.array([0, -0.99, 0.99, 1, 2.9999999999, 3, -1, -1e300, 1e300, np.inf, -np.inf, np.nan])
    assert in_set(members, codes).tolist() == [True, True, True, False, True] + [False] * 7


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("left_child=-1 -2", "left_child=-1 0", "tree 0: its children do not form a tree"),
        ("left_child=-1 -2", "left_child=-1 -4", "tree 0: its children do not form a tree"),
        ("left_child=-1 -2", "left_child=-1 -1", "tree 0: its children do not form a tree"),
        ("right_child=1 -3", "right_child=7 -3", "tree 0: its children do not form a tree"),
        ("split_feature=0 2", "split_feature=0 3", "a column that is not among the 3 columns"),
        ("split_feature=0 2", "split_feature=0 -1", "a column that is not among the 3 columns"),
        ("split_feature=0 2", "split_feature=0", "split_feature=0 is no list of 2 numbers"),
        ("threshold=39.500000000000007 0", "threshold=39.500000000000007 1", "a split by a set of codes names no set"),
        ("threshold=39.500000000000007 0", "threshold=39.500000000000007 0.5", "a split by a set of codes names no set"),
        ("threshold=39.500000000000007 0", "threshold=nan 0", "is no list of 2 numbers"),
        ("decision_type=10 1", "decision_type=12 1", "decision_type=12 1"),
        ("leaf_value=-0.5 0.25 1e-3", "leaf_value=-0.5 0.25 inf", "leaf_value holds an infinite number"),
        ("leaf_value=-0.5 0.25 1e-3", "leaf_value=-0.5 0.25 1e999", "leaf_value holds an infinite number"),
        ("leaf_value=-0.5 0.25 1e-3", "leaf_value=-0.5 0.25", "is no list of 3 numbers"),
        ("leaf_value=-0.5 0.25 1e-3", "leaf_value=-0.5 0.25 0x10", "is no list of 3 numbers"),
        ("cat_boundaries=0 2", "cat_boundaries=0 9", "cat_threshold=9 2 is no list of 9 numbers"),
        ("cat_boundaries=0 2", "cat_boundaries=2 2", "cat_boundaries=2 2"),
        ("cat_threshold=9 2", "cat_threshold=9 4294967296", "cat_threshold=9 4294967296"),
        ("num_leaves=3", "num_leaves=0", "num_leaves=0"),
        ("num_leaves=3", "num_leaves=-3", "num_leaves=-3"),
        ("num_leaves=3", "num_leaves=2000000000", "is no list of 1999999999 numbers"),
        ("num_leaves=3\n", "", "it lacks num_leaves"),
        ("num_leaves=3", "num_leaves=3\nnum_leaves=3", "twice"),
        ("num_leaves=3", "\nnum_leaves=3", "does not know there"),
        ("is_linear=0", "is_linear=1", r"linear_tree=True.*fit with linear_tree=False"),
        ("shrinkage=1\n", "shrinkage=one\n", "shrinkage=one"),
        ("shrinkage=1\n", "secret=1\n", "which this reader does not know"),
        ("shrinkage=1\n\n\nTree=1", "shrinkage=1\nTree=1", "tree 0: no empty line comes after it"),
        ("Tree=1", "Tree=2", "it has the number 2"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=2", "2 trees for num_tree_per_iteration=2, num_class=1"),
        ("max_feature_idx=2", "max_feature_idx=3", "3 feature_names and 3 feature_infos for 4 columns"),
        ("feature_names=age income job", "feature_names=age age job", "two columns have the same name"),
        ("version=v4", "version=v5", "known are v2, v3, v4"),
        ("[18:80]", "[18;80]", "feature_infos are no ranges"),
        ("\nend of trees\n", "\n", "no whole LightGBM model"),
        ("tree\nversion", "forest\nversion", "no whole LightGBM model"),
        ("age=1", "age=\x00", r"it holds the character"),
        ("pandas_categorical:null", "pandas_categorical:[[{}]]", "the categories of pandas columns"),
        ("pandas_categorical:null", 'pandas_categorical:[["a", "a"]]', "the categories of pandas columns"),
        ("pandas_categorical:null", "pandas_categorical:[[1, NaN]]", "the categories of pandas columns"),
        ("pandas_categorical:null", "pandas_categorical:" + "[" * 100_000, "the categories of pandas columns"),
        ("pandas_categorical:null", "pandas_categorical:null\nmore", "the categories of pandas columns"),
    ],
)  # fmt: skip
def test_damage_is_named(old: str, new: str, words: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError, match=words):
        parse(sized(TEXT.replace(old, new, 1)), "model.txt")


def test_sizes_of_trees_must_be_right() -> None:
    with pytest.raises(InputError, match="were line ends changed"):
        parse(TEXT.replace("split_gain=10 5", "split_gain=10 50"), "model.txt")
    with pytest.raises(InputError, match="it holds the character"):
        parse(TEXT.replace("\n", "\r\n"), "model.txt")
    windows = TEXT.replace("\npandas_categorical:null\n", '\r\npandas_categorical:[["a"]]\r\n')
    assert parse(windows, "model.txt").categories == [["a"]]
    assert parse("\n".join(a for a in TEXT.split("\n") if "tree_sizes" not in a), "old").rounds == 2


@pytest.mark.parametrize(
    ("objective", "logistic"),
    [
        ("binary sigmoid:0.5", ("binary", 0.5)),
        ("cross_entropy", ("cross_entropy", 1.0)),
        ("binary", None),
        ("binary sigmoid:0", None),
        ("binary sigmoid:-1", None),
        ("binary sigmoid:1 more", None),
        ("multiclass num_class:3", None),  # with one tree per round
        ("regression", None),
    ],
)
def test_objectives(objective: str, logistic: tuple[str, float] | None) -> None:
    assert parse(TEXT.replace("binary sigmoid:1", objective), "model.txt").logistic == logistic


# ---- damaged files ---------------------------------------------------------------------------------------------------
@cache
def _honest() -> tuple[str, ...]:
    """Small models of all kinds, without their long lists of parameters."""
    lightgbm = pytest.importorskip("lightgbm")
    X, y, y3 = data()
    small = {
        "n_estimators": 2,
        "num_leaves": 6,
        "verbose": -1,
        "n_jobs": 1,
        "max_cat_to_onehot": 2,
        "min_data_per_group": 5,
    }
    holed = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    fitted = [
        lightgbm.LGBMClassifier(**small).fit(holed, y, categorical_feature=[4]),
        lightgbm.LGBMClassifier(**small, zero_as_missing=True).fit(X, y),
        lightgbm.LGBMClassifier(**small).fit(X, y3, categorical_feature=[4]),
        lightgbm.LGBMClassifier(**small, objective="multiclassova").fit(X, y3),
        lightgbm.LGBMClassifier(**small, boosting_type="rf", bagging_freq=1, bagging_fraction=0.6).fit(X, y),
    ]
    texts = [one.booster_.model_to_string() for one in fitted]
    return tuple(t[: t.index("\nparameters:")] + "\n" + t[t.index("pandas_categorical") :] for t in texts)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_damaged_files_are_refused_or_are_what_the_library_reads(tmp_path: Path) -> None:
    _check_mutants(300, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(1_800)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_five_thousand_damaged_files(tmp_path: Path) -> None:
    _check_mutants(5_000, tmp_path)


def _check_mutants(tries: int, tmp_path: Path) -> None:
    """Never a crash, a hang or another tree. The library reads the damaged file itself, in a process of its own."""
    texts, accepted = _honest(), []
    for number in range(tries):
        rng = random.Random(f"lightgbm {tries} {number}")
        text, how = mutant(rng.choice(texts), rng)
        path = tmp_path / "model.txt"
        path.write_bytes(text.encode())
        try:
            file = LightGBMFile(path)
            if number % 10 == 0:
                open_model(file)  # all the way: replayed against the library, which is handed the checked lines
            elif file.model.logistic is None or len(file.model.names) != 6:
                continue
        except ElbowroomError:
            continue
        accepted.append((text, file.model, f"{number}: {how}"))
    assert tries // 10 < len(accepted) < tries // 2
    rows = np.concatenate([hostile_rows(parse(texts[0], "honest"), 300, by_codes=True), data()[0][:100]])
    folder = tmp_path / "library"
    folder.mkdir()
    theirs = library_on([text for text, _, _ in accepted], rows, folder)
    for (_, model, story), raw in zip(accepted, theirs, strict=True):
        assert raw is not None, f"{story}: the library refuses it"
        assert np.array_equal(model.raw(rows) * (model.rounds if model.average else 1), raw) or (
            model.average and np.allclose(model.raw(rows) * model.rounds, raw, rtol=1e-14)
        ), story


def test_damage_reaches_every_part() -> None:
    """The mutants are not all alike: many reasons for refusal, and some that pass."""
    reasons, passed = set(), 0
    for number in range(1_000):
        rng = random.Random(number)
        text, _ = mutant(TEXT, rng)
        try:
            parse(text, "f")
            passed += 1
        except InputError as error:
            reasons.add(str(error)[:30])
    assert len(reasons) > 40 and passed > 50
