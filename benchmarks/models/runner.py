"""Runs cases one by one and records what becomes of each."""

from __future__ import annotations

import time
import traceback
import warnings
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.models.attack import attack
from benchmarks.models.case import Case, Expected, Given
from benchmarks.models.catalogue import chosen
from benchmarks.models.report import print_line, print_table, summary
from elbowroom import ElbowroomError, Explainer, Region, ReplayMismatch, Space, Status

LIMIT, POINTS = 10.0, 4_000
FAILURES = ("wrong", "faulty", "failed")
LIBRARIES = ("pandas", "xgboost", "xgboost-cpu", "lightgbm", "catboost", "imbalanced-learn", "torch", "onnx", "onnxruntime", "skl2onnx")  # fmt: skip


def run_models(
    families: list[str] | None = None,
    only: list[str] | None = None,
    points: int = POINTS,
    rows: int = 1,
    limit: float = LIMIT,
) -> dict[str, Any]:
    """The table: one record per case, ``points`` attacked points per region, ``rows`` regions per case."""
    records = []
    for case in chosen(families, only):
        records.append(run_case(case, points, rows, limit))
        print_line(records[-1])
    print_table(records)
    failures = [f"{r['family']}: {r['name']}" for r in records if r["outcome"] in FAILURES]
    return {"summary": summary(records), "libraries": _libraries(), "failures": failures, "instances": records}


def _libraries() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def run_case(case: Case, points: int = POINTS, rows: int = 1, limit: float = LIMIT) -> dict[str, Any]:
    """One case, never an exception: a traceback is a record, too."""
    record: dict[str, Any] = {"family": case.family, "name": case.name, "expected": case.expected.value}
    if case.absent:
        return {**record, "outcome": "skipped", "reason": case.absent}
    began = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = case.build()
    except ImportError as missing:
        return {**record, "outcome": "skipped", "reason": str(missing)}
    except Exception as error:
        return {**record, "outcome": "failed", "where": "build", **_trace(error)}
    record["fit_s"] = round(time.perf_counter() - began, 3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = _asked(case, given, points, rows, limit)
    told = [str(w.message) for w in caught if "elbowroom" in str(w.category.__module__) or "elbowroom" in w.filename]
    return _judged(case, {**record, **found, "warnings": list(dict.fromkeys(told))})


def _asked(case: Case, given: Given, points: int, rows: int, limit: float) -> dict[str, Any]:
    began = time.perf_counter()
    try:
        explainer = _explainer(given)
        read = time.perf_counter() - began
        found = [_answered(explainer, given, row, points, limit) for row in _rows(given, rows)]
    except ReplayMismatch as error:
        return {"outcome": "failed", "where": "replay", **_trace(error)}
    except ElbowroomError as error:
        if case.expected is not Expected.REFUSED and _hides(error):
            return {"outcome": "failed", "where": "read", **_trace(error.__cause__ or error)}
        return {"outcome": "refused", "message": str(error), "kind": type(error).__name__}
    except Exception as error:
        return {"outcome": "failed", "where": "explain", **_trace(error)}
    worst = min(
        found, key=lambda entry: ("failed", "wrong", "faulty", "unknown", "none", "works").index(entry["outcome"])
    )
    asked = sum(entry["points"] for entry in found)
    return {**worst, "read_s": round(read, 3), "points": asked, "regions": sum(e["region"] for e in found)}


def _explainer(given: Given) -> Explainer:
    """The call that one would guess."""
    if given.space is None:
        return Explainer(given.model, given.X)
    if given.space == "none":
        return Explainer(given.model)
    options = dict(given.space)
    space = options.pop("space", None)
    return Explainer(given.model, space or Space.from_frame(options.pop("frame", given.X), **options))


def _rows(given: Given, rows: int) -> list[Any]:
    """Rows that do not have what is wanted, spread over the table."""
    if given.row is not None and not isinstance(given.row, int):
        return [given.row]
    if given.row is not None:
        where = np.array([given.row])
    else:
        where = np.flatnonzero(~given.is_good(given.outputs(given.X)))
        where = where[np.linspace(0, where.size - 1, min(rows, where.size)).astype(int)]
    return [given.X.iloc[i] if isinstance(given.X, pd.DataFrame) else given.X[i] for i in where.tolist()]


def _answered(explainer: Explainer, given: Given, row: Any, points: int, limit: float) -> dict[str, Any]:
    options: dict[str, Any] = {"target": given.target} if given.target is not None else {}
    began = time.perf_counter()
    answer = explainer.explain(
        row, room=given.room, distance=given.distance, rules=given.rules, time_limit=limit, **options
    )
    record: dict[str, Any] = {
        "status": answer.status.name, "seconds": round(time.perf_counter() - began, 3), "points": 0, "region": 0,
        "parsed": type(explainer.model).__name__,
    }  # fmt: skip
    if not isinstance(answer, Region):
        outcome = "none" if answer.status is Status.NONE_EXISTS else "unknown"
        return {**record, "outcome": outcome, "reason": answer.reason}
    hit = attack(given, answer, getattr(explainer.model, "cuts", None), points, row)
    fault = hit.fault or _shown(answer)
    return {
        **record, "outcome": "wrong" if hit.wrong else "faulty" if fault else "works", "distance": answer.distance,
        "gap": answer.gap, "points": hit.points, "wrong": hit.wrong, "first_wrong": hit.first, "fault": fault,
        "region": 1, "sentence": answer.sentence(),
    }  # fmt: skip


def _shown(region: Region) -> str:
    """What one does with an answer besides predicting: print it, make a page of it, store it and read it again."""
    str(region), region.to_html()
    again = Region.from_json(region.to_json())
    return "" if again.body.same_as(region.body) else "the region read from its JSON is another one"


def _judged(case: Case, record: dict[str, Any]) -> dict[str, Any]:
    """The remark that is printed beside the outcome; empty: as it should be."""
    outcome, remark = record["outcome"], ""
    if outcome == "refused":
        lacks = case.lacks(record["message"])
        if case.expected is Expected.WORKS:
            remark = "should work"
        elif lacks:
            remark = f"the message lacks {lacks}"
    elif outcome in ("none", "unknown") and case.expected is Expected.WORKS:
        remark = "no region"
    elif outcome == "works" and case.expected is Expected.REFUSED:
        remark = "accepted, a refusal was expected"
    elif case.warns and outcome in ("works", "none", "unknown") and not _warned(case, record["warnings"]):
        remark = f"trap: no warning with {list(case.warns)}"
    return {**record, "remark": remark}


def _warned(case: Case, told: list[str]) -> bool:
    return any(not case.lacks(message, case.warns) for message in told)


def _hides(error: ElbowroomError) -> bool:
    """A freshly fitted model is not damaged: what made the reader stumble is a fault of the reader."""
    return "do not fit together" in str(error) and not isinstance(error.__cause__, ElbowroomError)


def _trace(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    lines = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}: {frame.line}" for frame in frames]
    return {"message": f"{type(error).__name__}: {error}", "traceback": lines, "remark": "traceback"}
