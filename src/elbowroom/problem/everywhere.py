"""Conditions that every point of the room has to obey, as conditions on its centre.

In one column the room covers [low(c), high(c)], both growing with the centre c (`numerics.room_ends`). It lies within
[s, t] iff c is at least the first centre with low(c) >= s and at most the last one with high(c) <= t: a range of centres,
found exactly by bisection over all floats. So a column that has to stay in certain ranges has centres in certain ranges,
and a clause, which a box keeps to only if a single column or group does so alone (`Clause.holds_in`), is a clause again.
Rows stay rows; their worst corner is a matter of the search (`search.corners`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Bools, Floats, last_float_where, next_up, room_ends
from elbowroom.problem.categories import allowed_categories
from elbowroom.problem.conditions import Between, Clause, Conditions, Row, is_exact_in
from elbowroom.problem.domains import Domain, Range, merged
from elbowroom.problem.rooms import Walls
from elbowroom.problem.shapes import is_round
from elbowroom.problem.space import Space


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The room around any centre, column by column."""

    space: Space
    walls: Walls
    lower: Floats
    upper: Floats

    def at_center(self, conditions: Conditions) -> Conditions:
        """The same question, with conditions on the centre alone (and rows whose corners count)."""
        for part in conditions.everywhere:
            if not is_exact_in(is_round(self.walls.shape), part, self.space):
                raise InputError(
                    f"{part.source} cannot be demanded everywhere in a {self.walls.shape.value}, only in a box; "
                    "use Box, or leave everywhere=True out"
                )
        return replace(
            conditions,
            domains=tuple(self._domain(d) if d.everywhere else d for d in conditions.domains),
            clauses=tuple(
                kept
                for c in conditions.clauses
                for kept in [self._clause(c) if c.everywhere else c]
                if kept is not None
            ),
        )

    def moves(self, f: int) -> bool:
        """True if the room has more than one value in a column."""
        if self.lower[f] >= self.upper[f]:
            return False
        width = max(float(self.walls.down[f]), float(self.walls.up[f]))
        return width >= 1.0 if self.space.whole_room[f] else width > 0.0

    def _domain(self, domain: Domain) -> Domain:
        f = domain.column
        if not self.moves(f):
            return replace(domain, everywhere=False)
        whole = bool(self.space.whole_room[f])
        if domain.grid is not None and not (whole and domain.grid.step == 1.0):
            raise InputError(
                f"{domain.source} cannot hold everywhere in a room with other values of {self.space.names[f]!r}: "
                "give that column no room, or leave everywhere=True out"
            )
        ranges = [self.centers(f, low, high) for low, high in merged(domain.ranges, whole)]
        if domain.grid is not None:
            return replace(domain, ranges=((-math.inf, math.inf),), grid=None, everywhere=False)
        return replace(domain, ranges=tuple(r for r in ranges if r[0] <= r[1]), everywhere=False)

    def _clause(self, clause: Clause) -> Clause | None:
        """None if it holds whatever the centre is."""
        space, options = self.space, []
        for f in dict.fromkeys(option.column for option in clause.options):
            g = int(space.group_of[f])
            mine = [option for option in clause.options if option.column == f]
            if g < 0:
                for low, high in merged([(o.low, o.high) for o in mine], bool(space.whole_room[f])):
                    first, last = self.centers(f, low, high)
                    options += [Between(f, first, last)] if first <= last else []
            elif g not in self.walls.free_groups:
                options += mine
            elif not bool((self._taken(g) & ~clause.categories(space, g)).any()):
                return None
        return Clause(tuple(options), clause.source)

    def _taken(self, group: int) -> Bools:
        members = self.space.members[group]
        upper = self.upper[members].copy()
        upper[np.isin(members, list(self.walls.banned))] = 0.0
        return allowed_categories(self.lower[members], upper)

    def centers(self, f: int, low: float, high: float) -> Range:
        """The centres whose room lies within [low, high] in column f; an empty range if there are none."""
        lower, upper = float(self.lower[f]), float(self.upper[f])
        first, last = -math.inf, math.inf
        with np.errstate(over="ignore", invalid="ignore"):
            if low > lower:
                first = float(next_up(last_float_where(lambda c: self._ends(f, c)[0] < low, 1))[0])
            if high < upper:
                last = float(last_float_where(lambda c: self._ends(f, c)[1] <= high, 1)[0])
        if self.space.whole_center[f]:
            first = float(math.ceil(first)) if math.isfinite(first) else first
            last = float(math.floor(last)) if math.isfinite(last) else last
        return first + 0.0, last + 0.0

    def _ends(self, f: int, center: Floats) -> tuple[Floats, Floats]:
        """For whole columns the room of the next whole centre on the safe side decides, so that both ends grow."""
        one = np.array([f])
        whole = self.space.whole_room[one]
        ends = []
        for side, snapped in enumerate((np.ceil(center), np.floor(center))):
            at = np.where(whole, snapped, center)
            ends.append(
                room_ends(at, self.walls.down[one], self.walls.up[one], self.lower[one], self.upper[one], whole)[side]
            )
        return ends[0], ends[1]


def corner_rows(conditions: Conditions) -> tuple[Row, ...]:
    """Rows that are demanded everywhere."""
    return tuple(row for row in conditions.rows if row.everywhere)
