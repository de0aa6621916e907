"""Presolve by the incumbent: what no centre of a smaller cost can reach is cut out of the trees.

A centre whose room meets the left side of a cut stands before `above` of it, one whose room meets the right side beyond
`below`. So a path from the root costs at least, block by block, the largest of what its sides ask for. If one side of a split
costs the budget or more, the other side takes its place. For every centre that costs less than the budget the collapsed
trees say the same as the whole ones at every point of its room: what is proven on them for such centres is proven.

A good centre that the search finds in the collapsed trees is judged on the whole model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elbowroom.kernels.kernel import kernel
from elbowroom.models import TreeEnsemble
from elbowroom.models.margins import TreeMargins
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.first.asked import Asked
from elbowroom.search.trees.first.forest import Forest
from elbowroom.search.trees.question.question import COSTS

_ROUNDING = 1e-9  # relative: the budget is taken this much larger


def side_costs(forest: Forest, asked: Asked) -> tuple[Floats, Floats, Ints]:
    """What the block of a node's column costs at least where a room meets the left and right side; the block of each column,
    -1 for what does not move: a side that its room does not meet costs inf."""
    size = len(forest.feature)
    block = np.full(forest.n_columns, -1, np.int64)
    price = np.full(forest.n_columns + 1, np.inf)  # of the cheapest other category; the last is a leaf's -1
    for b in range(asked.n_blocks):
        columns = asked.block_column[asked.block_start[b] : asked.block_start[b + 1]]
        block[columns] = b
        if asked.is_group[b]:
            costs = asked.choice_cost[asked.choice_start[b] : asked.choice_start[b] + asked.choices[b]]
            price[columns] = np.delete(costs, max(int(asked.home_choice[b]), 0)).min()
    home = np.append(asked.home, 0.0)[forest.feature]
    grouped = np.isfinite(price[forest.feature])
    other = np.where(grouped, price[forest.feature], asked.above_cost)
    left = np.where(asked.above > home, 0.0, other)
    other = np.where(grouped, price[forest.feature], asked.below_cost)
    right = np.where(asked.below < home, 0.0, other)
    assert left.size == size
    return left, right, block


@dataclass(frozen=True, eq=False)
class Collapsed:
    """The collapsed trees, and for every node of them the leaf of the whole model that it is (-1: none) and its node in the
    forest."""

    model: TreeEnsemble
    leaf: Ints
    node: Ints

    @property
    def n_leaves(self) -> int:
        return int((self.model.feature < 0).sum())

    def margins(self, whole: TreeMargins) -> TreeMargins:
        """The whole model's margins of the leaves that are left: rounding and ties are decided as there."""
        rows = self.leaf[self.model.leaf_order.node]
        hopeful = None if whole.hopeful is None else replace(whole.hopeful, value=whole.hopeful.value[rows])
        return TreeMargins(whole.value[rows], whole.base, whole.slack, hopeful)


class Collapse:
    """Collapses one forest for one question, for budgets that fall."""

    def __init__(self, model: TreeEnsemble, forest: Forest, asked: Asked) -> None:
        self._model, self._forest, self._asked = model, forest, asked
        self._left, self._right, self._block = side_costs(forest, asked)
        at_home = [
            asked.choice_cost[asked.choice_start[b] : asked.choice_start[b] + asked.choices[b]].min()
            if asked.is_group[b]
            else asked.home_cost[asked.block_column[asked.block_start[b]]]
            for b in range(asked.n_blocks)
        ]
        self._least = np.array(at_home)

    def below(self, budget: float) -> Collapsed:
        """The trees as centres of total cost < budget see them."""
        model, forest, asked = self._model, self._forest, self._asked
        size, levels = len(forest.feature), forest.most_nodes // 2 + 3
        source, left, right = (np.full(size, -1, np.int64) for _ in range(3))
        roots = np.zeros(forest.n_trees, np.int64)
        count = _collapse(
            forest, asked, self._left, self._right, self._block, self._least, budget * (1.0 + _ROUNDING),
            np.zeros((levels, asked.n_blocks)), np.zeros((3, levels), np.int64), source, left, right, roots,
        )  # fmt: skip
        of = forest.source[source[:count]]
        inner = left[:count] >= 0
        small = replace(
            model,
            roots=roots,
            feature=np.where(inner, model.feature[of], -1),
            cut=np.where(inner, model.cut[of], 0.0),
            left=left[:count].copy(),
            right=right[:count].copy(),
            value=model.value[of],
            missing_left=None if model.missing_left is None else model.missing_left[of],
        )
        return Collapsed(small, model.leaf_order.place[of], source[:count])


@kernel
def _collapse(
    forest: Forest, asked: Asked, left_cost: Floats, right_cost: Floats, block: Ints, least: Floats, budget: float,
    paid: Floats, stack: Ints, source: Ints, left_out: Ints, right_out: Ints, roots: Ints,
) -> int:  # fmt: skip
    """Depth first; returns the number of nodes that are left. Row k of ``paid``: what the blocks cost on level k."""
    n_blocks, n = least.shape[0], 0
    for t in range(roots.shape[0]):
        top = 0
        stack[0, 0], stack[1, 0], stack[2, 0] = forest.root[t], -1, 0  # node, new parent, side
        for b in range(n_blocks):
            paid[0, b] = least[b]
        roots[t] = n
        while top >= 0:
            i, parent, side = stack[0, top], stack[1, top], stack[2, top]
            f = forest.feature[i]
            if f >= 0:
                b, others = block[f], asked.constant
                for k in range(n_blocks):
                    if k != b:
                        others = others + paid[top, k] if asked.norm == COSTS.ADDITIVE else max(others, paid[top, k])
                now = paid[top, b] if b >= 0 else 0.0
                to_left, to_right = max(now, left_cost[i]), max(now, right_cost[i])
                sum_left = others + to_left if asked.norm == COSTS.ADDITIVE else max(others, to_left)
                sum_right = others + to_right if asked.norm == COSTS.ADDITIVE else max(others, to_right)
                go_left = sum_left < budget and forest.low[0, i + 1] < np.inf
                go_right = sum_right < budget and forest.low[0, forest.right[i]] < np.inf
                if not go_left and not go_right:  # nobody who can pay comes here: any leaf will do
                    go_left = forest.low[0, i + 1] < np.inf
                    go_right = not go_left
                if go_left != go_right:
                    stack[0, top] = i + 1 if go_left else forest.right[i]
                    if b >= 0:
                        paid[top, b] = to_left if go_left else to_right
                    continue
            if parent >= 0:
                if side == 0:
                    left_out[parent] = n
                else:
                    right_out[parent] = n
            source[n] = i
            if f < 0:
                top -= 1
            else:
                for k in range(n_blocks):
                    paid[top + 1, k] = paid[top, k]
                stack[0, top + 1], stack[1, top + 1], stack[2, top + 1] = i + 1, n, 0
                stack[0, top], stack[1, top], stack[2, top] = forest.right[i], n, 1
                if b >= 0:
                    paid[top + 1, b], paid[top, b] = to_left, to_right
                top += 1
            n += 1
    return n
