"""What centres cost, exactly: whole numbers of 2^-2148 (squared costs, for l2: of 2^-4296)."""

from __future__ import annotations

import math

from elbowroom_checker.question import Box, Question
from elbowroom_checker.reading import BITS, units


def column_cost(question: Question, f: int, at: int) -> int:
    """Of a single column at a value in units."""
    cost = units(question.factor[f]) * abs(at - units(question.factual[f]))
    return cost * cost if question.norm == "l2" else cost


def group_cost(question: Question, g: int) -> int:
    cost = units(question.groups[g].price) << BITS
    return cost * cost if question.norm == "l2" else cost


def bound_cost(question: Question, bound: float) -> int:
    cost = units(bound) << BITS
    return cost * cost if question.norm == "l2" else cost


def nearest(question: Question, box: Box, f: int) -> float:
    return min(max(question.factual[f], box.low[f]), box.high[f])


def stays(question: Question, g: int, box: Box) -> bool:
    """The category of the factual is still open."""
    group = question.groups[g]
    return any(question.factual[f] == 1.0 and box.high[f] == 1.0 for f in group.members)


def least_cost(question: Question, box: Box) -> int | None:
    """Of all centres of a (narrowed) box the smallest cost; None: all have too many changes."""
    costs, changes = [], 0
    for f in range(len(box.low)):
        if question.group_of[f] < 0:
            at = nearest(question, box, f)
            changes += at != question.factual[f]
            costs.append(column_cost(question, f, units(at)))
    for g in range(len(question.groups)):
        if not stays(question, g, box):
            changes += 1
            costs.append(group_cost(question, g))
    if question.most_changes is not None and changes > question.most_changes:
        return None
    return max(costs, default=0) if question.norm == "linf" else sum(costs)


def as_distance(question: Question, cost: int) -> float:
    """A cost as a distance, for people."""
    if question.norm == "l2":
        cost = math.isqrt(cost)
    return cost / (1 << 2 * BITS)
