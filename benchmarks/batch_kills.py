"""200 kills of a running batch, each at a random moment: the process (kill -9), one of its workers (kill -9), Ctrl-C.

A batch is killed again and again until it ends by itself; then every row must be in its store exactly once, with the
answer of an unbroken run. Without workers the batch runs in a fork of this process, so that it begins at once.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import joblib
import pandas as pd

from elbowroom import Box, Explainer

ROOM = Box(0.02)
KILLS, ALONE, ROWS = 200, 140, 160
PROGRAM = """
import sys, joblib
from elbowroom import Box
if __name__ == "__main__":
    explainer, rows = joblib.load(sys.argv[1])
    found = explainer.explain_many(rows, Box(0.02), store=sys.argv[2], n_jobs=2)
    sys.exit(130 if found.interrupted else 0)
"""


def run_kills(
    explainer: Explainer,
    table: pd.DataFrame,
    kills: int = KILLS,
    alone: int = ALONE,
    pause: float = 0.5,
    size: int = ROWS,
) -> dict[str, Any]:
    """So many kills, the first ones of a process ``alone``, each at most ``pause`` seconds after its begin."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where this runs in the background, which ignores it
    rows = table.head(size)
    whole = explainer.explain_many(rows, ROOM)
    expected = answers_of(whole)
    chance, done, wrong, stores = random.Random(0), Counter[str](), 0, 0
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        joblib.dump((explainer, rows), folder / "question")
        (folder / "program.py").write_text(PROGRAM)
        while done.total() < kills:
            stores += 1
            store, by_itself = folder / f"{stores}.db", done.total() < alone
            ended = False
            while not ended:
                if done.total() >= kills:
                    explainer.explain_many(rows, ROOM, store=store)
                    how = None
                elif by_itself:
                    how = _alone(explainer, rows, store, chance, pause)
                else:
                    how = _with_workers(folder, store, chance)
                ended = how is None
                done.update([] if how is None else [how])
            wrong += not _is_whole(explainer, rows, store, expected)
            print(f"{done.total()} kills, {stores} batches, {wrong} wrong: {dict(done)}", flush=True)
    return {
        "kills": done.total(),
        "by_kind": dict(done),
        "batches": stores,
        "rows_of_each": len(rows),
        "wrong_batches": wrong,
        "equal": wrong == 0,
        "seconds": time.perf_counter() - began,
    }


def answers_of(batch: Any) -> list[str | None]:
    """Exact, without timings."""
    return [None if answer is None else answer.to_json(timings=False) for answer in batch.regions]


def _is_whole(explainer: Explainer, rows: pd.DataFrame, store: Path, expected: list[str | None]) -> bool:
    with sqlite3.connect(store) as connection:
        found = [row[0] for row in connection.execute("select position from answers order by position")]
    connection.close()
    asked: list[Any] = []
    again = explainer.explain_many(rows, ROOM, store=store, on_progress=asked.append)
    return found == list(range(len(rows))) and not asked and answers_of(again) == expected


def _alone(explainer: Explainer, rows: pd.DataFrame, store: Path, chance: random.Random, pause: float) -> str | None:
    """One process, ended after a moment; None: it was faster."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 130 if explainer.explain_many(rows, ROOM, store=store).interrupted else 0
        finally:
            os._exit(code)
    time.sleep(chance.uniform(0.0, pause))
    kind = "Ctrl-C" if chance.random() < 0.3 else "kill -9 of the process"
    os.kill(child, signal.SIGINT if kind == "Ctrl-C" else signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return None if code == 0 else kind


def _with_workers(folder: Path, store: Path, chance: random.Random) -> str | None:
    """Two workers; one of them, all processes, or Ctrl-C. A worker alone does not end the batch, and counts as a kill."""
    before = _kept(store)
    child = subprocess.Popen(
        [sys.executable, str(folder / "program.py"), str(folder / "question"), str(store)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    while child.poll() is None and _kept(store) == before:  # until it is at work
        time.sleep(0.05)
    time.sleep(chance.uniform(0.0, 0.8))
    if child.poll() is not None:
        return None
    kind = chance.choice(("kill -9 of a worker", "kill -9 of all processes", "Ctrl-C with workers"))
    if kind == "kill -9 of a worker":
        workers = _workers_of(child.pid)
        if workers:
            os.kill(chance.choice(workers), signal.SIGKILL)
        child.wait(300)
        return kind
    os.killpg(child.pid, signal.SIGINT if kind == "Ctrl-C with workers" else signal.SIGKILL)
    return None if child.wait(300) == 0 else kind


def _kept(store: Path) -> int:
    if not store.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=5.0) as connection:
            return int(connection.execute("select count(*) from answers").fetchone()[0])
    except sqlite3.Error:  # it is being made
        return 0


def _workers_of(process: int) -> list[int]:
    """Processes of loky that search, and not those that watch over its resources."""
    found = []
    for path in Path(f"/proc/{process}/task").iterdir():
        for pid in (path / "children").read_text().split():
            if b"LokyProcess" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(int(pid))
    return found
