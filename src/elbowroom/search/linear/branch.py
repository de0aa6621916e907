"""Ways to divide a node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.search.linear.question import Question
from elbowroom.search.linear.relax import Node


def split_column(node: Node, f: int, left_upper: float, right_lower: float) -> list[Node]:
    """The parts of the node with column f at most ``left_upper`` and at least ``right_lower``."""
    children = []
    if left_upper >= node.lower[f]:
        upper = node.upper.copy()
        upper[f] = left_upper
        children.append(replace(node, upper=upper))
    if right_lower <= node.upper[f]:
        lower = node.lower.copy()
        lower[f] = right_lower
        children.append(replace(node, lower=lower))
    return children


def split_changed(q: Question, node: Node, f: int) -> list[Node]:
    """Column f stays at the factual, or counts as changed."""
    lower, upper, counted = node.lower.copy(), node.upper.copy(), node.counted.copy()
    lower[f] = upper[f] = q.start[f]
    counted[f] = True
    return [replace(node, lower=lower, upper=upper), replace(node, counted=counted)]


def respect_changes(q: Question, node: Node) -> Node | None:
    """Once the allowed number of changes is counted, every other column stays."""
    assert q.most_changes is not None
    changed = node.counted | (q.start < node.lower) | (q.start > node.upper)
    if int(changed.sum()) > q.most_changes:
        return None
    if int(changed.sum()) < q.most_changes:
        return replace(node, counted=changed)
    lower, upper = np.where(changed, node.lower, q.start), np.where(changed, node.upper, q.start)
    return replace(node, lower=lower, upper=upper, counted=changed)


def split_group(q: Question, node: Node, i: int) -> list[Node]:
    """Group i keeps its category, or takes one of those that are left."""
    y, left = q.singles.size + i, node.allowed[i]
    children = []
    if node.lower[y] < 0.5:
        upper = node.upper.copy()
        upper[y] = 0.0
        children.append(replace(node, upper=upper))
    for pick in np.flatnonzero(left):
        lower, allowed = node.lower.copy(), list(node.allowed)
        lower[y] = 1.0
        allowed[i] = np.arange(left.size) == pick
        children.append(replace(node, lower=lower, allowed=tuple(allowed)))
    return children


def split_discrete(q: Question, node: Node, values: Floats) -> list[Node]:
    """One group by category, or one whole column around its present value; nothing if no choice is left."""
    for i, left in enumerate(node.allowed):
        if int(left.sum()) > 1 and node.upper[q.singles.size + i] > 0.5:
            return split_group(q, node, i)
    open_whole = np.flatnonzero(q.whole & (node.lower < node.upper))
    if open_whole.size:
        f = int(open_whole[np.argmax(q.factor[open_whole] * np.abs(values - q.start)[open_whole])])
        v = float(np.round(values[f]))
        middle = replace(node, lower=node.lower.copy(), upper=node.upper.copy())
        middle.lower[f] = middle.upper[f] = v
        return [middle, *split_column(node, f, v - 1.0, v + 1.0)]
    return []
