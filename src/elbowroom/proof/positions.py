"""Between the search's positions and cells and the numbers of a proof file.

A position stands for all centres that it is at least as good as: those from it outwards, up to the next position; home for
those around it in both directions. So a range of positions is an interval of centres, and nothing lies between two ranges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Ints
from elbowroom.search.trees.question.layout import Layout
from elbowroom_checker.exact import down, up
from elbowroom_checker.question import Box, Question


@dataclass(frozen=True, eq=False)
class Positions:
    layout: Layout
    question: Question

    def last_of(self, d: int, p: int) -> float:
        """The last centre of position p of a dimension that is not the last one."""
        asked = self.layout.question
        values = self.layout.values[asked.pos_start[d] :]
        if p < asked.home[d]:
            return float(values[p]) + 0.0
        return down(float(values[p + 1]), self.question.whole[int(self.layout.dimensions.columns[d])]) + 0.0

    def centers(self, low: Ints, high: Ints) -> Box:
        """The centres of ranges of positions. Groups that do not move keep all that the limits allow."""
        box, asked = self.question.limits.copy(), self.layout.question
        for d, f in enumerate(self.layout.dimensions.columns.tolist()):
            last = int(asked.pos_start[d + 1] - asked.pos_start[d]) - 1
            if asked.in_free[d]:
                continue
            if low[d] > 0:
                box.low[f] = max(box.low[f], up(self.last_of(d, int(low[d]) - 1), self.question.whole[f]))
            if high[d] < last:
                box.high[f] = min(box.high[f], self.last_of(d, int(high[d])))
        return box

    def sides(self, low: Ints, high: Ints) -> list[list[float | int | None]]:
        """A range of cells as sides [column, low, high] of a box of inputs; open ends are None."""
        dimensions = self.layout.dimensions
        found: list[list[float | int | None]] = []
        for d, f in enumerate(dimensions.columns.tolist()):
            cuts, a, b = dimensions.cuts[d], int(low[d]), int(high[d])
            first = up(float(cuts[a - 1]), self.question.whole[f]) if a > 0 else None
            final = float(cuts[b]) if b < cuts.size else None
            if first is not None or final is not None:
                found.append([f, first, final])
        return found

    def point(self, cell: Ints, x: Ints) -> list[float]:
        """An input in a cell, as near as possible to the centre at positions x."""
        dimensions = self.layout.dimensions
        center = self.layout.center(x)
        point = center.tolist()
        for d, f in enumerate(dimensions.columns.tolist()):
            cuts, c = dimensions.cuts[d], int(cell[d])
            value, whole = float(center[f]), self.question.whole[f]
            if c > 0:
                value = max(value, up(float(cuts[c - 1]), whole))
            if c < cuts.size:
                value = min(value, float(np.floor(cuts[c])) if whole else float(cuts[c]))
            point[f] = min(max(value, self.question.limits.low[f]), self.question.limits.high[f]) + 0.0
        return [float(value) for value in point]
