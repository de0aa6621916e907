"""Boxes of inputs on trees: which leaves they meet, and what that proves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from elbowroom_checker.model import Trees
from elbowroom_checker.question import Box, Question, walk
from elbowroom_checker.reading import Budget, floor, need, units
from elbowroom_checker.rows import Row


def simplified(trees: Trees, question: Question) -> Trees:
    """The same trees without splits that no input on the way to them takes both ways; cuts of whole columns rounded down."""
    n = len(question.whole)
    cut = [floor(c, question.whole[f]) if 0 <= f < n else c for f, c in zip(trees.feature, trees.cut, strict=True)]
    left, right, roots = trees.left.copy(), trees.right.copy(), []

    def settled(i: int, path: dict[int, tuple[float, float]]) -> int:
        """The first node from i on that decides something, for low < x <= high of every column."""
        while 0 <= trees.feature[i] < n:
            low, high = path.get(trees.feature[i], (-math.inf, math.inf))
            if low < cut[i] < high:
                break
            i = left[i] if cut[i] >= high else right[i]
        return i

    for root in trees.roots:
        roots.append(settled(root, {}))
        stack = [(roots[-1], dict[int, tuple[float, float]]())]
        while stack:
            i, path = stack.pop()
            f = trees.feature[i]
            if f < 0:
                continue
            low, high = path.get(f, (-math.inf, math.inf))
            ways = ({**path, f: (low, cut[i])}, {**path, f: (cut[i], high)}) if f < n else (path, path)
            left[i], right[i] = settled(left[i], ways[0]), settled(right[i], ways[1])
            stack += ((left[i], ways[0]), (right[i], ways[1]))
    return replace(trees, roots=roots, cut=cut, left=left, right=right)


def leaves_of(trees: Trees, question: Question, box: Box, root: int) -> list[int]:
    """Leaves of a tree that a point of the box may reach (and perhaps others)."""
    found, stack, n = [], [root], len(box.low)
    feature, cut, left, right = trees.feature, trees.cut, trees.left, trees.right
    low, high = box.low, box.high
    while stack:
        i = stack.pop()
        f = feature[i]
        if f < 0:
            found.append(i)
        elif f < n:
            if high[f] > cut[i]:
                stack.append(right[i])
            if low[f] <= cut[i]:
                stack.append(left[i])
        else:
            some_right, some_left = by_category(trees.sets[f - n], question, box)
            if some_right:
                stack.append(right[i])
            if some_left:
                stack.append(left[i])
    return found


def by_category(right: frozenset[int], question: Question, box: Box) -> tuple[bool, bool]:
    """Whether a point of the box may go right, and left, at a split by category."""
    some_right = any(box.high[f] > 0.5 for f in right)
    some_left = all(box.low[f] <= 0.5 for f in right)
    groups = {question.group_of[f] for f in right}
    if some_left and len(groups) == 1 and -1 not in groups:
        members = question.groups[groups.pop()].members
        some_left = any(box.high[f] > 0.5 and f not in right for f in members)
    return some_right, some_left


def is_good(trees: Trees, question: Question, row: Row, box: Box) -> bool:
    """Every point of the box is proven good for this rival: the sum of the smallest reachable leaves is enough."""
    return sum(min(row.strict[i] for i in leaves_of(trees, question, box, r)) for r in trees.roots) >= row.enough


def is_bad(trees: Trees, question: Question, row: Row, box: Box) -> bool:
    """Every point of the box is proven bad for this rival: the sum of the largest reachable leaves is not enough."""
    return sum(max(row.hopeful[i] for i in leaves_of(trees, question, box, r)) for r in trees.roots) < row.least


def is_outside(question: Question, region: Box, center: list[float], box: Box) -> bool:
    """No point of the box lies in the ball or diamond: its nearest point costs more than 1. Columns in which the region is a
    point, and groups, cost nothing."""
    if question.shape == "box":
        return False
    above, below = 0, 1  # the cost as a fraction
    for f, c in enumerate(center):
        away = max(units(box.low[f]) - units(c), units(c) - units(box.high[f]), 0)
        if away == 0 or question.group_of[f] >= 0 or region.low[f] == region.high[f]:
            continue
        width = units(question.up[f])
        if question.shape == "ball":
            away, width = away * away, width * width
        above, below = above * width + away * below, below * width
    return above > below


def check_tree_of_boxes(
    trees: Trees, question: Question, row: Row, region: Box, center: list[float], steps: Any, budget: Budget
) -> int:
    """A list of splits [column, value] and leaves 0, each split before its left and then its right part: every leaf is good,
    empty, or outside the ball or diamond. The number of leaves."""
    leaves = 0
    for step, box, _ in walk(steps, region, question, "a validity proof", budget):
        leaves += 1
        holds = not question.narrow(box) or is_good(trees, question, row, box)
        need(
            step == 0 and (holds or is_outside(question, region, center, box)),
            f"leaf {leaves} of a validity proof does not hold",
        )
    return leaves
