"""One row in, one row out."""

from __future__ import annotations

import json
import pickle
import re
import time
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest

from elbowroom import Ball, Box, InputError, NoRegion, Region, Status
from elbowroom.batch import BatchProgress, parcel
from elbowroom.problem import Room
from elbowroom.result.schema import read_answer, write_answer
from tests.support.batches import portfolio, without_times
from tests.support.hostile import attack


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


@pytest.mark.parametrize("room", [Box(0.02), Box(0.05, on="changed"), Ball(0.03)])
def test_every_point_of_every_region_has_the_class(room: Room) -> None:
    """Read back from the store, and attacked through the model's own predict."""
    explainer, rejected = portfolio()
    batch = explainer.explain_many(rejected.head(3), room)
    for answer in batch.regions:
        assert isinstance(answer, Region)
        attack(explainer.predict, answer.body, "yes", explainer.model.cuts)


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


def test_threads_do_not_share_an_explainer() -> None:
    """Workers of a cluster often have several threads."""
    explainer, rejected = portfolio()
    rows = pd.concat([rejected] * 2).head(60)
    with joblib.parallel_config(backend="threading"):
        found = explainer.explain_many(rows, Box(0.02), n_jobs=4)
    assert len({id(one) for _, one in parcel._EXPLAINERS.values()}) == len(parcel._EXPLAINERS) > 1
    parcel._EXPLAINERS.clear()
    pd.testing.assert_frame_equal(
        without_times(found.frame), without_times(explainer.explain_many(rows, Box(0.02)).frame)
    )


def test_every_line_of_the_overview_leads_to_its_row() -> None:
    explainer, rejected = portfolio()
    rows = rejected.head(4).copy()
    rows.iloc[2, 0] = np.nan
    page = explainer.explain_many(rows, Box(0.02)).to_html()
    links = re.findall(r'<th scope="row"><a href="#(row-\d+)">', page)
    assert links == ["row-0", "row-1", "row-3"]
    assert all(page.count(f'id="{name}"') == 1 for name in [*links, "rows", "OPTIMAL", "ERROR"])
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )


def test_progress_knows_what_came_before_and_counts_each_row_once(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    path, seen = tmp_path / "runs.db", []
    explainer.explain_many(rejected.head(3), Box(0.02), store=path, time_limit=0.0)
    explainer.explain_many(rejected.head(3), Box(0.02), store=path, on_progress=seen.append)
    assert [(p.done, p.before, sum(p.counts.values())) for p in seen] == [(3, 3, 3)] * 3
    assert seen[-1].counts == {"OPTIMAL": 3} and seen[-1].rate == 0.0
    assert BatchProgress(6, 10, {}, 2.0, before=2).rate == 2.0
    assert BatchProgress(6, 10, {}, 2.0, before=2).seconds_left == 2.0


def test_hard_rows_get_an_answer_before_any_gets_a_proof() -> None:
    """Every search here takes the time it is given: without a first round, the first rows would take it all."""
    explainer, rejected = portfolio()
    asked: list[tuple[object, float]] = []

    class Slow(type(explainer)):  # type: ignore[misc]
        def explain(self, row, *arguments, **options):  # type: ignore[no-untyped-def]
            asked.append((row.name, options["time_limit"]))
            answer = super().explain(row, *arguments, **options | {"time_limit": 60.0})
            time.sleep(min(options["time_limit"], 0.02))
            return replace(answer, status=Status.CERTIFIED, lower_bound=0.0)

    slow = object.__new__(Slow)
    slow.__dict__.update(explainer.__dict__)
    batch = slow.explain_many(rejected.head(6), Box(0.02), total_limit=3.0, time_limit=2.5)
    assert batch.is_complete and not batch.interrupted
    assert [label for label, _ in asked[:6]] == list(rejected.index[:6])
    limits = {label: [limit for other, limit in asked if other == label] for label in rejected.index[:6]}
    assert all(had == sorted(set(had)) for had in limits.values())  # nobody is asked again without more time
    assert all(len(had) > 1 for had in limits.values())  # and the time for proofs does not go to the first rows alone


def test_answers_are_kept_on_one_line() -> None:
    explainer, rejected = portfolio()
    region = explainer.explain(rejected.iloc[[0]], Box(0.02))
    short = write_answer(region, compact=True)
    assert "\n" not in short and json.loads(short) == json.loads(region.to_json())
    assert read_answer(short).to_json() == region.to_json()
