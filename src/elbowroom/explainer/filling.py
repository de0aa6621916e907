"""Numbers that are missing in a row and may be filled in.

Each of them either stays missing or gets a value, whose distance counts from what is typical in the data. So there is one
question for every choice of what is filled in; the closest of their answers is the answer, and no region of any kind is
closer than the smallest of their lower bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import Box, Room, Rule, Space
from elbowroom.problem.kinds import Missing
from elbowroom.problem.on import On
from elbowroom.problem.rules import AtMost, parse_rules
from elbowroom.result import NoRegion, Region, Status, Step
from elbowroom.result.origin import is_closed
from elbowroom.search.contract import OnProgress

MOST_FILLED: Final = 3  # columns of which every choice is asked about: eight questions


def fillable(space: Space, values: Floats, rules: Sequence[Rule], room: Room) -> tuple[str, ...]:
    """The columns of numbers that are missing and may be filled. Under a limit on changes, and where room depends on what
    changes, they stay missing: a value that happens to be typical would not count as the change that it is."""
    if any(isinstance(rule, AtMost) for rule in parse_rules(rules)):
        return ()
    if isinstance(room, Box) and room.on is not On.ALL:
        return ()
    return tuple(
        space.names[f]
        for f in np.flatnonzero(np.isnan(values))
        if space.features[f].missing is Missing.FILL
        and space.features[f].typical is not None
        and not space.features[f].immutable
    )


def choices(names: Sequence[str]) -> list[tuple[str, ...]]:
    """What is filled in: nothing, one column, ..., all of them (of the first few)."""
    few = names[:MOST_FILLED]
    return [some for size in range(len(few) + 1) for some in combinations(few, size)]


def with_typical(space: Space, values: Floats, names: Sequence[str]) -> Floats:
    """The row with what is typical in these columns."""
    row = values.copy()
    for name in names:
        row[space.position[name]] = space.features[space.position[name]].typical
    return row


def without_bound(on_progress: OnProgress) -> OnProgress:
    """What is bounded from below is one question of several, so nothing about the whole."""

    def told(step: Step) -> None:
        on_progress(replace(step, lower_bound=0.0))

    return told


def closest_filling(
    space: Space,
    values: Floats,
    names: Sequence[str],
    predicted: object,
    ask: Callable[[Floats], Region | NoRegion],
) -> Region | NoRegion:
    """Ask for every choice of what is filled in; the closest region, with what is proven for all of them."""
    answers = [(filled, ask(with_typical(space, values, filled))) for filled in choices(names)]
    lower_bound = min(answer.lower_bound for _, answer in answers) if len(names) <= MOST_FILLED else 0.0
    seconds = sum(answer.seconds for _, answer in answers)
    regions = [(answer.distance, number) for number, (_, answer) in enumerate(answers) if isinstance(answer, Region)]
    if not regions:
        first = next(answer for _, answer in answers if isinstance(answer, NoRegion))
        status = Status.NONE_EXISTS if math.isinf(lower_bound) else Status.UNKNOWN
        reason = (
            f"{first.reason}; nor is there one with missing numbers filled in"
            if status is Status.NONE_EXISTS
            else first.reason
        )
        return replace(first, status=status, reason=reason, lower_bound=lower_bound, seconds=seconds)
    filled, best = answers[min(regions)[1]]
    assert isinstance(best, Region)
    lower_bound = min(lower_bound, best.distance)
    closed = is_closed(best.distance, lower_bound, 0.0 if best.tolerance is None else best.tolerance)
    return replace(
        best,
        status=Status.OPTIMAL if closed else Status.CERTIFIED,
        predicted=predicted,
        lower_bound=lower_bound,
        seconds=seconds,
        filled=filled,
    )
