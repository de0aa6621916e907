"""XGBoost behind steps that hand it a sparse table: it takes the zeros of such a table for missing numbers.

A OneHotEncoder makes sparse tables unless told otherwise, and a ColumnTransformer keeps them sparse where most entries are 0,
numbers that pass through included. A zero then goes where ``default_left`` says, on every split:

* on columns made of categories, a split is a set of categories all the same;
* on numbers, a split that sends 0 to the other side than its threshold would is no half line but up to four pieces: below
  0, 0 itself, above 0, and what the threshold cuts off. It becomes up to three splits, with copies of what is below them.
  Every path remembers which signs are left on it, so that a column is asked for its sign once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.xgboost_tree import Tree
from elbowroom.numerics import Bools, Floats

BELOW, ZERO, ABOVE = 1, 2, 4  # signs that a number may have on a path
NEGATIVE: Final = -5e-324  # as a threshold: left iff x < 0; no float32 number is this small
NOT_POSITIVE: Final = 5e-324  # left iff x <= 0
MOST_NODES: Final = 200_000  # of one tree


def sparse_below(x: Floats, threshold: Floats) -> Bools:
    """XGBoost's comparison, and the two about signs."""
    with np.errstate(over="ignore"):
        plain = x.astype(np.float32).astype(np.float64) < threshold
    return np.asarray(np.where(threshold == NEGATIVE, x < 0.0, np.where(threshold == NOT_POSITIVE, x <= 0.0, plain)))


def zero_aside(threshold: float, default_left: bool) -> Callable[[Floats], Bools]:
    """Which values of a column made of categories go left."""

    def goes_left(value: Floats) -> Bools:
        missing = np.isnan(value) | (value == 0.0)
        with np.errstate(over="ignore"):
            below = value.astype(np.float32).astype(np.float64) < threshold
        return np.asarray(np.where(missing, default_left, below), dtype=np.bool_)

    return goes_left


@dataclass(eq=False)
class Unfolded:
    """Nodes of the tree whose splits are half lines and sets again; ``source`` is the node that each was made of."""

    source: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)

    def add(self, source: int, threshold: float) -> int:
        if len(self.source) >= MOST_NODES:
            raise UnsupportedModel(
                "this XGBoost model is handed a sparse table, whose zeros count as missing, and its trees are too deep to "
                "follow that; fit it on a dense one: ColumnTransformer(sparse_threshold=0), OneHotEncoder(sparse_output=False)"
            )
        self.source.append(source)
        self.threshold.append(threshold)
        self.left.append(-1)
        self.right.append(-1)
        return len(self.source) - 1


def unfolded(tree: Tree, is_number: Bools) -> Unfolded:
    """``is_number`` says which columns of the model are numbers, and not made of categories."""
    made = Unfolded()
    # what is still to be made: a node of the tree, the signs that its columns may have, and the place that leads there
    waiting: list[tuple[int, dict[int, int], tuple[int, bool] | None]] = [(0, {}, None)]

    def hang(node: int, place: tuple[int, bool] | None) -> int:
        if place is not None:
            (made.left if place[1] else made.right)[place[0]] = node
        return node

    while waiting:
        n, signs, place = waiting.pop()
        column, threshold, side = int(tree.feature[n]), float(tree.threshold[n]), bool(tree.default_left[n])
        if tree.leaf[n]:
            hang(made.add(n, 0.0), place)
            continue
        left, right = int(tree.left[n]), int(tree.right[n])
        mask = signs.get(column, BELOW | ZERO | ABOVE)
        if is_number[column] and mask == ZERO:
            waiting.append((left if side else right, signs, place))
            continue
        here = hang(made.add(n, threshold), place)
        if not is_number[column] or not mask & ZERO or side == (threshold > 0.0):
            waiting += [(left, signs, (here, True)), (right, signs, (here, False))]
            continue
        # 0 goes to the other side than the threshold sends it: the child where the threshold puts it is asked for signs
        wrong_left = threshold > 0.0
        usual, zero = (left, right) if wrong_left else (right, left)
        far = ABOVE if wrong_left else BELOW  # beyond the threshold, all numbers have this sign
        waiting.append((zero, signs | {column: far}, (here, not wrong_left)))
        place = (here, wrong_left)
        if mask & BELOW:
            below = hang(made.add(n, NEGATIVE), place)
            waiting.append((usual, signs | {column: BELOW}, (below, True)))
            place = (below, False)
        if mask & ABOVE:
            positive = hang(made.add(n, NOT_POSITIVE), place)
            waiting.append((usual, signs | {column: ABOVE}, (positive, False)))
            place = (positive, True)
        waiting.append((zero, signs | {column: ZERO}, place))
    return made
