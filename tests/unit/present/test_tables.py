"""The limits of tables hold before a table is taken apart."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from elbowroom import InputError
from elbowroom.present import tables
from elbowroom.present.tables import load_table


@pytest.fixture
def unparsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object, **__: object) -> None:
        raise AssertionError("a table beyond the limits was handed to the parser")

    monkeypatch.setattr(pd, "read_csv", parse)


MILLION = 1_000_000
WIDE = {
    "names": ",".join(f"c{i}" for i in range(MILLION)) + "\n",
    "quoted": ",".join(f'"c{i}"' for i in range(MILLION)) + "\n1,2\n",
    "an open quote": '"' + ",".join(map(str, range(MILLION))) + "\n1,2\n",
    "a wide row": "a,b\n" + "1," * MILLION + "\n",
    "after a mark": "\ufeff" + "a," * MILLION + "\n",
}


@pytest.mark.parametrize("text", WIDE.values(), ids=WIDE)
@pytest.mark.usefixtures("unparsed")
def test_a_million_columns_are_refused_unparsed(text: str, tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"1,000,00[01] columns; at most 20,000 are read; --large-table") as caught:
        load_table(tmp_path / "wide.csv")
    assert len(str(caught.value)) < 400


@pytest.mark.usefixtures("unparsed")
def test_cells_and_bytes_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "long.csv").write_text("a,b\n" + "1,2\n" * 600)
    monkeypatch.setattr(tables, "MOST_CELLS", 1000)
    with pytest.raises(InputError, match=r"about 1,202 cells; at most 1,000 are read; --large-table"):
        load_table(tmp_path / "long.csv")
    monkeypatch.setattr(tables, "MOST_BYTES", 1000)
    with pytest.raises(InputError, match="MB are read; --large-table"):
        load_table(tmp_path / "long.csv")


def test_the_limits_can_be_lifted_and_are_not_met_by_ordinary_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    path.write_text('a,"b,c"\n1,2\n3,4\n')
    expected = pd.DataFrame({"a": [1, 3], "b,c": [2, 4]})
    monkeypatch.setattr(tables, "MOST_COLUMNS", 2)  # the comma inside of quotes is none
    pd.testing.assert_frame_equal(load_table(path), expected)
    monkeypatch.setattr(tables, "MOST_COLUMNS", 1)
    monkeypatch.setattr(tables, "MOST_BYTES", 1)
    with pytest.raises(InputError, match="--large-table"):
        load_table(path)
    pd.testing.assert_frame_equal(load_table(path, large=True), expected)


def test_parquet_files_are_asked_for_their_size_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes can stand for any number of equal rows. (pyarrow is optional, so a stand-in tells the sizes.)"""

    class Metadata:
        num_columns, num_rows = 2, 10**9

    class ParquetFile:
        metadata = Metadata()

        def __init__(self, _: object) -> None: ...

    parquet = ModuleType("pyarrow.parquet")
    parquet.ParquetFile = ParquetFile  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyarrow", ModuleType("pyarrow"))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    monkeypatch.setattr(pd, "read_parquet", lambda _: pytest.fail("it was handed to the parser"))
    (tmp_path / "table").write_bytes(b"PAR1 and so on")
    with pytest.raises(InputError, match="2,000,000,000 cells"):
        load_table(tmp_path / "table")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2,3\n4,5,6\n", "more fields than the header"),  # pandas would take the first for the name of the row
        ("a,b\n1,2,3\n4,5\n", "more fields than the header"),
        ("\n\na,b,a\n1,2,3\n", "two columns are called 'a'"),
        ('\ufeff"a",b,a\n1,2,3\n', "two columns are called 'a'"),
    ],
)
def test_fields_that_no_column_can_be_told_for_are_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        load_table(tmp_path / "table.csv")


def test_a_separator_at_the_end_of_every_line_is_no_field(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,b\n1,2,\n3,4,\n", encoding="utf-8")
    assert load_table(tmp_path / "table.csv").to_dict("list") == {"a": [1, 3], "b": [2, 4]}


def test_a_row_that_ends_too_early_is_refused_and_an_empty_field_is_a_missing_value(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text('a,b\n1,2\n3,\n\n"x,y",4\n')
    assert load_table(file)["b"].isna().tolist() == [False, True, False]
    for short in ("3", '""'):
        file.write_text(f"a,b\n1,\n{short}\n")
        with pytest.raises(InputError, match="row 1 has 1 fields, the header 2; leave a field empty"):
            load_table(file)
