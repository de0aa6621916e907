"""The section on models of the size that people deploy."""

from __future__ import annotations

from typing import Any

from benchmarks.report.sources import made_by, read
from benchmarks.report.words import table


def scale_section() -> str:
    """Before and after, from ``results/scale.json`` and ``results/scale-networks.json``; nothing if neither was made."""
    parts = [part for part in (_trees(), _networks()) if part]
    return "\n\n".join(["## Production size", *parts]) if parts else ""


def _trees() -> str:
    content = read("scale")
    if content is None:
        return ""
    found = content["summary"]
    rows = [
        [
            entry["recipe"], entry["side"], f"{entry['regions']} of {entry['questions']}", str(entry["proven"]),
            _seconds(entry["first_median_s"]), _seconds(entry["first_worst_s"]),
            *(_gaps(entry["mean_gaps"])), f"{entry['peak_mb']} MB", f"{entry['overshoot_s']:.2f} s",
        ]
        for entry in found["table"]
    ]  # fmt: skip
    shown = max(len(entry["mean_gaps"]) for entry in found["table"])
    heads = ["model", "side", "regions", "proven", "first region, median", "worst"]
    heads += [f"mean gap at {moment} s" for moment in ("1", "10", "60")[:shown]] + ["peak memory", "overshoot"]
    return "\n\n".join(
        [
            "Large ensembles of trees, boxes of radius 0 and 0.02. *before*: the search in cells alone; *after*: the product. A question "
            "without a region has a gap of 100 %. Seconds are those of the processor, limits included; memory is what reading and "
            "asking add to the fitted model.",
            table(heads, rows, left=2),
            f"Of {found['pairs']} questions {found['farther']} are answered farther away than before, {found['lower_bounds']} with a "
            f"weaker bound; {found['false_points']} false points. {made_by(content)}",
        ]
    )


def _networks() -> str:
    content = read("scale-networks")
    if content is None:
        return ""
    found = content["summary"]
    heads = [
        "network",
        "first region, before",
        "after",
        "distance / best, before",
        "after",
        "bound / best, before",
        "after",
    ]
    rows = [
        [
            f"{entry['data']} {tuple(entry['hidden'])}",
            *(_seconds(entry[f"first_s_{side}"]) for side in ("before", "after")),
            *(
                f"{entry[f'distance_{side}']:.3f}" if entry[f"distance_{side}"] else "none"
                for side in ("before", "after")
            ),
            *(f"{100 * entry[f'bound_{side}']:.0f} %" for side in ("before", "after")),
        ]
        for entry in found["by_network"]
    ]
    return "\n\n".join(
        [
            "Networks, a box of 0.02 and a ball of 0.05, means over the questions; *best* is the best distance known from all runs.",
            table(heads, rows, left=1),
            f"{found['questions']} questions, {found['attacked_points']:,} attacked points, {found['false_points']} false. {made_by(content)}",
        ]
    )


def _seconds(value: Any) -> str:
    return "none" if value is None else f"{value:.3f} s"


def _gaps(values: list[float]) -> list[str]:
    return [f"{100 * value:.0f} %" for value in values]
