"""Proof files of the paper's instances: written, confirmed by the checker, weighed and timed."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.cases import LINEAR, RADII, ROWS, TREES, choose
from benchmarks.data import PAPER, available, paper_data
from benchmarks.instance import ROOM
from elbowroom import Explainer
from elbowroom.proof.model_file import model_bytes
from elbowroom_checker import Refused, check


def run_proofs(
    rows: int = ROWS,
    limit: float = 60.0,
    data: Iterable[str] = PAPER,
    models: Iterable[str] | None = None,
    norms: Iterable[str] = ("linf",),
    radii: Iterable[float] = RADII,
) -> list[dict[str, Any]]:
    """One record per instance. Seconds of the search, of writing the proof after it, and of the checker."""
    records: list[dict[str, Any]] = []
    cases = [*LINEAR, *TREES] if models is None else choose(models)
    for name in data:
        if not available(name):
            print(f"{name}: not there, left out")
            continue
        X, y = paper_data(name)
        for case in cases:
            explainer = Explainer(case.train(X, y))
            file = model_bytes(explainer.model)
            for norm in norms:
                explainer.explain(
                    X[0], room=ROOM[norm](0.001), time_limit=1.0
                )  # kernels and caches are warm from here on
                for rho in radii:
                    batch = [_record(explainer, file, X[i], norm, rho, limit) for i in range(rows)]
                    for i, record in enumerate(batch):
                        record.update(data=name, model=case.label, norm=norm, rho=rho, row=i)
                    records += batch
                    print(_line(name, case.label, norm, rho, batch), flush=True)
    return records


def _record(explainer: Explainer, file: bytes, x: np.ndarray, norm: str, rho: float, limit: float) -> dict[str, Any]:
    answer = explainer.explain(x, room=ROOM[norm](rho), time_limit=limit, seed=0, proof=True)
    proof = answer.proof
    assert proof is not None
    record: dict[str, Any] = {
        "status": answer.status.name,
        "missing": proof.missing,
        "confirmed": False,
        "refused": "",
        "search_seconds": answer.seconds,
        "writing_seconds": proof.seconds,
        "checking_seconds": 0.0,
        "bytes": 0,
        "nodes": answer.counters.get("nodes"),
    }
    if proof.document is None:
        return record
    began = time.perf_counter()
    try:
        said = check(proof.text.encode(), file)
        low = said.bound is not None and said.bound < answer.lower_bound * (1.0 - 1e-9)
        record.update(confirmed=not low, refused="the bound is lower" if low else "")
    except Refused as reason:
        record.update(refused=str(reason))
    record.update(checking_seconds=time.perf_counter() - began, bytes=len(proof.text))
    return record


def _line(data: str, model: str, norm: str, rho: float, batch: list[dict[str, Any]]) -> str:
    both = sum(r["confirmed"] and not r["missing"] for r in batch)
    sizes, seconds = [r["bytes"] for r in batch], [r["checking_seconds"] for r in batch]
    return (
        f"{data:10s} {model:8s} {norm:4s} {rho:<5g} both halves {both:2d}/{len(batch)} refused {sum(bool(r['refused']) for r in batch)}  "
        f"median {np.median(sizes) / 1e3:8.1f} kB {np.median(seconds):7.3f} s  worst {max(sizes) / 1e3:8.1f} kB {max(seconds):7.3f} s"
    )


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Seconds are noisy; ``writing_per_search`` is the ratio of the totals of one run."""
    sizes, checking = (np.array([r[key] for r in records]) for key in ("bytes", "checking_seconds"))
    search, writing = (sum(r[key] for r in records) for key in ("search_seconds", "writing_seconds"))
    worst = records[int(np.argmax(checking))]
    return {
        "instances": len(records),
        "both_halves": sum(r["confirmed"] and not r["missing"] for r in records),
        "valid_alone": sum(r["confirmed"] and bool(r["missing"]) for r in records),
        "refused": sum(bool(r["refused"]) for r in records),
        "median_bytes": float(np.median(sizes)),
        "worst_bytes": int(sizes.max()),
        "median_checking_s": float(np.median(checking)),
        "worst_checking_s": float(checking.max()),
        "worst_checked": f"{worst['data']} {worst['model']} {worst['norm']} {worst['rho']} row {worst['row']}",
        "writing_per_search": writing / search,
        "median_writing_per_search": float(np.median([r["writing_seconds"] / r["search_seconds"] for r in records])),
    }
