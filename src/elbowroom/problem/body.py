"""A region as a concrete set of points, independent of how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np

from elbowroom.numerics import Bools, Floats, Ints, room_ends
from elbowroom.problem.categories import allowed_categories
from elbowroom.problem.rooms import Walls
from elbowroom.problem.shapes import Shape, is_round, sample, spent, spent_exactly

SPENT_ROUNDING: Final = 1e-13  # of each term of the budget spent; within it, membership is decided exactly


@dataclass(frozen=True, eq=False)
class Body:
    """{x : lower <= x <= upper, x_f whole where ``whole``, one member of each group is 1, x in the shape}.

    Box: nothing more. Ball: sum ((x_f - center_f) / axes_f)^2 <= 1. Diamond: sum |x_f - center_f| / axes_f <= 1, both
    over the columns with lower_f < upper_f. ``lower`` and ``upper`` are the bounding box, rounded inwards, clipped to
    the bounds. In a free group any single member with lower 0 and upper 1 may be 1; the others have upper 0.
    """

    center: Floats
    lower: Floats
    upper: Floats
    shape: Shape
    axes: Floats  # semi-axes in raw units; unused for boxes
    whole: Bools
    free_groups: tuple[Ints, ...] = field(default=())  # member columns of each group that is free inside the region

    @classmethod
    def around(
        cls, center: Floats, walls: Walls, lower: Floats, upper: Floats, whole: Bools, groups: tuple[Ints, ...] = ()
    ) -> Body:
        """The room with its centre at ``center``, clipped to [lower, upper]."""
        center = np.array(center, dtype=np.float64) + 0.0
        low, high = room_ends(center, walls.down, walls.up, lower, upper, whole)
        free = [groups[g] for g in walls.free_groups]
        for members in free:
            low[members], high[members] = lower[members], upper[members]
        banned = list(walls.banned)
        high[banned] = np.minimum(high[banned], 0.0)
        return cls(center, low + 0.0, high + 0.0, walls.shape, np.array(walls.up), np.array(whole), tuple(free))

    def same_as(self, other: Body) -> bool:
        """True if both are given by the same numbers."""
        return (
            self.shape is other.shape
            and len(self.free_groups) == len(other.free_groups)
            and all(np.array_equal(a, b) for a, b in zip(self._numbers, other._numbers, strict=True))
        )

    @property
    def _numbers(self) -> tuple[Floats | Bools | Ints, ...]:
        return (self.center, self.lower, self.upper, self.axes, self.whole, *self.free_groups)

    @property
    def moving(self) -> Bools:
        """Columns that can take more than one value inside the region."""
        return self.lower < self.upper

    @property
    def round_columns(self) -> Ints:
        """Columns that share the budget of a ball or diamond: moving and in no free group."""
        moving = self.moving.copy()
        for members in self.free_groups:
            moving[members] = False
        return np.flatnonzero(moving)

    def contains(self, X: Floats) -> Bools:
        """Membership, decided exactly (rational arithmetic where rounding could matter)."""
        X = np.atleast_2d(np.asarray(X, dtype=np.float64))
        inside = np.all((X >= self.lower) & (X <= self.upper), axis=1)
        inside &= (~self.whole | (X == np.floor(X))).all(axis=1)
        for members in self.free_groups:
            inside &= X[:, members].sum(axis=1) == 1.0
        if not is_round(self.shape):
            return np.asarray(inside, dtype=np.bool_)
        columns = self.round_columns
        ratio = np.abs(X[:, columns] - self.center[columns]) / self.axes[columns]
        used = spent(self.shape, ratio)
        margin = SPENT_ROUNDING * (columns.size + 4)
        for i in np.flatnonzero(inside & (np.abs(used - 1.0) <= margin)):
            parts = [
                abs(Fraction(float(X[i, f])) - Fraction(float(self.center[f]))) / Fraction(float(self.axes[f]))
                for f in columns
            ]
            used[i] = 0.0 if spent_exactly(self.shape, parts) <= 1 else 2.0
        return np.asarray(inside & (used <= 1.0), dtype=np.bool_)

    def sample(self, size: int, seed: int = 0) -> Floats:
        """Random points of the region (uniform for boxes; for round shapes uniform in the shape, then clipped)."""
        rng = np.random.default_rng(seed)
        X = np.broadcast_to(self.center, (size, self.center.size)).copy()
        columns = self.round_columns
        low, high = self.lower[columns], self.upper[columns]
        if columns.size:
            inside = sample(self.shape, rng, size, self.center[columns], self.axes[columns], low, high)
            X[:, columns] = np.clip(inside, low, high)
        towards = np.where(X > self.center, np.floor(X), np.ceil(X))  # whole numbers: round towards the centre
        X = np.where(self.whole, towards, X)
        for members in self.free_groups:
            allowed = np.flatnonzero(allowed_categories(self.lower[members], self.upper[members]))
            X[:, members] = np.eye(members.size)[allowed[rng.integers(allowed.size, size=size)]]
        return X + 0.0
