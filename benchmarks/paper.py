"""The paper's tables for one family: every instance solved, judged and attacked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from tests.support.hostile import hostile_points

from benchmarks.attacked import attack_network
from benchmarks.cases import RADII, ROWS, Case
from benchmarks.data import PAPER, available, paper_data
from elbowroom import Ball, Box, Explainer, Region, ReluNetwork, Space, TreeEnsemble

ROOM = {"linf": Box, "l2": Ball}


def run_paper(
    cases: Iterable[Case],
    norms: Iterable[str] = ("linf",),
    radii: Iterable[float] = RADII,
    data: Iterable[str] = PAPER,
    rows: int = ROWS,
    limit: float = 60.0,
    space_of: Callable[[np.ndarray], Space] | None = None,
) -> list[dict[str, Any]]:
    """One record per instance; ``false_points`` counts hostile points that the model's own predict puts elsewhere.

    ``space_of`` makes the space from the data; without it features are plain numbers, as in the paper.
    """
    instances = []
    for name in data:
        if not available(name):
            print(f"{name}: not there, left out")
            continue
        X, y = paper_data(name)
        for case in cases:
            model = case.train(X, y)
            explainer = Explainer(model, None if space_of is None else space_of(X))
            for room in (Box, Ball):
                explainer.explain(X[0], room=room(0.001), time_limit=1.0)  # kernels and caches are warm from here on
            for norm in norms:
                for rho in radii:
                    batch = [_instance(explainer, model, X[i], i, norm, rho, limit) for i in range(rows)]
                    for record in batch:
                        record.update(data=name, model=case.model, param=case.param, rho=rho, norm=norm)
                    instances += batch
                    seconds = [r["seconds"] for r in batch]
                    print(
                        f"{name:10s} {case.model:6s} {case.param!s:12s} {norm:4s} {rho:<5g} "
                        f"optimal {sum(r['status'] == 'OPTIMAL' for r in batch):2d}/{rows}  false {sum(r['false_points'] for r in batch)}  "
                        f"median {1e3 * np.median(seconds):8.1f} ms  worst {max(seconds):7.3f} s",
                        flush=True,
                    )
    return instances


def _instance(
    explainer: Explainer, model: Any, x: np.ndarray, row: int, norm: str, rho: float, limit: float
) -> dict[str, Any]:
    began = time.perf_counter()
    answer = explainer.explain(x, room=ROOM[norm](rho), time_limit=limit)
    seconds = time.perf_counter() - began
    record = {
        "row": row,
        "status": answer.status.name,
        "distance": None,
        "lower_bound": answer.lower_bound,
        "certified_radius": None,
        "seconds": seconds,
        "iterations": len(answer.trace),
        "false_points": 0,
        "hostile_points": 0,
    }
    if isinstance(answer, Region):
        cuts = explainer.model.cuts if isinstance(explainer.model, TreeEnsemble) else None
        points = hostile_points(answer.body, cuts)
        if isinstance(explainer.model, ReluNetwork):
            attacked, more = attack_network(model, answer.body, answer.target.label)
            points = np.concatenate([points, more])
            record.update(proven_margin=answer.certificate.margin, attacked_margin=attacked)
        record.update(
            distance=answer.distance,
            certified_radius=rho,
            hostile_points=len(points),
            false_points=int((model.predict(points) != answer.target.label).sum()),
        )
    return record


def summary(instances: list[dict[str, Any]]) -> dict[str, Any]:
    seconds = np.array([r["seconds"] for r in instances])
    return {
        "instances": len(instances),
        "optimal": sum(r["status"] == "OPTIMAL" for r in instances),
        "early_stops": sum(r["status"] in ("CERTIFIED", "UNKNOWN") for r in instances),
        "false_points": sum(r["false_points"] for r in instances),
        "hostile_points": sum(r["hostile_points"] for r in instances),
        "proofs_above_attack": sum(r.get("proven_margin", 0.0) > r.get("attacked_margin", np.inf) for r in instances),
        "median_ms": 1e3 * float(np.median(seconds)),
        "worst_s": float(seconds.max()),
        "total_s": float(seconds.sum()),
    }
