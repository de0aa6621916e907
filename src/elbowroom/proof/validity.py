"""Validity proofs on trees: the region is split until the smallest leaf values of every part add up to enough.

Whether a part is done is asked of the checker itself, so that every leaf that is written holds for it.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from elbowroom.search.contract import Clock
from elbowroom_checker.exact import down
from elbowroom_checker.question import Box
from elbowroom_checker.trees import Row, Sides, Walker, is_outside


class NotWritten(Exception):  # noqa: N818 - an outcome
    """Why a proof, or a half of one, could not be written."""


def tree_of_boxes(walker: Walker, row: Row, region: Box, center: list[float], clock: Clock) -> list[Any]:
    """Splits [column, value] and leaves 0, every split before its left and then its right part."""
    steps: list[Any] = []
    stack = [region.copy()]
    while stack:
        if clock.expired:
            raise NotWritten("the time limit was reached before the proof of validity was written")
        box = stack.pop()
        split = _split(walker, row, center, box)
        if split is None:
            steps.append(0)
            continue
        steps.append(list(split))
        stack += reversed(walker.question.halves(box, *split))
    return steps


def _split(walker: Walker, row: Row, center: list[float], box: Box) -> tuple[int, float] | None:
    """Where to divide a box: at an edge of the worst leaf of the tree with the widest spread. None: it needs no more."""
    small, question = box.copy(), walker.question
    if not question.narrow(small) or is_outside(question, center, small):
        return None
    total, widest = 0, -1
    spans, worst = question.spans(small), Sides()
    for root in walker.trees.roots:
        leaves = [(row.strict[i], sides) for i, sides in walker.leaves(root, spans, None)]
        (least, sides), most = min(leaves, key=itemgetter(0)), max(value for value, _ in leaves)
        total += least
        if most - least > widest:
            widest, worst = most - least, sides
    if total >= row.enough:
        return None
    for f, (start, end) in worst.items():
        return f, down(start if start > spans[f][0] else end, question.whole[f])
    raise NotWritten("the checker's arithmetic does not settle a box of the region that no split divides")
