"""One instance of the paper's tables: solved, judged and attacked."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from tests.support.hostile import hostile_points

from benchmarks.attacked import attack_network
from elbowroom import Ball, Box, Diamond, Explainer, NoRegion, Region, ReluNetwork, TreeEnsemble
from elbowroom.search.frontier import INTERRUPTED

ROOM = {"linf": Box, "l2": Ball, "l1": Diamond}


def solve_instance(
    explainer: Explainer, model: Any, x: np.ndarray, row: int, norm: str, rho: float, limit: float
) -> dict[str, Any]:
    """The record of one question. ``false_points`` counts hostile points that the model's own predict puts elsewhere.

    ``iterations`` are search nodes where the engine counts nodes (else rounds, else published steps): ``counted`` says
    which. ``certified_radius`` is None where there is no region.
    """
    began = time.perf_counter()
    answer = explainer.explain(x, room=ROOM[norm](rho), time_limit=limit, seed=0)
    seconds = time.perf_counter() - began
    if answer.method == INTERRUPTED:
        raise KeyboardInterrupt  # the answer is what there was until then; it is not a benchmark result
    counted, iterations = effort(answer)
    record: dict[str, Any] = {
        "row": row,
        "status": answer.status.name,
        "distance": None,
        "lower_bound": answer.lower_bound if math.isfinite(answer.lower_bound) else None,
        "gap": None,
        "certified_radius": None,
        "seconds": seconds,
        "iterations": iterations,
        "counted": counted,
        "false_points": 0,
        "hostile_points": 0,
    }
    if isinstance(answer, Region):
        points, margins = hostile(explainer, model, answer)
        record.update(
            distance=answer.distance,
            gap=answer.gap,
            certified_radius=rho,
            hostile_points=len(points),
            false_points=int((model.predict(points) != answer.target.label).sum()),
            **margins,
        )
    return record


def hostile(explainer: Explainer, model: Any, answer: Region) -> tuple[np.ndarray, dict[str, float]]:
    """The points that the model labels; for networks also the proven and the lowest attacked margin."""
    cuts = explainer.model.cuts if isinstance(explainer.model, TreeEnsemble) else None
    points = hostile_points(answer.body, cuts)
    if not isinstance(explainer.model, ReluNetwork):
        return points, {}
    attacked, more = attack_network(model, answer.body, answer.target.label)
    return np.concatenate([points, more]), {"proven_margin": answer.certificate.margin, "attacked_margin": attacked}


def effort(answer: Region | NoRegion) -> tuple[str, int]:
    """How much was searched: nodes of a tree search, rounds of Algorithm 1, else steps of the trace."""
    for name in ("nodes", "rounds"):
        if name in answer.counters:
            return name, int(answer.counters[name])
    return "steps", len(answer.trace)
