"""A box inside the room, and the cell of it that the adversary defends.

A box of half-widths a with sum phi(a_f / r_f) <= 1 lies inside the room of every centre, so that what is proven for boxes
holds for it. The half-widths are chosen by filling up: as far as a region's exits are concerned, all of them get equally
expensive. Any cell of the box makes a valid bound, as for boxes; the two of `bad.cell` are tried.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.bundle import Bundle, array
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import Words, int64
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.bad.cell import deepest_cell, hard_to_leave
from elbowroom.search.trees.bad.one_hot import choose_categories
from elbowroom.search.trees.balls.geometry import KIND, Geometry, cell_at, guard, phi
from elbowroom.search.trees.balls.limits import FILLINGS, INSIDE
from elbowroom.search.trees.balls.node import Node
from elbowroom.search.trees.balls.regions import BallRegions
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.question.question import Question


@dataclass(frozen=True, eq=False)
class Inscribed(Bundle):
    """The inscribed box, the bad cell, and the cells around it."""

    half: Floats = array("dims")  # half-widths a
    gap: Floats = array("dims")
    exit: Floats = array("dims")  # raw way to the nearest side of the region that the node can pass
    cell: Ints = array("dims")  # v
    first: Ints = array("dims")  # cells of the box, or those that the adversary may be pushed into
    final: Ints = array("dims")
    paid: Floats = array("dims")  # zero: costs are counted from the nearest centre on


@inner_kernel
def _half_width(gap: float, nearest: float, axis: float, reach: float) -> float:
    """The half-width at which leaving the region along one dimension takes a move of length ``reach``."""
    return gap if nearest == math.inf else min(max(gap, reach - nearest), axis)


@inner_kernel
def fill_up(geometry: Geometry, node: Node, regions: BallRegions, row: int, inside: Inscribed) -> None:
    """Half-widths of an inscribed box that meets the region and makes its cheapest exit as expensive as possible."""
    n_dims, square = node.x.shape[0], geometry.square
    gaps, exits, axis, rate, half = inside.gap, inside.exit, geometry.axis, geometry.rate, inside.half
    low, high = 0.0, math.inf
    for d in range(n_dims):
        gaps[d], exits[d] = 0.0, math.inf
        if geometry.kind[d] == KIND.ROUND:
            x, first, last = node.x[d], regions.first[row, d], regions.last[row, d]
            gaps[d] = max(0.0, first - x, x - last)
            if last < node.high[d]:
                exits[d] = last - x  # negative where x is outside already
            if first > node.low[d]:
                exits[d] = min(exits[d], x - first)
            if exits[d] < math.inf:
                high = min(high, rate[d] * (exits[d] + axis[d]))
    high = 0.0 if high == math.inf else high
    for step in range(FILLINGS + 1):
        level = high if step == 0 else (low + high) / 2.0
        total = 0.0
        for d in range(n_dims):
            if axis[d] > 0.0:
                total += phi(square, _half_width(gaps[d], exits[d], axis[d], level / rate[d]) / axis[d])
        if total <= INSIDE:
            low = level
            if step == 0:
                break
        else:
            high = level
    for d in range(n_dims):
        half[d] = _half_width(gaps[d], exits[d], axis[d], low / rate[d]) if axis[d] > 0.0 else 0.0
        if geometry.whole[d] == 1:  # part of a step would put the adversary where no value is
            half[d] = np.floor(half[d])


@inner_kernel
def choose_bad_cell(
    geometry: Geometry, question: Question, node: Node, regions: BallRegions, row: int, inside: Inscribed
) -> None:
    """A cell that region and inscribed box share: as far as possible from where the node can move."""
    for d in range(node.x.shape[0]):
        x, half = node.x[d], inside.half[d]
        first, last = regions.first[row, d], regions.last[row, d]
        gap = first - x if x < first else (x - last if x > last else 0.0)
        width = max(gap, half * INSIDE - guard(x, half))
        begin, end = geometry.cell_start[d], geometry.cell_start[d + 1]
        a = max(cell_at(geometry.last, begin, end, x - width), int64(regions.low[row, d]))
        b = min(cell_at(geometry.last, begin, end, x + width), int64(regions.high[row, d]))
        a, b = min(a, int64(regions.high[row, d])), max(b, int64(regions.low[row, d]))
        inside.cell[d] = hard_to_leave(a, b, node.low[d] == x, node.high[d] == x)
    choose_categories(question, regions.low, regions.high, row, inside.cell)


@inner_kernel
def deepen_inside(
    model: Ensemble, geometry: Geometry, node: Node, rival: int, inside: Inscribed, suffix: Words, spare: Words
) -> None:
    """Move the chosen cell, dimension by dimension, to where the rival's sum over the inscribed box is smallest."""
    for d in range(node.x.shape[0]):
        inside.first[d] = inside.final[d] = inside.cell[d]
        if geometry.kind[d] == KIND.ROUND:
            x, half = node.x[d], inside.half[d]
            width = max(0.0, half * INSIDE - guard(x, half))
            begin, end = geometry.cell_start[d], geometry.cell_start[d + 1]
            inside.first[d] = cell_at(geometry.last, begin, end, x - width)
            inside.final[d] = cell_at(geometry.last, begin, end, x + width)
    deepest_cell(model, rival, inside.cell, inside.first, inside.final, suffix, spare)
