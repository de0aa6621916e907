"""Plain counterfactuals (radius 0, l1) beside treecf, in one run on one thread.

Both read the model before the clock starts; both get the same scales (1), no bounds and the same rows.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.data import paper_data
from elbowroom import Box, Explainer

PAIRS = [
    ("diabetes", Case("RF", 100)),
    ("diabetes", Case("GBM", 100)),
    ("ionosphere", Case("RF", 100)),
    ("ionosphere", Case("GBM", 100)),
]


def run_peers(rows: int = 20, limit: float = 60.0) -> list[dict[str, Any]]:
    try:
        import treecf
    except ImportError:
        raise SystemExit("this comparison needs treecf: pip install treecf") from None
    records = []
    for data, case in PAIRS:
        X, y = paper_data(data)
        model = case.train(X, y)
        ours = Explainer(model)
        theirs = treecf.Explainer(model, normalizers=np.ones(X.shape[1]))
        ours.explain(X[0], room=Box(0.0), time_limit=1.0)
        labels = model.predict(X[:rows])
        for i in range(rows):
            began = time.perf_counter()
            answer = ours.explain(X[i], room=Box(0.0), time_limit=limit)
            middle = time.perf_counter()
            goal = treecf.Target.raw(op=">=" if labels[i] == 0 else "<=", value=0.5 if case.model == "RF" else 0.0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                other = theirs.explain(X[i], goal, backend="exact", time_budget_s=limit, node_budget=10**9, seed=0)
            end = time.perf_counter()
            found = getattr(other, "x_cf", None)
            records.append(
                {
                    "data": data, "model": case.model, "param": case.param, "row": i,
                    "status": answer.status.name, "distance": answer.distance if answer else None, "seconds": middle - began,
                    "treecf_proof": getattr(other, "proof", None), "treecf_distance": getattr(other, "distance", None),
                    "treecf_seconds": end - middle,
                    "treecf_flips": None if found is None else bool(model.predict(np.asarray(found)[None])[0] != labels[i]),
                }
            )  # fmt: skip
        mine = [r for r in records if r["data"] == data and r["model"] == case.model]
        ours_s, theirs_s = sum(r["seconds"] for r in mine), sum(r["treecf_seconds"] for r in mine)
        print(
            f"{data} {case.model}-{case.param}: ours {ours_s:.3f} s, treecf {theirs_s:.3f} s, ratio {theirs_s / ours_s:.1f}",
            flush=True,
        )
    return records
