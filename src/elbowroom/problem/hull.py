"""Points between given ones: x = sum_i lambda_i p_i with lambda_i >= 0 that add up to 1.

Whether a point is one of them is a linear program in lambda: the smallest t with

    |x_f - sum_i lambda_i p_if| <= t s_f for every column f,    s_f = max_i |p_if|.

What the program says is not trusted: the combination that it finds is computed, and must be the point up to `SLACK` in
units of s_f. If it is not, the program's dual is a direction a with a . x > max_i a . p_i: a row that every point of the hull
obeys and x does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from elbowroom.numerics import Floats, Ints

SLACK: Final = 1e-7  # of the largest absolute value of a column: how far a combination may be from the point
SMALLEST: Final = 1e-300


@dataclass(frozen=True, eq=False)
class Hull:
    """The centre lies in the convex hull of ``points``, as far as ``columns`` go."""

    columns: Ints
    points: Floats  # (points, columns)
    source: str

    @cached_property
    def sizes(self) -> Floats:
        """s_f."""
        return np.asarray(np.maximum(np.abs(self.points).max(axis=0), SMALLEST))

    def holds(self, center: Floats) -> bool:
        center = center[self.columns]
        outside = (center < self.points.min(axis=0) - SLACK * self.sizes) | (
            center > self.points.max(axis=0) + SLACK * self.sizes
        )
        return not outside.any() and self._solve(center)[0]

    def cut(self, center: Floats) -> tuple[Floats, float] | None:
        """A row (a, b) over all columns with a . p <= b for all points and a . center > b; None if none is found."""
        direction = self._solve(center[self.columns])[1]
        size = float(np.abs(direction).max(initial=0.0))
        if not np.isfinite(size) or size <= 0.0:
            return None
        direction = direction / size
        direction[np.abs(direction) < 1e-9] = 0.0  # noise of the solver
        row = direction / self.sizes
        most = float((self.points @ row).max())
        above = most + 1e-14 * float((np.abs(self.points) @ np.abs(row)).max()) * (row.size + 4)  # all rounding
        whole = np.zeros_like(center)
        whole[self.columns] = row
        return (whole, above) if float(whole @ center) > above else None

    def _solve(self, center: Floats) -> tuple[bool, Floats]:
        """Is the centre a combination, and the direction in which it is farthest outside."""
        from scipy.optimize import linprog

        scaled, wanted = (self.points / self.sizes).T, center / self.sizes
        n, k = scaled.shape
        rows = np.block([[scaled, -np.ones((n, 1))], [-scaled, -np.ones((n, 1))]])
        ends = np.concatenate([wanted, -wanted])
        found = linprog(
            np.append(np.zeros(k), 1.0), rows, ends, np.append(np.ones(k), 0.0)[None], [1.0],
            method="highs", options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )  # fmt: skip
        if found.x is None:
            return False, np.zeros(n)
        share = np.maximum(found.x[:k], 0.0)
        share /= share.sum()
        off = np.abs(scaled @ share - wanted)
        dual = np.asarray(found.ineqlin.marginals)
        return bool((off <= SLACK).all()), dual[:n] - dual[n:]
