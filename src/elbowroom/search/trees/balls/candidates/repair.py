"""Good centres without waiting for a proof.

Repair: from a node, take again and again the cheapest literal that clears a region the room still meets. Pull: bring
every column back towards home as far as the regions allow: an exact line search, region by region. Polish: push a centre
that is nearly good away from what it touches.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import random_below
from elbowroom.numerics import Floats
from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.balls.geometry import KIND, Geometry, after, gap_for, guard, used_by
from elbowroom.search.trees.balls.learn import bad_region_at
from elbowroom.search.trees.balls.limits import EVEN, LINE_STEPS, MARGIN, NEARLY_GOOD, OVER, SURE, WORTH_PULLING
from elbowroom.search.trees.balls.literals import list_literals
from elbowroom.search.trees.balls.node import Node, settle_node
from elbowroom.search.trees.balls.regions import ROW, BallRegions, used_up
from elbowroom.search.trees.balls.workspace import Workspace
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.question.question import Question

UNFINISHED = -1.0  # call again


@inner_kernel
def beyond(geometry: Geometry, d: int, edge: float, gap: float, upwards: bool) -> float:
    """The value at which the gap to an edge is ``gap`` semi-axes, plus a relative MARGIN, rounded outwards."""
    if geometry.kind[d] == KIND.STILL:
        return after(geometry.whole[d], edge, upwards)
    width = gap * geometry.axis[d] * (1.0 + MARGIN)
    value = np.nextafter(edge + width, math.inf) if upwards else np.nextafter(edge - width, -math.inf)
    if geometry.whole[d] == 1:
        return np.ceil(value) if upwards else np.floor(value)
    return value


@inner_kernel
def _clearing(geometry: Geometry, regions: BallRegions, row: int, x: Floats, d: int, upwards: bool) -> float:
    """The value of one dimension at which the room leaves a region, the other dimensions as they are."""
    others = 0.0
    for e in range(x.shape[0]):
        if e != d:
            others += used_by(geometry, e, x[e], regions.first[row, e], regions.last[row, e])
    edge = regions.last[row, d] if upwards else regions.first[row, d]
    return beyond(geometry, d, edge, gap_for(geometry.square, SURE - others), upwards)


@inner_kernel
def repair(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, node: Node, budget: float,
    noise: float, steps: int, limit: int, stack: Stack, workspace: Workspace,
) -> float:  # fmt: skip
    """Narrow the node until the room at its nearest centre is good; the total cost of that centre (inf: failed).

    UNFINISHED after a number of ``steps``, here and below: looks for a bad region between two looks at the clock.
    """
    literals = workspace.literals
    for _ in range(steps):
        base = settle_node(question, geometry, node, budget)
        if base >= budget:
            return math.inf
        row = bad_region_at(
            model=model, question=question, geometry=geometry, regions=regions, x=node.x, threshold=SURE,
            limit=limit, stack=stack, workspace=workspace,
        )  # fmt: skip
        if row == ROW.NOTHING:
            return base
        if row < 0:
            return math.inf
        need = SURE - used_up(regions, geometry, row, node.x)
        n = list_literals(geometry, node, regions.first[row], regions.last[row], need, base, budget, literals)
        best, cheapest = -1, math.inf
        for i in range(n):
            if literals.price[i] < math.inf:
                e = literals.dim[i]
                cost = literals.price[i] + EVEN * geometry.axis[e] * geometry.rate[e]
                cost *= 1.0 + noise * random_below(workspace.progress.random, 1 << 20) / float(1 << 20)
                if cost < cheapest:
                    best, cheapest = i, cost
        if best < 0:
            return math.inf
        d, up = literals.dim[best], literals.up[best] == 1
        value = _clearing(geometry, regions, row, node.x, d, up)
        if up:
            if value <= node.x[d] or value > node.high[d]:
                return math.inf
            node.low[d] = value
        else:
            if value >= node.x[d] or value < node.low[d]:
                return math.inf
            node.high[d] = value
    return UNFINISHED


@inner_kernel
def pull(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, x: Floats, steps: int, limit: int,
    stack: Stack, workspace: Workspace,
) -> float:  # fmt: skip
    """Bring single columns back towards home in random order, in place, while the room stays good; 0 if none moved."""
    n_dims, done, result = x.shape[0], 0, 0.0
    for d in range(n_dims):
        workspace.arrays.turn[d] = d
    for i in range(n_dims - 1, 0, -1):
        j = random_below(workspace.progress.random, i + 1)
        workspace.arrays.turn[i], workspace.arrays.turn[j] = workspace.arrays.turn[j], workspace.arrays.turn[i]
    for i in range(n_dims):
        d = workspace.arrays.turn[i]
        if geometry.rate[d] == 0.0 or x[d] == geometry.home[d]:
            continue
        before, up, good = x[d], x[d] > geometry.home[d], False
        tiny = WORTH_PULLING * abs(before - geometry.home[d]) + guard(before, before)
        x[d] = geometry.home[d]
        for _ in range(LINE_STEPS):
            if done >= steps:
                x[d] = before
                return UNFINISHED
            done += 1
            row = bad_region_at(
                model=model, question=question, geometry=geometry, regions=regions, x=x, threshold=SURE, limit=limit,
                stack=stack, workspace=workspace,
            )  # fmt: skip
            if row == ROW.NOTHING:
                good = True
                break
            if row < 0:
                break
            value = _clearing(geometry, regions, row, x, d, up)
            if not (x[d] < value < before - tiny if up else x[d] > value > before + tiny):
                break
            x[d] = value
        if good and abs(before - x[d]) > tiny:
            result = UNFINISHED
        else:
            x[d] = before
    return result


@inner_kernel
def polish(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, x: Floats, steps: int, limit: int,
    stack: Stack, workspace: Workspace,
) -> float:  # fmt: skip
    """Push a centre that is nearly good straight away from the regions it touches; its room is good if 0."""
    for _ in range(steps):
        row = bad_region_at(
            model=model, question=question, geometry=geometry, regions=regions, x=x, threshold=SURE, limit=limit,
            stack=stack, workspace=workspace,
        )  # fmt: skip
        if row == ROW.NOTHING:
            return 0.0
        if row < 0:
            return UNFINISHED
        first, last = regions.first[row], regions.last[row]
        used = used_up(regions, geometry, row, x)
        if used < NEARLY_GOOD:
            return UNFINISHED
        longer = gap_for(geometry.square, (SURE + OVER * (SURE - used)) / used) * (1.0 + MARGIN)
        for d in range(x.shape[0]):
            if geometry.kind[d] == KIND.ROUND and geometry.whole[d] == 0:
                if x[d] > last[d]:
                    x[d] = min(last[d] + (x[d] - last[d]) * longer, geometry.upper[d])
                elif x[d] < first[d]:
                    x[d] = max(first[d] - (first[d] - x[d]) * longer, geometry.lower[d])
    return UNFINISHED
