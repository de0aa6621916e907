"""The point that a scenario makes of the centre, p = clip(x + s, limits), as an affine expression of columns.

Columns that cannot reach a limit are x_f + s_f; others get a column of their own and a binary that says whether the
limit is reached, with constants from the bounds of x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.problem import RecourseProblem
from elbowroom.search.adversarial.center import CenterBlock
from elbowroom.search.adversarial.limits import POINT_ROUNDING
from elbowroom.search.adversarial.scenario import Scenario
from elbowroom.search.program import Builder


@dataclass(frozen=True, eq=False)
class PointBlock:
    """p_f = value of column_f + offset_f (offset_f alone where column_f < 0), and proven bounds of p."""

    columns: Ints
    offset: Floats
    lower: Floats
    upper: Floats

    @property
    def magnitude(self) -> Floats:
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    def expression(self, row: Floats) -> tuple[Ints, Floats, float]:
        """row . p as columns, values and a constant."""
        used = np.flatnonzero((row != 0) & (self.columns >= 0))
        return self.columns[used], row[used], float(row @ self.offset)

    def range_of(self, rows: Floats) -> tuple[Floats, Floats]:
        """Bounds of rows . p, rounded outwards."""
        up, down = np.maximum(rows, 0.0), np.minimum(rows, 0.0)
        room = POINT_ROUNDING * (np.abs(rows) @ self.magnitude)
        return up @ self.lower + down @ self.upper - room, up @ self.upper + down @ self.lower + room


def add_point(builder: Builder, problem: RecourseProblem, scenario: Scenario, center: CenterBlock) -> PointBlock:
    columns, offset = center.columns.copy(), scenario.shift.copy()
    lower = np.clip(center.lower + offset, problem.lower, problem.upper)
    upper = np.clip(center.upper + offset, problem.lower, problem.upper)
    for group, member in scenario.category.items():
        members = problem.space.members[group]
        columns[members], offset[members] = -1, 0.0
        offset[member] = 1.0
        lower[members] = upper[members] = offset[members]
    for f in np.flatnonzero(scenario.shift):
        s = float(scenario.shift[f])
        sign = 1.0 if s > 0 else -1.0
        limit = float(problem.upper[f] if s > 0 else problem.lower[f])
        ends = sorted((sign * (float(center.lower[f]) + s - limit), sign * (float(center.upper[f]) + s - limit)))
        if ends[1] <= 0.0:  # the limit is out of reach
            continue
        if ends[0] >= 0.0:
            columns[f], offset[f] = -1, limit
            continue
        p = int(builder.columns(1, lower[f], upper[f])[0])
        clipped = int(builder.columns(1, 0.0, 1.0, True)[0])
        x = int(center.columns[f])
        builder.row([p, x], [sign, -sign], -np.inf, sign * s)  # not beyond x + s
        builder.row([p, x, clipped], [sign, -sign, ends[1]], sign * s)  # equal unless clipped
        builder.row([p, clipped], [sign, ends[0]], sign * limit + ends[0])  # at the limit if clipped
        columns[f], offset[f] = p, 0.0
    return PointBlock(columns, offset, lower, upper)
