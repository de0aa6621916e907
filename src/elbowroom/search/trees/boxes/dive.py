"""Incumbents under rules: climb to a good centre, leave what a rule forbids the cheapest way, climb again.

Every way out narrows the ranges of positions for good, so the dive ends: at a good centre that obeys the rules, or nowhere.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from elbowroom.numerics import Ints
from elbowroom.problem.conditions import Clause
from elbowroom.search.trees.boxes.calls import BoxKernels
from elbowroom.search.trees.boxes.climb import CLIMB
from elbowroom.search.trees.boxes.limits import STEPS, STEPS_AT_ONCE
from elbowroom.search.trees.question.choices import forbidden_at
from elbowroom.search.trees.question.pairs import Tie, ways_to_keep

MOST_DIVES: Final = 200  # ways out in one dive


def dive(
    kernels: BoxKernels, clauses: tuple[Clause, ...], ties: tuple[Tie, ...], start: Ints, budget: float
) -> Ints | None:
    """A good centre that obeys the rules, from ``start`` on; None if the dive ended elsewhere."""
    low, high = kernels.root_low.copy(), kernels.root_high.copy()
    x = start.copy()
    for _ in range(MOST_DIVES):
        if kernels.out_of_time or not consistent(kernels, x, low, high):
            return None
        end, steps = CLIMB.CLIMBING, 0
        while end == CLIMB.CLIMBING and steps < STEPS and not kernels.out_of_time:
            end = kernels.ascend(x, budget, low, high)
            steps += STEPS_AT_ONCE
        if end != CLIMB.ARRIVED:
            return None
        ways = _ways_out(kernels, clauses, ties, x, low, high)
        if ways is None:
            return x
        if not ways:
            return None
        _, d, first, last = min(ways)
        low[d], high[d] = first, last
    return None


def _ways_out(
    kernels: BoxKernels, clauses: tuple[Clause, ...], ties: tuple[Tie, ...], x: Ints, low: Ints, high: Ints
) -> list[tuple[float, int, int, int]] | None:
    """What it costs to leave what a rule forbids: cost, dimension, and its positions from then on; None if nothing does."""
    question = kernels.question
    found: list[tuple[int, int, int]] = []
    forbidden = forbidden_at(kernels.layout, clauses, x)
    if forbidden is not None:
        below, above = forbidden
        for d in range(x.size):
            found += [(d, int(low[d]), int(below[d])), (d, int(above[d]), int(high[d]))]
    else:
        kept = ways_to_keep(kernels.layout, ties, x)
        if kept is None:
            return None
        for d, position in kept:
            found.append((d, int(low[d]), position) if position < x[d] else (d, position, int(high[d])))
    ways = []
    for d, first, last in found:
        if low[d] <= first <= last <= high[d]:
            nearest = last if last < x[d] else first
            cost = question.cost[question.pos_start[d] + nearest] - question.cost[question.pos_start[d] + x[d]]
            ways.append((float(cost), d, first, last))
    return ways


def consistent(kernels: BoxKernels, x: Ints, low: Ints, high: Ints) -> bool:
    """Move x into the ranges, in place, with exactly one category in every fixed group; False if there is none."""
    question = kernels.question
    np.clip(x, low, high, out=x)
    for b in np.flatnonzero(question.group_home >= 0):
        part = slice(int(question.block_start[b]), int(question.block_start[b + 1]))
        if x[part].sum() == 1:
            continue
        forced = np.flatnonzero(low[part] == 1)
        allowed = np.flatnonzero(high[part] == 1) if forced.size == 0 else forced
        if forced.size > 1 or allowed.size == 0:
            return False
        home = int(question.group_home[b]) - part.start
        x[part] = 0
        x[part.start + (home if home in allowed else int(allowed[0]))] = 1
    return True
