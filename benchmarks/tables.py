"""``python -m benchmarks paper``: tables 1 and 2 of the paper, all 4,320 instances, in parallel and resumable.

Instances are written to ``results/paper.jsonl`` as they finish. A second start goes on where the first ended. What is
complete is gathered in ``results/paper-*.json``; a slice goes to ``results/paper-slice.json``.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.cases import NORMS, RADII, ROWS, TREES, choose
from benchmarks.cells import PAPER_INSTANCES, Cell, cells, file_of, key_of, missing, order, run_cell
from benchmarks.data import PAPER, obtainable
from benchmarks.lines import Lines
from benchmarks.paper import summary
from benchmarks.record import RESULTS, environment, write
from benchmarks.show import Show, print_tables
from elbowroom.warm import warm

LIMIT = 60.0
QUICK_MODELS = ("linear", "DT-5", "RF-10", "GBM-20", "GBM-100", "NN-10", "NN-50")
QUICK_ROWS, QUICK_LIMIT, QUICK_SECONDS = 2, 5.0, 105.0
SUBSTITUTE = "cancer"


def run(
    rows: int | None = None,
    limit: float | None = None,
    data: Iterable[str] = PAPER,
    models: Iterable[str] | None = None,
    norms: Iterable[str] = NORMS,
    radii: Iterable[float] = RADII,
    jobs: int = 1,
    resume: bool = True,
    quick: bool = False,
    out: Path | None = None,
) -> None:
    """Run what is missing, gather, print the tables."""
    norms = tuple(norms)
    if set(norms) - set(NORMS):
        raise SystemExit(f"--norms {sorted(set(norms) - set(NORMS))}: the paper's tables know {list(NORMS)}")
    show = Show()
    names, messages = obtainable(tuple(data), SUBSTITUTE if quick else None)
    for message in messages:
        show.say(message)
    if not names:
        raise SystemExit("no data set can be had; `python -m benchmarks paper --quick` works without them")
    if quick:
        rows, limit = rows or QUICK_ROWS, limit or QUICK_LIMIT
        models, resume = models or QUICK_MODELS, False
    wanted = cells(names, choose(models), norms, radii, rows or ROWS, limit or LIMIT)
    folder = out or RESULTS
    lines = Lines(folder / ("paper-quick.jsonl" if quick else "paper.jsonl"))
    if any(cell.case in TREES for cell in wanted):
        show.say("loading the kernels (compiled once after installation: under a minute) ...")
        warm()
    deadline = time.monotonic() + QUICK_SECONDS if quick else None
    records = solve(wanted, lines, jobs, resume, show, deadline)
    print_tables(show.console, records)
    if deadline is not None and len(records) < sum(len(cell.rows) for cell in wanted):
        show.say(f"stopped after {QUICK_SECONDS:g} s: {len(records)} of {sum(len(c.rows) for c in wanted)} instances")
    for path in gather(lines, records, folder, "paper-quick" if quick else "paper-slice"):
        show.say(f"written: {path.name}")


def solve(
    wanted: list[Cell], lines: Lines, jobs: int, resume: bool, show: Show, deadline: float | None = None
) -> list[dict[str, Any]]:
    """The records of all wanted instances; only those that are not in the lines yet are solved."""
    if not resume:
        lines.clear()
    entries = lines.read()
    start = sum("environment" in entry for entry in entries)
    keys = {cell.key(row) for cell in wanted for row in cell.rows}
    done = finished(entries)
    todo = missing(wanted, set(done))
    if todo:
        lines.append({"environment": environment()})
    if len(keys & set(done)):
        show.say(f"{len(keys & set(done))} of {len(keys)} instances are done already (--no-resume starts again)")
    with show.progress(total=len(keys), done=[done[key] for key in keys & set(done)]) as on_record:
        if jobs == 1:
            for cell in todo:
                show.cell(cell, run_cell(cell, lines.path, start, on_record, deadline))
        else:
            from joblib import Parallel, delayed

            parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs", batch_size=1)
            for cell, batch in parallel(delayed(_in_worker)(cell, lines.path, start, deadline) for cell in todo):
                for record in batch:
                    on_record(record)
                show.cell(cell, batch)
    done = finished(lines.read())
    return sorted((done[key] for key in keys if key in done), key=order)


def _in_worker(cell: Cell, path: Path, start: int, deadline: float | None) -> tuple[Cell, list[dict[str, Any]]]:
    return cell, run_cell(cell, path, start, None, deadline)


def finished(entries: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """The last record of every instance; errors are to be done again, so they do not count."""
    return {key_of(entry): entry for entry in entries if "row" in entry and entry["status"] != "ERROR"}


def gather(lines: Lines, records: list[dict[str, Any]], folder: Path, slice_name: str) -> list[Path]:
    """Result files: one per family where all of the paper's instances are there, else one for the slice."""
    environments = [entry["environment"] for entry in lines.read() if "environment" in entry]
    groups: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        groups.setdefault(file_of(record), []).append(record)
    complete = {name: group for name, group in groups.items() if len(group) == PAPER_INSTANCES[name]}
    if slice_name != "paper-slice":
        complete = {}
    parts = {name: group for name, group in groups.items() if name not in complete}
    files = {**complete, **({slice_name: [r for group in parts.values() for r in group]} if parts else {})}
    return [_write(name, group, folder, environments) for name, group in files.items()]


def _write(name: str, records: list[dict[str, Any]], folder: Path, environments: list[dict[str, Any]]) -> Path:
    starts = sorted({record["start"] for record in records})
    content: dict[str, Any] = {
        "note": "iterations: search nodes where counted = nodes, rounds or published steps of the search otherwise; "
        "seconds: wall time of one call in one thread; certified_radius: proven around the returned centre",
        "limit_s": sorted({record["limit"] for record in records}),
        "summary": summary(records),
        "early_stops": [
            {k: r[k] for k in ("data", "model", "param", "norm", "rho", "row", "status", "gap")}
            for r in records
            if r["status"] not in ("OPTIMAL", "NONE_EXISTS")
        ],
    }
    if len(starts) > 1:
        content["starts"] = [environments[start] for start in starts]
    else:
        records = [{k: v for k, v in record.items() if k != "start"} for record in records]
    return write(name, {**content, "instances": records}, folder / f"{name}.json", environments[starts[-1]])
