"""A bad region that the room at x meets: a stored one, or one that is found, grown and stored."""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.numerics import Floats
from elbowroom.search.trees.bad.find import FINDING, Stack
from elbowroom.search.trees.bad.grow import grow_by
from elbowroom.search.trees.balls.find import find_bad_near
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.regions import ROW, BallRegions, add_ball_region, look_around, next_met
from elbowroom.search.trees.balls.workspace import Workspace
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.question.question import Question


@inner_kernel
def _learn_region(
    model: Ensemble, geometry: Geometry, regions: BallRegions, x: Floats, rival: int, stack: Stack, workspace: Workspace
) -> int:
    """Grow the bad range in row 0 of the stack, cheapest exits first, and store it; its row."""
    arrays, low, high = workspace.arrays, stack.low[0], stack.high[0]
    for d in range(x.shape[0]):
        at = geometry.cell_start[d]
        first, last = geometry.first[at + low[d]], geometry.last[at + high[d]]
        below, above = 2 * d, 2 * d + 1
        arrays.rank[below] = geometry.rate[d] * max(0.0, x[d] - first) if first > geometry.lower[d] else math.inf
        arrays.rank[above] = geometry.rate[d] * max(0.0, last - x[d]) if last < geometry.upper[d] else math.inf
    grow_by(
        model=model, rival=rival, low=low, high=high, order=arrays.order, rank=arrays.rank, low_limit=geometry.low_cell, high_limit=geometry.high_cell, suffix=arrays.suffix,
        spare=arrays.spare,
    )  # fmt: skip
    return add_ball_region(regions, geometry, low, high, rival, workspace.progress.random)


@inner_kernel
def bad_region_at(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, x: Floats, threshold: float,
    limit: int, stack: Stack, workspace: Workspace,
) -> int:  # fmt: skip
    """A stored region that the room at x meets, or a new one; ROW.NOTHING or ROW.UNSURE otherwise."""
    look_around(regions, geometry, x)
    row, _ = next_met(regions, geometry, x, threshold)
    if row >= 0:
        return row
    verdict, rival = find_bad_near(
        model=model, question=question, geometry=geometry, x=x, threshold=threshold, limit=limit, stack=stack,
        used=workspace.arrays.used, work=workspace.progress.work,
    )  # fmt: skip
    if verdict == FINDING.GOOD:
        return ROW.NOTHING
    if verdict != FINDING.BAD:
        return ROW.UNSURE
    return _learn_region(model, geometry, regions, x, rival, stack, workspace)
