"""Splits by category: a set of the members of a one-hot group goes left, the other members go right.

Exactly one member column of a group is 1. So "the category is in S" is the box {x_c <= 1/2 for all members c not in S}, and
"it is not in S" is {x_c <= 1/2 for all c in S}: both sides are boxes, however many categories there are. Off one-hot vectors
the two overlap; no question is about such points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from elbowroom.numerics import Bools, Floats, Ints

HALF: Final = 0.5  # between 0 and 1


@dataclass(frozen=True, eq=False)
class SetSplits:
    """Split s: the members in ``left[s]`` go left, those in ``right[s]`` go right; all are columns of one group."""

    left: Bools  # (splits, features)
    right: Bools  # (splits, features)

    @cached_property
    def columns(self) -> Bools:
        """Columns that any split looks at."""
        return np.asarray((self.left | self.right).any(axis=0))

    def goes_left(self, X: Floats) -> Bools:
        """(rows, splits): the 1 of the group stands in ``left``."""
        used = np.flatnonzero(self.columns)
        ones = (X[:, used] > HALF).astype(np.float32)
        return np.asarray(ones @ self.right[:, used].T.astype(np.float32) == 0.0)

    def possible(self, split: Ints, low: Floats, high: Floats) -> Bools:
        """(nodes, 2): which sides of a split some one-hot vector of a box (low, high] reaches, row by row."""
        sides = []
        for mine, others in ((self.left[split], self.right[split]), (self.right[split], self.left[split])):
            some_left = (mine & (high > HALF)).any(axis=1)
            sides.append(some_left & ~(others & (low >= HALF)).any(axis=1))
        return np.stack(sides, axis=1)

    def exclude(self, high: Floats, rows: Ints, split: Ints, side: Ints) -> None:
        """Lower the upper ends of the categories that are on the other side, in place."""
        for way, others in ((0, self.right), (1, self.left)):
            mine = rows[side[rows] == way]
            high[mine] = np.where(others[split[mine]], np.minimum(high[mine], HALF), high[mine])
