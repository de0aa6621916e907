"""Batches on clusters that somebody else runs: the same table, through joblib and through parts of a distributed table.

Dask always; Ray and Spark where ``pip install elbowroom[ray]`` or ``elbowroom[spark]`` was said. `docs/scaling.md` has the
same lines.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import joblib
import pandas as pd
import pytest

from elbowroom import Box, Explainer
from tests.support.batches import portfolio, without_times

COLUMNS = ["status", "distance", "income__low", "purpose__center", "changes", "sentence"]


def asked() -> tuple[Explainer, pd.DataFrame, pd.DataFrame]:
    """The explainer, rows that know what they are called, and the table of one process."""
    explainer, rejected = portfolio()
    rows = rejected.head(24)
    return explainer, rows, explainer.explain_many(rows, Box(0.02)).frame


def keyed(explainer: Explainer, part: pd.DataFrame) -> pd.DataFrame:
    """Where rows have no index, a column says which they are."""
    answers = explainer.explain_frame(part.drop(columns="case"), room=Box(0.02))
    return pd.concat([part[["case"]].reset_index(drop=True), answers.reset_index(drop=True)], axis=1)


def assert_same(made: pd.DataFrame, expected: pd.DataFrame) -> None:
    found = made.set_index("case").loc[list(expected.index), COLUMNS]
    assert found.to_numpy(object).tolist() == expected[COLUMNS].to_numpy(object).tolist()


def test_dask() -> None:
    """A real cluster of processes, of which one is killed on the way."""
    distributed = pytest.importorskip("distributed", reason="pip install elbowroom[cluster] runs this test")
    import dask.dataframe as dd

    explainer, rows, expected = asked()
    killed: list[int] = []
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True) as cluster,
        distributed.Client(cluster),
    ):
        parts = dd.from_pandas(rows, npartitions=3)
        made = parts.map_partitions(explainer.explain_frame, room=Box(0.02), meta=explainer.batch_schema()).compute()
        assert made.loc[rows.index, COLUMNS].to_numpy(object).tolist() == expected[COLUMNS].to_numpy(object).tolist()
        victim = next(iter(cluster.workers.values())).process.pid

        def kill(progress: Any) -> None:
            if not killed:
                killed.append(progress.done)
                os.kill(victim, 9)

        with joblib.parallel_config(backend="dask"):
            found = explainer.explain_many(rows, Box(0.02), n_jobs=2, on_progress=kill).frame
    assert killed
    pd.testing.assert_frame_equal(without_times(found), without_times(expected))


def test_ray() -> None:
    ray = pytest.importorskip("ray", reason="pip install elbowroom[ray] runs this test")
    from ray.util.joblib import register_ray

    explainer, rows, expected = asked()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        register_ray()
        with joblib.parallel_config(backend="ray"):
            found = explainer.explain_many(rows, Box(0.02), n_jobs=2).frame
        pd.testing.assert_frame_equal(without_times(found), without_times(expected))
        data = ray.data.from_pandas(rows.reset_index(names="case")).repartition(3)
        made = data.map_batches(partial(keyed, explainer), batch_format="pandas").to_pandas()
        assert_same(made, expected)
    finally:
        ray.shutdown()


def test_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    pyspark = pytest.importorskip("pyspark.sql", reason="pip install elbowroom[spark] runs this test")
    joblibspark = pytest.importorskip("joblibspark", reason="pip install elbowroom[spark] runs this test")
    explainer, rows, expected = asked()
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # its workers would take any python3
    spark = pyspark.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        joblibspark.register_spark()
        with joblib.parallel_config(backend="spark"):
            found = explainer.explain_many(rows, Box(0.02), n_jobs=2).frame
        pd.testing.assert_frame_equal(without_times(found), without_times(expected))

        def explained(parts: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            return (keyed(explainer, part) for part in parts)

        kinds = {"float64": "double", "Int64": "bigint", "boolean": "boolean", "object": "string"}
        columns = [f"`{name}` {kinds[str(kind)]}" for name, kind in explainer.batch_schema().dtypes.items()]
        table = spark.createDataFrame(rows.reset_index(names="case")).repartition(3)
        assert_same(table.mapInPandas(explained, "case string, " + ", ".join(columns)).toPandas(), expected)
    finally:
        spark.stop()
