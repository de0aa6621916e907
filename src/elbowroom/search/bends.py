"""Where the price of a column is not a straight line: how an interval of it is divided, so that prices are straight on its parts
in the end."""

from __future__ import annotations

import math

from elbowroom.numerics import next_value
from elbowroom.problem import Metric


def bend(
    metric: Metric, column: int, now: float, whole: bool, low: float, high: float, x: float
) -> tuple[float, float] | None:
    """How far down and from where up the parts of [low, high] go that are separated near ``x``: at the factual ``now``; kept or
    changed, if any change costs something; at the bend nearest to ``x``. None where the price is straight."""
    if x == now or low == high:
        return None
    if low < now < high:
        return now, now
    sign = 1.0 if x > now else -1.0
    first, last = (low - now, high - now) if sign > 0 else (now - high, now - low)
    pieces = metric.pieces(column, now, sign > 0)
    if first == 0.0 and pieces.jump > 0.0:
        beyond = sign * float(next_value(sign * now, whole))
        return (now, beyond) if sign > 0 else (beyond, now)
    found = pieces.bend(first, last, abs(x - now), abs(now))
    if found is None:
        return None
    at = now + sign * found
    return (math.floor(at), math.floor(at) + 1.0) if whole else (at, at)
