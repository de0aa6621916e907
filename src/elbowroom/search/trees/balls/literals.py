"""The ways out of a bad region.

For a region R that the room at x meets, ``need`` = 1 - sum phi(gap) is what the room must still be pushed away. Each
dimension and side is a literal: a move by the length c gains nothing up to the dead length d, and then

    gain(c) = phi(g + (c - d) / (w r)) - phi(g),

where g is the gap in that dimension at x, w the price of a raw unit and r the semi-axis. ``full`` is the length that
gains all of ``need``. A dimension without room gains all of it at its first value outside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from elbowroom.kernels.bundle import Bundle, array
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import int64
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.balls.geometry import KIND, NORM, Geometry, after, gap_for, longest_move, move_cost, phi
from elbowroom.search.trees.balls.node import Node


@dataclass(frozen=True, eq=False)
class Literals(Bundle):
    """Ways out of one region, entries 0 .. n - 1; lengths are moves in units of cost (l1)."""

    dim: Ints = array("sides")
    up: Ints = array("sides")
    dead: Floats = array("sides")
    gap: Floats = array("sides")
    cap: Floats = array("sides")  # longest move that node and budget allow, at most ``full``
    gain: Floats = array("sides")  # at ``cap``
    full: Floats = array("sides")
    price: Floats = array("sides")  # cost of ``full``; infinite if it is out of reach
    way: Floats = array("sides")  # dimensions without room: the first value outside


@inner_kernel
def list_literals(
    geometry: Geometry, node: Node, first: Floats, last: Floats, need: float, base: float, budget: float,
    literals: Literals,
) -> int:  # fmt: skip
    """List the literals of a region that node and budget leave alive, given its ``need``; their number."""
    n_dims, count = node.x.shape[0], int64(0)
    kinds, axes, rates, square, norm = geometry.kind, geometry.axis, geometry.rate, geometry.square, geometry.norm
    spare = budget - base
    for d in range(n_dims):
        x, low, high, kind = node.x[d], node.low[d], node.high[d], kinds[d]
        if kind == KIND.FREE or low == high:
            continue
        for side in range(2):
            edge = last[d] if side == 1 else first[d]
            if (edge >= high) if side == 1 else (edge <= low):
                continue
            if kind == KIND.STILL:
                way = after(geometry.whole[d], edge, side == 1)
                if way > high or way < low:
                    continue
                if rates[d] == 0.0:
                    price = geometry.category_price[d] if node.unpaid[d] == 1 else 0.0
                    if norm == NORM.LARGEST:
                        price = max(0.0, price - base)
                    move = price / 2.0
                else:
                    move = rates[d] * abs(way - x)
                    price = move_cost(norm, node.paid[d], move, base)
                if price >= spare:
                    continue
                literals.dead[count] = literals.full[count] = literals.cap[count] = move
                literals.gap[count], literals.gain[count], literals.way[count] = 0.0, need, way
            else:
                unit = axes[d] * rates[d]
                below, above = max(0.0, first[d] - x), max(0.0, x - last[d])
                gap = max(below, above) / axes[d]
                dead = 0.0
                if (above if side == 1 else below) == 0.0:
                    dead = rates[d] * abs(edge - x) + gap * unit
                full = dead + (gap_for(square, need + phi(square, gap)) - gap) * unit
                cap = rates[d] * (high - x if side == 1 else x - low)
                cap = min(cap, longest_move(norm, node.paid[d], spare, base), full)
                if cap <= dead:
                    continue
                literals.dead[count], literals.gap[count] = dead, gap
                literals.cap[count], literals.full[count] = cap, full
                price = math.inf
                if cap >= full:
                    price = move_cost(norm, node.paid[d], full, base)
                    literals.gain[count] = need
                else:
                    literals.gain[count] = phi(square, gap + (cap - dead) / unit) - phi(square, gap)
            literals.dim[count], literals.up[count], literals.price[count] = d, side, price
            count += 1
    return count


@inner_kernel
def gain_at(geometry: Geometry, literals: Literals, i: int, move: float, need: float) -> float:
    """What a move along a literal gains."""
    d = literals.dim[i]
    if geometry.kind[d] != KIND.ROUND:
        return need if move >= literals.full[i] else 0.0
    if move <= literals.dead[i]:
        return 0.0
    gap, unit = literals.gap[i], geometry.axis[d] * geometry.rate[d]
    return min(need, phi(geometry.square, gap + (move - literals.dead[i]) / unit) - phi(geometry.square, gap))
