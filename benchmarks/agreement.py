"""Four ways to one answer: Algorithm 1 on HiGHS and on SCIP, the fast engines, and brute force over the whole plane.

300 random small questions for every family of models and every norm of the room. The true distance must lie between the
bounds of every answer, and no lower bound may lie above another's distance; every region is judged and attacked.
Every line is stored as soon as it is there: a second start goes on.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.agreement import contradictions
from tests.support.plane_questions import ROOMS, Family, plane_question
from tests.support.plane_truth import closest_in_the_plane

from benchmarks import record
from benchmarks.lines import Lines
from elbowroom import Explainer, NoRegion, Region

METHODS = {"auto": "auto", "HiGHS": "adversarial", "SCIP": "adversarial-scip"}


def run_agreement(
    rows: int = 300,
    families: list[str] | None = None,
    norms: list[str] | None = None,
    limit: float = 60.0,
    resume: bool = True,
    lines: Path | None = None,
) -> dict[str, Any]:
    kept = Lines(lines or record.RESULTS / "agreement.jsonl")
    if not resume:
        kept.clear()
    done = {_key(entry): entry for entry in kept.read()}
    for family in Family:
        for norm in ROOMS:
            if (families and family.value not in families) or (norms and norm not in norms):
                continue
            for number in range(rows):
                key = (family.value, norm, number)
                if key not in done:
                    done[key] = one_question(family, norm, number, limit)
                    kept.append(done[key])
            cell = [done[family.value, norm, number] for number in range(rows)]
            print(f"{family.value:8s} {norm:4s} {_cell(cell)}", flush=True)
    entries = [done[key] for key in sorted(done)]
    return {"summary": summary(entries), "cells": cells(entries), "questions": entries}


def _key(entry: dict[str, Any]) -> tuple[str, str, int]:
    return entry["family"], entry["norm"], entry["number"]


def one_question(family: Family, norm: str, number: int, limit: float) -> dict[str, Any]:
    problem = plane_question(family, norm, number)
    began = time.perf_counter()
    truth = closest_in_the_plane(problem)
    entry: dict[str, Any] = {
        "family": family.value,
        "norm": norm,
        "number": number,
        "brute_s": time.perf_counter() - began,
    }
    entry["truth"] = _number(truth.distance)
    entry["looked"] = _number(truth.looked)
    explainer = Explainer(problem.model, problem.space)
    answers: dict[str, Region | NoRegion] = {}
    for name, method in METHODS.items():
        answer = explainer.explain(
            problem.factual, problem.room, problem.target, problem.distance, time_limit=limit, method=method
        )
        answers[name] = answer
        distance = answer.distance if isinstance(answer, Region) else None
        entry[name] = [answer.status.name, distance, _number(answer.lower_bound), round(answer.seconds, 4)]
        if "went on with" in answer.method:
            entry["handed_over"] = answer.method
    entry["contradictions"] = contradictions(problem, truth, answers)
    for word in entry["contradictions"]:
        print(f"{family.value} {norm} {number}: {word}", flush=True)
    return entry


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def cells(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per family and norm: how often each way proved its answer, and the seconds it took."""
    found = []
    for family in Family:
        for norm in ROOMS:
            mine = [e for e in entries if e["family"] == family.value and e["norm"] == norm]
            if mine:
                found.append({"family": family.value, "norm": norm, **_cell(mine)})
    return found


def _cell(entries: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "questions": len(entries),
        "with_an_answer": sum(e["truth"] is not None for e in entries),
        "contradictions": sum(len(e["contradictions"]) for e in entries),
        "brute_s": round(sum(e["brute_s"] for e in entries), 1),
    }
    for name in METHODS:
        counts = Counter(e[name][0] for e in entries)
        found[name] = dict(counts) | {"seconds": round(sum(e[name][3] for e in entries), 1)}
    return found


def summary(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        **_cell(entries),
        "regions": sum(e[name][1] is not None for e in entries for name in METHODS),
        "handed_over_to_HiGHS": sum("handed_over" in e for e in entries),
        "false_regions": sum("promised" in word for e in entries for word in e["contradictions"]),
        "seconds": round(sum(e["brute_s"] + sum(e[name][3] for name in METHODS) for e in entries), 1),
    }
