"""The bound for boxes, for a box inside the room: its positions are the cells that the adversary is pushed into.

Let a be the half-widths of the box, and v a bad cell that the box at x meets. The adversary stays in v as long as it can;
it is pushed up to a cell c > v once the centre is beyond last(c - 1) + a, and down to c < v once the centre is below
first(c + 1) - a. What that costs is all that `bound` needs to know.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import int64
from elbowroom.numerics import Floats
from elbowroom.search.trees.balls.bounds.inscribed import Inscribed
from elbowroom.search.trees.balls.geometry import KIND, NORM, Geometry, cell_at, guard, move_cost
from elbowroom.search.trees.balls.node import Node
from elbowroom.search.trees.bound.bound import BOUND, bound
from elbowroom.search.trees.bound.gains import Scratch
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.question.question import Question


@inner_kernel
def _push(geometry: Geometry, inside: Inscribed, x: float, d: int, c: int) -> float:
    """How far, in raw units, a dimension must move so that the adversary is pushed into cell c."""
    at, half = geometry.cell_start[d] + c, inside.half[d]
    if c > inside.cell[d]:
        edge = geometry.first[at] if half == 0.0 else geometry.last[at - 1]
        length = (edge - x) + half
    else:
        edge = geometry.last[at] if half == 0.0 else geometry.first[at + 1]
        length = (x - edge) + half
    return max(0.0, length - guard(edge, x) - guard(half, 0.0))


@inner_kernel
def _price_cells(geometry: Geometry, node: Node, base: float, load: Floats, inside: Inscribed, cells: Question) -> None:
    """Which cells the adversary can be pushed into, and what that costs at reduced prices."""
    for d in range(node.x.shape[0]):
        v, half = inside.cell[d], inside.half[d]
        first = final = v
        at, after = geometry.cell_start[d], geometry.cell_start[d + 1]
        if geometry.kind[d] != KIND.FREE:
            first, final = int64(0), after - at - 1
            if node.low[d] > -math.inf:
                first = min(v, cell_at(geometry.last, at, after, node.low[d] + half - guard(node.low[d], half)))
            if node.high[d] < math.inf:
                final = max(v, cell_at(geometry.last, at, after, node.high[d] - half + guard(node.high[d], half)))
        inside.first[d], inside.final[d] = first, final
        spent = node.paid[d] if geometry.norm == NORM.LARGEST else 0.0
        cells.cost[at + v] = spent
        for c in range(first, final + 1):
            if c == v:
                continue
            part = max(0.0, 1.0 - load[2 * d + (1 if c > v else 0)])
            if geometry.rate[d] == 0.0:
                price = geometry.category_price[d] if node.unpaid[d] == 1 else 0.0
                cells.cost[at + c] = price if geometry.norm == NORM.LARGEST else price / 2.0 * part
                continue
            length = _push(geometry, inside, node.x[d], d, c) * geometry.rate[d]
            if geometry.norm == NORM.LARGEST:
                cells.cost[at + c] = spent + length
            else:
                cells.cost[at + c] = move_cost(geometry.norm, node.paid[d], length, base) * part


@inner_kernel
def _cut(geometry: Geometry, node: Node, inside: Inscribed) -> bool:
    """Carry the cells that are left over to the node; False if nothing is left of it."""
    for d in range(node.x.shape[0]):
        if geometry.kind[d] == KIND.FREE or node.low[d] == node.high[d]:
            continue
        at, half, v = geometry.cell_start[d], inside.half[d], inside.cell[d]
        a, b = inside.first[d], inside.final[d]
        if half == 0.0:
            low, high = geometry.first[at + a], geometry.last[at + b]
        else:
            low = geometry.first[at + a] - half if a <= v else geometry.last[at + a - 1] + half
            high = geometry.last[at + b] + half if b >= v else geometry.first[at + b + 1] - half
            low, high = low - guard(low, half), high + guard(high, half)
        if geometry.rate[d] == 0.0:
            low, high = np.ceil(low), np.floor(high)
        node.low[d], node.high[d] = max(node.low[d], low), min(node.high[d], high)
        if node.low[d] > node.high[d]:
            return False
    return True


@inner_kernel
def pushed_bound(
    model: Ensemble, geometry: Geometry, node: Node, rival: int, base: float, proven: float, budget: float,
    load: Floats, inside: Inscribed, cells: Question, scratch: Scratch,
) -> float:  # fmt: skip
    """A lower bound on the extra cost of every good centre of the node (inf: none within the budget); the node is
    tightened in place. ``proven`` is what ``load`` has proven beyond ``base``."""
    _price_cells(geometry, node, base, load, inside, cells)
    outcome, value = bound(
        model=model, question=cells, rival=rival, cell=inside.cell, low=inside.first, high=inside.final,
        x=inside.cell, paid=inside.paid, base=base + proven, budget=budget, scratch=scratch,
    )  # fmt: skip
    if outcome == BOUND.PRUNED:
        return math.inf
    if outcome == BOUND.HOLDS:
        return proven
    if not _cut(geometry, node, inside):
        return math.inf
    return value - base
