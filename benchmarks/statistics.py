"""What the paper's tables say about a cell, and more: means with standard errors, early stops, gaps, false points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from benchmarks.cases import Case

CellKey: TypeAlias = tuple[str, float, str, str]  # norm, rho, model label, data
SOLVED = ("OPTIMAL", "NONE_EXISTS")


@dataclass(frozen=True)
class CellStatistics:
    """``seconds`` and ``iterations`` are (mean, standard error) over all instances, early stops included."""

    instances: int
    optimal: int
    seconds: tuple[float, float]
    worst_seconds: float
    iterations: tuple[float, float]
    counted: str
    early_stops: int
    stopped_radius: float | None  # mean certified radius of the early stops
    worst_gap: float | None
    false_points: int
    hostile_points: int


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error (nan for a single value)."""
    array = np.asarray(values, dtype=np.float64)
    error = float(array.std(ddof=1) / math.sqrt(array.size)) if array.size > 1 else math.nan
    return float(array.mean()), error


def statistics(records: Sequence[dict[str, Any]]) -> CellStatistics:
    stopped = [r for r in records if r["status"] not in SOLVED]
    gaps = [r["gap"] for r in records if r.get("gap") is not None]
    return CellStatistics(
        instances=len(records),
        optimal=sum(r["status"] in SOLVED for r in records),
        seconds=mean_and_error([r["seconds"] for r in records]),
        worst_seconds=max(r["seconds"] for r in records),
        iterations=mean_and_error([r["iterations"] for r in records]),
        counted="/".join(sorted({r["counted"] for r in records})),
        early_stops=len(stopped),
        stopped_radius=float(np.mean([r["certified_radius"] or 0.0 for r in stopped])) if stopped else None,
        worst_gap=max(gaps) if gaps else None,
        false_points=sum(r["false_points"] for r in records),
        hostile_points=sum(r["hostile_points"] for r in records),
    )


def by_cell(records: Iterable[dict[str, Any]]) -> dict[CellKey, CellStatistics]:
    groups: dict[CellKey, list[dict[str, Any]]] = {}
    for record in records:
        param = record["param"]
        case = Case(record["model"], tuple(param) if isinstance(param, list) else param)
        groups.setdefault((record["norm"], record["rho"], case.label, record["data"]), []).append(record)
    return {key: statistics(group) for key, group in groups.items()}
