"""A portfolio: 10,000 rejected applicants (German credit resampled, gradient boosting of 100 trees behind a OneHotEncoder).

Rows per second of one process and of two, as a ratio in one run; memory of the parent while the batch runs; bytes per
row in the store; a Dask cluster of two processes of which one is killed on the way; and from these what ten million rows
cost on a hundred workers.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.boosted import german
from elbowroom import Box, Explainer, Space

SERIAL_SHARE = 10  # the serial rate is measured on every tenth row
ROOM = Box(0.02)


def portfolio(rows: int) -> tuple[Explainer, pd.DataFrame]:
    """The explainer, and rejected applicants drawn with replacement, their amounts and durations moved a little."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame, label = german()
    words = [name for name in frame.columns if frame[name].dtype.kind not in "fiub"]
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), words), remainder="passthrough"),
        GradientBoostingClassifier(n_estimators=100, random_state=0),
    ).fit(frame, label)
    rejected = frame[model.predict(frame) == 0]
    rng = np.random.default_rng(0)
    drawn = rejected.iloc[rng.integers(len(rejected), size=rows)].reset_index(drop=True)
    for name in ("duration", "amount"):
        if name in drawn:
            moved = (drawn[name] * rng.uniform(0.9, 1.1, rows)).round()
            drawn[name] = moved.clip(frame[name].min(), frame[name].max())
    drawn = drawn[model.predict(drawn) == 0].reset_index(drop=True)
    return Explainer(model, Space.from_frame(frame)), drawn


def run_batch(rows: int = 10_000) -> dict[str, Any]:
    explainer, table = portfolio(rows)
    explainer.explain(table.iloc[[0]], ROOM)  # kernels are loaded
    serial_rows = table.iloc[::SERIAL_SHARE]
    began = time.perf_counter()
    serial = explainer.explain_many(serial_rows, ROOM, time_limit=10.0)
    serial_rate = len(serial_rows) / (time.perf_counter() - began)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.db"
        memory: list[tuple[int, float]] = []

        def look(progress: Any) -> None:
            if not memory or progress.done - memory[-1][0] >= max(1, rows // 20):
                memory.append((progress.done, _megabytes()))

        began = time.perf_counter()
        explainer.explain_many(table.head(4), ROOM, n_jobs=2)
        start_up = time.perf_counter() - began
        began = time.perf_counter()
        parallel = explainer.explain_many(table, ROOM, time_limit=10.0, n_jobs=2, store=store, on_progress=look)
        seconds = time.perf_counter() - began
        bytes_per_row = sum(p.stat().st_size for p in Path(folder).iterdir()) / len(table)
        same = _equal(serial.frame, parallel.frame.iloc[::SERIAL_SHARE])
        statuses = parallel.frame["status"].value_counts().to_dict()
    rate = len(table) / seconds
    per_row = 2 / rate  # worker seconds
    found = {
        "rows": len(table),
        "statuses": statuses,
        "serial_rows_per_second": serial_rate,
        "rows_per_second": rate,
        "ratio": rate / serial_rate,
        "equal_to_serial": same,
        "start_up_seconds": start_up,
        "seconds_per_row_and_worker": per_row,
        "bytes_per_row_in_store": bytes_per_row,
        "memory_megabytes": memory,
        "dask": _dask(explainer, table.head(min(400, rows))),
        "ten_million_rows_on_100_workers": {
            "hours": (1e7 * per_row / 100 + start_up) / 3600,
            "gigabytes_of_answers": 1e7 * bytes_per_row / 1e9,
        },
    }
    found["failures"] = [] if same and found["dask"].get("equal", True) else ["batches differ"]
    return found


def _dask(explainer: Explainer, table: pd.DataFrame) -> dict[str, Any]:
    """Two processes of a LocalCluster, one of them killed after a moment."""
    try:
        import joblib
        from distributed import Client, LocalCluster
    except ImportError:
        return {"reason": "dask[distributed] is not installed"}
    expected = explainer.explain_many(table, ROOM, time_limit=10.0).frame
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        victim = next(iter(cluster.workers.values())).process.pid
        timer = threading.Timer(6.0, lambda: os.kill(victim, 9))
        timer.start()
        began = time.perf_counter()
        found = explainer.explain_many(table, ROOM, time_limit=10.0, n_jobs=2).frame
        seconds = time.perf_counter() - began
        timer.cancel()
    return {"rows": len(table), "seconds": seconds, "one_killed_after": 6.0, "equal": _equal(found, expected)}


def _equal(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    """Equal but for timings. Rows that ran into their limit are not compared: they depend on the machine."""
    proven = (
        one["status"].isin(["OPTIMAL", "NONE_EXISTS"]) & other["status"].isin(["OPTIMAL", "NONE_EXISTS"])
    ).to_numpy()
    return one[proven].drop(columns="seconds").equals(other[proven].drop(columns="seconds"))


def _megabytes() -> float:
    """Resident memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
