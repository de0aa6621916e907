"""How a node is split along one literal of a bad region.

With the dead length d and the full length of the literal: beyond ``full`` the region is cleared, within d nothing is
gained, in between it is shared with other literals. Where the node has no room beyond ``full``, it is split where 3/4 of
the need is gained (splitting at ``full`` again would creep). With a tight budget B (l1) the literal i gains gain_i(c) and
the others at most what the best of them gains with B - c: a convex function of c; where it stays below the need no
centre can be, and the node falls into the part before and the part after.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import int64
from elbowroom.numerics import Floats
from elbowroom.search.trees.balls.geometry import KIND, NORM, Geometry, after, gap_for, phi
from elbowroom.search.trees.balls.limits import GRID, HALVINGS, SAFE, SPACE_BEYOND, TARGET, WORTH_CUTTING
from elbowroom.search.trees.balls.literals import Literals, list_literals
from elbowroom.search.trees.balls.node import Node, copy_range
from elbowroom.search.trees.balls.regions import BallRegions, used_up
from elbowroom.search.trees.balls.workspace import Workspace
from elbowroom.search.trees.heap import Nodes, push


@inner_kernel
def choose_literal(literals: Literals, n: int) -> int:
    """The cheapest one that clears the region alone; if there is none, the one that gains most."""
    best = -1
    for i in range(n):
        if literals.price[i] < math.inf and (best < 0 or literals.price[i] < literals.price[best]):
            best = i
    if best < 0:
        for i in range(n):
            if best < 0 or literals.gain[i] > literals.gain[best]:
                best = i
    return best


@inner_kernel
def _possible(geometry: Geometry, literals: Literals, n: int, chosen: int, move: float, spare: float) -> float:
    """The most that a move along the chosen literal and the rest of the budget on one other gain together.

    The others' gains are convex, so that all of the rest on one of them is the best they can do.
    """
    most = 0.0
    for i in range(n):
        if i != chosen:
            rest = spare - move - literals.dead[i]
            if rest >= 0.0:
                d = literals.dim[i]
                if geometry.kind[d] != KIND.ROUND:
                    return math.inf
                unit = geometry.axis[d] * geometry.rate[d]
                gain = phi(geometry.square, literals.gap[i] + rest / unit) - phi(geometry.square, literals.gap[i])
                most = max(most, gain)
    d = literals.dim[chosen]
    if move > literals.dead[chosen]:
        unit = geometry.axis[d] * geometry.rate[d]
        gap = literals.gap[chosen]
        most += phi(geometry.square, gap + (move - literals.dead[chosen]) / unit) - phi(geometry.square, gap)
    return most


@inner_kernel
def impossible_span(
    geometry: Geometry, literals: Literals, n: int, chosen: int, need: float, spare: float
) -> tuple[float, float]:
    """An open interval of moves along the chosen literal that the budget rules out (1, 0: none).

    An end below 0 or above the cap means that nothing is left on that side.
    """
    top = min(literals.cap[chosen], spare)
    lowest, at = math.inf, 0.0
    for t in range(GRID + 1):
        value = _possible(geometry, literals, n, chosen, top * t / GRID, spare)
        if value < lowest:
            lowest, at = value, top * t / GRID
    if lowest >= need * SAFE:
        return 1.0, 0.0
    first = final = at
    for side in range(2):
        inside, outside = at, 0.0 if side == 0 else top
        if _possible(geometry, literals, n, chosen, outside, spare) < need * SAFE:
            inside = -1.0 if side == 0 else math.inf
        else:
            for _ in range(HALVINGS):
                middle = (inside + outside) / 2.0
                if _possible(geometry, literals, n, chosen, middle, spare) < need * SAFE:
                    inside = middle
                else:
                    outside = middle
        if side == 0:
            first = inside
        else:
            final = inside
    return first, final


@inner_kernel
def _child_key(geometry: Geometry, node: Node, d: int, low: float, high: float, base: float) -> float:
    """Total cost of the nearest centre once dimension d is confined to low..high."""
    if geometry.rate[d] == 0.0:
        return base
    paid = geometry.rate[d] * abs(min(max(geometry.home[d], low), high) - geometry.factual[d])
    if geometry.norm == NORM.SUM:
        return base - node.paid[d] + paid
    if geometry.norm == NORM.SQUARES:
        return base - node.paid[d] * node.paid[d] + paid * paid
    return max(base, paid)


@inner_kernel
def split_at(
    geometry: Geometry, node: Node, literals: Literals, n: int, chosen: int, need: float, spare: float, ends: Floats
) -> int:
    """Ranges of the children along the chosen literal, outermost first, as (inner, outer) ends in ``ends``; how many.

    An inner end of nan stands for everything on the near side, an outer one for everything on the far side.
    """
    d, up = literals.dim[chosen], literals.up[chosen] == 1
    x, sign = node.x[d], 1.0 if up else -1.0
    for i in range(6):
        ends[i] = math.nan
    if geometry.kind[d] != KIND.ROUND:
        way = literals.way[chosen]
        ends[0] = way
        ends[3] = after(geometry.whole[d], way, not up)
        return 2
    rate, cap, dead, full = geometry.rate[d], literals.cap[chosen], literals.dead[chosen], literals.full[chosen]
    if geometry.norm == NORM.SUM and spare < math.inf:
        first, final = impossible_span(geometry, literals, n, chosen, need, spare)
        if first < final:
            top = min(cap, spare)
            if first < 0.0 and final == math.inf:
                return 0
            if min(final, top) - max(first, 0.0) >= WORTH_CUTTING * top:
                count = 0
                if final < math.inf:
                    ends[0] = x + sign * final / rate
                    count = 1
                if first >= 0.0:
                    ends[2 * count + 1] = x + sign * first / rate
                    count += 1
                return count
    beyond = rate * abs((node.high[d] if up else node.low[d]) - x) - full
    if beyond > SPACE_BEYOND * (full - dead):
        outer = x + sign * full * SAFE / rate
        inner = x + sign * dead / rate
    else:
        gap, unit = literals.gap[chosen], geometry.axis[d] * rate
        outer = x + sign * dead / rate
        inner = x
        if dead == 0.0:
            move = (gap_for(geometry.square, 0.75 * need + phi(geometry.square, gap)) - gap) * unit
            if move > 0.9 * cap:
                move = (gap_for(geometry.square, need / n + phi(geometry.square, gap)) - gap) * unit
            if move > 0.9 * cap:
                move = 0.5 * cap
            outer = x + sign * move / rate
    whole = geometry.whole[d] == 1
    if whole:
        outer = np.ceil(outer) if up else np.floor(outer)
        inner = np.ceil(inner) if up else np.floor(inner)
    step = sign if whole else 0.0
    ends[0] = outer
    ends[3] = outer - step
    if inner != x and inner != outer:
        ends[2] = inner
        ends[5] = inner - step
        return 3
    return 2


@inner_kernel
def split_node(
    geometry: Geometry, regions: BallRegions, row: int, nodes: Nodes, base: float, key: float, budget: float,
    plunge: bool, workspace: Workspace,
) -> tuple[int, float]:  # fmt: skip
    """Push the children of workspace.node; their number (-1: the node is too small to be split).

    When plunging, the best child stays in workspace.trial, and its key is returned too.
    """
    node, trial, literals = workspace.node, workspace.trial, workspace.literals
    need = TARGET - used_up(regions, geometry, row, node.x)
    n = list_literals(geometry, node, regions.first[row], regions.last[row], need, base, budget, literals)
    chosen = choose_literal(literals, n)
    if chosen < 0:
        return 0, math.inf
    d, up = literals.dim[chosen], literals.up[chosen] == 1
    count = split_at(geometry, node, literals, n, chosen, need, budget - base, workspace.arrays.ends)
    low, high, children, best = node.low[d], node.high[d], 0, math.inf
    for i in range(count):
        inner, outer = workspace.arrays.ends[2 * i], workspace.arrays.ends[2 * i + 1]
        first, final = (inner, outer) if up else (outer, inner)
        first = low if math.isnan(first) else max(low, first)
        final = high if math.isnan(final) else min(high, final)
        if first > final:
            continue
        if first == low and final == high:
            return -1, math.inf
        child = max(key, _child_key(geometry, node, d, first, final, base))
        if child >= budget:
            continue
        children += 1
        node.low[d], node.high[d] = first, final
        if plunge and child < best:
            if best < math.inf:
                push(nodes, trial.low, trial.high, best, int64(0))
            copy_range(node, trial)
            best = child
        else:
            push(nodes, node.low, node.high, child, int64(0))
        node.low[d], node.high[d] = low, high
    return children, best
