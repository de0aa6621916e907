"""Answers survive: what was committed is there, and nothing else is mixed in."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from elbowroom import AtMost, Box, InputError
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
    from elbowroom.batch.ask import digests
    from elbowroom.batch.question import BatchQuestion
    from elbowroom.batch.runner import Run

    rows = rejected.head(40)
    question = BatchQuestion.of(Box(0.02), None, "l1", (), 60.0, "auto", 0)
    kept.begin(question.document(explainer), list(rows.index), digests(rows))
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
