"""Large ensembles beside treecf: plain counterfactuals (radius 0, l1, no bounds, scales of 1), row by row, in one run.

Three answers to every question, each with the same limit of the clock: ours, treecf's exact search and its genetic one. The
models are those of `benchmarks.scale`. treecf gives no account of its search over time, so two times are told of ours: until
the whole call ends, and until a certified answer was there that is at least as near as what treecf ends with. Whether its
point really changes the label is asked of the model. treecf's points lie on float32 numbers, ours on float64: distances
within `SAME` of each other count as equal.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.lines import Lines
from benchmarks.scale import RECIPES, fit, table
from elbowroom import Box, Explainer, Region

BACKENDS = ("exact", "genetic")
SAME = 1e-6


def run_scale_peers(
    rows: int = 5, limit: float = 10.0, only: list[str] | None = None, resume: bool = True, lines: Path | None = None
) -> dict[str, Any]:
    """``only``: recipes of `benchmarks.scale`; seed 0."""
    try:
        import treecf
    except ImportError:
        raise SystemExit("this comparison needs treecf: pip install treecf") from None
    kept = Lines(lines or record.RESULTS / "scale-peers.jsonl")
    if not resume:
        kept.clear()
    chosen = list(only or RECIPES)
    done = {(r["recipe"], r["row"]): r for r in kept.read() if r["limit"] == limit}
    for recipe in chosen:
        if all((recipe, row) in done for row in range(rows)):
            continue
        X, _ = table(recipe, 0)
        model = fit(recipe, 0)
        ours = Explainer(model)
        theirs, refusal = _peer(model, X.shape[1])
        ours.explain(X[-1], room=Box(0.0), time_limit=0.2)  # compiled code is loaded
        for row in range(rows):
            if (recipe, row) not in done:
                found = {"recipe": recipe, "row": row, "limit": limit, **_ours(ours, model, X[row], limit)}
                found |= {b: _theirs(theirs, refusal, model, recipe, X[row], limit, b) for b in BACKENDS}
                done[recipe, row] = _beside(found)
                kept.append(done[recipe, row])
                print(_line(done[recipe, row]), flush=True)
    order = list(RECIPES)  # what earlier runs asked counts, too
    records = [done[key] for key in sorted(done, key=lambda key: (order.index(key[0]), key[1]))]
    for r in records:
        r.pop("trace", None)
    wrong = [r for r in records if r["flips"] is False]
    return {"treecf": treecf.__version__, "summary": summary(records), "instances": records, "failures": wrong}


def _peer(model: Any, columns: int) -> tuple[Any, str]:
    import treecf

    try:
        return treecf.Explainer(model, normalizers=np.ones(columns)), ""
    except treecf.TreecfError as error:
        return None, str(error)[:200]


def _ours(explainer: Explainer, model: Any, x: np.ndarray, limit: float) -> dict[str, Any]:
    began = time.perf_counter()
    answer = explainer.explain(x, room=Box(0.0), time_limit=limit)
    seconds = time.perf_counter() - began
    flips = None
    if isinstance(answer, Region):
        flips = bool(model.predict(answer.center.to_numpy()[None])[0] != model.predict(x[None])[0])
    return {
        "status": answer.status.name, "seconds": seconds, "lower_bound": answer.lower_bound, "flips": flips,
        "distance": answer.distance if isinstance(answer, Region) else None,
        "trace": [(s.seconds, s.best_distance) for s in answer.trace if s.best_distance < np.inf],
    }  # fmt: skip


def _theirs(
    explainer: Any, refusal: str, model: Any, recipe: str, x: np.ndarray, limit: float, backend: str
) -> dict[str, Any]:
    if explainer is None:
        return {"proof": refusal, "seconds": None, "distance": None, "flips": None}
    import treecf

    label = int(model.predict(x[None])[0])
    averaged = RECIPES[recipe][2] in ("RandomForestClassifier", "ExtraTreesClassifier")  # their score is a mean vote
    goal = treecf.Target.raw(op=">=" if label == 0 else "<=", value=0.5 if averaged else 0.0)
    options: dict[str, Any] = {"node_budget": 10**9} if backend == "exact" else {}
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            other = explainer.explain(x, goal, backend=backend, time_budget_s=limit, seed=0, **options)
    except treecf.TreecfError as error:
        return {"proof": str(error)[:200], "seconds": time.perf_counter() - began, "distance": None, "flips": None}
    seconds, point = time.perf_counter() - began, getattr(other, "x_cf", None)
    flips = None if point is None else bool(model.predict(np.asarray(point)[None])[0] != label)
    return {
        "proof": str(getattr(other, "proof", "")), "seconds": seconds, "distance": getattr(other, "distance", None),
        "flips": flips,
    }  # fmt: skip


def _beside(found: dict[str, Any]) -> dict[str, Any]:
    """Who is nearer, and who was sooner. A point of treecf's that does not change the label counts as none."""
    for backend in BACKENDS:
        other, mine = found[backend], found["distance"]
        far = other["distance"] if other["flips"] else None
        reached = next((s for s, d in found["trace"] if far is None or d <= far * (1 + SAME)), None)
        if reached is None and far is not None and mine is not None and mine <= far * (1 + SAME):
            reached = found["seconds"]
        other["nearer"] = mine is not None and (far is None or mine <= far * (1 + SAME))
        other["reached_s"] = reached
        other["sooner"] = reached is not None and other["seconds"] is not None and reached <= other["seconds"]
        other["ended_sooner"] = other["seconds"] is not None and found["seconds"] <= other["seconds"]
    return found


def _line(r: dict[str, Any]) -> str:
    others = ", ".join(
        f"{b} {r[b]['distance'] and format(r[b]['distance'], '.4f')} {r[b]['proof']} {r[b]['seconds'] or 0:.2f} s "
        f"(reached in {r[b]['reached_s'] or 0:.3f} s)"
        for b in BACKENDS
    )
    mine = "-" if r["distance"] is None else f"{r['distance']:.4f}"
    return f"{r['recipe']:12s} row {r['row']}: {mine} {r['status']} {r['seconds']:.2f} s; {others}"


def summary(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per recipe and backend, and in all: how often ours is not farther, sooner as near, and both."""
    found = []
    for recipe in [*RECIPES, "all"]:
        mine = [r for r in records if recipe in ("all", r["recipe"])]
        for backend in BACKENDS if mine else ():
            told = [r for r in mine if r[backend]["seconds"] is not None]
            found.append({
                "recipe": recipe, "backend": backend, "questions": len(mine), "answered": len(told),
                "theirs_regions": sum(bool(r[backend]["flips"]) for r in told),
                "nearer": sum(r[backend]["nearer"] for r in mine), "sooner": sum(r[backend]["sooner"] for r in mine),
                "both": sum(r[backend]["nearer"] and (r[backend]["sooner"] or r[backend]["seconds"] is None) for r in mine),
                "ended_sooner": sum(r[backend]["ended_sooner"] for r in mine),
                "ours_proven": sum(r["status"] == "OPTIMAL" for r in mine),
                "theirs_proven": sum(r[backend]["proof"] == "optimal" and bool(r[backend]["flips"]) for r in told),
                "seconds": median(r["seconds"] for r in mine),
                "reached_s": _median([r[backend]["reached_s"] for r in mine]),
                "theirs_s": _median([r[backend]["seconds"] for r in mine]),
            })  # fmt: skip
    return found


def _median(values: list[float | None]) -> float | None:
    told = [v for v in values if v is not None]
    return median(told) if told else None
