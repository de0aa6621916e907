"""CatBoost's files: honest ones come back to the last bit, damaged ones are refused by the place of the damage."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("catboost")

from elbowroom.errors import ElbowroomError, UnsupportedModel
from elbowroom.importers import open_model
from elbowroom.importers.catboost_file import CatBoostFile, holds_catboost
from elbowroom.importers.catboost_json import parse
from tests.support.catboost_cases import CASES, QUIET, case, classifier, coloured, holes, hostile_rows, numbers
from tests.support.catboost_mutants import honest

ROOT = Path(__file__).parents[3]


def _saved(model: Any, path: Path) -> Path:
    model.save_model(str(path), format=path.suffix[1:])
    return path


@pytest.mark.parametrize("name", CASES)
def test_a_json_file_is_the_model_that_was_saved(name: str, tmp_path: Path) -> None:
    """The library's own loader is off by a unit in the last place in one of twenty leaves."""
    own = case(name)
    path = _saved(own.model, tmp_path / "m.json")
    assert holds_catboost(path.read_bytes())
    file = CatBoostFile(path)
    table = coloured() if own.known else holes()
    raw = {"prediction_type": "RawFormulaVal"}
    assert np.array_equal(file.model.predict(table, **raw), own.model.predict(table, **raw))
    assert np.array_equal(file.model.predict(table), own.model.predict(table))
    opened = open_model(file, known=own.known)
    rows = hostile_rows(opened, 2_000)
    assert np.array_equal(opened.model.scores(rows), own.opened().model.scores(rows))


def test_the_librarys_own_loader_loses_digits(tmp_path: Path) -> None:
    """Why leaf values are set again; if this fails, CatBoost has mended it."""
    from catboost import CatBoostClassifier

    model = case("oblivious").model
    path = _saved(model, tmp_path / "m.json")
    loaded = CatBoostClassifier()
    loaded.load_model(str(path), format="json")
    assert not np.array_equal(loaded.get_leaf_values(), model.get_leaf_values())
    assert np.array_equal(CatBoostFile(path).model.get_leaf_values(), model.get_leaf_values())


@pytest.mark.parametrize("name", ["lossguide", "one-hot"])
def test_a_binary_file_is_the_model_that_was_saved(name: str, tmp_path: Path) -> None:
    own = case(name)
    path = _saved(own.model, tmp_path / "m.cbm")
    assert holds_catboost(path.read_bytes())
    opened = open_model(CatBoostFile(path), known=own.known)
    rows = hostile_rows(opened, 2_000)
    assert np.array_equal(opened.model.scores(rows), own.opened().model.scores(rows))


def test_a_damaged_binary_file_breaks_another_program_and_not_this_one(tmp_path: Path) -> None:
    content = bytearray(_saved(case("oblivious").model, tmp_path / "m.cbm").read_bytes())
    rng = np.random.default_rng(0)
    for number in range(4):
        hurt = content.copy()
        if number == 0:
            hurt = hurt[: len(hurt) // 2]
        else:
            for place in rng.integers(8, len(hurt), size=40):
                hurt[place] = rng.integers(256)
        (tmp_path / "hurt.cbm").write_bytes(hurt)
        with pytest.raises(ElbowroomError, match=r"hurt\.cbm"):
            CatBoostFile(tmp_path / "hurt.cbm")


def _mutants(tries: int, seed: int) -> dict[str, int]:
    command = [sys.executable, "-m", "tests.support.catboost_mutants", str(tries), str(seed)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=3000, check=False)
    assert run.returncode == 0, (run.returncode, run.stderr[-2000:])
    found: dict[str, int] = json.loads(run.stdout.splitlines()[-1])
    return found


def test_damaged_json_is_refused_or_replays() -> None:
    found = _mutants(300, 0)
    assert sum(found.values()) == 300
    assert found["refused"] > 100 and found["replayed"] > 30


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_five_thousand_damaged_json_files() -> None:
    total = sum(sum(_mutants(1_000, seed).values()) for seed in range(1, 6))
    assert total == 5_000


# ---- the place of the damage -----------------------------------------------------------------------------------------
def _document(number: int) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(honest()[number])
    return document


def _set(document: Any, path: str, value: Any) -> str:
    *before, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    inner = document
    for key in before:
        inner = inner[key]
    inner[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("number", "path", "value", "named"),
    [
        (0, "oblivious_trees/1/splits/0/split_index", 10_000, r"oblivious_trees\[1\].splits\[0\].split_index is 10000"),
        (0, "oblivious_trees/0/splits/0/split_index", -1, "split_index is -1"),
        (0, "oblivious_trees/0/splits/0/split_type", "OnlineCtr", "split_type is 'OnlineCtr'"),
        (0, "oblivious_trees/0/leaf_values", [0.0] * 9, r"leaf_values are 9 for 3 splits and 1 scores"),
        (0, "oblivious_trees/2/leaf_values/1", "x", r"oblivious_trees\[2\].leaf_values is 'x'"),
        (0, "features_info/float_features/0/borders/0", 1e30, r"float_features\[0\].borders do not rise"),
        (0, "features_info/float_features/1/borders/0", -1e39, "too large for float32"),
        (0, "features_info/float_features/0/nan_value_treatment", "AsNothing", "nan_value_treatment is 'AsNothing'"),
        (0, "features_info/float_features/0/feature_index", 1, "feature_index is not its position"),
        (0, "features_info/float_features/0/flat_feature_index", 7, "do not count the columns"),
        (0, "features_info/categorical_features/0/values", [1, 1], "hold one category twice"),
        (0, "scale_and_bias", [1], "scale_and_bias holds 1 entries"),
        (0, "scale_and_bias/0", None, r"scale_and_bias\[0\] is None, no finite number"),
        (0, "model_info/class_params/class_names", ["yes", "yes"], "does not name 2 classes"),
        (0, "model_info/class_params/class_label_type", "Integer", "are no labels of the kind 'Integer'"),
        (4, "model_info/binclass_probability_threshold", "1.5", "binclass_probability_threshold is '1.5'"),
        (1, "trees/0/left", None, r"trees\[0\] is not a table"),
        (3, "trees/0/left/left/left", {"value": [1.0, 2.0]}, r"trees\[0\].value holds 2 numbers for 3 scores"),
    ],
)
def test_damage_is_named_by_its_place(number: int, path: str, value: Any, named: str) -> None:
    document = _document(number)
    parse(json.dumps(document))
    with pytest.raises(UnsupportedModel, match=named):
        parse(_set(document, path, value))


def test_a_split_whose_border_is_not_that_of_its_index_is_refused() -> None:
    """The library follows the index, a reader might follow the border."""
    document = _document(0)
    split = next(s for t in document["oblivious_trees"] for s in t["splits"] if s["split_type"] == "FloatFeature")
    split["border"] += 1.0
    with pytest.raises(UnsupportedModel, match="names another border or category than its split_index"):
        parse(json.dumps(document))


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"{" * 100_000, b"nonsense", b"CBM1", b'{"features_info": {}}'])
def test_what_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(content)
    with pytest.raises(ElbowroomError, match=r"m\.json"):
        CatBoostFile(path)


def test_deep_nesting_is_refused() -> None:
    document = _document(1)
    split = document["trees"][0]["split"]
    deep: dict[str, Any] = {"value": 0.0}
    for _ in range(450):
        deep = {"split": split, "left": deep, "right": {"value": 0.0}}
    document["trees"] = [deep]
    with pytest.raises(UnsupportedModel, match="deeper than 400"):
        parse(json.dumps(document))


def test_a_model_without_trees_is_refused(tmp_path: Path) -> None:
    document = _document(0)
    document["oblivious_trees"] = []
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(UnsupportedModel, match=r"m\.json: this CatBoost model has no trees"):
        CatBoostFile(tmp_path / "m.json")


def test_what_the_library_asserts_about_a_model_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It complains with assertions, too: of a loss that it cannot parse it loads no leaves."""
    from catboost import CatBoostClassifier

    def complain(*given: Any) -> None:
        raise AssertionError("count of leaf values should be equal to the leaf count")

    monkeypatch.setattr(CatBoostClassifier, "set_leaf_values", complain)
    path = _saved(case("oblivious").model, tmp_path / "m.json")
    with pytest.raises(UnsupportedModel, match=r"m\.json: the library does not take this model \(count of leaf values"):
        CatBoostFile(path)


def test_a_regressor_in_a_file_is_a_regressor(tmp_path: Path) -> None:
    from catboost import CatBoostRegressor

    X, signal = numbers()
    model = CatBoostRegressor(**{**QUIET, "iterations": 20}).fit(X, signal)
    opened = open_model(CatBoostFile(_saved(model, tmp_path / "m.json")))
    assert opened.model.info.is_regressor
    assert np.array_equal(opened.predict(X), model.predict(X))


def test_a_file_of_bools_keeps_its_labels(tmp_path: Path) -> None:
    X, signal = numbers()
    model = classifier(iterations=10).fit(X, signal > 0)
    again = CatBoostFile(_saved(model, tmp_path / "m.json")).model.predict(X)
    assert again.dtype == model.predict(X).dtype and (again == model.predict(X)).all()
