"""Do answers look like the data? Centres with and without `Plausible`, judged by someone else.

German credit (raw categories) and breast cancer, gradient boosting with 100 trees, Box(0.02), rows that the model refuses. The
judge is a local outlier factor (LOF), fitted on standardized rows of the wanted class: the share of centres that it calls
outliers, beside the share of the rows themselves, with distances and seconds. Every region is attacked: the model's own predict
at random points of it, and the forest's own trees (as the rule keeps them) at the centre or at all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.boosted import german
from elbowroom import Box, Explainer, Plausible, Region, Space

ASKED = ("nothing", "centre", "everywhere", "leaves")
POINTS = 1000


def cancer() -> tuple[pd.DataFrame, np.ndarray]:
    from sklearn.datasets import load_breast_cancer

    frame, label = load_breast_cancer(return_X_y=True, as_frame=True)
    return frame, label.to_numpy()


TABLES: dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]] = {"german": german, "cancer": cancer}


def run_plausible(
    rows: int = 60, limit: float = 5.0, data: tuple[str, ...] = ("german", "cancer")
) -> list[dict[str, Any]]:
    """One record per row and kind of rule."""
    return [record for name in data for record in _of_table(name, rows, limit)]


def _of_table(name: str, rows: int, limit: float) -> Iterator[dict[str, Any]]:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.neighbors import LocalOutlierFactor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    X, y = TABLES[name]()
    words = make_column_selector(dtype_exclude="number")
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), remainder="passthrough")
    model = make_pipeline(encoder, GradientBoostingClassifier(n_estimators=100, random_state=0)).fit(X, y)
    explainer = Explainer(model, Space.from_frame(X))
    inner = explainer.space.inner(X)
    lof = make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)).fit(inner[y == 1])
    rules = {
        "nothing": (),
        "centre": (Plausible(X, y),),
        "everywhere": (Plausible(X, y, everywhere=True),),
        "leaves": (Plausible(X, how="leaves", everywhere=True),),
    }
    refused = np.flatnonzero(np.asarray(model.predict(X)) == 0)
    chosen = refused[np.linspace(0, refused.size - 1, min(rows, refused.size)).astype(int)]
    for asked in ASKED:  # one after the other: the engine keeps what it made of the model and a forest
        for i in chosen:
            began = time.perf_counter()
            region = explainer.explain(X.iloc[int(i)], Box(0.02), rules=rules[asked], time_limit=limit)
            record = {
                "data": name, "row": int(i), "asked": asked, "status": region.status.name,
                "seconds": time.perf_counter() - began, "row_is_outlier": bool(lof.predict(inner[i : i + 1])[0] == -1),
            }  # fmt: skip
            if isinstance(region, Region):
                _attack(explainer, region)
                outlier = bool(lof.predict(region.body.center[None])[0] == -1)
                record |= {"distance": region.distance, "gap": region.gap, "outlier": outlier}
            yield record


def _attack(explainer: Explainer, region: Region) -> None:
    points = region.body.sample(POINTS)
    if not (explainer.predict(points) == 1).all():
        raise AssertionError(f"a point of {region!r} has another class")
    for rule in region.rules:
        for each in rule.lower(region.space, region.factual_values).further:
            asked = points if each.everywhere else region.body.center[None]
            if not (each.model.scores(asked) >= 0.0).all():
                raise AssertionError(f"{each.source} does not hold in {region!r}")


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Per table and kind of rule: shares of outliers, answers, proven ones, distances and seconds."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(record["data"] for record in records):
        for asked in ASKED:
            mine = [r for r in records if r["data"] == name and r["asked"] == asked]
            have = [r for r in mine if "outlier" in r]
            if not have:
                continue
            found[f"{name}, {asked}"] = {
                "rows": len(mine),
                "answers": len(have),
                "proven": sum(r["status"] in ("OPTIMAL", "NONE_EXISTS") for r in mine),
                "none exists": sum(r["status"] == "NONE_EXISTS" for r in mine),
                "outliers": float(np.mean([r["outlier"] for r in have])),
                "rows that are outliers": float(np.mean([r["row_is_outlier"] for r in mine])),
                "mean distance": float(np.mean([r["distance"] for r in have])),
                "median seconds": float(np.median([r["seconds"] for r in mine])),
                "mean seconds": float(np.mean([r["seconds"] for r in mine])),
            }
    return found
