"""Batches that are killed, and workers that die."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pandas as pd
import pytest
from benchmarks.batch_kills import run_kills

from elbowroom import Box, Explainer
from tests.support.batches import portfolio, without_times


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_killed_batches_lose_nothing() -> None:
    """kill -9 and Ctrl-C at random moments: every row is there once, as in an unbroken run. The benchmark ``python -m
    benchmarks batch --only kills`` does it 200 times, with workers, too."""
    explainer, rejected = portfolio()
    found = run_kills(explainer, rejected, kills=12, alone=12, pause=0.15, size=60)
    assert found["equal"] and found["kills"] >= 12


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_two_hundred_kills() -> None:
    explainer, rejected = portfolio()
    assert run_kills(explainer, pd.concat([rejected] * 3))["equal"]


def test_a_worker_that_dies(tmp_path: Path) -> None:
    """The rows it had are asked again alone; one that ends its worker again is reported."""
    explainer, rejected = portfolio()
    rows = rejected.head(12)
    deadly = DeadlyExplainer(explainer, rows.index[3], rows.index[7], tmp_path / "once")
    frame = deadly.explain_many(rows, Box(0.02), n_jobs=2).frame
    alone = explainer.explain_many(rows, Box(0.02)).frame
    assert frame.loc[rows.index[3], "status"] == "ERROR" and "ended twice" in frame.loc[rows.index[3], "error"]
    kept = frame.index != rows.index[3]
    pd.testing.assert_frame_equal(without_times(frame[kept]), without_times(alone[kept]))


class DeadlyExplainer(Explainer):
    """Ends its process at one row always, and at another one the first time."""

    def __init__(self, whole: Explainer, always: object, once: object, mark: Path) -> None:
        self.__dict__.update(whole.__dict__)
        self.always, self.once, self.mark = always, once, mark

    def explain(self, row, *arguments, **options):  # type: ignore[no-untyped-def]
        label = row.name
        if label == self.always or (label == self.once and not self.mark.exists()):
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().explain(row, *arguments, **options)
