"""Rooms that touch a bad region to the last bit.

Where the way between two bad regions is exactly as wide as the room, or whole numbers are exactly one semi-axis apart,
rounding cannot tell good centres from bad ones; the judge can. It has refused the room at x, the nearest centre of a node,
with a point p of a bad region R. The gaps g_f between x and R then use up at most the whole room, exactly. With
need = 1 - sum phi(g_f / r_f), a centre x' of the node is bad too unless one of the m ways out of R gains need / m: its gap
grows from g to phi^-1(phi(g) + need / m), or to the next float where nothing is needed but to be farther away at all.
Each of these ways is a child of the node.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.balls.geometry import KIND, Geometry
from elbowroom.search.trees.balls.limits import FEW_ROUNDINGS
from elbowroom.search.trees.balls.regions import BallRegions


def regions_with(regions: BallRegions, geometry: Geometry, point: Floats) -> Ints:
    """Rows of the stored regions that hold a point, whatever its categories in free groups."""
    n = int(regions.count[0])
    inside = (regions.first[:n] <= point) & (point <= regions.last[:n])
    return np.flatnonzero((inside | (geometry.kind == KIND.FREE)).all(axis=1)).astype(np.int64)


def ways_out(
    geometry: Geometry, first: Floats, last: Floats, low: Floats, high: Floats, x: Floats
) -> list[tuple[Floats, Floats]]:
    """Ranges of the children of low..high, without overlap: every centre in none of them is bad."""
    sides = [(d, up) for d in range(x.size) for up in (True, False) if geometry.kind[d] != KIND.FREE]
    open_sides = [(d, up) for d, up in sides if (last[d] < high[d] if up else first[d] > low[d])]
    gaps = np.maximum(0.0, np.maximum(first - x, x - last))
    round_gaps = gaps[geometry.kind == KIND.ROUND] / geometry.axis[geometry.kind == KIND.ROUND]
    used = float((np.square(round_gaps) if geometry.square else round_gaps).sum())
    share = max(0.0, 1.0 - used - FEW_ROUNDINGS) / max(1, len(open_sides))
    low, high = low.copy(), high.copy()
    children = []
    for d, upwards in open_sides:
        way = _way(geometry, d, float(first[d]), float(last[d]), float(x[d]), share, upwards)
        if upwards and way <= high[d]:
            children.append((_with(low, d, way), high.copy()))
            high[d] = _after(way, bool(geometry.whole[d]), False)
        elif not upwards and way >= low[d]:
            children.append((low.copy(), _with(high, d, way)))
            low[d] = _after(way, bool(geometry.whole[d]), True)
    return children


def _way(geometry: Geometry, d: int, first: float, last: float, x: float, share: float, upwards: bool) -> float:
    """The first value of a dimension that gains ``share`` on its way out; rounded to where it gains a little less."""
    outside = x > last if upwards else x < first
    edge, whole = last if upwards else first, bool(geometry.whole[d])
    least = _after(x if outside else edge, whole, upwards)
    if geometry.kind[d] != KIND.ROUND:
        return least
    axis, gap = float(geometry.axis[d]), max(0.0, first - x, x - last) / float(geometry.axis[d])
    farther = math.sqrt(gap * gap + share) if geometry.square else gap + share
    length = farther * axis * (1.0 - FEW_ROUNDINGS)
    if upwards:
        value = edge + length
        return max(least, math.floor(value) if whole else value)
    value = edge - length
    return min(least, math.ceil(value) if whole else value)


def _after(edge: float, whole: bool, upwards: bool) -> float:
    """The next value of a dimension beyond an edge."""
    step = math.nextafter(edge, math.inf if upwards else -math.inf)
    if not whole:
        return step
    return max(step, edge + 1.0) if upwards else min(step, edge - 1.0)


def _with(values: Floats, d: int, value: float) -> Floats:
    changed = values.copy()
    changed[d] = value
    return changed
