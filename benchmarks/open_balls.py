"""The early stops of the paper's tables for balls, asked again: status and gap beside those of the stored table.

Every question has a process of its own and one thread. Seconds are those of the processor, the limit included, so that whatever
else the machine does does not count. What is done is kept line by line: `--resume` goes on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.cases import Case
from benchmarks.data import paper_data
from benchmarks.instance import solve_instance
from benchmarks.lines import Lines

STORED = record.RESULTS / "paper-trees-l2.json"
CLOSED = ("OPTIMAL", "NONE_EXISTS")


def early_stops() -> list[dict[str, Any]]:
    """The instances that the stored table left open."""
    instances: list[dict[str, Any]] = json.loads(STORED.read_text())["instances"]
    return [r for r in instances if r["norm"] == "l2" and r["status"] not in CLOSED]


def run_open_balls(limit: float = 60.0, resume: bool = True, lines: Path | None = None) -> list[dict[str, Any]]:
    kept = Lines(lines or record.RESULTS / "open-balls.jsonl")
    if not resume:
        kept.clear()
    done, found = {_key(r): r for r in kept.read()}, []
    for stored in early_stops():
        key = _key({**stored, "limit": limit})
        if key not in done:
            command = [sys.executable, "-m", "benchmarks.open_balls", json.dumps({**stored, "limit": limit})]
            told = subprocess.run(
                command, capture_output=True, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
            )
            done[key] = json.loads(told.stdout.splitlines()[-1])
            kept.append(done[key])
            print({name: done[key][name] for name in ("model", "rho", "row", "status", "gap", "seconds")}, flush=True)
        found.append(done[key])
    return found


def _key(r: dict[str, Any]) -> tuple[Any, ...]:
    return r["data"], r["model"], r["param"], r["rho"], r["row"], r["limit"]


def _ask(stored: dict[str, Any]) -> dict[str, Any]:
    from elbowroom import Ball, Explainer

    X, y = paper_data(stored["data"])
    model = Case(stored["model"], stored["param"]).train(X, y)
    explainer = Explainer(model)
    explainer.explain(X[0], room=Ball(0.001), time_limit=1.0)  # compiled code is loaded
    about = {name: stored[name] for name in ("data", "model", "param", "rho", "norm", "limit")}
    row = stored["row"]
    found = solve_instance(explainer, model, X[row], row, "l2", stored["rho"], stored["limit"])
    before = {"status": stored["status"], "gap": stored["gap"], "distance": stored["distance"]}
    return {**about, **found, "before": before}


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    left = [r for r in records if r["status"] not in CLOSED]
    return {
        "early_stops": len(early_stops()),  # more than instances: the others have not been asked again
        "instances": len(records),
        "proven": len(records) - len(left),
        "below_5_percent": sum(r["gap"] < 0.05 for r in left),
        "open": sum(r["gap"] >= 0.05 for r in left),
        "false_points": sum(r["false_points"] for r in records),
        "hostile_points": sum(r["hostile_points"] for r in records),
    }


if __name__ == "__main__":
    time.perf_counter = time.process_time
    print(json.dumps(_ask(json.loads(sys.argv[1]))))
