"""A bad region that the room at x meets: a stored one, or one that is found, grown and stored."""

from __future__ import annotations

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import sort_by
from elbowroom.numerics import Floats
from elbowroom.search.trees.bad.find import BAD, GOOD, Stack
from elbowroom.search.trees.bad.find_near import exits_first, find_bad_near
from elbowroom.search.trees.bad.grow import grow
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.regions import BallRegions, add_ball_region, look_around, next_met
from elbowroom.search.trees.balls.workspace import Bench, Desk
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.question.question import Question

NOTHING = -1  # no bad region is met
UNSURE = -2  # the adversary needs a larger limit or stack


@inner_kernel
def _learn_region(
    model: Ensemble, geometry: Geometry, regions: BallRegions, x: Floats, rival: int, stack: Stack, bench: Bench
) -> int:
    """Grow the bad range in row 0 of the stack, cheapest exits first, and store it; its row."""
    exits_first(geometry, x, stack, bench.order, bench.rank)
    sort_by(bench.order, bench.rank, 2 * x.shape[0])
    for d in range(x.shape[0]):
        bench.low[d], bench.high[d] = stack.low[0, d], stack.high[0, d]
    grow(
        model, rival, bench.low, bench.high, bench.order, geometry.low_cell, geometry.high_cell, bench.suffix, bench.spare
    )  # fmt: skip
    return add_ball_region(regions, geometry, bench.low, bench.high, rival, bench.random)


@inner_kernel
def bad_region_at(
    model: Ensemble, question: Question, geometry: Geometry, regions: BallRegions, x: Floats, threshold: float,
    limit: int, stack: Stack, desk: Desk,
) -> int:  # fmt: skip
    """A stored region that the room at x meets, or a new one; NOTHING or UNSURE otherwise."""
    look_around(regions, geometry, x)
    row, _ = next_met(regions, geometry, x, threshold)
    if row >= 0:
        return row
    verdict, rival = find_bad_near(
        model, question, geometry, x, threshold, limit, stack, desk.bench.used, desk.bench.work
    )
    if verdict == GOOD:
        return NOTHING
    if verdict != BAD:
        return UNSURE
    return _learn_region(model, geometry, regions, x, rival, stack, desk.bench)
