"""Models of the size people use: a certified region soon, and the gap at 1, 10 and 60 seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.support.hostile import hostile_points

from benchmarks.data import LARGE, DataMissing
from elbowroom import Box, Explainer, Region, TreeEnsemble

MOMENTS = (1.0, 10.0, 60.0)


def models() -> dict[str, Any]:
    from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier

    return {
        "GradientBoosting 200 x depth 4": GradientBoostingClassifier(n_estimators=200, max_depth=4, random_state=0),
        "RandomForest 100 full depth": RandomForestClassifier(100, random_state=0),
        "HistGradientBoosting 300": HistGradientBoostingClassifier(max_iter=300, random_state=0),
    }


def run_realistic(rows: int = 3, radius: float = 0.02, limit: float = 60.0) -> list[dict[str, Any]]:
    records = []
    for data, load in LARGE.items():
        try:
            X, y = load()
        except DataMissing as missing:
            print(missing)
            continue
        for name, model in models().items():
            model.fit(X, y)
            explainer = Explainer(model)
            explainer.explain(X[0], room=Box(0.001), time_limit=0.5)
            for i in range(rows):
                record = {"data": data, "model": name, "row": i, **_follow(explainer, model, X[i], radius, limit)}
                records.append(record)
                print(
                    f"{data:9s} {name:32s} row {i}: {record['status']:9s} first {_text(record['first_s'])} s, "
                    f"gap at 1/10/60 s {' '.join(_text(g) for g in record['gaps'])}, false {record['false_points']}",
                    flush=True,
                )
    return records


def _follow(explainer: Explainer, model: Any, x: np.ndarray, radius: float, limit: float) -> dict[str, Any]:
    answer = explainer.explain(x, room=Box(radius), time_limit=limit)
    gaps: list[float | None] = []
    for moment in MOMENTS:
        past = [s for s in answer.trace if s.seconds <= moment and s.best_distance < np.inf]
        if answer.seconds <= moment and isinstance(answer, Region):
            gaps.append(answer.gap)
        else:
            gaps.append(1.0 - past[-1].lower_bound / past[-1].best_distance if past else None)
    first = next((s.seconds for s in answer.trace if s.best_distance < np.inf), None)
    record: dict[str, Any] = {
        "status": answer.status.name, "seconds": answer.seconds, "first_s": first, "gaps": gaps,
        "distance": None, "lower_bound": answer.lower_bound, "false_points": 0,
    }  # fmt: skip
    if isinstance(answer, Region):
        cuts = explainer.model.cuts if isinstance(explainer.model, TreeEnsemble) else None
        points = hostile_points(answer.body, cuts)
        record["distance"] = answer.distance
        record["false_points"] = int((model.predict(points) != answer.target.label).sum())
    return record


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
