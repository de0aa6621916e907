"""Promised probabilities: is the sampled survival of every answer inside its proven bounds? With PROBE's objective beside it."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.baselines.probe import Logit, linear_logit, network_logit, probe
from benchmarks.cases import Case
from benchmarks.data import load
from benchmarks.record import RESULTS
from elbowroom import Box, Explainer, NoRegion, Probability

SETS = ("banknote", "diabetes")
NETWORKS = (Case("NN", (10,)), Case("NN", (10, 10, 10)))
MODELS = (Case("linear", None), Case("DT", 3), Case("DT", 5), Case("RF", 5), Case("GBM", 10), *NETWORKS)
SIGMA, PROMISED = 0.05, 0.9
SAMPLES = 20_000
NO_GRADIENT = "its objective needs gradients, and trees have none"


def run_promises(rows: int = 20, limit: float = 2.0, models: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Every row as a question: closest centre (l1) whose slips of 0.05 keep the class with probability 0.9. With ``models``, stored
    records of the others are kept as they are."""
    chosen = [case for case in MODELS if models is None or case.label in models or case.model in models]
    records = [] if models is None else _stored([case.label for case in MODELS if case not in chosen])
    for name in SETS:
        X, y = load(name)
        for case in chosen:
            model = case.train(X, y)
            explainer = Explainer(model)
            _asked(explainer, model, X[0], 0.5)  # loads compiled code
            for row in range(rows):
                found = _asked(explainer, model, X[row], limit)
                records.append({"data": name, "model": case.label, "row": row, "limit": limit, **found})
    return records


def _stored(labels: Sequence[str]) -> list[dict[str, Any]]:
    path = RESULTS / "promises.json"
    stored = json.loads(path.read_text())["instances"] if path.exists() else []
    return [{**record, "earlier": True} for record in stored if record["model"] in labels]


def _asked(explainer: Explainer, model: Any, row: np.ndarray, limit: float) -> dict[str, Any]:
    began = time.perf_counter()
    region = explainer.explain(row, Box(0.0), keeps=Probability(PROMISED, sigma=SIGMA), time_limit=limit)
    seconds = time.perf_counter() - began
    if isinstance(region, NoRegion):
        return {"status": region.status.name, "reason": region.reason, "seconds": seconds}
    assert region.kept is not None
    share, noise = _sampled(model, region.body.center, region.target.label)
    found = {
        "status": region.status.name, "distance": region.distance, "gap": region.gap, "lower": region.kept.lower,
        "upper": region.kept.upper, "sampled": share, "noise": noise, "seconds": seconds,
        "agrees": region.kept.lower - noise <= share <= region.kept.upper + noise,
    }  # fmt: skip
    return found | {"probe": _probe(explainer, model, row, region.target.label)}


def _sampled(model: Any, center: np.ndarray, label: object) -> tuple[float, float]:
    """The share of slips that the model itself gives the label, and what chance alone may change about it (5 deviations)."""
    slipped = center + SIGMA * np.random.default_rng(0).normal(size=(SAMPLES, center.size))
    share = float((model.predict(slipped) == label).mean())
    return share, 5.0 * math.sqrt(max(share * (1.0 - share), 1.0 / SAMPLES) / SAMPLES)


def _logit(model: Any, label: Any) -> Logit | None:
    """The logit of a label; None where there are no gradients."""
    sign = 1.0 if label == model.classes_[1] else -1.0
    if hasattr(model, "coef_"):
        return linear_logit(sign * model.coef_[0], sign * float(model.intercept_[0]))
    return network_logit(model.coefs_, model.intercepts_, sign) if hasattr(model, "coefs_") else None


def _probe(explainer: Explainer, model: Any, row: np.ndarray, label: Any) -> dict[str, Any]:
    logit = _logit(model, label)
    if logit is None:
        return {"reason": NO_GRADIENT}
    found = probe(logit, row, SIGMA, 1.0 - PROMISED)
    kept = explainer.probability_kept(found.point, SIGMA, target=label)
    return {
        "distance": float(np.abs(found.point - row).sum()), "claimed": 1.0 - found.claimed_rate, "lower": kept.lower,
        "upper": kept.upper, "keeps": kept.lower >= PROMISED,
    }  # fmt: skip


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """What must be zero, and means by model."""
    found = [r for r in records if "distance" in r]
    result: dict[str, Any] = {
        "instances": len(records), "of_an_earlier_run": sum(r.get("earlier", False) for r in records), "answers": len(found), "outside_the_bounds": sum(not r["agrees"] for r in found),
        "below_the_promise": sum(r["lower"] < PROMISED for r in found), "optimal": sum(r["status"] == "OPTIMAL" for r in found),
    }  # fmt: skip
    for label in dict.fromkeys(r["model"] for r in records):
        mine = [r for r in found if r["model"] == label]
        result[label] = {
            "answers": len(mine), "optimal": sum(r["status"] == "OPTIMAL" for r in mine),
            **{field: float(np.mean([r[field] for r in mine])) for field in ("distance", "gap", "lower", "sampled", "seconds")},
        }  # fmt: skip
    for label in dict.fromkeys(r["model"] for r in found if "distance" in r["probe"]):
        compared = [r for r in found if r["model"] == label and "distance" in r["probe"]]
        result[f"probe {label}"] = {
            "compared": len(compared), "keeps_the_promise": sum(r["probe"]["keeps"] for r in compared),
            "proven_not_to": sum(r["probe"]["upper"] < PROMISED for r in compared),
            "farther_by": float(np.mean([r["probe"]["distance"] / r["distance"] - 1.0 for r in compared])),
        }  # fmt: skip
    return result
