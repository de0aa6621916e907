"""Tables from CSV and Parquet files, decided by content and never by name, and within limits that are checked before a
table is taken apart: parsing costs many times the size of the file."""

from __future__ import annotations

import csv
import io
import warnings
from pathlib import Path
from typing import Final

import pandas as pd

from elbowroom.disk import MEGABYTE, read_whole
from elbowroom.errors import InputError
from elbowroom.visible import brief

PARQUET: Final = b"PAR1"
MOST_BYTES: Final = 256 * MEGABYTE
MOST_COLUMNS: Final = 20_000
MOST_CELLS: Final = 50_000_000
CURE: Final = "; --large-table lifts the limit"


def load_table(path: Path, large: bool = False) -> pd.DataFrame:
    """A CSV or Parquet file; ``large`` lifts the limits."""
    data = read_whole(path, None if large else MOST_BYTES, CURE)
    table = _parquet(data, path, large) if data[:4] == PARQUET else _csv(data, path, large)
    if table.empty:
        raise InputError(f"{path}: the table has no rows")
    return table


def _csv(data: bytes, path: Path, large: bool) -> pd.DataFrame:
    if not large:
        columns = max(map(_fields, _first_lines(data)), default=0)
        _refuse_too_many(columns, data.count(b",") + data.count(b"\n"), path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(io.BytesIO(data), index_col=False)  # else a surplus first field becomes the row's name
        _refuse_repeated(data, path)
        if len(table.columns) and bool(table.iloc[:, -1].isna().any()):
            _refuse_short(data, path)
        return table
    except pd.errors.ParserWarning:
        raise InputError(
            f"{path}: rows have more fields than the header has names, so no field can be told; name every column"
        ) from None
    except (ValueError, UnicodeDecodeError, csv.Error) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: this is neither a CSV nor a Parquet file ({brief(str(error).strip())})") from None


def _refuse_repeated(data: bytes, path: Path) -> None:
    """pandas numbers names that occur twice; which column was meant then is a guess."""
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    seen: set[str] = set()
    for name in next((fields for fields in csv.reader(lines) if fields), []):
        if name in seen:
            raise InputError(f"{path}: two columns are called {name!r}; give each its own name")
        seen.add(name)


def _refuse_short(data: bytes, path: Path) -> None:
    """pandas fills up rows that end too early; that a value is missing has to be said by an empty field."""
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    rows = (fields for fields in csv.reader(lines) if fields)  # a blank line is no row
    width = len(next(rows, []))
    for number, fields in enumerate(rows):
        if len(fields) < width:
            raise InputError(
                f"{path}: row {number} has {len(fields)} fields, the header {width}; leave a field empty where a value is missing"
            )


def _first_lines(data: bytes) -> list[bytes]:
    """The header and the first row: pandas takes the width of a table from these two."""
    begin = data[:3].count(b"\xef\xbb\xbf") * 3
    lines: list[bytes] = []
    while begin < len(data) and len(lines) < 2:
        end = data.find(b"\n", begin)
        end = len(data) if end < 0 else end
        lines.append(data[begin:end])
        begin = end + 1
    return lines


def _fields(line: bytes) -> int:
    """How many fields a line has; only commas outside of quotes separate them."""
    if b'"' not in line:
        return line.count(b",") + 1
    try:
        return len(next(csv.reader([line.decode("utf-8", "replace")])))
    except csv.Error:  # a field that is too long, or a quote that does not end here: no more fields than commas
        return line.count(b",") + 1


def _parquet(data: bytes, path: Path, large: bool) -> pd.DataFrame:
    try:
        if not large:
            from pyarrow.parquet import ParquetFile

            about = ParquetFile(io.BytesIO(data)).metadata
            _refuse_too_many(about.num_columns, about.num_columns * about.num_rows, path)
        return pd.read_parquet(io.BytesIO(data))
    except ImportError:
        raise InputError(f"{path}: reading Parquet needs pyarrow; pip install pyarrow, or use CSV") from None
    except (ValueError, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: this Parquet file cannot be read ({brief(str(error).strip())})") from None


def _refuse_too_many(columns: int, cells: int, path: Path) -> None:
    if columns > MOST_COLUMNS:
        raise InputError(f"{path}: the table has {columns:,} columns; at most {MOST_COLUMNS:,} are read{CURE}")
    if cells > MOST_CELLS:
        raise InputError(f"{path}: the table has about {cells:,} cells; at most {MOST_CELLS:,} are read{CURE}")
