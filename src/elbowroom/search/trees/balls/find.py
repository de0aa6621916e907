"""Is some cell inside a ball or diamond bad?

The adversary of `bad.find` with one more reason to stop: a sub-range whose nearest point uses up the room is out of reach,
and cells of a sub-range that are too far away, given the gaps in the other dimensions, are cut off.
"""

from __future__ import annotations

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import int64
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.bad.find import Stack, finder
from elbowroom.search.trees.balls.geometry import KIND, Geometry, cell_at, gap_for, used_by
from elbowroom.search.trees.cells.leaves import Ensemble, narrow
from elbowroom.search.trees.question.question import Question


@inner_kernel
def _draw_in(model: Ensemble, where: tuple[Geometry, Floats, float, Floats], stack: Stack, top: int) -> bool:
    """Cut cells of the sub-range on top that are out of reach; False if all of it is."""
    geometry, x, threshold, used = where
    low, high = stack.low[top], stack.high[top]
    n_dims, total = x.shape[0], 0.0
    for d in range(n_dims):
        at = geometry.cell_start[d]
        used[d] = used_by(
            geometry,
            d,
            x[d],
            geometry.first[at + low[d]],
            geometry.last[at + high[d]],
        )
        total += used[d]
        if total >= threshold:
            return False
    for d in range(n_dims):
        if geometry.kind[d] != KIND.ROUND or low[d] == high[d]:
            continue
        at = geometry.cell_start[d]
        width = gap_for(geometry.square, threshold - total + used[d]) * geometry.axis[d]
        a, b = low[d], high[d]
        while a < b and x[d] - geometry.last[at + a] >= width:
            a += 1
        while b > a and geometry.first[at + b] - x[d] >= width:
            b -= 1
        if a != low[d] or b != high[d]:
            low[d], high[d] = a, b
            narrow(stack.leaves[top], model, d, a, b, int64(0), model.everything.shape[0])
    return True


_find_bad = finder(_draw_in)


@inner_kernel
def find_bad_near(
    model: Ensemble, question: Question, geometry: Geometry, x: Floats, threshold: float, limit: int, stack: Stack,
    used: Floats, work: Ints,
) -> tuple[int, int]:  # fmt: skip
    """What `FINDING` says about the room of phi(radius) < threshold around x, and the rival that wins."""
    widest = gap_for(geometry.square, threshold)
    for d in range(x.shape[0]):
        a, b = geometry.low_cell[d], geometry.high_cell[d]
        if geometry.kind[d] != KIND.FREE:
            width = widest * geometry.axis[d]
            begin, end = geometry.cell_start[d], geometry.cell_start[d + 1]
            a = max(a, cell_at(geometry.last, begin, end, x[d] - width))
            b = min(b, cell_at(geometry.last, begin, end, x[d] + width))
        stack.low[0, d], stack.high[0, d] = a, b
    return _find_bad(model, question, limit, stack, work, (geometry, x, threshold, used))
