"""The paper's one-leaf heuristic against the exact answer: what staying inside one leaf costs, and what it saves.

Diabetes, a decision tree of depth 5 and a forest of 10 trees, boxes of radius .01 to .1, 20 rows each (the paper shows
means over 10). Both answers are certified; the heuristic's centre can never be closer.
"""

from __future__ import annotations

import time
from statistics import fmean, median
from typing import Any

from benchmarks.cases import Case
from benchmarks.data import paper_data
from benchmarks.instance import hostile
from elbowroom import Box, Explainer, Region

CASES = (Case("DT", 5), Case("RF", 10))
RADII = tuple(round(0.01 * k, 2) for k in range(1, 11))
METHODS = {"heuristic": "one_leaf", "exact": "auto"}


def run_heuristic(rows: int = 20, limit: float = 60.0) -> list[dict[str, Any]]:
    """One record per model, radius and row, with both answers."""
    X, y = paper_data("diabetes")
    found = []
    for case in CASES:
        model = case.train(X, y)
        explainer = Explainer(model)
        for method in METHODS.values():
            explainer.explain(X[0], room=Box(0.001), time_limit=5.0, method=method)  # everything is loaded from here on
        for rho in RADII:
            batch = [_both(explainer, model, X[row], rho, limit) | {"row": row} for row in range(rows)]
            found += [{"model": case.label, "rho": rho, **entry} for entry in batch]
            print(f"{case.label:6s} {rho:4.2f} {_sentence(_cell(batch))}", flush=True)
    return found


def _both(explainer: Explainer, model: Any, x: Any, rho: float, limit: float) -> dict[str, Any]:
    entry: dict[str, Any] = {"false_points": 0}
    for name, method in METHODS.items():
        began = time.perf_counter()
        answer = explainer.explain(x, room=Box(rho), time_limit=limit, method=method)
        entry[f"{name}_s"] = time.perf_counter() - began
        entry[f"{name}_status"] = answer.status.name
        entry[f"{name}_distance"] = answer.distance if isinstance(answer, Region) else None
        if isinstance(answer, Region):
            points, _ = hostile(explainer, model, answer)
            entry["false_points"] += int((model.predict(points) != answer.target.label).sum())
    return entry


def _cell(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over the rows where both found a region."""
    both = [e for e in entries if e["heuristic_distance"] is not None and e["exact_distance"] is not None]
    found: dict[str, Any] = {
        "rows": len(entries),
        "both": len(both),
        "only_exact": sum(e["heuristic_distance"] is None and e["exact_distance"] is not None for e in entries),
        "closer_than_exact": sum(
            e["exact_status"] == "OPTIMAL" and e["heuristic_distance"] < e["exact_distance"] * (1.0 - 1e-9)
            for e in both
        ),
        "false_points": sum(e["false_points"] for e in entries),
    }
    for name in METHODS:
        found[f"{name}_distance_mean"] = fmean(e[f"{name}_distance"] for e in both) if both else None
        found[f"{name}_s_mean"] = fmean(e[f"{name}_s"] for e in entries)
    ratios = [e["heuristic_distance"] / e["exact_distance"] for e in both if e["exact_distance"] > 0]
    found["distance_ratio_median"] = median(ratios) if ratios else None
    found["distance_ratio_max"] = max(ratios, default=None)
    return found


def _sentence(cell: dict[str, Any]) -> str:
    said = [f"{name} {cell[f'{name}_distance_mean'] or 0.0:.4f} in {cell[f'{name}_s_mean']:.3f} s" for name in METHODS]
    return f"{cell['both']} of {cell['rows']} rows: {', '.join(said)} (means), false points {cell['false_points']}"


def summary(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Totals, and one cell per model and radius."""
    cells = []
    for case in CASES:
        for rho in RADII:
            mine = [e for e in entries if e["model"] == case.label and e["rho"] == rho]
            if mine:
                cells.append({"model": case.label, "rho": rho, **_cell(mine)})
    return {
        "instances": len(entries),
        "false_points": sum(c["false_points"] for c in cells),
        "closer_than_exact": sum(c["closer_than_exact"] for c in cells),
        "largest_distance_ratio": max((c["distance_ratio_max"] or 0.0 for c in cells), default=0.0),
        "cells": cells,
    }
