"""Networks beyond the paper's tables: bounded features, and larger networks followed over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.support.hostile import hostile_points

from benchmarks.attacked import attack_network
from benchmarks.cases import Case
from benchmarks.data import LARGE
from elbowroom import Ball, Box, Explainer, Feature, Region, Space

LARGE_NETWORKS = ((200, 200), (50, 50, 50))
LARGE_DATA = ("diabetes", "cancer")
MOMENTS = (1.0, 10.0, 60.0)
SOON = 10.0


def unit_cube(X: np.ndarray) -> Space:
    """Every feature within [0, 1], the range of the scaled data; rooms are clipped to it."""
    return Space(tuple(Feature(f"x{i}", lower=0.0, upper=1.0) for i in range(X.shape[1])))


def run_large(rows: int = 3, radius: float = 0.01, limit: float = 60.0) -> list[dict[str, Any]]:
    """A certified region soon, and the gap at 1, 10 and 60 seconds, for boxes and balls."""
    records = []
    for data in LARGE_DATA:
        X, y = LARGE[data]()
        for layers in LARGE_NETWORKS:
            model = Case("NN", layers).train(X, y)
            explainer = Explainer(model)
            for room in (Box, Ball):
                explainer.explain(X[0], room=room(0.001), time_limit=0.5)
                for i in range(rows):
                    record = {"data": data, "layers": layers, "room": room.__name__, "row": i, "rho": radius}
                    record |= _follow(explainer, model, X[i], room(radius), limit)
                    records.append(record)
                    print(
                        f"{data:9s} {layers!s:13s} {room.__name__:4s} row {i}: {record['status']:9s} "
                        f"first {_text(record['first_s'])} s, gap at 1/10/60 s "
                        f"{' '.join(_text(gap) for gap in record['gaps'])}, false {record['false_points']}",
                        flush=True,
                    )
    return records


def summary_large(records: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "instances": len(records),
        "certified_within_10_s": sum(r["first_s"] is not None and r["first_s"] <= SOON for r in records),
        "optimal": sum(r["status"] == "OPTIMAL" for r in records),
        "false_points": sum(r["false_points"] for r in records),
        "median_gaps": {
            f"{moment:g} s": float(np.median([r["gaps"][k] if r["gaps"][k] is not None else 1.0 for r in records]))
            for k, moment in enumerate(MOMENTS)
        },
    }


def _follow(explainer: Explainer, model: Any, x: np.ndarray, room: Box | Ball, limit: float) -> dict[str, Any]:
    answer = explainer.explain(x, room=room, time_limit=limit)
    gaps: list[float | None] = []
    for moment in MOMENTS:
        past = [s for s in answer.trace if s.seconds <= moment and s.best_distance < np.inf]
        if answer.seconds <= moment and isinstance(answer, Region):
            gaps.append(answer.gap)
        else:
            gaps.append(1.0 - past[-1].lower_bound / past[-1].best_distance if past else None)
    record: dict[str, Any] = {
        "status": answer.status.name,
        "seconds": answer.seconds,
        "first_s": next((s.seconds for s in answer.trace if s.best_distance < np.inf), None),
        "gaps": gaps,
        "distance": None,
        "lower_bound": answer.lower_bound,
        "false_points": 0,
    }
    if isinstance(answer, Region):
        attacked, more = attack_network(model, answer.body, answer.target.label)
        points = np.concatenate([hostile_points(answer.body), more])
        record["distance"] = answer.distance
        record["proven_margin"], record["attacked_margin"] = answer.certificate.margin, attacked
        record["false_points"] = int((model.predict(points) != answer.target.label).sum())
    return record


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
