"""Ensembles of the size that people deploy: the first region, both bounds over time, the overshoot and the memory.

Before and after in one run: "before" is the search in cells alone (the product before large models were walked), "after" the
product. Every side of every model has its own process and one thread; models are fitted once per run. Seconds are those of the
processor, limits included, so that whatever else the machine does counts for neither side. What is done is kept line by line
with its commit, one seed of all recipes after the other, so that a run that is cut off is a fair picture: `--resume` goes on.
The side "before" is asked fewer rows (`FEWER`); pairs are counted where both sides were asked.
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.lines import Lines

MOMENTS = (1.0, 10.0, 60.0)
SIDES = ("before", "after")
RADII = (0.0, 0.02)
# name: columns, rows, kind, options
RECIPES: dict[str, tuple[int, int, str, dict[str, Any]]] = {
    "gb200x4": (20, 5_000, "GradientBoostingClassifier", {"n_estimators": 200, "max_depth": 4}),
    "hgb300": (30, 20_000, "HistGradientBoostingClassifier", {"max_iter": 300}),
    "gb500x6": (30, 5_000, "GradientBoostingClassifier", {"n_estimators": 500, "max_depth": 6, "subsample": 0.5, "max_features": 8}),
    "rf100full": (20, 5_000, "RandomForestClassifier", {"n_estimators": 100}),
    "rf300d12": (30, 10_000, "RandomForestClassifier", {"n_estimators": 300, "max_depth": 12}),
    "et100full": (20, 3_000, "ExtraTreesClassifier", {"n_estimators": 100}),
    "rf500full50": (50, 10_000, "RandomForestClassifier", {"n_estimators": 500}),
}  # fmt: skip

# rows per seed that the side "before" is asked: it hardly moves, and the seconds are better spent on the product
FEWER = dict.fromkeys(RECIPES, 2) | {"rf300d12": 1, "rf500full50": 1}


def table(recipe: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a recipe, every column in [0, 1]."""
    from sklearn.datasets import make_classification
    from sklearn.preprocessing import MinMaxScaler

    d, n, _, _ = RECIPES[recipe]
    X, y = make_classification(
        n, d, n_informative=max(2, d // 2), n_redundant=d // 5, flip_y=0.05, random_state=seed
    )  # fmt: skip
    return MinMaxScaler().fit_transform(X), y


def fit(recipe: str, seed: int) -> Any:
    """The fitted model of a recipe."""
    import sklearn.ensemble

    _, _, kind, options = RECIPES[recipe]
    return getattr(sklearn.ensemble, kind)(random_state=seed, **options).fit(*table(recipe, seed))


def run_scale(
    rows: int = 5,
    limit: float = 10.0,
    radii: list[float] | None = None,
    only: list[str] | None = None,
    quick: bool = False,
    resume: bool = True,
    lines: Path | None = None,
) -> list[dict[str, Any]]:
    """``only``: recipes; ``quick``: seed 0 and two rows instead of seeds 0 to 4."""
    rows, seeds, wanted = (min(rows, 2), 1, radii or list(RADII)) if quick else (rows, 5, radii or list(RADII))
    kept = Lines(lines or record.RESULTS / "scale.jsonl")
    if not resume:
        kept.clear()
    done, asked = {_key(r): r for r in kept.read()}, list[tuple[Any, ...]]()
    with tempfile.TemporaryDirectory() as folder:
        for seed, recipe in product(range(seeds), only or RECIPES):
            path = Path(folder) / f"{recipe}-{seed}.pkl"
            for side in SIDES:
                count = min(rows, FEWER[recipe]) if side == "before" else rows
                keys = [(side, recipe, seed, row, radius, limit) for row in range(count) for radius in wanted]
                asked += keys
                missing = [key[3:5] for key in keys if key not in done]
                if not missing:
                    continue
                if not path.exists():
                    path.write_bytes(pickle.dumps(fit(recipe, seed)))
                for r in _in_own_process(side, recipe, seed, path, missing, limit):
                    done[_key(r)] = r
                    kept.append(r)
            path.unlink(missing_ok=True)
    return [done[key] for key in asked if key in done]


def _key(r: dict[str, Any]) -> tuple[Any, ...]:
    return r["side"], r["recipe"], r["seed"], r["row"], r["radius"], r["limit"]


def _in_own_process(
    side: str, recipe: str, seed: int, path: Path, questions: list[tuple[int, float]], limit: float
) -> Iterator[dict[str, Any]]:
    asked, commit = json.dumps([side, recipe, seed, str(path), questions, limit]), record.commit()
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.scale", asked]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=one_thread) as child:
        assert child.stdout is not None
        for text in child.stdout:
            if text.startswith("{"):
                found = json.loads(text) | {"commit": commit}
                print(_line(found), flush=True)
                yield found


def _ask(side: str, recipe: str, seed: int, path: str, questions: list[tuple[int, float]], limit: float) -> None:
    """In a process of its own: one record per question, as lines of JSON."""
    from tests.support.hostile import hostile_points

    from elbowroom import Box, Explainer, Region, TreeEnsemble
    from elbowroom.search.trees.first import size

    warnings.simplefilter("ignore")
    if side == "before":
        size.LARGE = sys.maxsize  # nothing is walked first
    X, _ = table(recipe, seed)
    model = pickle.loads(Path(path).read_bytes())
    fitted = _peak()
    began, worked = time.perf_counter(), time.process_time()
    explainer = Explainer(model)
    read, read_cpu, read_peak = time.perf_counter() - began, time.process_time() - worked, _peak()
    explainer.explain(X[-1], room=Box(0.001), time_limit=0.2)  # compiled code is loaded
    assert isinstance(explainer.model, TreeEnsemble)
    for row, radius in questions:
        worked, before = time.process_time(), os.getloadavg()[0]
        answer = explainer.explain(X[row], room=Box(radius), time_limit=limit)
        found: dict[str, Any] = {
            "side": side, "recipe": recipe, "seed": seed, "row": row, "radius": radius, "limit": limit,
            "status": answer.status.name, "seconds": answer.seconds, "cpu_s": time.process_time() - worked,
            "overshoot_s": max(0.0, answer.seconds - limit), "load": before, "read_s": read, "read_cpu_s": read_cpu,
            "read_mb": read_peak - fitted, "peak_mb": _peak() - fitted,
            "first_s": next((s.seconds for s in answer.trace if s.best_distance < np.inf), None),
            "moments": [_at(answer, moment) for moment in MOMENTS if moment <= limit],
            "distance": None, "lower_bound": answer.lower_bound, "false_points": 0,
        }  # fmt: skip
        if isinstance(answer, Region):
            points = hostile_points(answer.body, explainer.model.cuts)
            found["distance"], found["points"] = answer.distance, len(points)
            found["false_points"] = int((model.predict(points) != answer.target.label).sum())
        print(json.dumps(found), flush=True)


def _at(answer: Any, moment: float) -> list[float | None]:
    """Distance and bound at a moment."""
    past = [s for s in answer.trace if s.seconds <= moment]
    if answer.seconds <= moment:
        return [getattr(answer, "distance", None), answer.lower_bound]
    if not past:
        return [None, 0.0]
    best = past[-1].best_distance
    return [best if best < np.inf else None, max(s.lower_bound for s in past)]


def _peak() -> int:
    """Megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _line(r: dict[str, Any]) -> str:
    first = "-" if r["first_s"] is None else f"{r['first_s']:.3f}"
    distance = "-" if r["distance"] is None else f"{r['distance']:.4f}"
    return (
        f"{r['recipe']:12s} seed {r['seed']} row {r['row']} r {r['radius']:<5} {r['side']:6s} first {first} s, {distance} / "
        f"{r['lower_bound']:.4f} {r['status']:9s} {r['seconds']:.1f} s, {r['peak_mb']} MB, false {r['false_points']}, load {r['load']:.0f}"
    )


def gap(distance: float | None, bound: float) -> float:
    """1 without a region."""
    return 1.0 if distance is None else (1.0 - bound / distance if distance > 0 else 0.0)


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Per recipe and side: first region, mean gaps over time, overshoot, memory; and pairs in which after is worse."""
    found: dict[str, Any] = {"false_points": sum(r["false_points"] for r in records)}
    pairs: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for r in records:
        pairs.setdefault((r["recipe"], r["seed"], r["row"], r["radius"]), {})[r["side"]] = r
    both = [p for p in pairs.values() if len(p) == len(SIDES)]
    found["pairs"] = len(both)
    found["farther"] = sum(_far(p["after"]) > _far(p["before"]) * (1 + 1e-9) for p in both)
    found["lower_bounds"] = sum(p["after"]["lower_bound"] < p["before"]["lower_bound"] * (1 - 1e-6) for p in both)
    best = {key: min(_far(r) for r in pair.values()) for key, pair in pairs.items()}
    found["above_known"] = sum(
        r["lower_bound"] > best[key] * (1 + 1e-9) for key, pair in pairs.items() for r in pair.values()
    )
    found["commits"] = sorted({r["commit"] for r in records if r["side"] == "after"})
    found["table"] = []
    for recipe in RECIPES:
        for side in SIDES:
            mine = [r for r in records if r["recipe"] == recipe and r["side"] == side]
            if not mine:
                continue
            firsts = [np.inf if r["first_s"] is None else r["first_s"] for r in mine]
            shown = len(mine[0]["moments"])
            paired = [p[side] for p in both if p[side]["recipe"] == recipe]
            found["table"].append({
                "recipe": recipe, "side": side, "questions": len(mine), "regions": sum(r["distance"] is not None for r in mine),
                "proven": sum(r["status"] == "OPTIMAL" for r in mine), "first_median_s": _number(median(firsts)),
                "first_worst_s": _number(max(firsts)), "mean_gaps": [mean(gap(*r["moments"][k]) for r in mine) for k in range(shown)],
                "paired": len(paired), "paired_gap": mean(gap(*r["moments"][-1]) for r in paired) if paired else None,
                "read_s": mine[0]["read_s"], "read_cpu_s": mine[0]["read_cpu_s"], "read_mb": mine[0]["read_mb"],
                "peak_mb": max(r["peak_mb"] for r in mine), "overshoot_s": max(r["overshoot_s"] for r in mine),
            })  # fmt: skip
    return found


def _far(record: dict[str, Any]) -> float:
    return np.inf if record["distance"] is None else record["distance"]


def _number(value: float) -> float | None:
    return None if np.isinf(value) else value


if __name__ == "__main__":
    time.perf_counter = time.process_time
    _ask(*json.loads(sys.argv[1]))
