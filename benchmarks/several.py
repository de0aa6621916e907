"""Several models at once.

*brute force*: two or three small models of one family, each with classes and a wanted class of its own, on whole numbers: every
family, shape of room, distance and kind of rule; by every centre and every point of its room; 1,000 that are answered. Every region is
attacked. Then the same for two to four models of which some are enough, the same ones at every point ("open": the time was over first).

*retrained*: boosting of 50 trees on the diabetes data, fitted on 10 bootstrap samples. One region for all 10, and beside it the
plain counterfactual of the model fitted on all rows (treecf's as well, where it is installed), its region, its region with a
raised threshold (probability 0.6, 0.7 and 0.8: the way of Forel et al., who choose it for a wanted share), its region with all leaf
values nearby, and a region for nine tenths of the fits; how many of 50 fresh bootstrap fits keep the wanted class at the centre,
and at all of 200 points of the region.
"""

from __future__ import annotations

import itertools
import json
import math
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from tests.support.exact import some_of, together
from tests.support.whole_truth import FAMILIES

from benchmarks.data import load
from benchmarks.record import RESULTS
from elbowroom import AtLeast, Box, Explainer, Nearby, Region, Space, Target

FIRST = 50_000  # seeds that no test of the suite asks about
PROBLEMS = {"trees": 500, "linear": 280, "oblique": 200, "network": 20}
POINTS = 200
SHARE = 0.9  # of the further fits
RAISED = (0.6, 0.7, 0.8)  # probabilities of the wanted class
LEAVES = 0.01  # how far what a leaf adds to the score may be off


def run_several(rows: int | None = None, only: Sequence[str] = ()) -> dict[str, Any]:
    """One record per family and way; with ``only``, those of these families are asked, the others are kept as stored."""
    parts: dict[str, Any] = {}
    failures: list[str] = []
    if only:
        stored = _stored("several")
        parts = {name: {**part, "kept": True} for name, part in stored["brute force"].items()}
        failures = [failure for failure in stored["failures"] if not failure.startswith(tuple(only))]
    for family in FAMILIES:
        if only and family not in only:
            continue
        for name, ask in ((family, together), (f"{family}, some of them", some_of)):
            parts[name] = _answered(ask, family, rows or PROBLEMS[family], failures)
            print(f"{name}: {parts[name]}", flush=True)
    return {"brute force": parts, "failures": failures}


def _answered(
    ask: Callable[[int, tuple[str, ...]], str], family: str, count: int, failures: list[str]
) -> dict[str, int]:
    """Ask until so many are answered; those whose rules and rooms do not go together are refused by name, as for one model."""
    ended = Counter[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in itertools.count(FIRST):
            if ended.total() - ended["refused"] >= count:
                break
            try:
                ended[ask(seed, (family,))] += 1
            except AssertionError as wrong:
                ended["wrong"] += 1
                failures.append(f"{family}: {wrong}")
    return {"problems": ended.total() - ended["refused"], **ended}


def run_retrained(
    rows: int = 20, limit: float = 60.0, only: Sequence[str] = (), models: int = 10, fresh: int = 50
) -> dict[str, Any]:
    """One record per way of asking; with ``only``, those whose name begins so are asked, the others are kept as stored."""
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
    ways: dict[str, Callable[[np.ndarray], Any]] = {
        "plain counterfactual": lambda row: one.explain(row, Box(0.0), target=0, time_limit=limit),
        "plain region": lambda row: one.explain(row, Box(0.02), target=0, time_limit=limit),
        **{
            f"raised threshold {tau:g}": lambda row, tau=tau: one.explain(
                row, Box(0.02), target=Target(0, probability=tau), time_limit=limit
            )
            for tau in RAISED
        },
        f"all leaf values within {LEAVES:g}": lambda row: nearby.explain(row, Box(0.02), target=0, time_limit=limit),
        f"the model and {SHARE:.0%} of {models}": lambda row: share.explain(row, Box(0.02), target=0, time_limit=limit),
        f"all of {models + 1}, a point": lambda row: several.explain(row, Box(0.0), target=0, time_limit=limit),
        f"all of {models + 1}": lambda row: several.explain(row, Box(0.02), target=0, time_limit=limit),
    }
    if (peer := _treecf(plain, limit)) is not None:
        ways["treecf's plain counterfactual"] = peer
    told: dict[str, Any] = (
        {name: {**record, "kept": True} for name, record in _stored("retrained").items()} if only else {}
    )
    for name, ask in ways.items():
        if only and not name.startswith(tuple(only)):
            continue
        began = time.process_time()
        answers = [ask(row) for row in asked]
        seconds = (time.process_time() - began) / len(answers)
        told[name] = {"rows": len(answers), "processor seconds per row": seconds, **_judged(answers, asked, later)}
        print(f"{name}: {told[name]}", flush=True)
    return told


def _stored(result: str) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((RESULTS / f"{result}.json").read_text(encoding="utf-8"))
    return {name: record for name, record in stored.items() if name != "environment"}


def _treecf(model: Any, limit: float) -> Callable[[np.ndarray], np.ndarray | None] | None:
    """Its exact search for class 0 in the same distance (l1 on columns that all range from 0 to 1), if it is installed."""
    try:
        import treecf
    except ImportError:
        return None
    explainer = treecf.Explainer(model, normalizers=np.ones(model.n_features_in_))
    goal = treecf.Target.raw(op="<=", value=0.0)

    def ask(row: np.ndarray) -> np.ndarray | None:
        found = explainer.explain(row, goal, backend="exact", time_budget_s=limit, node_budget=10**9, seed=0)
        point = getattr(found, "x_cf", None)
        return None if point is None or model.predict(np.asarray(point)[None])[0] != 0 else np.asarray(point)

    return ask


def _judged(answers: Sequence[Any], asked: np.ndarray, later: Sequence[Any]) -> dict[str, Any]:
    """How the answers ended, and the shares of further fits that keep them; a point of another tool's is a region of one point."""
    centers, points, distances = [], [], []
    for answer, row in zip(answers, asked, strict=True):
        if isinstance(answer, np.ndarray):
            centers.append(answer)
            points.append(answer[None])
            distances.append(float(np.abs(answer - row).sum()))
        elif isinstance(answer, Region):
            centers.append(answer.body.center)
            points.append(answer.sample(POINTS, seed=0).to_numpy())
            distances.append(answer.distance)
    told: dict[str, Any] = {"regions": len(centers)}
    for name in ("OPTIMAL", "NONE_EXISTS"):
        told[name.lower().replace("_", " ")] = sum(a.status.name == name for a in answers if hasattr(a, "status"))
    told["mean distance"] = float(np.mean(distances)) if distances else None
    for said, judged in (("the centre", [c[None] for c in centers]), (f"{POINTS} points", points)):
        shares = [float(np.mean([(model.predict(each) == 0).all() for model in later])) for each in judged]
        told[f"fresh fits that keep {said}, mean"] = float(np.mean(shares)) if shares else None
        told[f"fresh fits that keep {said}, least"] = min(shares, default=None)
    return told
