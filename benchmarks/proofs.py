"""Proof files of the paper's instances: written, confirmed by the checker, weighed and timed.

Instances are appended to ``results/proofs.jsonl`` as they finish; a second start goes on where the first ended. Seconds are of
the processor, because the machine may be busy. A search is made without a log (the control), with one, and once more with the
proof written after it. Files are kept in a folder if one is named; ``confirm_again`` asks the checker about all of them.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.cases import LINEAR, RADII, ROWS, TREES, choose
from benchmarks.data import PAPER, available, paper_data
from benchmarks.instance import ROOM
from benchmarks.lines import Lines
from elbowroom import Box, Explainer
from elbowroom.explainer.attempt import Attempt
from elbowroom.models import TreeEnsemble
from elbowroom.problem import RecourseProblem, Room
from elbowroom.proof.model_file import model_bytes
from elbowroom.search.contract import Clock
from elbowroom.search.trees.engine import TreeEngine
from elbowroom_checker import Refused, check

KEYS = ("data", "model", "norm", "rho", "row", "limit")
CHECKING_SECONDS = 600.0
MODEL = "model.json.gz"


def run_proofs(
    rows: int = ROWS,
    limit: float = 60.0,
    data: Iterable[str] = PAPER,
    models: Iterable[str] | None = None,
    norms: Iterable[str] = ("linf",),
    radii: Iterable[float] = RADII,
    resume: bool = True,
    lines: Path | None = None,
    keep: Path | None = None,
) -> list[dict[str, Any]]:
    """One record per instance; those of earlier starts are kept."""
    kept = Lines(lines or record.RESULTS / "proofs.jsonl")
    if not resume:
        kept.clear()
    done = {tuple(entry[key] for key in KEYS): entry for entry in kept.read()}
    wanted = []
    for name in data:
        if not available(name):
            print(f"{name}: not there, left out")
            continue
        for case in [*LINEAR, *TREES] if models is None else choose(models):
            keys = [(name, case.label, norm, rho, i, limit) for norm in norms for rho in radii for i in range(rows)]
            wanted += keys
            todo = [key for key in keys if key not in done]
            if todo:
                X, y = paper_data(name)
                shelf = None if keep is None else keep / f"{name} {case.label}"
                asked = _Asked(Explainer(case.train(X, y)), limit, shelf)
                for key in todo:
                    _, _, norm, rho, i, _ = key
                    done[key] = {**dict(zip(KEYS, key, strict=True)), **asked.record(X[i], ROOM[norm](rho), i)}
                    kept.append(done[key])
                print(f"{name:10s} {case.label:8s} {_line([done[key] for key in keys])}", flush=True)
    return [done[key] for key in wanted]


class _Asked:
    """One model, its file, and an engine whose memory is warm."""

    def __init__(self, explainer: Explainer, limit: float, shelf: Path | None = None) -> None:
        self._explainer, self._limit, self._file = explainer, limit, model_bytes(explainer.model)
        self._shelf = shelf
        if shelf is not None:
            shelf.mkdir(parents=True, exist_ok=True)
            (shelf / MODEL).write_bytes(gzip.compress(self._file))
        self._engine = TreeEngine() if isinstance(explainer.model, TreeEnsemble) else None

    def record(self, x: np.ndarray, room: Room, number: int) -> dict[str, Any]:
        self._explainer.explain(x, room=room, time_limit=0.01)  # kernels and caches are warm from here on
        found: dict[str, Any] = self._searches(x, room, number % 2 == 0)
        began = time.process_time()
        answer = self._explainer.explain(x, room=room, time_limit=self._limit, seed=0, proof=True)
        both, proof = time.process_time() - began, answer.proof
        assert proof is not None
        found |= {
            "status": answer.status.name,
            "missing": proof.missing,
            "confirmed": False,
            "refused": "",
            "search_and_writing_s": both,
            "checking_s": 0.0,
            "bytes": 0,
            "nodes": answer.counters.get("nodes"),
        }
        if proof.document is None:
            return found
        text = proof.text.encode()
        if self._shelf is not None:
            name = f"{room!r} {number}.json.gz"
            (self._shelf / name).write_bytes(gzip.compress(text))
        began = time.process_time()
        try:
            said = check(text, self._file, CHECKING_SECONDS)
            low = said.bound is not None and said.bound < answer.lower_bound * (1.0 - 1e-9)
            found |= {"confirmed": not low, "refused": "the bound is lower" if low else ""}
        except Refused as reason:
            found |= {"refused": str(reason)}
        return found | {"checking_s": time.process_time() - began, "bytes": len(text)}

    def _searches(self, x: np.ndarray, room: Room, first: bool) -> dict[str, float]:
        """Seconds of the search alone, without a log and with one; which of them comes first changes from row to row. (Of boxes
        on trees: the others leave no log that a proof is written from.)"""
        if self._engine is None or not isinstance(room, Box):
            return {}
        about = self._explainer.model, self._explainer.space, x, room
        self._search(about, None)
        seconds = {}
        for name in ("search_s", "logged_s") if first else ("logged_s", "search_s"):
            seconds[name] = self._search(about, [] if name == "logged_s" else None)
        return seconds

    def _search(self, about: tuple[Any, ...], diary: list[object] | None) -> float:
        problem, clock = RecourseProblem.ask(*about), Clock(self._limit)
        clock.diary = diary
        began = time.process_time()
        assert self._engine is not None
        Attempt(problem, clock, self._engine).run(0)
        return time.process_time() - began


def confirm_again(folder: Path) -> dict[str, int]:
    """How many of the files in a folder are confirmed, with how many halves, and by name which are refused."""
    found = {"both_halves": 0, "valid_alone": 0, "refused": 0}
    for shelf in sorted(each for each in folder.iterdir() if each.is_dir()):
        model = gzip.decompress((shelf / MODEL).read_bytes())
        for path in sorted(shelf.glob("*.json.gz")):
            if path.name == MODEL:
                continue
            try:
                said = check(gzip.decompress(path.read_bytes()), model, CHECKING_SECONDS)
                found["valid_alone" if said.bound is None else "both_halves"] += 1
            except Refused as reason:
                print(f"{shelf.name} {path.name}: {reason}")
                found["refused"] += 1
    return found


def _line(batch: list[dict[str, Any]]) -> str:
    both = sum(r["confirmed"] and not r["missing"] for r in batch)
    sizes, seconds = [r["bytes"] for r in batch], [r["checking_s"] for r in batch]
    return (
        f"both halves {both:2d}/{len(batch)} refused {sum(bool(r['refused']) for r in batch)}  "
        f"median {np.median(sizes) / 1e3:8.1f} kB {np.median(seconds):7.3f} s  worst {max(sizes) / 1e3:8.1f} kB {max(seconds):7.3f} s"
    )


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Of all instances, and of every kind of room and model."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for each in records:
        kind = {"linear": "linear", "NN": "networks"}.get(each["model"].partition("-")[0], "trees")
        groups.setdefault(f"{kind} {each['norm']}", []).append(each)
    return {name: _summed(each) for name, each in {"all": records, **groups}.items()}


def _summed(records: list[dict[str, Any]]) -> dict[str, Any]:
    sizes, checking = (np.array([r[key] for r in records]) for key in ("bytes", "checking_s"))
    searched = [r for r in records if "search_s" in r]
    worst, largest = (records[int(np.argmax(values))] for values in (checking, sizes))
    found = {
        "instances": len(records),
        "both_halves": sum(r["confirmed"] and not r["missing"] for r in records),
        "valid_alone": sum(r["confirmed"] and bool(r["missing"]) for r in records),
        "refused": sum(bool(r["refused"]) for r in records),
        "not_written": sum(not r["bytes"] for r in records),
        "median_bytes": float(np.median(sizes)),
        "worst_bytes": int(sizes.max()),
        "largest": _name(largest),
        "median_checking_s": float(np.median(checking)),
        "worst_checking_s": float(checking.max()),
        "longest": _name(worst),
    }
    if searched:
        search, logged, written = (
            np.array([r[key] for r in searched]) for key in ("search_s", "logged_s", "search_and_writing_s")
        )
        found |= {
            "search_s": float(search.sum()),
            "logged_per_search": float(logged.sum() / search.sum()),
            "median_logged_per_search": float(np.median(logged / search)),
            "writing_s": float((written - logged).sum()),
            "writing_per_search": float((written - logged).sum() / search.sum()),
            "median_writing_per_search": float(np.median((written - logged) / search)),
        }
    return found


def _name(each: dict[str, Any]) -> str:
    return f"{each['data']} {each['model']} {each['norm']} {each['rho']} row {each['row']}"


if __name__ == "__main__":
    print(json.dumps(confirm_again(Path(sys.argv[1]))))
