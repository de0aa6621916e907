"""Seconds of the master and of the adversary in Algorithm 1."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from benchmarks.cases import Case
from benchmarks.data import load
from benchmarks.figures.style import BLUE, RED, panels
from benchmarks.figures.watched import watch
from elbowroom import Explainer

CASE, RHO, LIMIT, ROWS = Case("GBM", 100), 0.01, 40.0, 20


def compute() -> dict[str, Any]:
    X, y = load("diabetes")
    explainer = Explainer(CASE.train(X, y))
    runs = []
    for row in range(ROWS):
        run = watch(explainer, X[row], RHO, LIMIT, radii=False)
        kept = [{k: i[k] for k in ("master_s", "adversary_s")} for i in run["iterates"]]
        runs.append({"row": row, "certified": run["certified"], "seconds": run["seconds"], "iterates": kept})
        print(f"row {row}: {len(kept)} iterations, {run['seconds']:.1f} s", flush=True)
    return {"limit_s": LIMIT, "rho": RHO, "model": CASE.label, "runs": runs}


def draw(content: dict[str, Any]) -> Figure:
    figure, (axes,) = panels(1, 2, (10, 4))
    totals = [
        [sum(i[part] for i in run["iterates"]) for run in content["runs"]] for part in ("master_s", "adversary_s")
    ]
    done = [run["certified"] for run in content["runs"]]
    for marker, ended, label in (("o", True, "ended"), ("x", False, f"stopped at {content['limit_s']:g} s")):
        points = [(m, a) for m, a, d in zip(*totals, done, strict=True) if d is ended]
        if points:
            axes[0].scatter(*zip(*points, strict=True), marker=marker, color=BLUE if ended else RED, label=label)
    axes[0].set_xscale("log")
    axes[0].set_yscale("log")
    low, high = min(map(min, totals)), max(map(max, totals))
    axes[0].plot([low, high], [low, high], color="#999999", linewidth=0.8, label="equal")
    axes[0].set_xlabel("master, seconds in all")
    axes[0].set_ylabel("adversary, seconds in all")
    axes[0].set_title(f"{len(content['runs'])} instances")
    axes[0].legend(fontsize=8)
    longest = sorted(content["runs"], key=lambda run: len(run["iterates"]))[-2:]
    for run, marker in zip(longest, ("o", "s"), strict=True):
        steps = range(1, len(run["iterates"]) + 1)
        for part, color, style, label in (("master_s", BLUE, "-", "master"), ("adversary_s", RED, "--", "adversary")):
            axes[1].plot(steps, [i[part] for i in run["iterates"]], style + marker, color=color, markersize=4,
                         label=f"{label}, row {run['row']}")  # fmt: skip
    axes[1].set_yscale("log")
    axes[1].set_xlabel("iteration")
    axes[1].set_ylabel("seconds")
    axes[1].set_title("per iteration")
    axes[1].legend(fontsize=8)
    return figure
