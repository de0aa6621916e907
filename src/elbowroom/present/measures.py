"""What a distance means, in words: the unit of numbers, and the price of a change of category."""

from __future__ import annotations

import numpy as np

from elbowroom.present.numbers import about
from elbowroom.problem.features import Feature
from elbowroom.problem.kinds import Kind
from elbowroom.problem.space import Space
from elbowroom.visible import named


def measure_line(space: Space, about_columns: tuple[str, ...] = ()) -> str:
    """A distance of 1 is the usual range of a number (the middle 90 % of the data), for example 42 months of duration; a
    change of category costs 0.3333. ``about_columns`` are those from which the example is taken first."""
    parts = [f"A distance of 1 is {_unit(space)}{_example(space, about_columns)}"]
    prices = sorted({group.weight for group in space.groups} | {f.weight for f in _yes_or_no(space)})
    if prices:
        cost = about(prices[0], 4) if len(prices) == 1 else f"{about(prices[0], 4)} to {about(prices[-1], 4)}"
        what = "category" if space.groups else "yes or no"
        parts.append(f"a change of {what} costs {cost}")
    return "; ".join(parts) + "."


def _unit(space: Space) -> str:
    weighted = any(f.weight != 1.0 for f in _numbers(space))
    words = "the scale of a number" if space.measure is None else space.measure.words
    if space.measure is None and bool(np.all(space.scale == 1.0)):
        words = "one unit of a number"
    return f"{words}, divided by its weight" if weighted else words


def _example(space: Space, first: tuple[str, ...]) -> str:
    numbers = [f for f in _numbers(space) if f.lower < f.upper]
    if not numbers or all(f.scale == 1.0 for f in numbers):
        return ""
    chosen = next((f for f in numbers if f.name in first), numbers[0])
    unit = f" {named(chosen.unit)}" if chosen.unit else ""
    return f", for example {about(chosen.scale / chosen.weight, 4)}{unit} of {named(chosen.name)}"


def _numbers(space: Space) -> list[Feature]:
    return [f for f in space.features if f.kind is not Kind.BINARY]


def _yes_or_no(space: Space) -> list[Feature]:
    return [f for f, g in zip(space.features, space.group_of, strict=True) if f.kind is Kind.BINARY and g < 0]
