"""How the first region and the gap after ten seconds grow with trees, depth, columns and classes.

Forests on tables of `make_classification`, every column in [0, 1], boxes of 0.02, one thread. One of the four numbers grows, the
others stay at `USUAL`. Seconds are those of the processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from statistics import mean, median
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.figures.style import BLUE, RED, panels
from benchmarks.scale import gap
from elbowroom import Box, Explainer, Region

ROWS, RADIUS, LIMIT, SAMPLES = 1, 0.02, 10.0, 4_000
FULL = 0  # depth without a limit
USUAL = {"trees": 100, "depth": 10, "columns": 20, "classes": 2}
GROWING = {
    "trees": (50, 100, 200, 500, 1_000),
    "depth": (4, 6, 8, 12, FULL),
    "columns": (10, 20, 50, 100, 200, 500),
    "classes": (2, 3, 5, 10),
}


def compute() -> dict[str, Any]:
    """Every model in a process of its own, whose clock is the processor's."""
    records: list[dict[str, Any]] = []
    for what, values in GROWING.items():
        for value in values:
            asked = json.dumps({**USUAL, what: value})
            command = [sys.executable, "-m", "benchmarks.figures.growth", asked]
            told = subprocess.run(
                command, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
            )
            records.append({"what": what, "value": value, **json.loads(told.stdout.splitlines()[-1])})
            print(records[-1], flush=True)
    return {"rows": ROWS, "radius": RADIUS, "limit_s": LIMIT, "usual": USUAL, "records": records}


def _ask(trees: int, depth: int, columns: int, classes: int) -> dict[str, Any]:
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.preprocessing import MinMaxScaler
    from tests.support.hostile import hostile_points

    informative = max(classes, min(columns, 10))
    X, y = make_classification(
        SAMPLES, columns, n_informative=informative, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.05,
        random_state=0,
    )  # fmt: skip
    X = MinMaxScaler().fit_transform(X)
    model = RandomForestClassifier(trees, max_depth=depth or None, random_state=0).fit(X, y)
    explainer = Explainer(model)
    explainer.explain(X[-1], room=Box(0.001), target=_other(model, X[-1], classes), time_limit=0.2)  # code is loaded
    firsts, gaps, false = [], [], 0
    for row in range(ROWS):
        answer = explainer.explain(
            X[row], room=Box(RADIUS), target=_other(model, X[row], classes), time_limit=LIMIT
        )  # fmt: skip
        found = isinstance(answer, Region)
        firsts.append(next((s.seconds for s in answer.trace if s.best_distance < np.inf), None))
        gaps.append(gap(answer.distance if isinstance(answer, Region) else None, answer.lower_bound))
        if found:
            points = hostile_points(answer.body, getattr(explainer.model, "cuts", None))
            false += int((model.predict(points) != answer.target.label).sum())
    leaves = sum(int(tree.tree_.n_leaves) for tree in model.estimators_)
    return {"leaves": leaves, "first_s": firsts, "gaps": gaps, "false_points": false}


def _other(model: Any, row: np.ndarray, classes: int) -> int:
    """The class after the row's own."""
    return (int(model.predict(row[None])[0]) + 1) % classes


def draw(content: dict[str, Any]) -> Figure:
    figure, axes = panels(2, 4, (12, 5.4), sharey="row")
    for column, what in enumerate(GROWING):
        mine = [r for r in content["records"] if r["what"] == what]
        places = range(len(mine))
        firsts = [[s for s in r["first_s"] if s is not None] for r in mine]
        top, bottom = axes[0][column], axes[1][column]
        top.plot(places, [median(f) if f else np.nan for f in firsts], "o-", color=BLUE, label="median")
        if content["rows"] > 1:
            top.plot(places, [max(f) if f else np.nan for f in firsts], "s--", color=RED, label="worst")
        top.set_yscale("log")
        bottom.plot(places, [100 * mean(r["gaps"]) for r in mine], "o-", color=BLUE)
        bottom.set_ylim(0, 100)
        for axis in (top, bottom):
            axis.set_xticks(list(places), ["full" if r["value"] == FULL else f"{r['value']:,}" for r in mine])
            axis.set_xlabel(what)
    axes[0][0].set_ylabel("first region, seconds")
    axes[1][0].set_ylabel(f"{'mean ' if content['rows'] > 1 else ''}gap at {content['limit_s']:g} s, %")
    if content["rows"] > 1:
        axes[0][0].legend(fontsize=8)
    return figure


if __name__ == "__main__":
    time.perf_counter = time.process_time
    print(json.dumps(_ask(**json.loads(sys.argv[1]))))
