"""Validity proofs on trees: the region is split until the smallest leaf values of every part add up to enough.

Whether a part is done is asked of the checker itself, so that every leaf that is written holds for it.
"""

from __future__ import annotations

from typing import Any

from elbowroom.search.contract import Clock
from elbowroom_checker.model import Trees
from elbowroom_checker.question import Box, Question
from elbowroom_checker.rows import Row
from elbowroom_checker.trees import is_outside, leaves_of


class NotWritten(Exception):  # noqa: N818 - an outcome
    """Why a proof, or a half of one, could not be written."""


def tree_of_boxes(
    trees: Trees, question: Question, row: Row, region: Box, center: list[float], clock: Clock
) -> list[Any]:
    """Splits [column, value] and leaves 0, every split before its left and then its right part."""
    steps: list[Any] = []
    stack = [region.copy()]
    while stack:
        if clock.expired:
            raise NotWritten("the time limit was reached before the proof of validity was written")
        box = stack.pop()
        split = _split(trees, question, row, region, center, box)
        if split is None:
            steps.append(0)
            continue
        steps.append(list(split))
        left, right = question.halves(box, *split)
        stack += (right, left)
    return steps


def _split(
    trees: Trees, question: Question, row: Row, region: Box, center: list[float], box: Box
) -> tuple[int, float] | None:
    """Where to divide a box: at an edge of the worst leaf of the tree with the widest spread. None: it needs no more."""
    small = box.copy()
    if not question.narrow(small) or is_outside(question, region, center, small):
        return None
    total, widest, worst_root, worst = 0, -1, -1, -1
    for root in trees.roots:
        values = [(row.strict[i], i) for i in leaves_of(trees, question, small, root)]
        (least, leaf), most = min(values), max(values)[0]
        total += least
        if most - least > widest:
            widest, worst_root, worst = most - least, root, leaf
    if total >= row.enough:
        return None
    found = _edge(trees, question, small, worst_root, worst)
    if found is None:
        raise NotWritten("the checker's arithmetic does not settle a box of the region that no split divides")
    return found


def _edge(trees: Trees, question: Question, box: Box, root: int, leaf: int) -> tuple[int, float] | None:
    """A cut on the way to a leaf that divides the box; for splits by category, a category that may be left out."""
    n, path = len(box.low), _path(trees, root, leaf)
    for i in path:
        f, cut = trees.feature[i], trees.cut[i]
        if f < n:
            if box.low[f] <= cut < box.high[f]:
                return f, cut
            continue
        for member in sorted(trees.sets[f - n]):
            if box.low[member] < box.high[member]:
                return member, 0.0
    return None


def _path(trees: Trees, root: int, leaf: int) -> list[int]:
    """Inner nodes from the root to a leaf."""
    stack = [(root, [root])]
    while stack:
        i, path = stack.pop()
        if i == leaf:
            return path[:-1]
        if trees.feature[i] >= 0:
            stack += [(child, [*path, child]) for child in (trees.left[i], trees.right[i])]
    return []
