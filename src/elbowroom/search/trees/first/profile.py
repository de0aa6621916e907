"""Line profiles: p -> S(x with one column moved to p), for all p at once.

Every tree that splits on the column is walked once with the column free. A leaf that it meets is met by the rooms of all
centres in an open interval: beyond `below` of its last cut to the left, before `above` of its first cut to the right. The
lower envelope of a tree over these intervals is a step function, and the sum over trees steps where any of them does. That
costs as much as a few evaluations of S, however many cuts the column has.

A step where a leaf is *left* holds from p = above on (p included), one where a leaf is *entered* for all p > below. So the
nearest centre on the upper side of home with a new value is the place of a leaving step, on the lower side that of an
entering step (just before it): only these are worth a move.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from elbowroom.kernels.bundle import Bundle, array, blank
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import int64
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.first.asked import Asked
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.first.stand import Stand


class _Steps(NamedTuple):
    """Which side of its place a step belongs to: leaving comes first."""

    LEAVING: int = 0
    ENTERING: int = 1


STEPS: Final = _Steps()


@dataclass(frozen=True, eq=False)
class Line(Bundle):
    """Leaves of one tree along a column; and the steps of all trees, sorted by ``order``."""

    leaf: Ints = array("leaves")
    enter: Ints = array("leaves")  # nodes whose cuts limit the leaf to the left and right; -1: none
    leave: Ints = array("leaves")
    stack: Ints = array(3, "leaves")
    edge: Ints = array("edges")  # nodes
    edge_kind: Ints = array("edges")
    place: Floats = array("steps")
    kind: Ints = array("steps")
    cost: Floats = array("steps")
    rival: Ints = array("steps")
    rise: Floats = array("steps")
    order: Ints = array("steps")
    start: Floats = array("rivals")  # S before all steps


def line_for(forest: Forest) -> Line:
    """Scratch arrays that are large enough for every column."""
    leaves = (forest.most_nodes + 1) // 2 + 1
    inner = int((forest.feature >= 0).sum())
    return blank(
        Line, leaves=leaves, edges=2 * leaves, steps=2 * len(forest.need) * inner + 16, rivals=len(forest.need)
    )  # fmt: skip


@inner_kernel
def _leaves(forest: Forest, asked: Asked, stand: Stand, line: Line, root: int, f: int, limit: float) -> int:
    """Leaves below a root that rooms meet with column f anywhere within the cost limit; returns their number."""
    feature, right, below, above, x = forest.feature, forest.right, asked.below, asked.above, stand.x
    home, stack = asked.home[f], line.stack
    found, top, seen = 0, 0, 0
    stack[0, 0], stack[1, 0], stack[2, 0] = root, -1, -1
    while top >= 0:
        i, enter, leave = stack[0, top], stack[1, top], stack[2, top]
        top -= 1
        while True:
            seen += 1
            g = feature[i]
            if g < 0:
                line.leaf[found], line.enter[found], line.leave[found] = i, enter, leave
                found += 1
                break
            if g == f:
                # left needs a centre before above[i], right one beyond below[i]: affordable, and not ruled out further up
                go_left = above[i] > home or asked.above_cost[i] < limit
                go_right = below[i] < home or asked.below_cost[i] < limit
                if enter >= 0 and below[enter] >= above[i]:
                    go_left = False
                if leave >= 0 and above[leave] <= below[i]:
                    go_right = False
                if go_left and go_right:
                    top += 1
                    stack[0, top], stack[2, top] = right[i], leave
                    stack[1, top] = i if enter < 0 or below[i] > below[enter] else enter
                if go_left or not go_right:
                    if leave < 0 or above[i] < above[leave]:
                        leave = i
                    i = int64(i + 1)
                else:
                    if enter < 0 or below[i] > below[enter]:
                        enter = i
                    i = int64(right[i])
            elif x[g] <= below[i]:
                i = int64(i + 1)
            elif x[g] >= above[i]:
                i = int64(right[i])
            else:
                top += 1
                stack[0, top], stack[1, top], stack[2, top] = right[i], enter, leave
                i = int64(i + 1)
    stand.work[0] += seen
    return found


@inner_kernel
def _comes_before(asked: Asked, node: int, kind: int, other: int, other_kind: int) -> bool:
    """Order of steps: by place, leaving ones first."""
    here = asked.above[node] if kind == STEPS.LEAVING else asked.below[node]
    there = asked.above[other] if other_kind == STEPS.LEAVING else asked.below[other]
    return here < there or (here == there and kind < other_kind)


@inner_kernel
def _edges(asked: Asked, line: Line, found: int) -> int:
    """The ends of the leaves' intervals in order, each once; returns their number."""
    edge, edge_kind, n = line.edge, line.edge_kind, 0
    for k in range(2 * found):
        leaf = k // 2
        kind = STEPS.LEAVING if k % 2 == 0 else STEPS.ENTERING
        node = line.leave[leaf] if kind == STEPS.LEAVING else line.enter[leaf]
        if node < 0:
            continue
        j = n
        while j > 0 and _comes_before(asked, node, kind, edge[j - 1], edge_kind[j - 1]):
            j -= 1
        if j > 0 and not _comes_before(asked, edge[j - 1], edge_kind[j - 1], node, kind):
            continue  # the same place and kind
        for i in range(n, j, -1):
            edge[i], edge_kind[i] = edge[i - 1], edge_kind[i - 1]
        edge[j], edge_kind[j] = node, kind
        n += 1
    return n


@inner_kernel
def _covers(asked: Asked, line: Line, leaf: int, edge: int, last: int) -> bool:
    """True if a leaf is met everywhere between step ``edge`` and the next one (-1: before the first; last: the number)."""
    if edge >= 0 and line.leave[leaf] >= 0:  # not left yet: its leaving step comes after this one
        node, kind = line.edge[edge], line.edge_kind[edge]
        if not _comes_before(asked, node, kind, line.leave[leaf], STEPS.LEAVING):
            return False
    if line.enter[leaf] >= 0:  # entered by now
        if edge < 0:
            return False
        node, kind = line.edge[edge], line.edge_kind[edge]
        if _comes_before(asked, node, kind, line.enter[leaf], STEPS.ENTERING):
            return False
    return True


@inner_kernel
def _steps_of_tree(forest: Forest, asked: Asked, line: Line, found: int, n_edges: int, rival: int, steps: int) -> int:
    """Append the steps of the lower envelope of one tree for a rival; returns the number of steps so far."""
    low = forest.low
    value = np.inf
    for k in range(found):
        if _covers(asked, line, k, -1, n_edges):
            value = min(value, low[rival, line.leaf[k]])
    known = value < np.inf
    if not known:
        value = 0.0  # nobody can afford to be there
    line.start[rival] += value
    for e in range(n_edges):
        after = np.inf
        for k in range(found):
            if _covers(asked, line, k, e, n_edges):
                after = min(after, low[rival, line.leaf[k]])
        if after == np.inf or after == value:
            continue
        node, kind = line.edge[e], line.edge_kind[e]
        leaving = kind == STEPS.LEAVING
        line.place[steps] = asked.above[node] if leaving else asked.below[node]
        line.cost[steps] = asked.above_cost[node] if leaving else asked.below_cost[node]
        line.kind[steps], line.rival[steps], line.rise[steps] = kind, rival, after - value
        steps += 1
        value = after
    return steps


@inner_kernel
def _sort(line: Line, size: int) -> None:
    """Steps by place, leaving ones first, then as they came (Shell's method)."""
    order, place, kind = line.order, line.place, line.kind
    for k in range(size):
        order[k] = k
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            item = order[i]
            j = i
            while j >= gap:
                other = order[j - gap]
                if place[other] < place[item]:
                    break
                if place[other] == place[item] and (
                    kind[other] < kind[item] or (kind[other] == kind[item] and other < item)
                ):
                    break
                order[j] = other
                j -= gap
            order[j] = item
        gap //= 3


@inner_kernel
def draw_line(forest: Forest, asked: Asked, stand: Stand, line: Line, block: int, limit: float) -> int:
    """The profile along the column of a block, for costs < limit: ``start`` and the sorted steps; returns their number."""
    f = asked.block_column[asked.block_start[block]]
    n_rivals, steps = forest.need.shape[0], int64(0)
    for r in range(n_rivals):
        line.start[r] = stand.sums[r]
    for u in range(asked.user_start[block], asked.user_start[block + 1]):
        t = asked.user[u]
        found = _leaves(forest, asked, stand, line, forest.root[t], f, limit)
        n_edges = _edges(asked, line, found)
        for r in range(n_rivals):
            line.start[r] -= stand.current[r, t]
            steps = _steps_of_tree(forest, asked, line, found, n_edges, r, steps)
    _sort(line, steps)
    return steps
