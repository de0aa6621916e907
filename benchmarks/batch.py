"""A portfolio: 10,000 rejected applicants (German credit resampled, gradient boosting of 100 trees behind a OneHotEncoder).

Parts, each stored with the commit it was measured at; `--only` runs some of them and keeps the others as they were:

throughput  rows per second of one process and of two, on the same rows, in turns; processor seconds beside them, because
            they do not depend on what else the machine does
portfolio   all rows on two processes with a store: statuses, equal to one process, memory on the way, bytes per row
memory      100,000 rows of a small tree: memory of the processes on the way
kills       200 kills of a running batch (`benchmarks.batch_kills`)
dask        a cluster of two processes of which one is killed on the way
peers       treecf's batch (no room) and DiCE beside it (`benchmarks.batch_peers`)
paper       from these, what ten million rows cost on a hundred workers
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.boosted import german
from benchmarks.record import RESULTS, commit
from elbowroom import Box, Explainer, Space

ROOM = Box(0.02)
TURNS, ROWS_PER_TURN = 5, 600
MEMORY_ROWS = 100_000
PARTS = ("throughput", "portfolio", "memory", "kills", "dask", "peers")


def portfolio(rows: int) -> tuple[Explainer, pd.DataFrame]:
    """The explainer, and so many rejected applicants drawn with replacement, their amounts and durations moved a little."""
    frame, model = trained()
    rejected = frame[model.predict(frame) == 0]
    rng = np.random.default_rng(0)
    drawn = rejected.iloc[rng.integers(len(rejected), size=2 * rows)].reset_index(drop=True)
    for name in ("duration", "amount"):
        moved = (drawn[name] * rng.uniform(0.9, 1.1, len(drawn))).round()
        drawn[name] = moved.clip(frame[name].min(), frame[name].max())
    drawn = drawn[model.predict(drawn) == 0].head(rows).reset_index(drop=True)
    return Explainer(model, Space.from_frame(frame)), drawn


def trained() -> tuple[pd.DataFrame, Any]:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame, label = german()
    words = [name for name in frame.columns if frame[name].dtype.kind not in "fiub"]
    encoder = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
    return frame, make_pipeline(encoder, GradientBoostingClassifier(n_estimators=100, random_state=0)).fit(frame, label)


def run_batch(rows: int = 10_000, only: Sequence[str] = ()) -> dict[str, Any]:
    stored = RESULTS / "batch.json"
    found: dict[str, Any] = json.loads(stored.read_text()) if stored.exists() else {}
    measured = {name: found[name] for name in PARTS if name in found}
    explainer, table = portfolio(rows)
    explainer.explain(table.iloc[[0]], ROOM)  # kernels are loaded
    for name in only or PARTS:
        measured[name] = {"commit": commit(), **_part(name)(explainer, table)}
        print(name, {k: v for k, v in measured[name].items() if not isinstance(v, list)}, flush=True)
    content = {**measured, **on_paper(measured)}
    return content | {"failures": [name for name, part in measured.items() if part.get("equal") is False]}


def _part(name: str) -> Callable[[Explainer, pd.DataFrame], dict[str, Any]]:
    from benchmarks.batch_kills import run_kills
    from benchmarks.batch_peers import run_peers

    return {
        "throughput": _throughput, "portfolio": _portfolio, "memory": _memory, "kills": run_kills, "dask": _dask,
        "peers": run_peers,
    }[name]  # fmt: skip


def on_paper(parts: dict[str, Any]) -> dict[str, Any]:
    """Rows over workers times seconds per row and worker, plus one start; bytes per row times rows."""
    if not {"throughput", "portfolio"} <= parts.keys():
        return {}
    row, start = parts["throughput"]["processor_seconds_per_row_two"], parts["throughput"]["start_seconds"]
    return {
        "ten_million_rows_on_100_workers": {
            "hours": (1e7 * row / 100 + start) / 3600,
            "worker_hours": 1e7 * row / 3600,
            "gigabytes_of_answers": 1e7 * parts["portfolio"]["bytes_per_row"] / 1e9,
            "megabytes_of_model_per_worker": parts["throughput"]["model_bytes"] / 1e6,
        }
    }


# ---- one process and two ---------------------------------------------------------------------------------------------
def _throughput(explainer: Explainer, table: pd.DataFrame) -> dict[str, Any]:
    from elbowroom.batch.parcel import Parcel

    began = time.perf_counter()
    explainer.explain_many(table.head(4), ROOM, n_jobs=2)  # processes are started, kernels loaded
    start = time.perf_counter() - began
    turns = []
    for turn in range(TURNS):
        part = table.iloc[turn * ROWS_PER_TURN : (turn + 1) * ROWS_PER_TURN]
        one = _timed(lambda part=part: explainer.explain_many(part, ROOM))
        two = _timed(lambda part=part: explainer.explain_many(part, ROOM, n_jobs=2))
        turns.append({"rows": len(part), "load": os.getloadavg()[0], "one": one, "two": two})
        print(turns[-1], flush=True)
    with Parcel.of(explainer, as_file=False) as parcel:
        model_bytes = parcel.data.nbytes
    return {
        "start_seconds": start,
        "model_bytes": model_bytes,
        "rows_per_second_one": median(t["rows"] / t["one"]["seconds"] for t in turns),
        "rows_per_second_two": median(t["rows"] / t["two"]["seconds"] for t in turns),
        "ratio": median(t["one"]["seconds"] / t["two"]["seconds"] for t in turns),
        "largest_ratio": max(t["one"]["seconds"] / t["two"]["seconds"] for t in turns),
        "processor_seconds_per_row_one": median(t["one"]["processor"] / t["rows"] for t in turns),
        "processor_seconds_per_row_two": median(t["two"]["processor"] / t["rows"] for t in turns),
        "ratio_of_processors": median(2 * t["one"]["processor"] / t["two"]["processor"] for t in turns),
        "turns": turns,
    }


def _timed(run: Callable[[], Any]) -> dict[str, float]:
    """Seconds on the clock, and of all processors: of this process and of those it started."""
    began, used = time.perf_counter(), _processor_seconds()
    run()
    return {"seconds": time.perf_counter() - began, "processor": _processor_seconds() - used}


def _processor_seconds() -> float:
    """Of this process and its living children."""
    ticks = 0
    for process in ["self", *_children()]:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _children() -> list[str]:
    return [pid for path in Path("/proc/self/task").iterdir() for pid in (path / "children").read_text().split()]


def _megabytes(process: str = "self") -> float:
    """Resident memory now."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)


# ---- all rows --------------------------------------------------------------------------------------------------------
def _portfolio(explainer: Explainer, table: pd.DataFrame) -> dict[str, Any]:
    memory: list[dict[str, Any]] = []

    def look(progress: Any) -> None:
        if not memory or progress.done - memory[-1]["done"] >= len(table) / 20:
            workers = [_megabytes(pid) for pid in _children()]
            memory.append({"done": progress.done, "here": _megabytes(), "workers": max(workers, default=0.0)})

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.db"
        began = time.perf_counter()
        batch = explainer.explain_many(table, ROOM, time_limit=10.0, n_jobs=2, store=store, on_progress=look)
        seconds = time.perf_counter() - began
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        frame = batch.frame
        some = table.iloc[::10]
        same = equal(explainer.explain_many(some, ROOM, time_limit=10.0).frame, frame.iloc[::10])
    return {
        "rows": len(table),
        "seconds": seconds,
        "rows_per_second": len(table) / seconds,
        "statuses": frame["status"].value_counts().to_dict(),
        "equal": same,
        "compared_with_one_process": len(some),
        "bytes_per_row": size / len(table),
        "memory_megabytes": memory,
    }


def equal(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Equal but for timings. Rows that ran into their limit are not compared: they depend on the machine."""
    ended = ["OPTIMAL", "NONE_EXISTS", "ERROR"]
    proven = (one["status"].isin(ended) & other["status"].isin(ended)).to_numpy()
    return one[proven].drop(columns="seconds").equals(other[proven].drop(columns="seconds"))


def _memory(explainer: Explainer, table: pd.DataFrame) -> dict[str, Any]:
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(MEMORY_ROWS, 3)), columns=["a", "b", "c"])
    small = Explainer(DecisionTreeClassifier(max_depth=4, random_state=0).fit(X.head(1000), X["a"].head(1000) > 0.3))
    small.explain(X.iloc[[0]], ROOM)
    seen: list[dict[str, Any]] = []

    def look(progress: Any) -> None:
        if not seen or progress.done - seen[-1]["done"] >= MEMORY_ROWS / 20:
            workers = [_megabytes(pid) for pid in _children()]
            seen.append({"done": progress.done, "here": _megabytes(), "workers": max(workers)})
            print(seen[-1], flush=True)

    began = time.perf_counter()
    batch = small.explain_many(X, ROOM, n_jobs=2, on_progress=look)
    seconds = time.perf_counter() - began
    return {"rows": len(batch), "seconds": seconds, "memory_megabytes": seen}


# ---- a cluster -------------------------------------------------------------------------------------------------------
def _dask(explainer: Explainer, table: pd.DataFrame) -> dict[str, Any]:
    """Two processes of a LocalCluster, one of them killed when a quarter of the rows is there."""
    import joblib
    from distributed import Client, LocalCluster

    rows = table.head(400)
    expected = explainer.explain_many(rows, ROOM, time_limit=10.0).frame
    killed: list[int] = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        victim = next(iter(cluster.workers.values())).process.pid

        def kill(progress: Any) -> None:
            if progress.done >= len(rows) // 4 and not killed:
                killed.append(progress.done)
                os.kill(victim, 9)

        began = time.perf_counter()
        found = explainer.explain_many(rows, ROOM, time_limit=10.0, n_jobs=2, on_progress=kill).frame
        seconds = time.perf_counter() - began
    return {"rows": len(rows), "seconds": seconds, "killed_after_rows": killed, "equal": equal(found, expected)}
