"""The chance that a Gaussian slip keeps the class: proven bounds beside the paper's conservative formula and sampling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.cases import LINEAR, Case
from benchmarks.data import PAPER, load
from elbowroom import Box, Explainer

MODELS = [*LINEAR, Case("DT", 10), Case("RF", 20), Case("RF", 100), Case("GBM", 20), Case("GBM", 100)]
SIGMA, PROMISED = 0.01, 0.9
SAMPLES = 100_000


def run_kept(rows: int = 3, limit: float = 5.0) -> list[dict[str, Any]]:
    """The nearest counterfactual and the region made for a 90 % promise, slipped by 0.01 in every feature."""
    records = []
    for name in PAPER:
        X, y = load(name)
        rooms = {"point": Box(0.0), "promised": Box.for_probability(PROMISED, SIGMA, n=X.shape[1])}
        for case in MODELS:
            model = case.train(X, y)
            explainer = Explainer(model)
            for row in range(rows):
                for room, box in rooms.items():
                    region = explainer.explain(X[row], box)
                    kept = explainer.probability_kept(region, SIGMA, time_limit=limit)
                    slipped = region.body.center + SIGMA * np.random.default_rng(0).normal(size=(SAMPLES, X.shape[1]))
                    share = float((model.predict(slipped) == region.target.label).mean())
                    noise = 5.0 * math.sqrt(max(share * (1.0 - share), 1.0 / SAMPLES) / SAMPLES)
                    records.append(
                        {
                            "data": name, "model": case.model, "param": case.param, "row": row, "room": room,
                            "distance": region.distance, "inside": kept.inside, "lower": kept.lower,
                            "upper": kept.upper, "exact": kept.exact, "sampled": share,
                            "agrees": kept.lower - noise <= share <= kept.upper + noise, "ranges": kept.ranges,
                            "seconds": kept.seconds,
                        }
                    )  # fmt: skip
    return records


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Means per room, and what must be zero."""
    found: dict[str, Any] = {"instances": len(records), "disagree_with_sampling": sum(not r["agrees"] for r in records)}
    for room in ("point", "promised"):
        chosen = [r for r in records if r["room"] == room]
        for field in ("distance", "inside", "lower", "upper", "sampled", "seconds"):
            found[f"{room}_{field}"] = float(np.mean([r[field] for r in chosen]))
        found[f"{room}_widest_gap"] = max(r["upper"] - r["lower"] for r in chosen)
    return found
