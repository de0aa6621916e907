"""The control in docs/results.md: the paper's algorithm on open solvers beside the fast engines, model by model."""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks.control import CASES, METHODS, PROVEN, RHO
from benchmarks.report.sources import made_by, read
from benchmarks.report.words import number, table

SOLVERS = tuple(name for name in METHODS if name != "auto")


def control_section() -> str:
    content = read("control")
    if content is None:
        return ""
    entries = content["instances"]
    lines = [
        _line(case.label, norm, mine)
        for case in CASES
        for norm in ("linf", "l2")
        if (mine := [e for e in entries if e["model"] == case.label and e["norm"] == norm])
    ]
    head = ["model", "norm", "auto, s"]
    for name in SOLVERS:
        head += [f"{name}: proven", "s", "iterations", "master, s", "adversary, s", "/ auto"]
    limits = sorted({e["limit"] for e in entries if e["status"] not in PROVEN})
    given = " or ".join(f"{limit:g} s" for limit in limits) or "none"
    found = content["summary"]
    return f"""## Control: the paper's algorithm on open solvers

Algorithm 1 on HiGHS and on SCIP beside the fast engines on one machine, one thread each (runs with longer limits ask again only what shorter ones left unproven), radius {RHO:g}, rows 0 to 4 of the three data sets.
Seconds and iterations are medians over all questions (unproven ones had a limit of {given});
master and adversary are mean seconds per iteration; the last column is the median of the ratios to the fast engine, where
the solver proved its answer. {found["questions"]} questions, {found["contradictions"]} contradictions between the bounds and
distances of the three.

{table(head, lines, left=2)}

{made_by(content)}"""


def _line(label: str, norm: str, entries: list[dict[str, Any]]) -> list[str]:
    fast = {(e["data"], e["row"]): e["seconds"] for e in entries if e["method"] == "auto"}
    line = [label, norm, f"{median(fast.values()):.4f}"]
    for name in SOLVERS:
        mine = [e for e in entries if e["method"] == name]
        proven = [e for e in mine if e["status"] in PROVEN]
        ratios = [e["seconds"] / fast[e["data"], e["row"]] for e in proven]
        line += [f"{len(proven)} of {len(mine)}", f"{median(e['seconds'] for e in mine):.2f}"]
        line.append(f"{median([e['iterations'] for e in mine if 'iterations' in e] or [0]):g}")
        for part in ("master", "adversary"):
            seconds = [s for e in mine for s in e.get(part, [])]
            line.append(f"{sum(seconds) / max(len(seconds), 1):.3f}")
        line.append(number(median(ratios) if ratios else None, "{:.0f}"))
    return line
