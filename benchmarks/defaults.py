"""README's own lines at full size: scikit-learn's default forest on breast cancer, Box(0.05), 100 and 300 trees.

Reports when the first region was certified, how many features it changes, and the gap at 1, 10 and 60 seconds. Every side of
the clock is the processor's, so that whatever else the machine does does not count.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

from benchmarks.realistic import MOMENTS
from benchmarks.scale import gap

TREES, RADIUS = (100, 300), 0.05


def run_defaults(rows: int = 6, limit: float = 60.0) -> list[dict[str, Any]]:
    """``rows``: of each class, as many malign ones as benign ones where possible."""
    records: list[dict[str, Any]] = []
    for trees in TREES:
        command = [sys.executable, "-m", "benchmarks.defaults", json.dumps([trees, rows, limit])]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
        ) as child:
            assert child.stdout is not None
            for text in child.stdout:
                if text.startswith("{"):
                    records.append(json.loads(text))
                    print(text.strip(), flush=True)
    return records


def _ask(trees: int, rows: int, limit: float) -> None:
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier
    from tests.support.hostile import hostile_points

    from elbowroom import Box, Explainer, Region, Space

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = RandomForestClassifier(trees, random_state=0).fit(X, y)
    explainer = Explainer(model, Space.from_frame(X))
    explainer.explain(X.iloc[-1], room=Box(0.001), time_limit=0.2)  # compiled code is loaded
    chosen = [*np.flatnonzero(y == 0)[: (rows + 1) // 2], *np.flatnonzero(y == 1)[: rows // 2]]
    for row in map(int, chosen):
        answer = explainer.explain(X.iloc[row], room=Box(RADIUS), time_limit=limit)
        found: dict[str, Any] = {
            "trees": trees, "row": row, "limit": limit, "status": answer.status.name, "seconds": answer.seconds,
            "first_s": next((s.seconds for s in answer.trace if s.best_distance < np.inf), None),
            "gaps": [_gap_at(answer, moment) for moment in MOMENTS if moment <= limit],
            "lower_bound": answer.lower_bound, "distance": None, "changed": None, "false_points": 0,
        }  # fmt: skip
        if isinstance(answer, Region):
            points = hostile_points(answer.body, getattr(explainer.model, "cuts", None))
            table = explainer.space.table(points)[list(X.columns)]
            found["false_points"] = int((model.predict(table) != answer.target.label).sum())
            found["points"], found["distance"] = len(points), answer.distance
            found["changed"] = int(answer.intervals["changed"].sum())
        print(json.dumps(found), flush=True)


def _gap_at(answer: Any, moment: float) -> float:
    if answer.seconds <= moment:
        return gap(getattr(answer, "distance", None), answer.lower_bound)
    past = [s for s in answer.trace if s.seconds <= moment]
    best = min((s.best_distance for s in past), default=np.inf)
    return gap(None if np.isinf(best) else best, max((s.lower_bound for s in past), default=0.0))


if __name__ == "__main__":
    time.perf_counter = time.process_time
    _ask(*json.loads(sys.argv[1]))
