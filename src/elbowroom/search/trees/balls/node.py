"""A node: ranges of values, the nearest centre, what that costs, and what the budget leaves of the ranges."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.bundle import Bundle, array
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.balls.geometry import NORM, Geometry, guard, longest_move
from elbowroom.search.trees.question.question import Question
from elbowroom.search.trees.question.settle_group import settle_group


@dataclass(frozen=True, eq=False)
class Node(Bundle):
    """A range of values per dimension, its centre nearest to the factual, and what that one has paid."""

    low: Floats = array("dims")
    high: Floats = array("dims")
    x: Floats = array("dims")
    paid: Floats = array("dims")  # length of the move at x
    unpaid: Ints = array("dims")  # 1 for members of a fixed one-hot group whose change is not paid yet


@inner_kernel
def copy_range(source: Node, target: Node) -> None:
    for d in range(source.low.shape[0]):
        target.low[d], target.high[d] = source.low[d], source.high[d]


@inner_kernel
def settle_node(question: Question, geometry: Geometry, node: Node, budget: float) -> float:
    """The nearest centre of the node and its total cost (inf: none); values beyond budget or changes are cut off."""
    low, high, x, paid = node.low, node.high, node.x, node.paid
    base, changes = question.constant, 0
    for b in range(question.group_home.shape[0]):
        d = question.block_start[b]
        if question.group_home[b] >= 0:
            chosen = settle_group(question, b, low, high, x)
            if chosen < 0:
                return math.inf
            moved = chosen != question.group_home[b]
            cost = question.group_price[b] if moved else 0.0
            for e in range(d, question.block_start[b + 1]):
                paid[e] = 0.0
                node.unpaid[e] = 0 if moved else 1
        else:
            if geometry.whole[d] == 1:
                low[d], high[d] = np.ceil(low[d]), np.floor(high[d])
            if not low[d] <= high[d]:
                return math.inf
            x[d] = min(max(geometry.home[d], low[d]), high[d])
            moved = x[d] != geometry.home[d]
            paid[d] = geometry.rate[d] * abs(x[d] - geometry.factual[d])
            cost = paid[d] * paid[d] if geometry.norm == NORM.SQUARES else paid[d]
            node.unpaid[d] = 0
        base = max(base, cost) if geometry.norm == NORM.LARGEST else base + cost
        if moved:
            changes += question.block_counts[b]
    if changes > question.changes or base >= budget:
        return math.inf
    spare = budget - base
    for b in range(question.group_home.shape[0]):
        d = question.block_start[b]
        if question.group_home[b] >= 0:
            price = question.group_price[b]
            too_much = price >= budget if geometry.norm == NORM.LARGEST else price >= spare
            if node.unpaid[d] == 1 and (changes == question.changes or too_much):
                for e in range(d, question.block_start[b + 1]):
                    low[e] = high[e] = x[e]
        elif changes == question.changes and x[d] == geometry.home[d] and question.block_counts[b] == 1:
            low[d] = high[d] = x[d]
        elif low[d] < high[d] and spare < math.inf and geometry.rate[d] > 0.0:
            length = longest_move(geometry.norm, paid[d], spare, base) / geometry.rate[d]
            reach = length * (1.0 + 1e-12) + guard(x[d], length)
            low[d], high[d] = max(low[d], x[d] - reach), min(high[d], x[d] + reach)
    return base
