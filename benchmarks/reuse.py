"""Twenty rows through one explainer against twenty fresh explainers: equal answers, less time."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.cases import Case
from benchmarks.data import paper_data
from elbowroom import Box, Explainer

SETS = [
    ("diabetes", Case("GBM", 100)),
    ("diabetes", Case("RF", 100)),
    ("ionosphere", Case("GBM", 100)),
    ("ionosphere", Case("RF", 50)),
    ("banknote", Case("GBM", 100)),
]


def run_reuse(rows: int = 20, radius: float = 0.05) -> list[dict[str, Any]]:
    records = []
    for data, case in SETS:
        X, y = paper_data(data)
        model = case.train(X, y)
        Explainer(model).explain(X[0], room=Box(radius))
        began = time.perf_counter()
        fresh = [Explainer(model).explain(X[i], room=Box(radius)) for i in range(rows)]
        middle = time.perf_counter()
        explainer = Explainer(model)
        shared = [explainer.explain(X[i], room=Box(radius)) for i in range(rows)]
        end = time.perf_counter()
        searched = [sum(a.seconds for a in answers) for answers in (fresh, shared)]
        equal = all(
            a.status is b.status and abs(a.distance - b.distance) <= 1e-9 * a.distance
            for a, b in zip(fresh, shared, strict=True)
        )
        records.append(
            {
                "data": data, "model": case.model, "param": case.param, "rows": rows, "equal": equal,
                "fresh_s": middle - began, "shared_s": end - middle, "ratio": (end - middle) / (middle - began),
                "fresh_search_s": searched[0], "shared_search_s": searched[1],
            }
        )  # fmt: skip
        print(records[-1], flush=True)
    return records
