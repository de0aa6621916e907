"""Batches that are killed, and workers that die."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import pandas as pd
import pytest

from elbowroom import Box, Explainer
from tests.support.batches import portfolio, without_times

PROGRAM = """
import sys, joblib
from elbowroom import Box
if __name__ == "__main__":
    explainer, rows = joblib.load(sys.argv[1])
    batch = explainer.explain_many(rows, Box(0.02), store=sys.argv[2], n_jobs=int(sys.argv[3]))
    sys.exit(130 if batch.interrupted else 0)
"""


def _child(folder: Path, store: Path, jobs: int) -> subprocess.Popen[bytes]:
    program = folder / "program.py"
    program.write_text(PROGRAM)
    words = [sys.executable, str(program), str(folder / "question"), str(store), str(jobs)]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def _kill_and_resume(folder: Path, seed: int, jobs: int, rows: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Kill the batch at random moments until it ends by itself; then every row is there once, as in one run."""
    chance, store = random.Random(seed), folder / f"{seed}.db"
    explainer: Explainer = portfolio()[0]
    for _ in range(6):
        child = _child(folder, store, jobs)
        time.sleep(chance.uniform(0.5, 4.0))
        with_all = signal.SIGINT if chance.random() < 0.3 else signal.SIGKILL
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, with_all)
        child.wait(60)
    child = _child(folder, store, jobs)
    assert child.wait(120) == 0
    found = explainer.explain_many(rows, Box(0.02), store=store)
    pd.testing.assert_frame_equal(without_times(found.frame), without_times(expected))


@pytest.mark.parametrize(("seed", "jobs"), [(0, 1)])
def test_killed_batches_lose_nothing(tmp_path: Path, seed: int, jobs: int) -> None:
    explainer, rejected = portfolio()
    rows = pd.concat([rejected] * 4)
    joblib.dump((explainer, rows), tmp_path / "question")
    _kill_and_resume(tmp_path, seed, jobs, rows, explainer.explain_many(rows, Box(0.02)).frame)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_two_hundred_kills(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    rows = pd.concat([rejected] * 4)
    joblib.dump((explainer, rows), tmp_path / "question")
    expected = explainer.explain_many(rows, Box(0.02)).frame
    for seed in range(34):  # six kills each
        _kill_and_resume(tmp_path, 100 + seed, 1 + seed % 2, rows, expected)


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
        label = row.index[0]
        if label == self.always or (label == self.once and not self.mark.exists()):
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().explain(row, *arguments, **options)
