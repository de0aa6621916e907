"""Raw columns of every kind: `Space.table` and `Space.inner` are inverse, row by row and in one batch, and so is JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elbowroom import Space
from elbowroom.problem.reader import Reader
from elbowroom.result.question_json import space_in, space_out

ROWS = 20
TEXT = st.text(max_size=4)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)
WHOLE = st.integers(-(2**53), 2**53)
NOTHING = st.sampled_from([None, np.nan, pd.NA])
CATEGORIES = st.one_of(TEXT, st.booleans(), WHOLE, NUMBERS)


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=ROWS, max_size=ROWS)


@st.composite
def columns(draw: st.DrawFn) -> pd.Series:
    match draw(st.sampled_from(["numbers", "holes", "whole", "truth", "text", "text with holes", "mixed", "dtype"])):
        case "numbers":
            return pd.Series(draw(some(NUMBERS)), dtype=np.float64)
        case "holes":
            return pd.Series([draw(NUMBERS), *draw(some(NUMBERS | st.just(np.nan)))[1:]], dtype=np.float64)
        case "whole":
            return pd.Series(draw(some(WHOLE)), dtype=np.int64)
        case "truth":
            return pd.Series(draw(some(st.booleans())), dtype=bool)
        case "text":
            return pd.Series(draw(some(TEXT)))
        case "text with holes":
            return pd.Series([draw(TEXT), *draw(some(TEXT | NOTHING))[1:]], dtype=object)
        case "mixed":
            return pd.Series([draw(TEXT), *draw(some(CATEGORIES | NOTHING))[1:]], dtype=object)
        case _:
            pool = draw(st.lists(draw(st.sampled_from([TEXT, WHOLE])), min_size=1, max_size=5, unique=True))
            codes = [0, *draw(some(st.integers(-1, len(pool) - 1)))[1:]]
            return pd.Series(pd.Categorical.from_codes(codes, pool, ordered=draw(st.booleans())))


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    names = draw(st.lists(st.text("ab=_'", min_size=1, max_size=3), min_size=1, max_size=4, unique=True))
    return pd.DataFrame({name: draw(columns()) for name in names})


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(frames())
def test_tables_and_inner_rows_are_inverse(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame, one_hot=None, bounds="none", scale="none")
    assert space.columns == tuple(frame.columns)
    X = space.inner(frame, allow_missing=True)
    for members in space.members:
        assert (X[:, members].sum(axis=1) == 1.0).all()
    table = space.table(X)
    assert np.array_equal(space.inner(table, allow_missing=True), X, equal_nan=True)
    for name in frame.columns:
        same = [bool(pd.isna(b)) if pd.isna(a) else a == b for a, b in zip(frame[name], table[name], strict=True)]
        assert all(same), name
    for i in (0, ROWS - 1):
        for row in (frame.iloc[i], frame.iloc[[i]], frame.iloc[i].to_dict(), table.iloc[i], list(frame.iloc[i]), X[i]):
            assert np.array_equal(space.row(row, allow_missing=True), X[i], equal_nan=True)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(frames())
def test_spaces_of_any_columns_are_kept_by_files(frame: pd.DataFrame) -> None:
    space = Space.from_frame(frame, one_hot=None, missing="may be filled")
    again = space_in(Reader.parse(json.dumps(space_out(space)), "text"))
    assert again == space
    assert [repr(g) for g in again.groups] == [repr(g) for g in space.groups]
    assert repr(again.describe().to_dict()) == repr(space.describe().to_dict())
