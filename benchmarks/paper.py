"""The paper's tables in this process: a loop over models, norms, radii and rows, one line per cell.

`benchmarks.tables` runs all 4,320 instances with a progress bar, in parallel and resumable; this is the plain loop for
one family and for other spaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.cases import LINEAR, NETWORKS, RADII, ROWS, TREES, Case
from benchmarks.data import PAPER, available, paper_data
from benchmarks.instance import ROOM, solve_instance
from elbowroom import Explainer, Space

NORMS = ("linf", "l2")  # of the paper's tables


def run_paper(
    cases: Iterable[Case],
    norms: Iterable[str] = ("linf",),
    radii: Iterable[float] = RADII,
    data: Iterable[str] = PAPER,
    rows: int = ROWS,
    limit: float = 60.0,
    space_of: Callable[[np.ndarray], Space] | None = None,
) -> list[dict[str, Any]]:
    """One record per instance, as `solve_instance` makes it.

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
            for room in ROOM.values():
                explainer.explain(X[0], room=room(0.001), time_limit=1.0)  # kernels and caches are warm from here on
            for norm in norms:
                for rho in radii:
                    batch = [solve_instance(explainer, model, X[i], i, norm, rho, limit) for i in range(rows)]
                    for record in batch:
                        record.update(data=name, model=case.model, param=case.param, rho=rho, norm=norm)
                    instances += batch
                    print(cell_line(name, case, norm, rho, batch), flush=True)
    return instances


def cell_line(data: str, case: Case, norm: str, rho: float, batch: list[dict[str, Any]]) -> str:
    seconds = [r["seconds"] for r in batch]
    return (
        f"{data:10s} {case.label:12s} {norm:4s} {rho:<5g} optimal {sum(r['status'] == 'OPTIMAL' for r in batch):2d}/{len(batch)}  "
        f"false {sum(r['false_points'] for r in batch)}  median {1e3 * np.median(seconds):8.1f} ms  worst {max(seconds):7.3f} s"
    )


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


# ---- one family at a time -----------------------------------------------------------------------------------------------
def run_boxes(rows: int = ROWS, limit: float = 60.0, data: Iterable[str] = PAPER) -> list[dict[str, Any]]:
    return run_paper(TREES, ("linf",), data=data, rows=rows, limit=limit)


def run_diamonds(rows: int = 5, limit: float = 60.0, data: Iterable[str] = PAPER) -> list[dict[str, Any]]:
    return run_paper(TREES, ("l1",), radii=(0.05,), data=data, rows=rows, limit=limit)


def run_linear(rows: int = ROWS, limit: float = 60.0, data: Iterable[str] = PAPER) -> list[dict[str, Any]]:
    return run_paper(LINEAR, NORMS, data=data, rows=rows, limit=limit)


def run_networks(rows: int = ROWS, limit: float = 60.0, data: Iterable[str] = PAPER) -> list[dict[str, Any]]:
    return run_paper(NETWORKS, NORMS, data=data, rows=rows, limit=limit)


def run_networks_bounded(rows: int = ROWS, limit: float = 60.0, data: Iterable[str] = PAPER) -> list[dict[str, Any]]:
    from benchmarks.networks import unit_cube

    return run_paper(NETWORKS, NORMS, data=data, rows=rows, limit=limit, space_of=unit_cube)
