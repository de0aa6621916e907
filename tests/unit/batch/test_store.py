"""Answers survive: what was committed is there, and nothing else is mixed in."""

from __future__ import annotations

import os
import pickle
import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from elbowroom import AtMost, Box, InputError
from elbowroom.batch import BatchResult
from elbowroom.batch import store as store_module
from elbowroom.batch.store import Store, packed, unpacked
from tests.support.batches import portfolio, without_times


def test_a_batch_goes_on_where_it_ended(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    rows, path = rejected.head(8), tmp_path / "runs.db"
    asked = 0

    def stop_after_three(progress: object) -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise KeyboardInterrupt

    first = explainer.explain_many(rows, Box(0.02), store=path, on_progress=stop_after_three)
    assert first.interrupted and (first.frame["status"] == "NOT_ASKED").sum() == 5
    seen: list[int] = []
    second = explainer.explain_many(rows, Box(0.02), store=path, on_progress=lambda p: seen.append(p.done))
    assert seen == [4, 5, 6, 7, 8]
    whole = explainer.explain_many(rows, Box(0.02))
    pd.testing.assert_frame_equal(without_times(second.frame), without_times(whole.frame))
    third: list[int] = []
    explainer.explain_many(rows, Box(0.02), store=path, on_progress=lambda p: third.append(p.done))
    assert third == []


def test_another_question_is_refused_by_name(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    path = tmp_path / "runs.db"
    explainer.explain_many(rejected.head(2), Box(0.02), store=path)
    with pytest.raises(InputError, match="its room differs"):
        explainer.explain_many(rejected.head(2), Box(0.03), store=path)
    with pytest.raises(InputError, match="its rules differs"):
        explainer.explain_many(rejected.head(2), Box(0.02), rules=[AtMost(1)], store=path)
    with pytest.raises(InputError, match="its model differs"):
        portfolio(21)[0].explain_many(rejected.head(2), Box(0.02), store=path)
    with pytest.raises(InputError, match="2 rows, this one has 3"):
        explainer.explain_many(rejected.head(3), Box(0.02), store=path)
    changed = rejected.head(2).copy()
    changed.iloc[1, 0] += 0.5
    with pytest.raises(InputError, match=r"row 1 .*values differ"):
        explainer.explain_many(changed, Box(0.02), store=path)


def test_rows_that_are_not_proven_get_more_time_later(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    path = tmp_path / "runs.db"
    hasty = explainer.explain_many(rejected.head(3), Box(0.02), store=path, time_limit=0.0)
    assert not set(hasty.frame["status"]) & {"OPTIMAL"}
    patient = explainer.explain_many(rejected.head(3), Box(0.02), store=path, time_limit=60.0)
    assert set(patient.frame["status"]) == {"OPTIMAL"}


def test_two_runs_on_one_store_agree(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    path, rows = tmp_path / "runs.db", rejected.head(4)

    def meanwhile(progress: object) -> None:
        explainer.explain_many(rows, Box(0.02), store=path)  # another one does it all

    batch = explainer.explain_many(rows, Box(0.02), store=path, on_progress=meanwhile)
    assert set(batch.frame["status"]) == {"OPTIMAL"}


def test_files_that_are_no_store(tmp_path: Path) -> None:
    other = tmp_path / "letters.txt"
    other.write_text("dear reader" * 200)
    with pytest.raises(InputError, match="not a store"):
        Store(other)
    assert other.read_text().startswith("dear reader")
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("create table recipes (name text)")
    with pytest.raises(InputError, match="not a store of elbowroom"):
        Store(foreign)
    with pytest.raises(InputError, match="folder that exists"):
        Store(tmp_path / "nowhere" / "runs.db")


def test_a_store_of_a_newer_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runs.db"
    monkeypatch.setattr(store_module, "VERSION", 2)
    Store(path).close()
    monkeypatch.setattr(store_module, "VERSION", 1)
    with pytest.raises(InputError, match="version 2; this release reads version 1"):
        Store(path)


def test_a_locked_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "PATIENCE", 0.05)
    path = tmp_path / "runs.db"
    explainer, rejected = portfolio()
    explainer.explain_many(rejected.head(1), Box(0.02), store=path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("begin exclusive")
    with pytest.raises(InputError, match="locked the store"):
        explainer.explain_many(rejected.head(1), Box(0.02), store=path)
    holder.close()


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    path = tmp_path / "runs.db"

    def fill_up(progress: object) -> None:
        kept._connection.execute(
            f"pragma max_page_count = {kept._connection.execute('pragma page_count').fetchone()[0]}"
        )

    batch = explainer.explain_many(rejected.head(1), Box(0.02))  # noqa: F841 - loads the kernels
    kept = Store(path)
    from elbowroom.batch.question import BatchQuestion
    from elbowroom.batch.rows import rows_of
    from elbowroom.batch.runner import Run

    rows = rejected.head(40)
    question = BatchQuestion.of(Box(0.02), None, "l1", (), 60.0, "auto", 0)
    kept.begin(question.document(explainer, rows.columns), explainer.versions, rows_of(rows), len(rows))
    with pytest.raises(InputError, match="no space left"):
        Run(explainer, rows, question, kept, 1, fill_up).run()
    done = len(kept.statuses())
    kept.close()
    assert 0 < done < 40
    again = explainer.explain_many(rows, Box(0.02), store=path)
    assert set(again.frame["status"]) == {"OPTIMAL"}


def test_packing() -> None:
    assert unpacked(packed("ä\ud800")) == "ä\ud800" and unpacked(packed(None)) is None
    with pytest.raises(InputError, match="damaged"):
        unpacked(b"nonsense")
    with pytest.raises(InputError, match="larger than any answer"):
        unpacked(packed("a" * 1000), most=100)


def test_a_store_is_a_batch_without_its_model(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    rows = rejected.head(6).copy()
    rows.iloc[1, 0] = float("nan")
    path = tmp_path / "runs.db"
    batch = explainer.explain_many(rows, Box(0.02), store=path)
    batch._store.close()
    before = path.read_bytes()
    read = BatchResult.from_store(path)
    pd.testing.assert_frame_equal(read.frame, BatchResult.from_store(path).frame)
    assert read.frame["sentence"].tolist()[0] == explainer.explain(rows.iloc[[0]], Box(0.02)).sentence()
    assert read.regions[0].distance == read.frame["distance"].iloc[0] and read.regions[1] is None
    assert read.asked["income"].tolist()[2:] == rows["income"].tolist()[2:]
    assert read.audit("purpose").table.loc["all", "errors"] == 1
    with pytest.raises(InputError, match="without its model"):
        read.audit(radii=[0.1])
    assert path.read_bytes() == before
    with pytest.raises(InputError, match="no such file"):
        BatchResult.from_store(tmp_path / "other.db")


def test_a_damaged_store_is_an_error_and_never_another_answer(tmp_path: Path) -> None:
    """Bytes of the file are changed at random: what comes out is an error that names the file, or the same table."""
    explainer, rejected = portfolio()
    rows, path, copy = rejected.head(6), tmp_path / "runs.db", tmp_path / "copy.db"
    explainer.explain_many(rows, Box(0.02), store=path)._store.close()
    expected = without_times(BatchResult.from_store(path).frame)
    whole, chance = path.read_bytes(), random.Random(0)
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 1, 8))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        copy.write_bytes(damaged[: chance.randrange(len(damaged))] if chance.random() < 0.1 else damaged)
        try:
            read = BatchResult.from_store(copy)
            frame, answers = without_times(read.frame), list(read.regions)
        except InputError as error:
            assert "copy.db" in str(error)
            refused += 1
            continue
        asked = frame["status"] != "NOT_ASKED"  # a row that is gone is asked again
        pd.testing.assert_frame_equal(frame[asked], expected[asked])
        assert [answer is not None for answer in answers] == asked.tolist()
    assert refused > 30


def test_a_store_whose_maker_was_killed_at_once(tmp_path: Path) -> None:
    """Whatever was written of an empty store when its process ended, the next one goes on with it."""
    explainer, rejected = portfolio()
    for step, statements in enumerate(
        (
            [f"pragma application_id = {store_module.MARK}"],
            [f"pragma application_id = {store_module.MARK}", "pragma journal_mode = wal"],
            [f"pragma application_id = {store_module.MARK}", "create table meta (key text primary key, value text)"],
        )
    ):
        path = tmp_path / f"{step}.db"
        with sqlite3.connect(path) as connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()
        assert len(explainer.explain_many(rejected.head(1), Box(0.02), store=path)) == 1


def test_many_open_one_store_at_once(tmp_path: Path) -> None:
    for attempt in range(5):
        with ThreadPoolExecutor(8) as pool:
            for store in pool.map(lambda _, n=attempt: Store(tmp_path / f"{n}.db"), range(8)):
                store.close()


def test_two_runs_at_the_same_time(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    rows, path = rejected.head(30), tmp_path / "runs.db"
    copies = [pickle.loads(pickle.dumps(explainer)) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda one: one.explain_many(rows, Box(0.02), store=path), copies))
    alone = without_times(explainer.explain_many(rows, Box(0.02)).frame)
    for run in runs:
        pd.testing.assert_frame_equal(without_times(run.frame), alone)
    with sqlite3.connect(path) as connection:
        assert connection.execute("select count(*), count(distinct position) from answers").fetchone() == (30, 30)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="the system has no users to become")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    explainer.explain_many(rejected.head(1), Box(0.02), store=tmp_path / "runs.db")._store.close()
    root, nobody = os.geteuid() == 0, 65534
    above = [folder for folder in tmp_path.parents if root and folder.stat().st_mode & 0o777 == 0o700]
    try:
        if root:
            os.seteuid(nobody)
            with pytest.raises(InputError, match=r"new\.db: .*folder that you may write to"):  # nor looked into
                Store(tmp_path / "new.db")
            os.seteuid(0)
        for folder in above:
            folder.chmod(0o755)
        tmp_path.chmod(0o555)
        if root:
            os.seteuid(nobody)
        with pytest.raises(InputError, match=r"new\.db: .*folder that you may write to"):
            Store(tmp_path / "new.db")
        with pytest.raises(InputError, match=r"runs\.db: .*may not be written"):
            explainer.explain_many(rejected.head(1), Box(0.02), store=tmp_path / "runs.db")
        assert len(BatchResult.from_store(tmp_path / "runs.db").frame) == 1
    finally:
        if root:
            os.seteuid(0)
        for folder in (*above, tmp_path):
            folder.chmod(0o700)


def test_another_release_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explainer, rejected = portfolio()
    explainer.explain_many(rejected.head(1), Box(0.02), store=tmp_path / "runs.db")
    monkeypatch.setattr("elbowroom.batch.question.__version__", "99.0")
    with pytest.raises(InputError, match=r"its elbowroom differs: .* '99\.0' here"):
        explainer.explain_many(rejected.head(1), Box(0.02), store=tmp_path / "runs.db")
    with Store(tmp_path / "runs.db", reading=True) as store:
        assert store.versions.keys() >= {"python", "numpy", "sklearn"}
