"""Models and tables from files: decided by content, trusted only on request, and errors that name the cure."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest

from elbowroom.errors import InputError
from elbowroom.present.files import Content, content_of, feature_columns, load_model
from elbowroom.present.tables import load_table

MODEL = {"weights": np.arange(3.0), "name": "a model"}


class Trap:
    """Leaves a mark when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


class Broken:
    def __reduce__(self) -> Any:
        return int, ("not a number",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol_are_recognised(protocol: int) -> None:
    for value in (MODEL, 7, "text", [1.5, None]):
        assert content_of(pickle.dumps(value, protocol=protocol)) is Content.PICKLE


@pytest.mark.parametrize("method", ["zlib", "gzip", "bz2", "xz", "lzma"])
def test_compressed_files_are_recognised(method: str, tmp_path: Path) -> None:
    path = tmp_path / "model.csv"  # the name says nothing
    joblib.dump(MODEL, path, compress=(method, 3))
    assert content_of(path.read_bytes()) is Content.COMPRESSED
    assert load_model(path, trust_pickle=True)["name"] == "a model"  # type: ignore[index]


@pytest.mark.parametrize("data", [b"", b"a,b\n1,2\n", b'{"a": 1}', b"PAR1....", bytes(range(200, 256))])
def test_other_files_are_no_pickles(data: bytes, tmp_path: Path) -> None:
    assert content_of(data) is Content.OTHER
    path = tmp_path / "model.pkl"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"joblib\.dump"):
        load_model(path, trust_pickle=True)


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_nothing_is_run_unless_it_is_trusted(protocol: int, tmp_path: Path) -> None:
    path, mark = tmp_path / "model.json", tmp_path / "mark"
    path.write_bytes(pickle.dumps(Trap(mark), protocol=protocol))
    with pytest.raises(InputError, match="--trust-pickle"):
        load_model(path, trust_pickle=False)
    assert not mark.exists()
    load_model(path, trust_pickle=True)
    assert mark.exists()  # the trap was a real one


def test_a_trusted_file_that_does_not_load_is_an_error_in_words(tmp_path: Path) -> None:
    path = tmp_path / "model.joblib"
    path.write_bytes(pickle.dumps(Broken()))
    with pytest.raises(InputError, match="cannot be loaded \\(ValueError"):
        load_model(path, trust_pickle=True)
    for place, words in ((tmp_path / "nowhere", "no such file"), (tmp_path, "a folder, which cannot be read")):
        with pytest.raises(InputError, match=words):
            load_model(place, trust_pickle=True)


def test_tables_are_read_by_content(tmp_path: Path) -> None:
    table, path = pd.DataFrame({"a": [1.5, 2.5], "b": [3, 4]}), tmp_path / "table.parquet"
    table.to_csv(path, index=False)  # the name says Parquet, the content CSV
    pd.testing.assert_frame_equal(load_table(path), table)
    try:
        table.to_parquet(path)
    except ImportError:
        path.write_bytes(b"PAR1 and so on")
        with pytest.raises(InputError, match="pyarrow"):
            load_table(path)
    else:
        pd.testing.assert_frame_equal(load_table(path), table)


@pytest.mark.parametrize(
    ("text", "words"), [("a,b\n", "no rows"), ("", "neither a CSV"), ("a,b\n1\n2,3,4,5\n", "neither")]
)
def test_tables_that_are_none(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        load_table(path)


HERE = Path("table.csv")


def test_columns_are_put_in_the_order_of_the_model() -> None:
    table = pd.DataFrame({"b": [1], "label": [0], "a": [2]})
    assert list(feature_columns(table, ["a", "b"], ["label"], HERE).columns) == ["a", "b"]
    numbered = pd.DataFrame([[1, 2]], columns=[0, 1])
    assert list(feature_columns(numbered, ["1", "0"], [], HERE).columns) == ["1", "0"]


def test_a_model_without_names_takes_columns_by_position() -> None:
    table = pd.DataFrame({"b": [1], "a": [2]})
    assert list(feature_columns(table, ["x0", "x1"], [], HERE).columns) == ["b", "a"]
    own = pd.DataFrame({"x1": [1], "x0": [2]})  # names that are the made-up ones are names
    assert list(feature_columns(own, ["x0", "x1"], [], HERE).columns) == ["x0", "x1"]


@pytest.mark.parametrize(
    ("names", "labels", "words"),
    [
        (["a", "b"], ["y"], "--label 'y' is not a column"),
        (["a", "z"], [], r"\['z'\] of the model are missing"),
        (["a"], [], "does not know the columns \\['b'\\].*--label 'b'"),
        (["x0"], [], "1 columns without names, the table has 2"),
    ],
)
def test_columns_that_do_not_fit_are_an_error_and_never_a_guess(
    names: list[str], labels: list[str], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        feature_columns(pd.DataFrame({"a": [1], "b": [2]}), names, labels, HERE)
