"""Room on some columns only, in numbers: what `on` says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.numerics import Bools, Floats, inner_interval, room_ends
from elbowroom.problem.on import On
from elbowroom.problem.rooms import Walls


def walls_at(walls: Walls, factual: Floats, center: Floats) -> Walls:
    """The walls of the room around this centre, with a room of 0 in the columns that have none."""
    if walls.on is On.ALL:
        return walls
    has = (center != factual) == (walls.on is On.CHANGED)
    return replace(walls, down=np.where(has, walls.down, 0.0), up=np.where(has, walls.up, 0.0), on=On.ALL)


def kept_ends(walls: Walls, factual: Floats, lower: Floats, upper: Floats, whole: Bools) -> tuple[Floats, Floats]:
    """K_f of every column; empty (from inf to -inf) where the factual cannot be kept."""
    low, high = room_ends(factual, walls.down, walls.up, lower, upper, whole)
    outside = (factual < lower) | (factual > upper)
    return np.where(outside, np.inf, low) + 0.0, np.where(outside, -np.inf, high) + 0.0


def least_moves(walls: Walls, factual: Floats, lower: Floats, upper: Floats, whole: Bools) -> tuple[Floats, Floats]:
    """What a changed column must reach, at most or at least (on="kept"): factual - w_f and factual + w_f, rounded inwards like
    the ends of rooms, so that a limit one room away can be reached. Where the factual cannot be kept, all values will
    do: (inf, -inf)."""
    width = np.maximum(walls.down, walls.up)
    under, over = inner_interval(factual, width, width)
    under, over = np.where(whole, np.floor(under), under), np.where(whole, np.ceil(over), over)
    outside = (factual < lower) | (factual > upper)
    return np.where(outside, np.inf, under) + 0.0, np.where(outside, -np.inf, over) + 0.0


def half_changed(walls: Walls, factual: Floats, center: Floats, below: Floats, above: Floats) -> Bools:
    """Columns that differ from the factual by less than their room (``below``, ``above``: `least_moves`)."""
    if walls.on is not On.KEPT:
        return np.zeros(center.size, dtype=np.bool_)
    return np.asarray((center != factual) & (center > below) & (center < above))
