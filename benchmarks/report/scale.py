"""The section on models of the size that people deploy."""

from __future__ import annotations

from typing import Any

from benchmarks.report.sources import made_by, read
from benchmarks.report.words import table
from benchmarks.scale import gap


def scale_section() -> str:
    """From ``results/{scale,defaults,scale-peers,scale-networks}.json``; nothing if none was made."""
    parts = [part for part in (_trees(), _defaults(), _peers(), _networks()) if part]
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
            *(_gaps(entry["mean_gaps"])), "-" if entry["paired_gap"] is None else _gaps([entry["paired_gap"]])[0], f"{entry['peak_mb']} MB", f"{entry['overshoot_s']:.2f} s",
        ]
        for entry in found["table"]
    ]  # fmt: skip
    shown = max(len(entry["mean_gaps"]) for entry in found["table"])
    heads = ["model", "side", "regions", "proven", "first region, median", "worst"]
    heads += [f"mean gap at {moment} s" for moment in ("1", "10", "60")[:shown]]
    heads += ["of questions to both sides", "peak memory", "overshoot"]
    return "\n\n".join(
        [
            "Large ensembles of trees, boxes of radius 0 and 0.02. *before*: the search in cells alone; *after*: the product. A question "
            "without a region has a gap of 100 %. Seconds are those of the processor, limits included; memory is what reading and "
            "asking add to the fitted model. The side *before* is asked fewer rows; one column has the mean gap at the end over the questions that both were asked.",
            table(heads, rows, left=2),
            f"Of {found['pairs']} questions {found['farther']} are answered farther away than before, {found['lower_bounds']} with a "
            f"weaker bound; {found['false_points']} false points, {found['above_known']} bounds above a known distance. The questions of "
            f"*after* were asked at {_commits(found['commits'])}. {made_by(content)}",
            *_minute(content),
        ]
    )


def _minute(content: Any) -> list[str]:
    """Some of the questions with a minute each, where they were asked."""
    records = content.get("minute", [])
    rows = [
        [
            r["recipe"], f"{r['radius']:g}", r["status"], "none" if r["distance"] is None else f"{r['distance']:.4f}",
            *_gaps([gap(*moment) for moment in r["moments"]]), f"{r['peak_mb']} MB",
        ]
        for r in records
    ]  # fmt: skip
    if not rows:
        return []
    heads = ["model", "radius", "status", "distance", "gap at 1 s", "gap at 10 s", "gap at 60 s", "peak memory"]
    return [
        f"The product with a minute for each question (row 0 of seed 0, {_commits(sorted({r['commit'] for r in records}))}). Of a longer "
        "limit more goes into better regions first, so that the bound at ten seconds is not that of a limit of ten seconds.",
        table(heads, rows, left=1),
    ]


def _commits(commits: list[str]) -> str:
    return ", ".join(f"commit {commit[:10]}" for commit in commits)


def _defaults() -> str:
    content = read("defaults")
    if content is None:
        return ""
    records = content["instances"]
    rows = [
        [
            str(r["trees"]), str(r["row"]), _seconds(r["first_s"]), *_gaps(r["gaps"]), r["status"],
            "none" if r["distance"] is None else f"{r['distance']:.4f}", str(r["changed"]),
        ]
        for r in records
    ]  # fmt: skip
    shown = max(len(r["gaps"]) for r in records)
    heads = ["trees", "row", "first region", *(f"gap at {moment} s" for moment in ("1", "10", "60")[:shown])]
    points, false = sum(r.get("points", 0) for r in records), sum(r["false_points"] for r in records)
    return "\n\n".join(
        [
            "scikit-learn's default forest on breast cancer with a box of 0.05, as in the README. Seconds are those of the processor.",
            table([*heads, "status", "distance", "features changed"], rows, left=1),
            f"{points:,} attacked points, {false} false. {made_by(content)}",
        ]
    )


def _peers() -> str:
    content = read("scale-peers")
    if content is None:
        return ""
    rows = [
        [
            entry["recipe"], entry["backend"], *(f"{entry[key]} of {entry['questions']}" for key in ("nearer", "sooner", "both")),
            f"{entry['ours_proven']} / {entry['theirs_proven']}", _seconds(entry["reached_s"]), _seconds(entry["theirs_s"]),
        ]
        for entry in content["summary"]
    ]  # fmt: skip
    heads = [
        "model",
        "treecf's search",
        "not farther",
        "sooner",
        "both",
        "proven, ours / treecf",
        "as near in (median)",
    ]
    return "\n\n".join(
        [
            f"Beside treecf {content['treecf']}: the same models, radius 0, the same l1 and limit of the clock. *sooner*: a certified answer at least as near "
            "as what treecf ends with was there before its call ended; *as near in*: the seconds until then. A point of treecf's that does "
            "not change the model's label counts as none; a model that it refuses counts as answered by us alone. Seconds are those of the clock, on a machine with other work.",
            table([*heads, "treecf in (median)"], rows, left=2),
            made_by(content),
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
            f"{found['questions']} questions, {found['attacked_points']:,} attacked points, {found['false_points']} false; {content.get('note', 'one run')}. {made_by(content)}",
        ]
    )


def _seconds(value: Any) -> str:
    return "none" if value is None else f"{value:.3f} s"


def _gaps(values: list[float]) -> list[str]:
    return [f"{100 * value:.0f} %" for value in values]
