"""Rows of the linear program for regions that the room at x does not meet, but that a proposed centre runs into.

A move away from one region may be a move towards another. What the gaps to a region use of the room is convex along
each literal j, so that it lies below the chord between the two ends of what the node allows, s_j per unit of cost, and

    sum_j s_j c_j >= 1 - (what is used at x),

for every good centre, where s_j may be negative, as may the right-hand side. Where the budget left is shorter than a
semi-axis, hardly any chord hides a bend: without these rows such nodes would be split again and again.
"""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import int64
from elbowroom.search.trees.balls.bounds.cover import Cover, slot_for
from elbowroom.search.trees.balls.geometry import Geometry, guard, used_by
from elbowroom.search.trees.balls.limits import NEAR, TARGET, VIOLATED
from elbowroom.search.trees.balls.node import Node
from elbowroom.search.trees.balls.regions import BallRegions, look_around, next_met
from elbowroom.search.trees.limits import ROUNDING


@inner_kernel
def set_reach(geometry: Geometry, node: Node, spare: float, cover: Cover) -> bool:
    """How far node and budget let every literal go; True if that is near enough for signed rows."""
    near = False
    for d in range(node.x.shape[0]):
        x, rate = node.x[d], geometry.rate[d]
        near = near or spare < NEAR * geometry.axis[d] * rate
        for side in range(2):
            length = math.inf if node.low[d] < node.high[d] else 0.0  # of a category
            if rate > 0.0:
                length = node.high[d] - x if side == 1 else x - node.low[d]
                length = min(length, spare / rate * (1.0 + 1e-9) + guard(x, spare / rate))
            cover.reach[2 * d + side] = length
    return near


@inner_kernel
def _signed_row(geometry: Geometry, node: Node, regions: BallRegions, row: int, cover: Cover, n: int) -> bool:
    """Fill row n of the cover; False if it is not violated, or if the region can be left in a dimension without room."""
    used, size, left = 0.0, int64(0), 0.0
    for d in range(node.x.shape[0]):
        x, first, last = node.x[d], regions.first[row, d], regions.last[row, d]
        here = used_by(geometry, d, x, first, last)
        if here == math.inf:
            return False
        used += here
        for side in range(2):
            length = cover.reach[2 * d + side]
            if length <= 0.0:
                continue
            end = x + length if side == 1 else x - length
            there = used_by(geometry, d, end, first, last)
            if there == math.inf:
                return False
            if there != here:
                slope = (there - here) / (length * geometry.rate[d])
                slot = cover.slot_of[2 * d + side]
                left += slope * cover.move[slot] if slot >= 0 else 0.0
                cover.slot[n, size], cover.chord[n, size] = 2 * d + side, slope + ROUNDING * abs(slope)
                size += 1
    cover.size[n], cover.right[n] = size, TARGET - used - ROUNDING * (1.0 + used)
    if cover.right[n] - left <= VIOLATED:
        return False
    for j in range(size):
        cover.slot[n, j] = slot_for(cover, cover.slot[n, j])
    return True


@inner_kernel
def add_signed(geometry: Geometry, node: Node, regions: BallRegions, cover: Cover, n: int, most: int) -> int:
    """Rows n, n + 1, .. that the program's moves violate, up to ``most``: limits of the node, and regions; their end."""
    for d in range(node.x.shape[0]):
        cover.at[d] = node.x[d]
        for side in range(2):
            slot, rate = cover.slot_of[2 * d + side], geometry.rate[d]
            if slot < 0 or rate == 0.0:
                continue
            length, move = cover.reach[2 * d + side], cover.move[slot] / rate
            if move > length * (1.0 + VIOLATED) and n < most:
                cover.size[n], cover.slot[n, 0], cover.chord[n, 0] = 1, slot, -1.0
                cover.right[n] = -length * rate * (1.0 + ROUNDING)
                n += 1
            cover.at[d] += min(move, length) if side == 1 else -min(move, length)
    look_around(regions, geometry, cover.at)
    while n < most:
        row, _ = next_met(regions, geometry, cover.at, 1.0 - VIOLATED)
        if row < 0:
            break
        if _signed_row(geometry, node, regions, row, cover, n):
            n += 1
    return n
