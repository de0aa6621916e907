"""Where the distance jumps as the room grows.

**Why it jumps.** Let G = prod (lo_f, hi_f] be a product of whole cells in which every point is good, down_f and up_f the
half widths of the room of radius 1, x the factual. For a box of radius r the centres whose room lies in G have
lo_f + r down_f < c_f <= hi_f - r up_f (sides beyond the limits do not count), and the nearest of them is at the distance

    D_G(r) = norm over f of weight_f max(0, lo_f + r down_f - x_f, x_f - hi_f + r up_f),

continuous (for l1: convex and piecewise linear) and increasing in r, until G is too narrow for the room in some column:
at r = (hi_f - lo_f) / (down_f + up_f), or with a clipped side at (U_f - lo_f) / down_f or (hi_f - L_f) / up_f. The
optimal distance is D(r) = min over G of D_G(r): piecewise linear for l1, nondecreasing, and it jumps only where the
best G ends. In columns of whole numbers it also steps where one more whole number enters the room.

**How jumps are found.** D is nondecreasing, so an interval [p, q] holds no jump of at least h if D(q) - D(p) < h. The
intervals between the answered radii that may hold one are divided, again and again, at the radius where the cells of
the answer at p end (a jump is usually there) or in the middle, until an interval cannot hold one or its ends are
neighbouring floats. What is left is a jump: both ends were solved, the lower one with a certified region, the upper one with a
proven bound. The argument uses monotonicity alone, so it holds for every family and every room, and where time
ran out for the bounds instead of the values; the cells only make it fast.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.problem import RecourseProblem, Walls
from elbowroom.problem.shapes import is_round
from elbowroom.result import Region
from elbowroom.result.frontier import Breakpoint
from elbowroom.search.frontier import Front, Point

RESOLUTION = 2.0**-50  # of the largest radius: jumps this close together are one, in several steps of rounding
NARROWEST = 2.0**-80  # of the largest radius: what is left near radius 0, where floats have no end
ROUNDINGS = 4.0  # how many roundings of a cut the end of a cell may be off

Support: TypeAlias = Callable[[Region], "tuple[float, float] | None"]


@dataclass(frozen=True)
class Jumps:
    """What was found between the smallest and the largest radius."""

    found: tuple[Breakpoint, ...]
    complete: bool  # True: no other jump of at least the asked size exists between the radii


def find_jumps(front: Front, smallest: float, support: Support | None = None) -> Jumps:
    """All jumps of at least ``smallest`` between the radii of the front, until its clock runs out."""
    largest = front.points[-1].radius
    stack = [(p, q, 0) for p, q in pairwise(front.points)][::-1]
    found: list[Breakpoint] = []
    complete = True
    while stack:
        p, q, depth = stack.pop()
        if not _may_rise(p, q, smallest):
            continue
        inner = _divide(p, q, depth, NARROWEST * largest, support)
        if not inner:
            jump = _proven_rise(p, q)
            if jump > 0.0:
                found.append(Breakpoint(p.radius, q.radius, p.distance, q.distance, jump))
            complete = complete and jump >= smallest
            continue
        if front.clock.expired or front.interrupted:
            complete = False
            continue
        ends = [p, *(front.at(radius) for radius in inner), q]
        stack += [(a, b, depth + 1) for a, b in pairwise(ends)][::-1]
    return Jumps(_merged(found, RESOLUTION * largest, smallest), complete)


def _may_rise(p: Point, q: Point, smallest: float) -> bool:
    """False if it is proven that the distance rises by less than ``smallest`` between the two radii."""
    if math.isinf(p.lower_bound):
        return False
    return not q.distance - p.lower_bound < smallest


def _proven_rise(p: Point, q: Point) -> float:
    """What the distance is proven to rise by, at least."""
    if math.isinf(p.distance):
        return 0.0
    return max(0.0, q.lower_bound - p.distance)


def _divide(p: Point, q: Point, depth: int, narrow: float, support: Support | None) -> list[float]:
    """One or two radii strictly inside (p, q), or none if there is none left."""
    if q.radius - p.radius <= narrow:
        return []
    middle = p.radius + (q.radius - p.radius) / 2
    if depth % 2 == 0 and support is not None and isinstance(p.answer, Region):
        around = support(p.answer)
        if around is not None:
            inside = [radius for radius in around if p.radius < radius < q.radius]
            if inside:
                return inside
    return [middle] if p.radius < middle < q.radius else []


def _merged(found: list[Breakpoint], close: float, smallest: float) -> tuple[Breakpoint, ...]:
    """In increasing order; a jump that happens in several steps at almost the same radius is one."""
    merged: list[Breakpoint] = []
    for point in sorted(found, key=lambda point: point.radius):
        last = merged[-1] if merged else None
        if last is not None and point.radius - last.beyond <= close:
            merged[-1] = Breakpoint(
                last.radius, point.beyond, last.distance, point.distance_beyond, last.jump + point.jump
            )
        else:
            merged.append(point)
    return tuple(point for point in merged if point.jump >= smallest)


def cell_support(problem: RecourseProblem, unit: Walls) -> Support | None:
    """For boxes on trees: two radii close around the one at which the cells under a region's room end.

    ``unit`` are the walls of the room of radius 1. The two radii differ by a few roundings of the cuts, which is how far
    rounding moves the true end.
    """
    model = problem.model
    if not isinstance(model, TreeEnsemble) or is_round(unit.shape):
        return None
    movable = [
        f for f in range(len(problem.space.names))
        if model.cuts[f].size and problem.lower[f] < problem.upper[f] and unit.down[f] + unit.up[f] > 0.0
        and problem.space.group_of[f] < 0
    ]  # fmt: skip

    def support(region: Region) -> tuple[float, float] | None:
        size, slack = math.inf, 0.0
        body, walls = region.body, region.room.walls(region.space)
        for f in movable:
            down, up = float(unit.down[f]), float(unit.up[f])
            if problem.space.whole_room[f]:
                ends = [(math.floor(w) + 1.0) / u for w, u in ((walls.down[f], down), (walls.up[f], up)) if u > 0.0]
                end, blur = min(ends), RESOLUTION * min(ends)
            else:
                end, blur = _end_of_cells(
                    model.cuts[f], body.lower[f], body.upper[f], problem.lower[f], problem.upper[f], down, up
                )
            if end < size:
                size, slack = end, blur
        if not math.isfinite(size) or not math.isfinite(slack):
            return None
        return size - slack, size + slack

    return support


def _end_of_cells(
    cuts: np.ndarray[tuple[int], np.dtype[np.float64]],
    low: float,
    high: float,
    lower: float,
    upper: float,
    down: float,
    up: float,
) -> tuple[float, float]:
    """The radius at which no centre's room fits into the cells under [low, high], and how far rounding may move it."""
    before = int(np.searchsorted(cuts, low, "left")) - 1  # the last cut below the room
    after = int(np.searchsorted(cuts, high, "left"))  # the first cut that the room does not pass
    left = float(cuts[before]) if before >= 0 and cuts[before] >= lower else -math.inf
    right = float(cuts[after]) if after < cuts.size and cuts[after] < upper else math.inf
    if math.isinf(left) and math.isinf(right):
        return math.inf, 0.0
    if math.isinf(right):
        right, up = upper, 0.0
    elif math.isinf(left):
        left, down = lower, 0.0
    if down + up == 0.0 or math.isinf(right - left):
        return math.inf, 0.0
    end = (right - left) / (down + up)
    blur = ROUNDINGS * (float(np.spacing(max(abs(left), abs(right)))) / (down + up) + float(np.spacing(end)))
    return end, blur
