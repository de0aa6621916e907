"""One row in, one row out."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from elbowroom import Ball, Box, InputError, NoRegion, Region
from tests.support.batches import portfolio, without_times


def test_a_batch_is_explain_for_every_row() -> None:
    explainer, rejected = portfolio()
    batch = explainer.explain_many(rejected.head(12), Box(0.02))
    assert list(batch.frame.index) == list(rejected.index[:12])
    for label, answer in zip(rejected.index, batch.regions[:], strict=False):
        alone = explainer.explain(rejected.loc[[label]], Box(0.02))
        assert isinstance(answer, Region) and isinstance(alone, Region)
        assert answer.to_json(timings=False) == alone.to_json(timings=False)
        line = batch.frame.loc[label]
        assert line["distance"] == alone.distance and line["sentence"] == alone.sentence()
        assert line["income__low"] == alone.lower["income"] and line["purpose__center"] == alone.center["purpose"]
        assert line["changes"] == alone.intervals["has_to_change"].sum()


def test_every_point_of_every_region_has_the_class() -> None:
    explainer, rejected = portfolio()
    batch = explainer.explain_many(rejected.head(12), Box(0.02))
    for answer in batch.regions:
        assert isinstance(answer, Region)
        assert (explainer.predict(answer.sample(300, seed=1)) == "yes").all()


def test_columns_and_types_are_those_of_the_schema() -> None:
    explainer, rejected = portfolio()
    schema = explainer.batch_schema()
    asked = explainer.explain_frame(rejected.head(3), Box(0.02))
    none = explainer.explain_frame(rejected.head(0), Box(0.02))
    wrong = explainer.explain_frame(rejected.head(2).assign(income=np.nan), Box(0.02))
    for frame in (asked, none, wrong):
        pd.testing.assert_series_equal(frame.dtypes, schema.dtypes)
    assert (wrong["status"] == "ERROR").all()


def test_explain_frame_pickles_and_is_pure() -> None:
    explainer, rejected = portfolio()
    copy = pickle.loads(pickle.dumps(explainer.explain_frame))
    before = rejected.head(5).copy()
    first, second = copy(rejected.head(5), room=Box(0.02)), explainer.explain_frame(rejected.head(5), room=Box(0.02))
    pd.testing.assert_frame_equal(without_times(first), without_times(second))
    pd.testing.assert_frame_equal(before, rejected.head(5))


def test_bad_rows_keep_their_place() -> None:
    explainer, rejected = portfolio()
    rows = rejected.head(4).copy()
    rows.iloc[1, 0] = np.nan
    rows.iloc[2, 3] = "yacht"
    frame = explainer.explain_many(rows, Box(0.02)).frame
    assert list(frame["status"]) == ["OPTIMAL", "ERROR", "ERROR", "OPTIMAL"]
    assert "income" in frame["error"].iloc[1] and "yacht" in frame["error"].iloc[2]
    assert frame["distance"].isna().tolist() == [False, True, True, False]


def test_an_empty_table_and_a_repeated_index() -> None:
    explainer, rejected = portfolio()
    empty = explainer.explain_many(rejected.head(0), Box(0.02))
    assert len(empty) == 0 and len(empty.frame) == 0 and len(empty.summary()) == 0
    twice = pd.concat([rejected.head(2), rejected.head(2)])
    frame = explainer.explain_many(twice, Box(0.02)).frame
    assert list(frame.index) == list(twice.index) and frame["distance"].iloc[0] == frame["distance"].iloc[2]


def test_what_is_wrong_with_the_question_is_said_at_once() -> None:
    explainer, rejected = portfolio()
    with pytest.raises(InputError, match="room"):
        explainer.explain_many(rejected, 0.05)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="n_jobs"):
        explainer.explain_many(rejected, n_jobs=0)
    with pytest.raises(InputError, match="single row"):
        explainer.explain_many([1, 2, 3])
    with pytest.raises(InputError, match=r"not a class|classes"):
        explainer.explain_many(rejected, target="maybe")
    with pytest.raises(InputError, match="on_progress"):
        explainer.explain_many(rejected, on_progress="bar")  # type: ignore[arg-type]


def test_proven_none_is_a_row_too() -> None:
    explainer, rejected = portfolio()
    batch = explainer.explain_many(rejected.head(3), Box({"income": 50.0, "debt": 50.0, "age": 50.0}))
    assert set(batch.frame["status"]) == {"NONE_EXISTS"}
    assert all(isinstance(answer, NoRegion) for answer in batch.regions)
    assert np.isinf(batch.frame["lower_bound"]).all()


def test_other_rooms() -> None:
    explainer, rejected = portfolio()
    batch = explainer.explain_many(rejected.head(3), Ball(0.03))
    assert [r.distance for r in batch.regions if r] == [
        explainer.explain(rejected.iloc[[i]], Ball(0.03)).distance for i in range(3)
    ]


def test_progress_counts_up() -> None:
    explainer, rejected = portfolio()
    seen: list[tuple[int, int]] = []
    explainer.explain_many(rejected.head(6), Box(0.02), on_progress=lambda p: seen.append((p.done, p.total)))
    assert seen == [(i, 6) for i in range(1, 7)]


def test_a_limit_for_all_rows_answers_each_first() -> None:
    explainer, rejected = portfolio()
    batch = explainer.explain_many(rejected.head(10), Box(0.02), total_limit=60.0)
    assert set(batch.frame["status"]) == {"OPTIMAL"}
    nothing = explainer.explain_many(rejected.head(5), Box(0.02), total_limit=0.0)
    assert set(nothing.frame["status"]) == {"NOT_ASKED"}


def test_interrupted_batches_say_so() -> None:
    explainer, rejected = portfolio()

    def stop(progress: object) -> None:
        raise KeyboardInterrupt

    batch = explainer.explain_many(rejected.head(5), Box(0.02), on_progress=stop)
    assert batch.interrupted
    assert list(batch.frame["status"]) == ["OPTIMAL"] + ["NOT_ASKED"] * 4


def test_tables_pages_and_pictures(tmp_path) -> None:
    explainer, rejected = portfolio()
    rows = rejected.head(5).rename(index={rejected.index[0]: "<script>alert(1)</script>"})
    batch = explainer.explain_many(rows, Box(0.02))
    batch.to_csv(tmp_path / "a.csv")
    read = pd.read_csv(tmp_path / "a.csv", index_col=0)
    assert list(read["distance"]) == list(batch.frame["distance"])
    page = batch.to_html(tmp_path / "a.html")
    assert "<script>" not in page and (tmp_path / "a.html").read_text() == page
    assert batch.plot() is not None and "OPTIMAL" in batch._repr_html_()
    assert batch.levers().sum() == batch.frame["changes"].sum()


def test_in_parallel_to_the_bit() -> None:
    explainer, rejected = portfolio()
    serial = explainer.explain_many(rejected.head(20), Box(0.02))
    parallel = explainer.explain_many(rejected.head(20), Box(0.02), n_jobs=2)
    pd.testing.assert_frame_equal(without_times(serial.frame), without_times(parallel.frame))
    for one, two in zip(serial.regions, parallel.regions, strict=True):
        assert one.to_json(timings=False) == two.to_json(timings=False)
