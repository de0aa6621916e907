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
    """Before and after, menus, plausible answers and the comparison with brute force; nothing that was never made."""
    return "\n\n".join(part for part in (_people(), _menus(), _plausible(), _exact()) if part)


def _people() -> str:
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
    "points": "Breast cancer, gradient boosting: features that change, and digits of the longest number: of the closest centre itself "
    "(which is what was printed before) and in the sentence.",
    "forests": "Breast cancer, a default forest of 100 trees, room 0.05, row by row: seconds to the first certified region, and what "
    "changes when the time is over (`prefer_few` spends half of it on the closest).",
    "menu": "Breast cancer, gradient boosting, room 0.02: the closest answers by the number of changes.",
    "plausible": "Breast cancer, gradient boosting, room 0.02: centres that the local outlier factor calls outliers.",
}


def _menus() -> str:
    """Seconds by the number of changes, from ``results/menu.json``."""
    content = read("menu")
    if content is None:
        return ""
    numbers = (1, 2, 3)
    head = ["data", "rows", *(f"{k}: exists, CPU ms" for k in numbers), "closest, ms", "whole menu, ms", "unproven"]
    lines = [
        [
            name, str(found["rows"]), *(f"{found[f'exist_{k}']}, {found[f'cpu_{k}_ms']}" for k in numbers),
            str(found["median_closest_ms"]), str(found["median_menu_ms"]), str(sum(found[f"unproven_{k}"] for k in numbers)),
        ]
        for name, found in content["summary"].items()
    ]  # fmt: skip
    return _titled(
        "### Menus",
        "Gradient boosting with 100 trees, Box(0.02): the closest region with at most one, two and three changes, each proven; in "
        "how many menus it is an entry of its own, and the median milliseconds of the processor for the question by itself. The "
        "closest of all and whole menus in milliseconds of the clock, on a machine that others used.",
        table(head, lines),
        made_by(content),
    )


def _plausible() -> str:
    """With and without `Plausible`, from ``results/plausible.json``."""
    content = read("plausible")
    if content is None:
        return ""
    head = [
        "data and rule",
        "rows",
        "answers",
        "proven",
        "none exists",
        "outliers",
        "rows that are",
        "mean distance",
        "median s",
    ]
    lines = [
        [
            name, str(found["rows"]), str(found["answers"]), str(found["proven"]), str(found["none exists"]),
            f"{100 * found['outliers']:.0f} %", f"{100 * found['rows that are outliers']:.0f} %",
            f"{found['mean distance']:.3f}", f"{found['median seconds']:.2f}",
        ]
        for name, found in content["summary"].items()
    ]  # fmt: skip
    return _titled(
        "### Plausible answers",
        "Gradient boosting, Box(0.02), refused rows. *outliers*: centres that a local outlier factor, fitted on rows of the wanted "
        "class, calls outliers; *rows that are*: of the rows themselves. *nothing*: no rule; *centre*, *everywhere*: "
        '`Plausible(X, y)` there; *leaves*: `Plausible(X, how="leaves", everywhere=True)`. Every region was attacked.',
        table(head, lines),
        made_by(content),
    )


def _exact() -> str:
    """Everything against the truth, from ``results/exact.json``."""
    stored = [content for name in ("exact", "exact-why-not") if (content := read(name)) is not None]
    if not stored:
        return ""
    records = [record for content in stored for record in content["parts"]]
    heads = list(dict.fromkeys(key for record in records for key in record if key != "wrong"))
    lines = [[str(record.get(key, "")) for key in [*heads, "wrong"]] for record in records]
    return _titled(
        "### Against brute force",
        "*together*: boxes on small trees with random rules, steps, prices, `on=`, plausibility, missing values and several classes: "
        "distances equal to 1e-9 (3e-8 with linear rules, which hold to rounding). *whole numbers*: every family and shape. "
        "*several*: menus, fewest changes and answers of different kinds, under rules. *why not*: constructed questions without an "
        "answer: the set that is named blocks, and no proper subset of it does. *refused*: by name, before the search; *within "
        "rounding of a tie*: certified at the true distance, or unknown, with that reason. Every region was attacked.",
        table([*heads, "wrong"], lines),
        *(made_by(content) for content in stored),
    )


def _titled(*parts: str) -> str:
    return "\n\n".join(parts)


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
