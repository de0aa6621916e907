"""What became of the early stops when they were asked again."""

from __future__ import annotations

from benchmarks.report.sources import made_by, read
from benchmarks.report.words import table


def asked_again() -> str:
    """From ``results/open-balls.json``; nothing if it was never made."""
    content = read("open-balls")
    if content is None:
        return ""
    rows = [
        [
            r["data"], f"{r['model']} {r['param']}", str(r["rho"]), str(r["row"]), _gap(r["before"]), _gap(r),
            f"{r['before']['distance']:.4f}", f"{r['distance']:.4f}", f"{r['seconds']:.1f} s",
        ]
        for r in content["instances"]
    ]  # fmt: skip
    heads = [
        "data",
        "model",
        "radius",
        "row",
        "gap in the table",
        "gap now",
        "distance in the table",
        "distance now",
        "processor seconds",
    ]
    found = content["summary"]
    return "\n\n".join(
        [
            f"The early stops of balls asked again, with {content['instances'][0]['limit']:g} seconds of the processor each:",
            table(heads, rows, left=2),
            f"{found['proven']} of {found['instances']} proven, {found['below_5_percent']} more with a gap below 5 %, {found['open']} open; "
            f"{found['hostile_points']:,} hostile points, {found['false_points']} false; {content.get('note', 'one run')}. {made_by(content)}",
        ]
    )


def _gap(record: dict[str, object]) -> str:
    gap = record["gap"]
    assert isinstance(gap, float)
    return "proven" if record["status"] == "OPTIMAL" else f"{100 * gap:.3g} %"
