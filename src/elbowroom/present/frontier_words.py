"""A frontier on the command line: radii from words, the answer as a table, a sentence or JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from elbowroom.errors import InputError
from elbowroom.present.numbers import about
from elbowroom.present.screen import Column, Screen
from elbowroom.present.text import among, status_word
from elbowroom.problem.reader import number_out
from elbowroom.problem.rules import rules_out
from elbowroom.result.frontier import Frontier
from elbowroom.result.own_words import plain_values
from elbowroom.result.region import Region
from elbowroom.result.status import Status

MOST_RADII = 100_000


def radii_from_text(text: str) -> list[float]:
    """``0.01,0.02,0.05``, or ``0.01:0.1:10`` for ten radii at equal steps."""
    begin, first_colon, rest = text.partition(":")
    if not first_colon:
        return [_number(part, text) for part in text.split(",")]
    end, second_colon, count = rest.partition(":")
    if not second_colon or not count.strip().isdigit() or not 2 <= int(count) <= MOST_RADII:
        raise InputError(f"--radii {text!r}: write 0.01,0.02,0.05 or FIRST:LAST:COUNT, for example 0.01:0.1:10")
    return [float(r) for r in np.linspace(_number(begin, text), _number(end, text), int(count))]


def sentence(frontier: Frontier) -> str:
    """What the whole frontier says, in a line or two."""
    found = frontier[frontier["certified"]]
    none = frontier[frontier["status"] == Status.NONE_EXISTS.name]
    parts = []
    if len(found):
        first, last = found.iloc[0], found.iloc[-1]
        parts.append(
            f"A room of radius {about(first['radius'])} is found at distance {about(first['distance'])}"
            + (f", one of radius {about(last['radius'])} at {about(last['distance'])}" if len(found) > 1 else "")
            + "."
        )
    if len(none):
        parts.append(f"It is proven that no region of radius {about(none.iloc[0]['radius'])} or more exists.")
    unknown = int((frontier["status"] == Status.UNKNOWN.name).sum())
    if unknown:
        parts.append(f"For {unknown} {'radius' if unknown == 1 else 'radii'} nothing was found in time.")
    for jump in frontier.breakpoints:
        if math.isfinite(jump.distance_beyond):
            parts.append(
                f"At radius {about(jump.radius)} the distance jumps from {about(jump.distance)} to "
                f"{about(jump.distance_beyond)}."
            )
        else:
            parts.append(f"Beyond radius {about(jump.radius)} no region exists.")
    if frontier.breakpoints_complete is True:
        parts.append(f"No other jump of {about(frontier.smallest_jump or 0.0)} or more lies between these radii.")
    elif frontier.breakpoints_complete is False:
        parts.append("Time ran out before every jump was found.")
    if frontier.answers[0].rules:
        parts.append(f"All this is about regions{among(frontier.answers[0])}.")
    return " ".join(parts)


def show(screen: Screen, frontier: Frontier, quiet: bool = False) -> None:
    """The sentence; unless quiet, also one line per radius."""
    screen.line(sentence(frontier), style="" if quiet else "bold")
    if quiet:
        return
    screen.blank()
    rows = [
        (
            about(row["radius"]),
            about(row["distance"]) if math.isfinite(row["distance"]) else "-",
            about(row["lower_bound"]) if math.isfinite(row["lower_bound"]) else "-",
            status_word(answer),
        )
        for (_, row), answer in zip(frontier.iterrows(), frontier.answers, strict=True)
    ]
    screen.table(
        [Column("radius", "right"), Column("distance", "right"), Column("at least", "right"), Column("")], rows
    )
    screen.line(f"Radii {frontier.unit}; {frontier['seconds'].sum():.2g} s.", style="dim")


def as_json(frontier: Frontier) -> dict[str, Any]:
    """Everything, with floats that read back exactly; the centre of each region in the user's units."""
    points = []
    for radius, answer in zip(frontier["radius"], frontier.answers, strict=True):
        region = answer if isinstance(answer, Region) else None
        points.append(
            {
                "radius": float(radius),
                "status": answer.status.name,
                "distance": None if region is None else number_out(region.distance),
                "lower_bound": number_out(answer.lower_bound),
                "center": None if region is None else plain_values(region.space, region.body.center, region.missing),
                "method": answer.method,
                "seconds": answer.seconds,
            }
        )
    jumps = [{key: number_out(value) for key, value in vars(jump).items()} for jump in frontier.breakpoints]
    return {
        "unit": frontier.unit,
        "distance_norm": frontier.answers[0].metric.value,
        "rules": rules_out(frontier.answers[0].rules),
        "points": points,
        "breakpoints": jumps,
        "breakpoints_complete": frontier.breakpoints_complete,
        "smallest_jump": frontier.smallest_jump,
    }


def _number(part: str, text: str) -> float:
    try:
        number = float(part)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"--radii {text!r}: {part!r} is not a finite number; write 0.01,0.02,0.05 or 0.01:0.1:10")
    return number
