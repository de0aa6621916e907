"""How a node is split along all ways out of a box inside the room.

A box of half-widths a inside the room (`bounds.inscribed`) that meets the region: the room of a good centre contains it, so
that for some dimension f   x_f > last_f + a_f   or   x_f < first_f - a_f. One child per such exit, cheapest first, each without
what the earlier ones take. The half-widths make all cheap exits equally expensive, so that the smallest key of the children is as
high as one box allows.
"""

from __future__ import annotations

import math
from typing import Final

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import int64, sort_by
from elbowroom.search.trees.balls.bounds.inscribed import fill_up
from elbowroom.search.trees.balls.geometry import KIND, NORM, Geometry, after, guard, move_cost
from elbowroom.search.trees.balls.limits import CREEP, SAFE
from elbowroom.search.trees.balls.node import copy_range
from elbowroom.search.trees.balls.regions import BallRegions
from elbowroom.search.trees.balls.split import split_node
from elbowroom.search.trees.balls.workspace import Workspace
from elbowroom.search.trees.heap import Nodes, push

NO_EXITS: Final = -2


@inner_kernel
def _list_exits(
    geometry: Geometry, regions: BallRegions, row: int, base: float, budget: float, workspace: Workspace
) -> int:
    """Exits of the inscribed box that node and budget allow, cheapest first: their number, or NO_EXITS if one gains hardly anything."""
    node, arrays, n = workspace.node, workspace.arrays, int64(0)
    for d in range(node.x.shape[0]):
        x, low, high, kind, whole = node.x[d], node.low[d], node.high[d], geometry.kind[d], geometry.whole[d]
        if kind == KIND.FREE or low == high:
            continue
        half = workspace.inside.half[d]
        for side in range(2):
            up = side == 1
            edge, sign = (regions.last[row, d], 1.0) if up else (regions.first[row, d], -1.0)
            if (edge >= high) if up else (edge <= low):
                continue
            if kind == KIND.STILL or whole == 1:
                at = after(whole, edge, up) + sign * half
            else:
                at = edge + sign * max(0.0, half * SAFE - guard(edge, half))
                if abs(at - x) < CREEP * geometry.axis[d]:
                    return NO_EXITS
            if (at > high) if up else (at < low):
                continue
            if sign * (at - x) <= 0.0:
                return NO_EXITS
            if geometry.rate[d] == 0.0:
                cost = geometry.category_price[d] if node.unpaid[d] == 1 else 0.0
                cost = max(0.0, cost - base) if geometry.norm == NORM.LARGEST else cost
            else:
                cost = move_cost(geometry.norm, node.paid[d], geometry.rate[d] * abs(at - x), base)
            if base + cost < budget:
                arrays.order[n] = 2 * d + side
                arrays.rank[2 * d + side], arrays.exits[2 * d + side] = cost, at
                n += 1
    sort_by(arrays.order, arrays.rank, n)
    return n


@inner_kernel
def _push_exits(
    geometry: Geometry, nodes: Nodes, n: int, base: float, key: float, plunge: bool, workspace: Workspace
) -> tuple[int, float]:
    """Push a child per exit; their number, and when plunging the key of the best one, which stays in workspace.trial."""
    node, arrays, children, best = workspace.node, workspace.arrays, int64(0), math.inf
    for i in range(n):
        j = arrays.order[i]
        d, up = j // 2, j % 2 == 1
        at, first, final = arrays.exits[j], node.low[d], node.high[d]
        if (at > final) if up else (at < first):
            continue
        if up:
            node.low[d] = at
        else:
            node.high[d] = at
        child = max(key, base + arrays.rank[j])
        if plunge and children == 0:
            copy_range(node, workspace.trial)
            best = child
        else:
            push(nodes, node.low, node.high, child, int64(0))
        children += 1
        node.low[d], node.high[d] = first, final
        discrete = geometry.kind[d] == KIND.STILL or geometry.whole[d] == 1
        beside = after(geometry.whole[d], at, not up) if discrete else at
        if up:
            node.high[d] = beside
        else:
            node.low[d] = beside
        if node.low[d] > node.high[d]:
            break
    return children, best


@inner_kernel
def split_by_exits(
    geometry: Geometry, regions: BallRegions, row: int, nodes: Nodes, base: float, key: float, budget: float,
    plunge: bool, workspace: Workspace,
) -> tuple[int, float]:  # fmt: skip
    """Push the children of workspace.node; their number, as `split_node`. NO_EXITS: they would creep, another split is asked for."""
    fill_up(geometry, workspace.node, regions, row, workspace.inside)
    n = _list_exits(geometry, regions, row, base, budget, workspace)
    if n == NO_EXITS:
        return n, math.inf
    return _push_exits(geometry, nodes, n, base, key, plunge, workspace)


@inner_kernel
def divide(
    geometry: Geometry, regions: BallRegions, row: int, nodes: Nodes, base: float, key: float, budget: float,
    plunge: bool, workspace: Workspace,
) -> tuple[int, float]:  # fmt: skip
    """Split workspace.node along the exits of a box, or along one literal where these would creep; as `split_node`."""
    children, best = split_by_exits(
        geometry=geometry, regions=regions, row=row, nodes=nodes, base=base, key=key, budget=budget, plunge=plunge,
        workspace=workspace,
    )  # fmt: skip
    if children != NO_EXITS:
        return children, best
    return split_node(
        geometry=geometry, regions=regions, row=row, nodes=nodes, base=base, key=key, budget=budget, plunge=plunge,
        workspace=workspace,
    )  # fmt: skip
