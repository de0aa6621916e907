"""How far a centre is from the factual: a norm of weighted, scaled moves.

u_f = weight_f / scale_f |x_f - factual_f| for single columns, unless the feature has prices of its own (`prices`), u_g = weight_g if the category of one-hot group g changes
(else 0); the distance is the l1, l2 or linf norm of u.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import EPS, Floats, Ints
from elbowroom.problem.pieces import Pieces
from elbowroom.problem.prices import Price
from elbowroom.problem.slant import slant_of
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
    """A norm together with the prices of a space: what a move of one raw unit of each column costs.

    ``priced`` holds the columns whose price depends on the way or the length of the move. With a ``slant`` S the moves of
    columns are u = |S (x - factual)|: actions on causes, or moves measured by a covariance.
    """

    distance: Distance
    factor: Floats  # (columns,): weight / scale; 0 for members of one-hot groups
    group_price: Floats  # (groups,)
    space: Space
    priced: Mapping[int, Price] = field(default_factory=dict)
    slant: Floats | None = None  # (columns, columns)
    _pieces: dict[tuple[int, float, bool], Pieces] = field(default_factory=dict, repr=False)  # those asked for before

    @classmethod
    def of(cls, space: Space, distance: Distance) -> Metric:
        factor = np.where(space.group_of >= 0, 0.0, space.weight / space.scale)
        prices = {f: feature.price for f, feature in enumerate(space.features) if space.group_of[f] < 0}
        priced = {f: price for f, price in prices.items() if not price.is_plain}
        if space.covariance is not None and distance is not Distance.L2:
            raise InputError(f"distance={distance.value!r}: a space with a covariance measures by distance='l2'")
        slant = slant_of(space.causes, space.covariance, space.names, factor)
        return cls(distance, factor, np.array([g.weight for g in space.groups]), space, priced, slant)

    def pieces(self, column: int, factual: float, upwards: bool) -> Pieces:
        """What moves of a priced column cost, one way."""
        key = (column, factual, upwards)
        if key not in self._pieces:
            feature = self.space.features[column]
            self._pieces[key] = self.priced[column].pieces(factual, upwards, feature.weight, feature.scale)
        return self._pieces[key]

    def within(self, factual: Floats, lower: Floats, upper: Floats) -> tuple[Metric, float]:
        """A norm without prices of its own, and a constant: together never more than this one for centres in [lower, upper].

        Per column a line below its price: equal to it where all centres lie on one side of the factual and on one piece.
        The constants add up, so only l1 has any: for other norms prices have to be flat.
        """
        factor, constants = self.factor.copy(), [0.0]
        for f in self.priced:
            now, low, high = float(factual[f]), float(lower[f]), float(upper[f])
            lines = []
            for upwards, first, last in ((True, low - now, high - now), (False, now - high, now - low)):
                if last > 0.0:
                    pieces = self.pieces(f, now, upwards)
                    lines.append(pieces.line_below(max(first, 0.0), last, abs(now)))
            factor[f] = min((slope for _, slope in lines), default=factor[f])
            constants.append(min((constant for constant, _ in lines), default=0.0))
        constant = math.fsum(constants)
        constant -= 4 * EPS * math.fsum(abs(c) for c in constants)
        return replace(self, factor=factor, priced={}), constant

    def costs(self, columns: Ints, factual: Floats, values: Floats) -> Floats:
        """What columns cost at the given values."""
        cost = self.factor[columns] * np.abs(values - factual)
        for f in self.priced:
            mine = columns == f
            if mine.any():
                now, at = float(factual[mine][0]), values[mine]
                up, down = (self.pieces(f, now, way) for way in (True, False))
                cost[mine] = np.where(at >= now, up.of(np.maximum(at - now, 0.0)), down.of(np.maximum(now - at, 0.0)))
        return np.asarray(cost)

    def moves(self, factual: Floats, center: Floats) -> Floats:
        """The vector u: one entry per column, then one per group."""
        single = (
            np.abs(self.slant @ (center - factual))
            if self.slant is not None
            else self.costs(np.arange(center.size), factual, center)
            if self.priced
            else self.factor * np.abs(center - factual)
        )
        changed = np.array([bool((center[m] != factual[m]).any()) for m in self.space.members], dtype=bool)
        return np.concatenate([single, np.where(changed, self.group_price, 0.0)])

    def __call__(self, factual: Floats, center: Floats) -> float:
        return self.distance.norm(self.moves(factual, center))
