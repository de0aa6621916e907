"""The closest move that serves at least so many of the rows: branch and bound over who is served.

A node says who must be served and who need not be. Its bound is that of the closest move for those who must; besides, of
those who may be served at least ``least`` are, so none is closer than the ``least``-th of their own bounds. If the node's move
serves enough rows, it is settled; if not, a row that it does not serve divides it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.search.contract import Clock, Ending
from elbowroom.search.group.members import Serve

Closest = Callable[[tuple[int, ...]], tuple[Ending, Floats | None]]  # the closest move for all of these rows


@dataclass(frozen=True, order=True)
class _Node:
    bound: float
    number: int
    served: tuple[int, ...]
    left_out: tuple[int, ...]


def closest_for_some(
    size: int, least: int, closest: Closest, serve: Serve, best: Callable[[], float], still: Floats, clock: Clock
) -> Ending:
    """``still`` is no move at all; ``best`` tells the distance of the best answer so far, which ``serve`` notes."""
    known: dict[tuple[int, ...], tuple[Ending, Floats | None]] = {}
    tolerance, method, reason, unsettled, nodes = 0.0, "common move", "", math.inf, 0

    def asked(rows: tuple[int, ...]) -> tuple[Ending, Floats | None]:
        if (
            rows not in known and clock.expired
        ):  # one question about a large model takes seconds before it looks at the clock
            return Ending(method, 0.0, "the time limit was reached"), None
        if rows not in known:
            known[rows] = (Ending(method, 0.0), still) if not rows else closest(rows)
        return known[rows]

    own = np.array([0.0 if i in serve(still) else asked((i,))[0].lower_bound for i in range(size)])

    def least_of(left_out: tuple[int, ...]) -> float:
        may = np.sort(np.delete(own, list(left_out)))
        return float(may[least - 1]) if may.size >= least else math.inf

    order, heap = count(), [_Node(least_of(()), 0, (), ())]
    while heap and not clock.expired and heap[0].bound < (1.0 - tolerance) * best():
        node = heapq.heappop(heap)
        if math.isinf(node.bound):
            continue
        ending, move = asked(node.served)
        nodes += 1
        tolerance, method = max(tolerance, ending.tolerance), ending.method
        bound = max(node.bound, ending.lower_bound)
        if math.isinf(bound):
            continue
        there = frozenset() if move is None else serve(move)
        others = [i for i in range(size) if i not in there and i not in node.served and i not in node.left_out]
        if len(there) >= least:  # the closest of all moves that serve those who must be served
            unsettled = min(unsettled, bound)
            continue
        others = others or [i for i in range(size) if i not in node.served and i not in node.left_out]
        if not others or bound >= (1.0 - tolerance) * best():
            unsettled, reason = min(unsettled, bound), reason or ending.reason
            continue
        i = min(others, key=lambda i: own[i])
        heapq.heappush(
            heap, _Node(max(bound, float(own[i])), next(order) + 1, tuple(sorted((*node.served, i))), node.left_out)
        )
        if len(node.left_out) < size - least:
            left_out = (*node.left_out, i)
            heapq.heappush(heap, _Node(max(bound, least_of(left_out)), next(order) + 1, node.served, left_out))
    lower_bound = min([unsettled, *(node.bound for node in heap)])
    if heap and clock.expired:
        reason = reason or "the time limit was reached"
    if math.isinf(lower_bound) and math.isinf(best()):
        reason = f"no move within the limits serves {least} of the {size} rows"
    return Ending(method, lower_bound, reason, tolerance, {"nodes": float(nodes)})
