"""The node being expanded: its nearest centre, what is paid for it, and what the budget leaves of its positions."""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.search.trees.boxes.workspace import Workspace
from elbowroom.search.trees.heap import Range
from elbowroom.search.trees.question.question import COSTS, Question, extra
from elbowroom.search.trees.question.settle_group import settle_group


@inner_kernel
def settle(question: Question, workspace: Workspace, budget: float) -> float:
    """Nearest centre of the node, its total cost (inf: none), and positions that the budget or the number of changes
    still allows."""
    low, high, x, paid, member = workspace.low, workspace.high, workspace.x, workspace.paid, workspace.member
    additive = question.norm == COSTS.ADDITIVE
    base, changes = question.constant, 0
    for b in range(question.group_home.shape[0]):
        begin = question.block_start[b]
        if question.group_home[b] >= 0:
            chosen = settle_group(question, b, low, high, x)
            if chosen < 0:
                return math.inf
            moved = chosen != question.group_home[b]
            price = question.group_price[b] if moved else 0.0
            for d in range(begin, question.block_start[b + 1]):
                paid[d] = price / 2
                member[d] = 0 if moved else 1
        else:
            link(question, begin, low, high)
            if low[begin] > high[begin]:
                return math.inf
            x[begin] = min(max(question.home[begin], low[begin]), high[begin])
            price = question.cost[question.pos_start[begin] + x[begin]]
            moved = x[begin] != question.home[begin]
            for d in range(begin, question.block_start[b + 1]):
                x[d], paid[d], member[d] = x[begin], price, 0
        base = base + price if additive else max(base, price)
        if moved:
            changes += question.block_counts[b]
    if changes > question.changes or base >= budget:
        return math.inf
    for b in range(question.group_home.shape[0]):
        begin = question.block_start[b]
        if question.group_home[b] >= 0:
            total = base + question.group_price[b] if additive else max(base, question.group_price[b])
            if member[begin] == 1 and (changes == question.changes or total >= budget):
                for d in range(begin, question.block_start[b + 1]):
                    low[d] = high[d] = x[d]
            continue
        if changes == question.changes and x[begin] == question.home[begin] and question.block_counts[b] == 1:
            low[begin] = high[begin] = x[begin]
        spare = budget - base if additive else budget
        while low[begin] < x[begin] and extra(question, paid, begin, low[begin]) >= spare:
            low[begin] += 1
        while high[begin] > x[begin] and extra(question, paid, begin, high[begin]) >= spare:
            high[begin] -= 1
        link(question, begin, low, high)
    return base


@inner_kernel
def link(question: Question, d: int, low: Range, high: Range) -> None:
    """What linked dimensions allow together, if d is one of them."""
    other = question.partner[d]
    if other >= 0:
        low[d] = low[other] = max(low[d], low[other])
        high[d] = high[other] = min(high[d], high[other])
