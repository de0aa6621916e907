"""XGBoost models in files: the same as the object, and no damage that crashes, hangs or makes another tree."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbowroom.errors import ElbowroomError, InputError, UnsupportedModel
from elbowroom.importers import open_model, xgboost_base, xgboost_files
from elbowroom.importers.xgboost_columns import learner_of
from elbowroom.importers.xgboost_document import Learner
from elbowroom.importers.xgboost_files import XGBoostFile, holds_xgboost
from elbowroom.importers.xgboost_models import predict, raw_scores
from elbowroom.models import TreeEnsemble
from tests.support.xgboost_cases import CASES, LINEAR, NEEDS_STORED_CATEGORIES, fitted, hostile_rows, table_of

xgboost = pytest.importorskip("xgboost")
STORED = tuple(int(v) for v in xgboost.__version__.split(".")[:2]) >= (3, 1)
ROOT = Path(__file__).parents[3]
CODES = ("sets", "one-hot sets")  # a file does not say that codes without names are meant
FILES = [case for case in (*CASES, *LINEAR) if STORED or case not in NEEDS_STORED_CATEGORIES]


def saved(case: str, folder: Path, kind: str) -> Path:
    path = folder / f"model.{kind}"
    fitted(case).save_model(path)
    return path


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return bool(a.dtype == b.dtype and np.array_equal(a, b))
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a) if f.name != "raw")
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


@pytest.mark.parametrize("kind", ["json", "ubj"])
@pytest.mark.parametrize("case", FILES)
def test_a_file_is_read_as_the_object_is(case: str, kind: str, tmp_path: Path) -> None:
    model = fitted(case)
    path = saved(case, tmp_path, kind)
    assert holds_xgboost(path.read_bytes())
    file = XGBoostFile(path)
    learner = learner_of(model)
    note = {"scikit_learn": file.learner.attributes.get("scikit_learn")} if file.sklearn else {}
    assert same(file.learner, dataclasses.replace(learner, attributes={**learner.attributes, **note}))
    opened = open_model(file)
    assert opened.model.fingerprint == open_model(model, replay=False).model.fingerprint
    assert opened.report is not None and opened.report.points > 1_000
    assert kind in opened.model.info.source and "not compared" not in opened.model.info.source
    numbers = hostile_rows(learner, 2_000, 7)
    table = table_of(model, numbers)
    assert np.array_equal(file.predict(table), predict(model, table))
    direct = xgboost.XGBClassifier() if file.sklearn else xgboost.Booster()  # the library, with the file itself
    direct.load_model(path)
    assert np.array_equal(xgboost_files.raw_scores(file, table), raw_scores(direct, table))


@pytest.mark.parametrize("case", FILES)
def test_without_the_library_a_file_is_evaluated_plainly_and_says_so(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, path = fitted(case), saved(case, tmp_path, "ubj")
    for module in (xgboost_files, xgboost_base):
        monkeypatch.setattr(module, "has_library", lambda: False)
    file = XGBoostFile(path)
    assert file.library is None
    opened = open_model(file)
    assert "not compared with xgboost" in opened.model.info.source
    numbers = hostile_rows(learner_of(model), 2_000, 8)
    table = table_of(model, numbers)
    theirs = raw_scores(model, table)
    scale = np.abs(theirs).max()
    assert np.abs(xgboost_files.raw_scores(file, table) - theirs).max() <= 1e-5 * scale  # the base may be off by 2 ulp
    differ = xgboost_files.predict(file, table) != predict(model, table)
    assert differ.mean() < 1e-3
    if isinstance(opened.model, TreeEnsemble) and learner_of(model).objective == "binary:logistic":
        assert opened.model.info.evaluation_error > 2.0**-21


# ---- what is refused -------------------------------------------------------------------------------------------------
def document() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(fitted("binary").get_booster().save_raw("json"))
    return made


def _tree(document: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = document["learner"]["gradient_booster"]["model"]["trees"][0]
    return tree


def _cycle(document: dict[str, Any]) -> None:
    tree = _tree(document)
    inner = [i for i, left in enumerate(tree["left_children"]) if left > 0]
    tree["left_children"][inner[-1]] = 0


def _deep(document: dict[str, Any]) -> None:
    """A chain of 5,000 splits."""
    tree, splits = _tree(document), 5_000
    nodes = 2 * splits + 1
    whole = {"left_children", "right_children", "split_indices", "default_left", "split_type", "parents"}
    for key in ("base_weights", "loss_changes", "sum_hessian", "split_conditions", *whole):
        tree[key] = [0 if key in whole else 0.0] * nodes
    for i in range(splits):
        tree["left_children"][2 * i], tree["right_children"][2 * i] = 2 * i + 1, 2 * i + 2
        tree["parents"][2 * i + 1] = tree["parents"][2 * i + 2] = 2 * i
        tree["left_children"][2 * i + 1] = tree["right_children"][2 * i + 1] = -1
    tree["left_children"][-1] = tree["right_children"][-1] = -1
    tree["parents"][0] = 2**31 - 1
    tree["tree_param"]["num_nodes"] = str(nodes)


DAMAGE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "child outside": (lambda d: _tree(d)["right_children"].__setitem__(0, 10**6), "do not form a tree"),
    "cycle": (_cycle, "do not form a tree"),
    "shared child": (
        lambda d: _tree(d)["right_children"].__setitem__(0, _tree(d)["left_children"][0]),
        "do not form a tree",
    ),
    "array cut": (lambda d: _tree(d)["split_indices"].pop(), "entries, and should have"),
    "column outside": (lambda d: _tree(d)["split_indices"].__setitem__(0, 6), "splits at column 6"),
    "leaf that is NaN": (lambda d: _tree(d)["split_conditions"].__setitem__(-1, float("nan")), "not finite"),
    "threshold that is NaN": (lambda d: _tree(d)["split_conditions"].__setitem__(0, float("nan")), "NaN"),
    "leaf too large": (lambda d: _tree(d)["split_conditions"].__setitem__(-1, 1e39), "not finite"),
    "very deep": (_deep, "splits deep"),
    "another tree's number": (lambda d: _tree(d).__setitem__("id", 3), "has the number 3"),
    "set that is no set": (lambda d: _tree(d)["split_type"].__setitem__(0, 1), "lists of categories"),
    "parents": (lambda d: _tree(d)["parents"].__setitem__(1, 7), "parents"),
    "base": (lambda d: d["learner"]["learner_model_param"].__setitem__("base_score", "1_0"), "base_score"),
    "width": (lambda d: d["learner"]["learner_model_param"].__setitem__("num_feature", "9" * 12), "num_feature"),
    "old": (lambda d: d.__setitem__("version", [1, 7, 6]), "2.1 and later"),
    "rounds": (lambda d: d["learner"]["gradient_booster"]["model"]["iteration_indptr"].pop(), "rounds"),
    "best round": (lambda d: d["learner"]["attributes"].__setitem__("best_iteration", "4000"), "best_iteration"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_refused_where_it_is(damage: str, tmp_path: Path) -> None:
    change, words = DAMAGE[damage]
    content = document()
    content["learner"]["attributes"]["scikit_learn"] = '{"_estimator_type": "classifier"}'
    path = tmp_path / "model.json"
    path.write_text(json.dumps(content))
    open_model(XGBoostFile(path), replay=False)
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises((UnsupportedModel, InputError), match=words):
        open_model(XGBoostFile(path), replay=False)


def test_what_is_no_model_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    contents = {
        b"binf\x00\x00": "no XGBoost model",
        b"": "no XGBoost model",
        b"{}": "lacks 'version'",
        b'{"a":1,"a":2}': "twice",
        b'{"a":' + b"[" * 200_000: "nested|JSON",
        b"{" + b'"a":{' * 200_000: "nested|JSON",
        b'{"learner":1,"version":[3,2,0]}': "is no object",
        b'{"version":' + b"9" * 5_000 + b"}": "JSON",
    }
    for content, words in contents.items():
        path.write_bytes(content)
        with pytest.raises(ElbowroomError, match=words):
            XGBoostFile(path)
    with pytest.raises(InputError, match="no such file"):
        XGBoostFile(tmp_path / "none.json")


@pytest.mark.parametrize("kind", ["ranker", "regressor"])
def test_a_file_of_another_kind_is_refused_by_its_name(kind: str, tmp_path: Path) -> None:
    content = document()
    content["learner"]["attributes"]["scikit_learn"] = json.dumps({"_estimator_type": kind})
    (tmp_path / "model.json").write_text(json.dumps(content))
    with pytest.raises(UnsupportedModel, match=kind):
        XGBoostFile(tmp_path / "model.json")


@pytest.mark.skipif(not STORED, reason="categories are not stored")
def test_categories_that_the_library_does_not_store_whole_are_refused() -> None:
    """XGBoost 3.2 keeps as many bytes of a category as it has letters."""
    import pandas as pd

    rng = np.random.default_rng(0)
    words = rng.choice(["éa", "b"], 200)
    frame = pd.DataFrame({"x": rng.normal(size=200), "word": pd.Categorical(words)})
    model = xgboost.XGBClassifier(n_estimators=2, enable_categorical=True).fit(frame, (words == "b").astype(int))
    with pytest.raises(UnsupportedModel, match="beyond ASCII"):
        open_model(model)


@pytest.mark.skipif(not STORED, reason="categories are not stored")
def test_categories_of_small_whole_numbers_are_refused_with_the_cure() -> None:
    """The library compares the type of the categories, too; int64 is what tables usually hold."""
    import pandas as pd

    rng = np.random.default_rng(0)
    grade = pd.Series(rng.integers(1, 5, 200))
    for kind in ("int8", "int32", "int64"):
        frame = pd.DataFrame({"x": rng.normal(size=200), "grade": grade.astype(kind).astype("category")})
        model = xgboost.XGBClassifier(n_estimators=2, enable_categorical=True).fit(frame, (grade > 2).astype(int))
        if kind == "int64":
            assert open_model(model).report is not None
            continue
        with pytest.raises(UnsupportedModel, match=rf'{kind} numbers.*astype\("int64"\)'):
            open_model(model)


# ---- damaged files by the thousand -----------------------------------------------------------------------------------
def mutants(folder: Path, kind: str, first: int, count: int) -> dict[str, int]:
    """In a process of its own; dead or hanging, it names the file."""
    command = [sys.executable, "-m", "tests.support.xgboost_mutants", str(folder), kind, str(first), str(count)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=270 + count / 4, check=False)
    trying = (folder / "trying").read_text()
    assert ran.returncode == 0, f"{kind} {trying}: exit code {ran.returncode}, {ran.stderr[-500:]}"
    told = json.loads(ran.stdout.splitlines()[-1])
    assert not told["bad"], told["bad"][:3]
    seen: dict[str, int] = told["seen"]
    assert seen["refused"] > count / 2 and seen["agreed"] > count / 20  # damage is found, and some does no harm
    return seen


@pytest.mark.parametrize("kind", ["json", "ubj"])
def test_damaged_files_are_refused_or_agree_with_the_library(kind: str, tmp_path: Path) -> None:
    mutants(tmp_path, kind, 0, 300)


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("kind", ["json", "ubj"])
def test_five_thousand_damaged_files(kind: str, tmp_path: Path) -> None:
    mutants(tmp_path, kind, 300, 5_000)


def test_a_learner_is_the_whole_model() -> None:
    """Whoever adds a field to it must think about `same` above."""
    assert {field.name for field in dataclasses.fields(Learner)} == {
        "objective", "booster", "width", "outputs", "targets", "base_score", "names", "types", "attributes", "trees",
        "rounds", "weight_drop", "weights", "categories", "raw",
    }  # fmt: skip
