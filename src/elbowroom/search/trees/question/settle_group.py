"""Fixed one-hot groups inside a node: exactly one member is 1."""

from __future__ import annotations

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.search.trees.heap import Range
from elbowroom.search.trees.question.question import Question


@inner_kernel
def settle_group(question: Question, block: int, low: Range, high: Range, x: Range) -> int:
    """Propagate "exactly one member is 1", set x to home or the first category left, and return it (-1: none)."""
    begin, end = question.block_start[block], question.block_start[block + 1]
    forced, possible = -1, 0
    chosen = -1
    for d in range(begin, end):
        if low[d] == 1:
            if forced >= 0:
                return -1
            forced = d
        if high[d] == 1:
            possible += 1
            if chosen < 0 or d == question.group_home[block]:
                chosen = d
    if possible == 0:
        return -1
    if forced >= 0:
        chosen = forced
    for d in range(begin, end):
        if d == chosen and (forced >= 0 or possible == 1):
            low[d] = 1
        elif forced >= 0:
            high[d] = 0
        x[d] = 1 if d == chosen else 0
    return chosen
