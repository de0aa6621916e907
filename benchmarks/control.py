"""The control for every claim of speed: the paper's Algorithm 1 on HiGHS and on SCIP beside the fast engines.

One run, one thread, the same questions: decision trees, forests, boosting and networks of the paper on its three data sets,
rows 0..4, rho .05, boxes and balls. For Algorithm 1 the seconds of every master and every adversary are kept (the paper's
figure on computation time). Distances must agree within the reported gaps: no lower bound above another's distance. Lines
are stored as soon as they are there: a second start goes on, and one with a longer limit asks again only what the
shorter left unproven.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator
from itertools import permutations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.cases import Case, choose
from benchmarks.data import PAPER, available, paper_data
from benchmarks.instance import ROOM, hostile
from benchmarks.lines import Lines
from elbowroom import Explainer, Region

RHO = 0.05
CASES = [
    *(Case("DT", depth) for depth in (5, 10)),
    *(Case(kind, size) for kind in ("RF", "GBM") for size in (5, 10, 20)),
    *(Case("NN", layers) for layers in ((10,), (50,))),
]
METHODS = {"auto": "auto", "HiGHS": "adversarial", "SCIP": "adversarial-scip"}
PROVEN = ("OPTIMAL", "NONE_EXISTS")
CLOSE = 1e-9  # relative rounding of distances and bounds


def run_control(
    rows: int = 5,
    limit: float = 100.0,
    data: Iterable[str] = PAPER,
    models: Iterable[str] | None = None,
    norms: Iterable[str] = ("linf", "l2"),
    solvers: Iterable[str] = ("HiGHS", "SCIP"),
    resume: bool = True,
    lines: Path | None = None,
) -> list[dict[str, Any]]:
    """One record per question and method. ``models`` are labels such as DT-5 or kinds such as RF."""
    kept = Lines(lines or record.RESULTS / "control.jsonl")
    if not resume:
        kept.clear()
    done = {_key(entry): entry for entry in kept.read()}
    methods = ["auto", *solvers]
    for name, case, explainer, model, X in _trained(data, models):
        for norm in norms:
            for row in range(rows):
                for method in methods:
                    place = {"data": name, "model": case.label, "norm": norm, "row": row, "method": method}
                    if settled(done.get(_key(place)), limit):
                        continue
                    entry = {**place, **one_answer(explainer, model, X[row], norm, method, limit), "limit": limit}
                    done[_key(place)] = entry
                    kept.append(entry)
                    print(_sentence(entry), flush=True)
    wanted = {(name, case.label) for name in data for case in _chosen(models)}
    return [e for e in done.values() if (e["data"], e["model"]) in wanted and e["norm"] in norms and e["row"] < rows]


def settled(entry: dict[str, Any] | None, limit: float) -> bool:
    """Proven, or already given at least this long."""
    return entry is not None and (entry["status"] in PROVEN or entry["limit"] >= limit)


def _key(entry: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(entry[name] for name in ("data", "model", "norm", "row", "method"))


def _chosen(models: Iterable[str] | None) -> list[Case]:
    return CASES if models is None else [case for case in CASES if case in choose(models)]


def _trained(
    data: Iterable[str], models: Iterable[str] | None
) -> Iterator[tuple[str, Case, Explainer, Any, np.ndarray]]:
    for name in data:
        if not available(name):
            print(f"{name}: not there, left out")
            continue
        X, y = paper_data(name)
        for case in _chosen(models):
            model = case.train(X, y)
            explainer = Explainer(model)
            for room in ROOM.values():
                explainer.explain(X[0], room=room(0.001), time_limit=1.0)  # kernels and caches are warm from here on
            yield name, case, explainer, model, X


def one_answer(explainer: Explainer, model: Any, x: np.ndarray, norm: str, method: str, limit: float) -> dict[str, Any]:
    began = time.perf_counter()
    answer = explainer.explain(x, room=ROOM[norm](RHO), time_limit=limit, method=METHODS[method])
    seconds = time.perf_counter() - began
    entry: dict[str, Any] = {
        "status": answer.status.name,
        "distance": None,
        "lower_bound": answer.lower_bound if math.isfinite(answer.lower_bound) else None,
        "seconds": round(seconds, 4),
        "false_points": 0,
        "by": answer.method,
    }
    if isinstance(answer, Region):
        points, _ = hostile(explainer, model, answer)
        entry.update(distance=answer.distance, hostile_points=len(points))
        entry["false_points"] = int((model.predict(points) != answer.target.label).sum())
    if method != "auto" and "rounds" in answer.counters:
        entry["iterations"] = int(answer.counters["rounds"])
        entry["scenarios"] = int(answer.counters["scenarios"])
        for part in ("master", "adversary"):
            entry[part] = [round(s, 4) for s in per_round(answer.counters, part)]
    return entry


def per_round(counters: dict[str, float], part: str) -> list[float]:
    """Seconds of the master or the adversary in every iteration, in order."""
    found = {int(m[1]): value for key, value in counters.items() if (m := re.fullmatch(rf"{part}_seconds_(\d+)", key))}
    return [found[i] for i in sorted(found)]


def _sentence(entry: dict[str, Any]) -> str:
    distance = "none      " if entry["distance"] is None else f"{entry['distance']:10.6f}"
    rounds = f"{entry['iterations']:4d} iterations" if "iterations" in entry else ""
    return (
        f"{entry['data']:10s} {entry['model']:7s} {entry['norm']:4s} row {entry['row']} {entry['method']:5s} "
        f"{entry['status']:11s} {distance} {entry['seconds']:8.3f} s {rounds}"
    )


def contradictions(entries: list[dict[str, Any]]) -> list[str]:
    """Pairs of methods whose bounds exclude each other, and regions with a false point."""
    found = [f"{_sentence(e)}: {e['false_points']} false points" for e in entries if e["false_points"]]
    questions: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for entry in entries:
        questions.setdefault(_key(entry)[:-1], []).append(entry)
    for question, answers in questions.items():
        for one, other in permutations(answers, 2):
            lowest = math.inf if one["status"] == "NONE_EXISTS" else one["lower_bound"] or 0.0
            if other["distance"] is not None and lowest > other["distance"] * (1.0 + CLOSE) + 1e-12:
                found.append(
                    f"{question}: the lower bound of {one['method']} is above the distance of {other['method']}"
                )
    return found


def summary(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Per method: how many questions it proved; per solver: its seconds over those of the fast engine, where both
    proved their answer and where it did not end in time (then the ratio is at least so large)."""
    fast = {_key(e)[:-1]: e for e in entries if e["method"] == "auto"}
    wrong = contradictions(entries)
    found: dict[str, Any] = {"questions": len(fast), "contradictions": len(wrong), "found": wrong}
    for method in dict.fromkeys(e["method"] for e in entries):
        mine = [e for e in entries if e["method"] == method]
        part: dict[str, Any] = {
            "questions": len(mine),
            "proven": sum(e["status"] in PROVEN for e in mine),
            "regions": sum(e["distance"] is not None for e in mine),
            "false_points": sum(e["false_points"] for e in mine),
            "median_s": median(e["seconds"] for e in mine),
            "total_s": round(sum(e["seconds"] for e in mine), 1),
        }
        if method != "auto":
            ratios = [
                (e["seconds"] / fast[_key(e)[:-1]]["seconds"], e["status"] in PROVEN)
                for e in mine
                if _key(e)[:-1] in fast
            ]
            ended = [r for r, end in ratios if end]
            part["ratio_where_proven_median"] = median(ended) if ended else None
            part["ratio_of_all_at_least_median"] = median(r for r, _ in ratios) if ratios else None
            part["iterations_median"] = median([e["iterations"] for e in mine if "iterations" in e] or [0])
            for name in ("master", "adversary"):
                seconds = [s for e in mine for s in e.get(name, [])]
                part[f"{name}_s_per_iteration"] = round(sum(seconds) / max(len(seconds), 1), 4)
        found[method] = part
    return found
