"""``python -m benchmarks audit``: every method on the same questions, and what is true about its answers."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.audit.judge import Auditor, Center, judge, read_centers
from benchmarks.audit.methods import METHODS, Method, Question
from benchmarks.data import load, obtainable
from benchmarks.instance import ROOM

MODELS = ("DT-5", "RF-10", "GBM-20", "NN-50")
DATA = ("diabetes",)
ROWS, LIMIT, RHO = 10, 10.0, 0.05


def run(
    rows: int = ROWS,
    limit: float = LIMIT,
    data: Iterable[str] = DATA,
    models: Iterable[str] = MODELS,
    norms: Iterable[str] = tuple(ROOM),
    radii: Iterable[float] = (RHO,),
    methods: Iterable[str] | None = None,
    centers: Path | None = None,
) -> dict[str, Any]:
    """Records and a table; with ``centers`` only those of the file are judged."""
    if centers is not None:
        findings = judge(read_centers(centers), limit)
        show(table(findings))
        return {"table": table(findings), "instances": findings}
    names, messages = obtainable(tuple(data))
    chosen = choose(methods)
    for message in [
        *messages,
        *(f"{m.name}: not installed ({m.package}), left out" for m in chosen if not m.installed),
    ]:
        print(message)
    auditor, findings = Auditor(limit), []
    for name in names:
        for label in models:
            for norm in norms:
                for rho in radii:
                    findings += _cell(auditor, chosen, name, label, norm, rho, rows, limit)
    show(table(findings))
    return {"table": table(findings), "instances": findings}


def choose(names: Iterable[str] | None) -> list[Method]:
    wanted = None if names is None else [name.lower() for name in names]
    chosen = [m for m in METHODS if wanted is None or any(m.name.lower().startswith(name) for name in wanted)]
    if not chosen:
        raise SystemExit(f"--methods: none of them is known; use {[m.name for m in METHODS]}")
    return chosen


def _cell(
    auditor: Auditor, methods: list[Method], data: str, label: str, norm: str, rho: float, rows: int, limit: float
) -> list[dict[str, Any]]:
    explainer, model = auditor.explainer(data, label)
    X, y = load(data)
    explainer.explain(X[0], room=ROOM[norm](0.001), time_limit=1.0)
    found = []
    for method in methods:
        if label.partition("-")[0] not in method.kinds or norm not in method.norms or not method.installed:
            continue
        for row in range(rows):
            question = Question(data, label, X, y, model, explainer, row, norm, rho, limit)
            began = time.perf_counter()
            values = method.ask(question)
            seconds = time.perf_counter() - began
            center = Center(method.name, data, label, norm, rho, row, values, seconds)
            found.append(asdict(auditor.finding(center)))
        print(f"{data} {label} {norm} {rho:g} {method.name}: {_share(found[-rows:], 'robust')} robust", flush=True)
    return found


def _share(findings: list[dict[str, Any]], field: str) -> str:
    return f"{100 * np.mean([f[field] is True for f in findings]):.0f} %"


def table(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line per model, norm, radius and method: shares of valid and robust answers, true radius over the wanted one
    (mean and least), distance over the proven optimum (mean), mean seconds."""
    lines = []
    for key in dict.fromkeys((f["data"], f["model"], f["norm"], f["rho"], f["method"]) for f in findings):
        mine = [f for f in findings if (f["data"], f["model"], f["norm"], f["rho"], f["method"]) == key]
        shares = [min(f["radius"], 1e3) / f["rho"] for f in mine if f["answered"] and f["rho"] > 0]
        ratios = [f["distance"] / f["optimum"] for f in mine if f["distance"] is not None and f["optimum"]]
        seconds = [f["seconds"] for f in mine if f["seconds"] is not None]
        lines.append(
            {
                **dict(zip(("data", "model", "norm", "rho", "method"), key, strict=True)),
                "answers": sum(f["answered"] for f in mine),
                "asked": len(mine),
                "valid": sum(f["valid"] for f in mine),
                "robust": sum(f["robust"] is True for f in mine),
                "radius_share": float(np.mean(shares)) if shares else None,
                "least_radius_share": min(shares) if shares else None,
                "distance_ratio": float(np.mean(ratios)) if ratios else None,
                "seconds": float(np.mean(seconds)) if seconds else None,
            }
        )
    return lines


def show(lines: list[dict[str, Any]]) -> None:
    print(f"{'model':8s} {'norm':5s} {'method':34s} valid robust   radius/rho (least)  distance/optimum    seconds")
    for line in lines:
        print(
            f"{line['model']:8s} {line['norm']:5s} {line['method']:34s} {line['valid']:2d}/{line['asked']:<3d} {line['robust']:2d}/{line['asked']:<3d}   "
            f"{_text(line['radius_share']):>8s} ({_text(line['least_radius_share'])})   {_text(line['distance_ratio']):>12s}  {_text(line['seconds'], 4):>14s}"
        )


def _text(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
