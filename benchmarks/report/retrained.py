"""The section on further fits: which answers 50 fresh bootstrap fits of the same boosting keep."""

from __future__ import annotations

from typing import Any

from benchmarks.report.sources import made_by, read
from benchmarks.report.words import number, table

CLOCK = "seconds per row"  # how earlier runs measured
SAID = {
    "raised": "*Raised threshold*: the way of Forel et al., at several probabilities; they choose it for a wanted share.",
    "all leaf": "*All leaf values within*: every model in which what each leaf adds to the score is off by at most that.",
    "the model and": "*The model and a share*: at every point of the region the same ones of the fits, so many of them.",
}


def retrained_section() -> str:
    """From ``results/retrained.json``; nothing if it was never made."""
    content = read("retrained")
    if content is None:
        return ""
    ways = {name: found for name, found in content.items() if name != "environment"}
    points = next(key.split()[-3] for key in next(iter(ways.values())) if key.endswith("points, mean"))
    head = ["asked for", "answers", "proven closest", "distance", "keep the centre: mean (least)",
            f"keep {points} points: mean (least)", "processor s per row"]  # fmt: skip
    said = " ".join(text for start, text in SAID.items() if any(name.startswith(start) for name in ways))
    return f"""## After the next training

Boosting of 50 trees on all rows of the diabetes data and on 10 bootstrap samples of them; rows of class 1 ask for class 0, with
rooms of 0.02 where no point is said. 50 further bootstrap fits that no question knew of judge the answers: how many of them
give the class to the centre, and to all of {points} points of the region (of a plain counterfactual: to it). {said} What holds
for the models that were asked about is proven; what fresh fits keep is counted, and nothing is promised about it.

{table(head, [_line(name, found) for name, found in ways.items()])}{_note(ways)}

{made_by(content)}"""


def _note(ways: dict[str, Any]) -> str:
    earlier = ", of an earlier run" if any(found.get("kept") for found in ways.values()) else ""
    return f"\n\n\\*: seconds of the clock{earlier}." if any(CLOCK in found for found in ways.values()) else ""


def _line(name: str, found: dict[str, Any]) -> list[str]:
    seconds = f"{found[CLOCK]:.2f} \\*" if CLOCK in found else f"{found[f'processor {CLOCK}']:.2f}"
    shares = [[v for k, v in found.items() if k.startswith("fresh") and k.endswith(end)] for end in ("mean", "least")]
    judged = [
        f"{100 * mean:.0f} % ({100 * least:.0f} %)" if mean is not None else "-"
        for mean, least in zip(*shares, strict=True)
    ]
    proven = "-" if name.startswith("treecf") else str(found["optimal"])
    return [name, f"{found['regions']} of {found['rows']}", proven, number(found["mean distance"], "{:.3f}"), *judged, seconds]  # fmt: skip
