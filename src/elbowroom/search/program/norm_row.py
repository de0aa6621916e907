"""A row that bounds a Euclidean norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Floats, Ints

UNIT_ROUNDING = 1e-15  # of each entry of a unit vector


@dataclass(frozen=True, eq=False)
class NormRow:
    """|| weight * x[columns] - offset ||_2 <= x[bound_column], or <= bound where bound_column is negative."""

    columns: Ints
    weight: Floats
    offset: Floats
    bound_column: int = -1
    bound: float = 1.0

    def allowed(self, x: Floats) -> float:
        """The bound at x."""
        return float(x[self.bound_column]) if self.bound_column >= 0 else self.bound

    def excess(self, x: Floats) -> float:
        """How far the norm is above its bound."""
        return float(np.linalg.norm(self.weight * x[self.columns] - self.offset)) - self.allowed(x)

    def tangent(self, x: Floats) -> tuple[Ints, Floats, float] | None:
        """The row n.(weight * x - offset) <= bound, n the unit vector at x: implied by the norm row wherever it holds."""
        v = self.weight * x[self.columns] - self.offset
        length = float(np.linalg.norm(v))
        if not length > 0.0:
            return None
        n = v / length * (1.0 - UNIT_ROUNDING * (v.size + 4))  # not longer than 1: the cut stays implied
        columns, values, limit = self.columns, n * self.weight, float(n @ self.offset)
        if self.bound_column >= 0:
            return np.append(columns, self.bound_column), np.append(values, -1.0), limit
        return columns, values, limit + self.bound
