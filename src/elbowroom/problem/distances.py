"""How far a centre is from the factual: a norm of weighted, scaled moves.

u_f = weight_f |x_f - factual_f| / scale_f for single columns, u_g = weight_g if the category of one-hot group g changes
(else 0); the distance is the l1, l2 or linf norm of u.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.space import Space


class Distance(Enum):
    """The norm that is minimized."""

    L1 = "l1"
    L2 = "l2"
    LINF = "linf"

    @classmethod
    def parse(cls, value: Distance | str) -> Distance:
        if isinstance(value, cls):
            return value
        try:
            return cls(value)
        except ValueError:
            raise InputError(f'distance={value!r} is unknown; use "l1", "l2" or "linf"') from None

    def norm(self, moves: Floats) -> float:
        """The norm of nonnegative moves (last axis)."""
        if moves.size == 0:
            return 0.0
        match self:
            case Distance.L1:
                return float(moves.sum())
            case Distance.L2:
                biggest = float(moves.max())
                if not 0.0 < biggest < math.inf:
                    return biggest
                return biggest * float(np.sqrt(np.square(moves / biggest).sum()))
            case Distance.LINF:
                return float(moves.max())


@dataclass(frozen=True, eq=False)
class Metric:
    """A norm together with the prices of a space: what a move of one raw unit of each column costs."""

    distance: Distance
    factor: Floats  # (columns,): weight / scale; 0 for members of one-hot groups
    group_price: Floats  # (groups,)
    space: Space

    @classmethod
    def of(cls, space: Space, distance: Distance) -> Metric:
        factor = np.where(space.group_of >= 0, 0.0, space.weight / space.scale)
        return cls(distance, factor, np.array([g.weight for g in space.groups]), space)

    def moves(self, factual: Floats, center: Floats) -> Floats:
        """The vector u: one entry per column, then one per group."""
        single = self.factor * np.abs(center - factual)
        changed = np.array([bool((center[m] != factual[m]).any()) for m in self.space.members], dtype=bool)
        return np.concatenate([single, np.where(changed, self.group_price, 0.0)])

    def __call__(self, factual: Floats, center: Floats) -> float:
        return self.distance.norm(self.moves(factual, center))
