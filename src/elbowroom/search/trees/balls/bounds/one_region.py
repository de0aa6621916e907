"""What it costs at least to leave bad regions, from their geometry alone.

One region: either one literal clears it alone, or at least two share the work. Then both are past their dead lengths,
and the rest is a fractional knapsack over the chords of the convex gains. Forced moves: what all other literals
together cannot gain, a literal must. Many regions at once: see `cover`.
"""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.numerics import Ints
from elbowroom.search.trees.balls.geometry import KIND, NORM, Geometry, gap_for, guard, move_cost, phi
from elbowroom.search.trees.balls.limits import HALVINGS, SAFE
from elbowroom.search.trees.balls.literals import Literals, gain_at
from elbowroom.search.trees.balls.node import Node


@inner_kernel
def region_bound(
    geometry: Geometry, node: Node, literals: Literals, n: int, need: float, base: float, taken: Ints
) -> float:
    """The extra cost of leaving one region; inf if its literals cannot gain enough."""
    alone, total, dead, second = math.inf, 0.0, math.inf, math.inf
    n_round = 0
    for i in range(n):
        alone = min(alone, literals.price[i])
        total += literals.gain[i]
        if geometry.kind[literals.dim[i]] == KIND.ROUND:
            n_round += 1
            cost = move_cost(geometry.norm, node.paid[literals.dim[i]], literals.dead[i], base)
            if cost < dead:
                dead, second = cost, dead
            elif cost < second:
                second = cost
    if total < need * SAFE:
        return math.inf
    if geometry.norm == NORM.LARGEST:
        return _level(geometry, node, literals, n, need, base)
    if n_round < 2:
        return alone * SAFE
    shared = dead + second
    if geometry.norm == NORM.SUM:
        missing = need
        for i in range(n):
            taken[i] = 0 if geometry.kind[literals.dim[i]] == KIND.ROUND else 1
        while missing > need * 1e-12:
            best, steepest = -1, -1.0
            for i in range(n):
                if taken[i] == 0:
                    slope = literals.gain[i] / (literals.cap[i] - literals.dead[i])
                    if slope > steepest:
                        best, steepest = i, slope
            if best < 0:
                shared = math.inf
                break
            taken[best] = 1
            if literals.gain[best] >= missing:
                shared += missing / steepest
                break
            shared += literals.cap[best] - literals.dead[best]
            missing -= literals.gain[best]
    return min(alone, shared) * SAFE


@inner_kernel
def _level(geometry: Geometry, node: Node, literals: Literals, n: int, need: float, base: float) -> float:
    """linf: the smallest level at which moves up to it gain enough, as an extra to ``base``."""
    low, high = base, base
    for i in range(n):
        high = max(high, node.paid[literals.dim[i]] + literals.full[i], base + literals.price[i])
    for step in range(HALVINGS + 1):
        level = base if step == 0 else (low + high) / 2.0
        total = 0.0
        for i in range(n):
            d = literals.dim[i]
            if geometry.rate[d] == 0.0:
                total += need if base + literals.price[i] <= level else 0.0
            else:
                total += gain_at(geometry, literals, i, min(literals.cap[i], level - node.paid[d]), need)
        if total >= need * SAFE:
            high = level
            if step == 0:
                break
        else:
            low = level
    return low - base if high > base else 0.0


@inner_kernel
def force_moves(geometry: Geometry, node: Node, literals: Literals, n: int, need: float) -> bool:
    """Tighten the node by what single literals must gain; True if its nearest centre moves."""
    total, moved = 0.0, False
    for i in range(n):
        total += literals.gain[i]
    for i in range(n):
        missing = need - (total - literals.gain[i])
        if missing <= 1e-6 * need:
            continue
        d, gap = literals.dim[i], literals.gap[i]
        if geometry.kind[d] != KIND.ROUND:
            moved = _force_step(node, d, literals.way[i], literals.up[i] == 1) or moved
            continue
        more = (gap_for(geometry.square, missing * SAFE + phi(geometry.square, gap)) - gap) * geometry.axis[d]
        length = (literals.dead[i] / geometry.rate[d] + more) * SAFE - guard(node.x[d], more)
        if literals.up[i] == 1:
            at = min(node.x[d] + length, node.high[d])
            if at > node.low[d] and at > node.x[d] + 1e-9 * geometry.axis[d]:
                node.low[d] = at
                moved = True
        else:
            at = max(node.x[d] - length, node.low[d])
            if at < node.high[d] and at < node.x[d] - 1e-9 * geometry.axis[d]:
                node.high[d] = at
                moved = True
    return moved


@inner_kernel
def _force_step(node: Node, d: int, way: float, upwards: bool) -> bool:
    """A dimension without room that must be left."""
    if upwards:
        node.low[d] = max(node.low[d], way)
    else:
        node.high[d] = min(node.high[d], way)
    return not node.low[d] <= node.x[d] <= node.high[d]
