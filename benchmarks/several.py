"""Several models at once.

*brute force*: two or three small models of one family, each with classes and a wanted class of its own, on whole numbers: every
family, shape of room, distance and kind of rule; by every centre and every point of its room. Every region is attacked. Then the
same for two to four models of which some are enough, the same ones at every point ("open": the time was over first).

*retrained*: boosting of 50 trees on the diabetes data, fitted on 10 bootstrap samples. One region for all 10, and beside it the
plain counterfactual of the model fitted on all rows, its region, its region with a raised threshold (probability 0.6 and 0.7:
the way of Forel et al., who choose it for a wanted share), its region with all leaf values nearby, and a region for nine tenths of
the fits; how many of 50 fresh bootstrap fits keep the wanted class at the centre, and at all of 200 points of the region.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from tests.support.exact import some_of, together
from tests.support.whole_truth import FAMILIES

from benchmarks.data import load
from elbowroom import AtLeast, Box, Explainer, Nearby, Region, Space, Target

FIRST = 50_000  # seeds that no test of the suite asks about
PROBLEMS = {"trees": 500, "linear": 280, "oblique": 200, "network": 20}
POINTS = 200
SHARE = 0.9  # of the further fits
LEAVES = 0.01  # how far what a leaf adds to the score may be off


def run_several(rows: int | None = None, only: Sequence[str] = ()) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    failures: list[str] = []
    for family in FAMILIES:
        if only and family not in only:
            continue
        count, ends, some = rows or PROBLEMS[family], Counter[str](), Counter[str]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for seed in range(FIRST, FIRST + count):
                for ask, ended in ((together, ends), (some_of, some)):
                    try:
                        ended[ask(seed, (family,))] += 1
                    except AssertionError as wrong:
                        failures.append(f"{family}: {wrong}")
        parts[family] = {"problems": count, **ends}
        parts[f"{family}, some of them"] = {"problems": count, **some}
    return {"brute force": parts, "failures": failures}


def run_retrained(rows: int = 5, limit: float = 20.0, models: int = 10, fresh: int = 50) -> dict[str, Any]:
    X, y = load("diabetes")
    base = GradientBoostingClassifier(n_estimators=50, max_depth=3, random_state=0)

    def fitted(seed: int) -> GradientBoostingClassifier:
        chosen = np.random.default_rng(seed).integers(0, len(X), len(X))
        return clone(base).fit(X[chosen], y[chosen])

    plain, together_ = clone(base).fit(X, y), [fitted(seed) for seed in range(models)]
    later = [fitted(10_000 + seed) for seed in range(fresh)]
    names = [f"x{i}" for i in range(X.shape[1])]
    space = Space.from_frame(pd.DataFrame(X, columns=names), scale="range")
    one, several = Explainer(plain, space), Explainer([plain, *together_], space)
    named = {"the model": plain, **{f"fit {i}": model for i, model in enumerate(together_)}}
    share = Explainer(AtLeast(1 + math.ceil(SHARE * models - 1e-9), named, always=["the model"]), space)
    nearby = Explainer(Nearby(plain, leaves=LEAVES), space)
    said = np.column_stack([model.predict(X) for model in [plain, *together_]])
    asked = X[(said == 1).all(axis=1)][:rows]
    ways = {
        "plain counterfactual": lambda row: one.explain(row, Box(0.0), target=0, time_limit=limit),
        "plain region": lambda row: one.explain(row, Box(0.02), target=0, time_limit=limit),
        "raised threshold 0.6": lambda row: one.explain(
            row, Box(0.02), target=Target(0, probability=0.6), time_limit=limit
        ),
        "raised threshold 0.7": lambda row: one.explain(
            row, Box(0.02), target=Target(0, probability=0.7), time_limit=limit
        ),
        f"all leaf values within {LEAVES:g}": lambda row: nearby.explain(row, Box(0.02), target=0, time_limit=limit),
        f"the model and {SHARE:.0%} of {models}": lambda row: share.explain(row, Box(0.02), target=0, time_limit=limit),
        f"all of {models + 1}, a point": lambda row: several.explain(row, Box(0.0), target=0, time_limit=limit),
        f"all of {models + 1}": lambda row: several.explain(row, Box(0.02), target=0, time_limit=limit),
    }
    told: dict[str, Any] = {}
    for name, ask in ways.items():
        began = time.perf_counter()
        answers = [ask(row) for row in asked]
        seconds = (time.perf_counter() - began) / len(answers)
        regions = [answer for answer in answers if isinstance(answer, Region)]
        centers = [float(np.mean([m.predict(r.body.center[None])[0] == 0 for m in later])) for r in regions]
        whole = [float(np.mean([(m.predict(r.sample(POINTS, seed=0)) == 0).all() for m in later])) for r in regions]
        told[name] = {
            "rows": len(answers),
            "regions": len(regions),
            "optimal": sum(r.status.name == "OPTIMAL" for r in regions),
            "none exists": sum(a.status.name == "NONE_EXISTS" for a in answers),
            "seconds per row": seconds,
            "mean distance": float(np.mean([r.distance for r in regions])),
            "fresh fits that keep the centre, mean": float(np.mean(centers)),
            "fresh fits that keep the centre, least": float(np.min(centers)),
            f"fresh fits that keep {POINTS} points, mean": float(np.mean(whole)),
            f"fresh fits that keep {POINTS} points, least": float(np.min(whole)),
        }
    return told
