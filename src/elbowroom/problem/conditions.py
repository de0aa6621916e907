"""What rules come down to: the few kinds of condition that a search has to understand.

    rows          low <= a . x <= high                          a linear form of the centre lies between two numbers
    most_changes  #{features and groups that differ} <= k       few changes; several limits leave the smallest
    domains       x_f in a closed set                           a column takes certain values: points, ranges, a grid
    clauses       x_f in [s, t]  or  x_g in [u, v]  or  ...     at least one of several columns lies in its range
    further       what another ensemble of trees must say       at the centre, or everywhere in the room; see `further`
    hulls         x = sum_i lambda_i p_i, lambda >= 0, sum 1    a combination of given points; see `hull`

Every rule is lowered to these once (`RecourseProblem.conditions`). An engine reads them instead of the rules and says
with `Takes` which kinds it knows; what it does not know, `search.cases` divides into questions without it. They are about
the centre alone, unless they are demanded ``everywhere``: then about every point of the room, which `Conditions.broken_by`
decides from the room itself and `problem.everywhere` turns into conditions on the centre before the search.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from elbowroom.numerics import Bools, Floats
from elbowroom.problem.body import Body
from elbowroom.problem.categories import allowed_categories
from elbowroom.problem.causes import effects
from elbowroom.problem.domains import Domain, merged
from elbowroom.problem.further import Further
from elbowroom.problem.hull import Hull
from elbowroom.problem.space import Space

ROW_SLACK: Final = 1e-9  # a row may be missed by this share of the size of its terms, sum |a_f x_f|: their rounding
NUMBERS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True, eq=False)
class Row:
    """low <= coefficients . x <= high, up to the rounding of its terms; ``everywhere``: for every x of the room."""

    coefficients: Floats  # (columns,)
    low: float
    high: float
    source: str  # the rule that asks for it, by name and in words
    everywhere: bool = False

    def holds(self, center: Floats) -> bool:
        slack = ROW_SLACK * float(np.abs(self.coefficients) @ np.abs(center))
        return self.low - slack <= float(self.coefficients @ center) <= self.high + slack

    def holds_in(self, body: Body) -> bool:
        """For every point of a box: the sum is smallest and largest at two of its corners. Other rooms lie in their
        bounding box; what holds there holds in them."""
        small = np.where(self.coefficients > 0.0, body.lower, body.upper)
        large = np.where(self.coefficients > 0.0, body.upper, body.lower)
        for members in body.free_groups:
            best = allowed_categories(body.lower[members], body.upper[members])
            weights = self.coefficients[members]
            for point, pick in ((small, np.where(best, weights, np.inf)), (large, -np.where(best, weights, -np.inf))):
                point[members] = np.eye(members.size)[int(np.argmin(pick))]
        return self._side(small, self.low, 1.0) and self._side(large, self.high, -1.0)

    def _side(self, point: Floats, limit: float, sign: float) -> bool:
        slack = ROW_SLACK * float(np.abs(self.coefficients) @ np.abs(point))
        return not math.isfinite(limit) or sign * (float(self.coefficients @ point) - limit) >= -slack


@dataclass(frozen=True)
class Between:
    """low <= x_column <= high; a side that is infinite is open."""

    column: int
    low: float = -math.inf
    high: float = math.inf

    def holds(self, center: Floats) -> bool:
        return self.low <= float(center[self.column]) <= self.high


@dataclass(frozen=True)
class Clause:
    """At least one of the options holds; ``everywhere``: at every point of the room, not always the same one."""

    options: tuple[Between, ...]
    source: str
    everywhere: bool = False

    def holds(self, center: Floats) -> bool:
        return any(option.holds(center) for option in self.options)

    def holds_in(self, body: Body, space: Space) -> bool:
        """For every point of a box. Its columns and groups move freely of each other, so a point that breaks all options
        exists unless one column, or the categories of one group, alone keep to the options on it. For other rooms this
        is enough, and needed where all options are about one column or group."""
        return any(self._kept(body, space, option) for option in self.options)

    def _kept(self, body: Body, space: Space, option: Between) -> bool:
        f = option.column
        g = int(space.group_of[f])
        if g < 0:
            mine = merged(((o.low, o.high) for o in self.options if o.column == f), bool(space.whole_room[f]))
            return any(low <= body.lower[f] and body.upper[f] <= high for low, high in mine)
        return not bool((_categories(body, space, g) & ~self.categories(space, g)).any())

    def categories(self, space: Space, group: int) -> Bools:
        """With which categories of a group the clause holds, whatever the other columns are."""
        members = space.members[group]
        rows = np.zeros((members.size, len(space.names)))
        rows[np.arange(members.size), members] = 1.0
        mine = [option for option in self.options if option.column in members]
        return np.array([any(option.holds(row) for option in mine) for row in rows], dtype=np.bool_)

    def columns(self, space: Space) -> int:
        """How many columns and groups it is about."""
        return len({(o.column if space.group_of[o.column] < 0 else -1, space.group_of[o.column]) for o in self.options})


def _categories(body: Body, space: Space, group: int) -> Bools:
    """The categories of a group inside a room."""
    members = space.members[group]
    if any(np.array_equal(members, free) for free in body.free_groups):
        return allowed_categories(body.lower[members], body.upper[members])
    return np.asarray(body.center[members] == 1.0)


@dataclass(frozen=True)
class Takes:
    """Which kinds of condition an engine understands."""

    rows: bool = False
    most_changes: bool = False
    domains: bool = False
    clauses: bool = False
    prices: bool = False  # not a condition: prices for each way and length of a move
    slant: bool = False  # nor this: moves that are linear forms of several columns
    further: bool = False
    hulls: bool = False


@dataclass(frozen=True, eq=False)
class Conditions:
    """All conditions on the centre besides limits, whole numbers and one-hot groups; see the module."""

    rows: tuple[Row, ...] = field(default=())
    most_changes: int | None = None
    domains: tuple[Domain, ...] = field(default=())
    clauses: tuple[Clause, ...] = field(default=())
    further: tuple[Further, ...] = field(default=())
    hulls: tuple[Hull, ...] = field(default=())

    @classmethod
    def merged(cls, parts: Iterable[Conditions]) -> Conditions:
        """All of them together."""
        listed = list(parts)
        limits = [part.most_changes for part in listed if part.most_changes is not None]
        return cls(
            rows=tuple(row for part in listed for row in part.rows),
            most_changes=min(limits, default=None),
            domains=tuple(domain for part in listed for domain in part.domains),
            clauses=tuple(clause for part in listed for clause in part.clauses),
            further=tuple(further for part in listed for further in part.further),
            hulls=tuple(hull for part in listed for hull in part.hulls),
        )

    @property
    def everywhere(self) -> tuple[Row | Domain | Clause, ...]:
        """Those that are about every point of the room."""
        parts: list[Row | Domain | Clause] = [*self.rows, *self.domains, *self.clauses]
        return tuple(part for part in parts if part.everywhere)

    def broken_by(self, space: Space, factual: Floats, center: Floats) -> str | None:
        """The first condition that a centre breaks, in words; None if it obeys all. Exact; rows to rounding."""
        if self.most_changes is not None:
            changes = int(space.changed(factual, center).sum())
            if changes > self.most_changes:
                return f"{_source_of_limit(self.most_changes)} is broken: {changes} change"
        for row in self.rows:
            if not row.holds(center):
                return f"{row.source} is broken: the sum is {float(row.coefficients @ center)!r}"
        for domain in self.domains:
            if not domain.holds(float(center[domain.column])):
                return f"{domain.source} is broken by column {space.names[domain.column]!r}: {center[domain.column]}"
        for clause in self.clauses:
            if not clause.holds(center):
                columns = sorted({option.column for option in clause.options})
                there = ", ".join(f"{space.names[f]} = {center[f]}" for f in columns)
                return f"{clause.source} is broken: {there}"
        for hull in self.hulls:
            if not hull.holds(center):
                return f"{hull.source} is broken: no combination of these rows is the centre"
        return None

    def broken_in(self, space: Space, body: Body) -> str | None:
        """The first condition demanded everywhere that some point of a room breaks, in words; None if none does.

        Exact for boxes; for other rooms what it names may be broken by the bounding box alone.
        """
        for part in self.everywhere:
            match part:
                case Row():
                    kept = part.holds_in(body)
                case Domain():
                    f = part.column
                    kept = part.covers(float(body.lower[f]), float(body.upper[f]), bool(space.whole_room[f]))
                case Clause():
                    kept = part.holds_in(body, space)
            if not kept:
                return f"{part.source} is broken by a point of the {body.shape.value}"
        return None

    def missed_at(self, center: Floats) -> str | None:
        """The first further margin that a centre does not provably reach, in words. What must hold everywhere is for the
        judge, who looks at all of the room."""
        for further in self.further:
            if not further.everywhere and not further.holds(center):
                return f"{further.source} is broken, or within rounding of it"
        return None

    def beyond(self, takes: Takes) -> str | None:
        """What an engine does not take: the kind of condition and the rule that asks for it; None if it takes all."""
        return next(self._all_beyond(takes), None)

    def within(self, takes: Takes) -> Conditions:
        """Those that an engine takes."""
        return Conditions(
            rows=self.rows if takes.rows else (),
            most_changes=self.most_changes if takes.most_changes else None,
            domains=self.domains if takes.domains else (),
            clauses=self.clauses if takes.clauses else (),
            further=self.further,  # these are not left out: an engine that does not take them refuses
            hulls=self.hulls,
        )

    def _all_beyond(self, takes: Takes) -> Iterator[str]:
        if not takes.most_changes and self.most_changes is not None:
            yield f"a limit on the number of changes: {_source_of_limit(self.most_changes)}"
        for name, taken, parts in (
            ("linear rows", takes.rows, self.rows),
            ("certain values", takes.domains, self.domains),
            ("clauses", takes.clauses, self.clauses),
            ("margins of further trees", takes.further, self.further),
            ("hulls of rows", takes.hulls, self.hulls),
        ):
            if not taken:
                yield from (f"{name}: {part.source}" for part in parts)


def still_columns(space: Space, factual: Floats) -> Conditions:
    """Rows a_f = 0 for the columns of the causes that nobody can act on; see `causes`."""
    causes = space.causes
    if causes is None or causes.acts is None:
        return Conditions()
    forms = np.eye(len(space.names)) - effects(causes, space.names)
    rows = []
    for f, name in enumerate(space.names):
        if name not in causes.acts and space.group_of[f] < 0:
            rest = float(forms[f] @ factual)
            rows.append(Row(forms[f], rest, rest, f"Causal (nobody can act on {name!r})"))
    return Conditions(rows=tuple(rows))


def is_exact_in(shape_is_round: bool, part: Row | Domain | Clause, space: Space) -> bool:
    """True if `Conditions.broken_in` decides about the room itself and not about its bounding box."""
    if not shape_is_round or isinstance(part, Domain):
        return True
    if isinstance(part, Clause):
        return part.columns(space) <= 1
    return int((part.coefficients != 0.0).sum()) <= 1


def changes_in_words(most: int) -> str:
    """no feature changes; at most one feature changes; at most two features change."""
    if most == 0:
        return "no feature changes"
    number = NUMBERS[most - 1] if most <= len(NUMBERS) else f"{most:,}"
    return f"at most {number} {'feature changes' if most == 1 else 'features change'}"


def _source_of_limit(most: int) -> str:
    return f"AtMost ({changes_in_words(most)})"
