"""The table by family, its totals, and one line per case while it runs."""

from __future__ import annotations

from collections import Counter
from typing import Any

WIDTH = 150


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Totals. ``good_refusals`` hold every needed word; ``remarks`` count what is not as it should be."""
    outcomes = Counter(r["outcome"] for r in records)
    run = [r for r in records if r["outcome"] != "skipped"]
    wanted = [r for r in run if r["expected"] == "works"]
    return {
        "cases": len(records),
        "outcomes": dict(outcomes),
        "expected_to_work": len(wanted),
        "of_these_work": sum(r["outcome"] == "works" for r in wanted),
        "good_refusals": sum(r["outcome"] == "refused" and not r["remark"] for r in run),
        "proven_closest": sum(r.get("status") == "OPTIMAL" for r in run),
        "points": sum(r.get("points", 0) for r in records),
        "wrong_points": sum(r.get("wrong", 0) for r in records),
        "remarks": dict(Counter(_short(r["remark"]) for r in run if r.get("remark"))),
    }


def _short(remark: str) -> str:
    return "the message lacks a cure" if remark.startswith("the message") else remark.partition(":")[0]


def print_line(record: dict[str, Any]) -> None:
    """One case: what became of it, and why it is not as it should be."""
    told = {
        "works": lambda r: f"{r['status']:9} distance {r['distance']:.4g}, gap {r['gap']:.0%}, {r['seconds']:.2f} s, {r['points']:,} points",
        "wrong": lambda r: f"{r['wrong']} WRONG of {r['points']:,}: {r['first_wrong']}",
        "faulty": lambda r: f"0 wrong of {r['points']:,}, but {r['fault']}",
        "none": lambda r: f"none exists: {r['reason']}",
        "unknown": lambda r: f"{r['seconds']:.2f} s: {r['reason']}",
        "refused": lambda r: r["message"],
        "failed": lambda r: f"{r['message']}   {r['traceback'][-1]}",
        "skipped": lambda r: r["reason"],
    }[record["outcome"]](record)  # fmt: skip
    remark = f" [{record['remark']}]" if record.get("remark") else ""
    name = f"{record['family']}: {record['name']}"
    print(f"{record['outcome']:8}{remark} {name} | {told[: 4 * WIDTH]}", flush=True)


def print_table(records: list[dict[str, Any]]) -> None:
    """A row per family and the totals."""
    head = (
        "family",
        "cases",
        "works",
        "proven",
        "refused",
        "with cure",
        "none",
        "wrong",
        "failed",
        "skipped",
        "points",
    )
    print(f"\n{head[0]:34}" + "".join(f"{word:>10}" for word in head[1:]))
    for family in [*dict.fromkeys(r["family"] for r in records), None]:
        own = [r for r in records if family in (None, r["family"])]
        count = Counter(r["outcome"] for r in own)
        cured = sum(r["outcome"] == "refused" and not r["remark"] for r in own)
        proven = sum(r.get("status") == "OPTIMAL" for r in own)
        numbers = (len(own), count["works"], proven, count["refused"], cured, count["none"] + count["unknown"],
                   count["wrong"], count["faulty"] + count["failed"], count["skipped"], sum(r.get("points", 0) for r in own))  # fmt: skip
        print(f"{family or 'all':34}" + "".join(f"{number:>10,}" for number in numbers))
    total = summary(records)
    print(
        f"\n{total['of_these_work']} of {total['expected_to_work']} cases that should work do; "
        f"{total['wrong_points']} wrong of {total['points']:,} points; remarks: {total['remarks'] or 'none'}"
    )
