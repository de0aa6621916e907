"""The section on answers that people can act on."""

from __future__ import annotations

from typing import Any

from benchmarks.report.sources import made_by, read
from benchmarks.report.words import table

COUNTED = (
    "regions", "none", "borrow more", "borrow more, anywhere", "instalment doubles", "instalment doubles, anywhere",
    "touch a category", "changed", "have to change", "digits", "LOF outliers", "median seconds",
)  # fmt: skip


def people_section() -> str:
    """Before and after, from ``results/people.json``; nothing if it was never made."""
    content = read("people")
    if content is None:
        return ""
    parts = [
        "## Answers that people can act on",
        "100 rejected applicants of the German credit data, gradient boosting, a room of 2 months and 300 DM. *before*: whole ranges "
        "as scales and a category for 1, as the package did by default; *defaults*: as it does now; *demo's rules*: the amount may "
        "only fall, the instalment never doubles, who somebody is stays. *anywhere*: at some point of the region, not only at "
        "its centre; *LOF outliers*: centres that the local outlier factor on approved rows calls outliers.",
        _applicants(content),
        *(_plain(content, name, title) for name, title in OTHERS.items()),
        made_by(content),
    ]
    return "\n\n".join(part for part in parts if part)


OTHERS = {
    "points": "Breast cancer, gradient boosting: features that change, and digits of the longest number in a sentence.",
    "forests": "Breast cancer, a default forest of 100 trees, room 0.05, row by row.",
    "menu": "Breast cancer, gradient boosting, room 0.02: the closest answers by the number of changes.",
    "plausible": "Breast cancer, gradient boosting, room 0.02: centres that the local outlier factor calls outliers.",
}


def _applicants(content: dict[str, Any]) -> str:
    records = content.get("applicants")
    if not isinstance(records, list):
        return ""
    rows = [[name, *(str(record.get(name, "refused")) for record in records)] for name in COUNTED]
    return table(["", *(record["setting"] for record in records)], rows)


def _plain(content: dict[str, Any], name: str, title: str) -> str:
    records = content.get(name)
    if not isinstance(records, list) or not records:
        return ""
    heads = list(dict.fromkeys(key for record in records for key in record))
    return f"{title}\n\n{table(heads, [[_said(record.get(key, '')) for key in heads] for record in records])}"


def _said(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
