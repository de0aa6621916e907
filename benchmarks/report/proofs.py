"""The section on proof files: which share was written and confirmed, how large they are, how long they take."""

from __future__ import annotations

from typing import Any

from benchmarks.report.sources import made_by, read
from benchmarks.report.words import table

ROOMS = {"linf": "boxes", "l2": "balls"}


def proofs_section() -> str:
    """From ``results/proofs.json``; nothing if it was never made."""
    content = read("proofs")
    if content is None:
        return ""
    head = ["model", "questions", "valid", "both halves", "refused", "half have at most, kB", "largest, kB", "half are checked in, s", "longest, s"]  # fmt: skip
    lines = [_line(name, found) for name, found in content["summary"].items() if name != "all"]
    note = content.get("note", "")
    return f"""## Proofs for strangers

The paper's questions with `proof=True`. *valid*: the file proves that every input of the region has the class, and
`elbowroom_checker` confirms it; *both halves*: also that no closer centre exists. Seconds are of the processor. {note}

{table(head, lines)}

{_costs(content["summary"]["all"])}

{made_by(content)}"""


def _line(name: str, found: dict[str, Any]) -> list[str]:
    family, norm = name.split()
    return [
        f"{family}, {ROOMS[norm]}", f"{found['instances']:,}", f"{found['both_halves'] + found['valid_alone']:,}", f"{found['both_halves']:,}",
        str(found["refused"]), f"{found['median_bytes'] / 1e3:.1f}", f"{found['worst_bytes'] / 1e3:,.0f} ({found['largest']})",
        f"{found['median_checking_s']:.3f}", f"{found['worst_checking_s']:.2g} ({found['longest']})",
    ]  # fmt: skip


def _costs(found: dict[str, Any]) -> str:
    if "search_s" not in found:
        return ""
    return (
        f"The log slows the searches of boxes on trees by {100 * (found['logged_per_search'] - 1):.0f} % "
        f"({found['search_s']:.1f} s in total); writing takes {found['median_writing_per_search']:.1f} times the search in the "
        f"median, {found['writing_per_search']:.1f} times in total."
    )
