"""Rows that hold everywhere in a box: the worst corner, as a function of the centre.

For a row a . y <= b the worst point of the room around x has y_f = high(x_f) = min(x_f + up_f, upper_f) where a_f > 0, and
low(x_f) where a_f < 0. Where clipping cannot begin within the limits of a part, this is x_f plus a constant, or a constant,
and the row is a row of the centre. Elsewhere a_f high(x_f) is concave in x_f, so its chord over the part's limits is a row
that every good centre obeys; left and right of the kink it is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import RecourseProblem, allowed_categories
from elbowroom.problem.conditions import Row


@dataclass(frozen=True, eq=False)
class Corners:
    """The rows of a question that are demanded everywhere (``rows``), and the others (``plain``)."""

    rows: tuple[Row, ...]
    plain: tuple[Row, ...]
    down: Floats
    up: Floats
    lower: Floats  # what the room is clipped to
    upper: Floats
    problem: RecourseProblem | None = None

    @classmethod
    def of(cls, problem: RecourseProblem) -> Corners:
        rows, walls = problem.conditions.rows, problem.walls
        whole = problem.space.whole_room
        down, up = (np.where(whole, np.floor(side), side) for side in (walls.down, walls.up))
        return cls(
            rows=tuple(row for row in rows if row.everywhere),
            plain=tuple(row for row in rows if not row.everywhere),
            down=down,
            up=up,
            lower=problem.lower,
            upper=problem.upper,
            problem=problem,
        )

    def relaxed(self, first: Floats, last: Floats) -> tuple[Row, ...]:
        """Rows of the centre that hold for every centre in [first, last] whose whole room obeys these."""
        found = []
        for row in self.rows:
            for low, high in ((row.low, math.inf), (-math.inf, row.high)):
                if math.isfinite(low) or math.isfinite(high):
                    slope, constant = self._chord(row.coefficients, math.isfinite(high), first, last)
                    found.append(Row(slope, low - constant, high - constant, row.source))
        return tuple(found)

    def _chord(self, a: Floats, largest: bool, first: Floats, last: Floats) -> tuple[Floats, float]:
        """slope . x + constant, up to the largest (or down to the smallest) value of a . y over the room around x."""
        assert self.problem is not None
        upwards = (a > 0.0) == largest
        slope, constant = a.copy(), 0.0
        for f in np.flatnonzero(a != 0.0):
            if self.problem.space.group_of[f] >= 0:
                continue
            s, c = self._column(int(f), bool(upwards[f]), float(first[f]), float(last[f]))
            slope[f] = a[f] * s
            constant += float(a[f]) * c
        for g in self.problem.walls.free_groups:
            members = self.problem.space.members[g]
            taken = allowed_categories(self.lower[members], self.upper[members])
            constant += float(a[members][taken].max() if largest else a[members][taken].min())
            slope[members] = 0.0
        return slope, constant

    def _column(self, f: int, upwards: bool, first: float, last: float) -> tuple[float, float]:
        """Slope and constant of the room's end in a column, or of its chord over [first, last]."""
        kink = self._kink(f, upwards)
        shift, limit = (
            (float(self.up[f]), float(self.upper[f])) if upwards else (-float(self.down[f]), float(self.lower[f]))
        )
        before, behind = (last <= kink, first >= kink) if upwards else (first >= kink, last <= kink)
        if shift == 0.0 or not math.isfinite(kink) or before:
            return 1.0, shift
        if behind:
            return 0.0, limit
        free, clipped = (first, last) if upwards else (last, first)  # the ends of the part on both sides of the kink
        if not math.isfinite(free):
            return 1.0, 0.0  # the centre itself lies inside its room
        slope = (limit - (free + shift)) / (clipped - free)
        return slope, limit - slope * clipped

    def _kink(self, f: int, upwards: bool) -> float:
        """Where clipping begins."""
        return float(self.upper[f] - self.up[f]) if upwards else float(self.lower[f] + self.down[f])

    def kink(self, problem: RecourseProblem, center: Floats, first: Floats, last: Floats) -> tuple[int, float] | None:
        """Where to divide a part whose chords are too kind to a centre: the column with the largest error."""
        body = problem.body(center)
        worst: tuple[float, int, float] | None = None
        for row in self.rows:
            if row.holds_in(body):
                continue
            for f in np.flatnonzero(row.coefficients != 0.0):
                if problem.space.group_of[f] >= 0:
                    continue
                for upwards in (True, False):
                    at = self._kink(int(f), upwards)
                    if first[f] < at < last[f] and (self.up[f] if upwards else self.down[f]) > 0.0:
                        end = float(body.upper[f] if upwards else body.lower[f])
                        s, c = self._column(int(f), upwards, float(first[f]), float(last[f]))
                        error = abs(float(row.coefficients[f])) * abs(end - (s * float(center[f]) + c))
                        if worst is None or error > worst[0]:
                            worst = error, int(f), at
        return None if worst is None else (worst[1], worst[2])

    def open_kink(self, first: Floats, last: Floats) -> tuple[int, float] | None:
        """A kink inside a part, where a chord is not exact."""
        assert self.problem is not None
        for row in self.rows:
            for f in np.flatnonzero((row.coefficients != 0.0) & (self.problem.space.group_of < 0)):
                for upwards in (True, False):
                    at = self._kink(int(f), upwards)
                    if first[f] < at < last[f] and (self.up[f] if upwards else self.down[f]) > 0.0:
                        return int(f), at
        return None
