"""What rules say about one column: it has one of several values, or lies between two numbers.

Users write ``{"amount": (5000, None), "purpose": ["car", "boat"], "term": 12}``: a pair is a range (None leaves a side
open), a list holds values or categories, anything else is the one value or category itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Bools, next_value
from elbowroom.problem.conditions import Between
from elbowroom.problem.domains import Range, merged
from elbowroom.problem.freedom import member_of
from elbowroom.problem.labels import is_missing
from elbowroom.problem.parsing import is_sequence, number, unknown
from elbowroom.problem.reader import Reader, number_out
from elbowroom.problem.space import Space
from elbowroom.visible import named

Value: TypeAlias = "str | float | bool"
BELOW_ALL, ABOVE_ALL = -math.inf, math.inf


@dataclass(frozen=True)
class Term:
    """A column, and the values or the range that it has; ``values`` is empty for a range."""

    column: str
    values: tuple[Value, ...] = ()
    low: float = BELOW_ALL
    high: float = ABOVE_ALL

    @classmethod
    def parse(cls, column: object, what: object, where: str) -> Term:
        name = str(column)
        if isinstance(what, tuple):
            if len(what) != 2:
                raise InputError(
                    f"{where}, column {name!r}: {what!r} is no range; give (low, high), or a list of values"
                )
            low, high = (None if side is None else number(side, f"{where}, column {name!r}") for side in what)
            made = cls(name, (), BELOW_ALL if low is None else low, ABOVE_ALL if high is None else high)
            if math.isnan(made.low) or math.isnan(made.high) or made.low > made.high:
                raise InputError(f"{where}, column {name!r}: {what!r} holds no number; put the lower end first")
            if made.low == math.inf or made.high == -math.inf:
                raise InputError(f"{where}, column {name!r}: {what!r} holds no number; leave an open side as None")
            return made
        listed = list(what) if is_sequence(what) and isinstance(what, Iterable) else [what]
        if not listed:
            raise InputError(f"{where}, column {name!r}: no value is named; leave the column out, or name one")
        return cls(name, tuple(checked_value(v, f"{where}, column {name!r}") for v in listed))

    # ---- conditions ---------------------------------------------------------------------------------------------------
    def inside(self, space: Space, where: str) -> tuple[Between, ...]:
        """Options of which one holds iff the term does."""
        g = self._group(space, where)
        if g is not None:
            taken = self._categories(space, g, where)
            return tuple(Between(int(f), 1.0, 1.0) for f in space.members[g][taken])
        f = self.position(space, where)
        return tuple(Between(f, low, high) for low, high in self.ranges(space, where))

    def outside(self, space: Space, where: str) -> tuple[Between, ...]:
        """Options of which one holds iff the term does not."""
        g = self._group(space, where)
        if g is not None:
            members, taken = space.members[g], self._categories(space, g, where)
            if taken.sum() == 1:
                return (Between(int(members[taken][0]), high=0.0),)
            return tuple(Between(int(f), 1.0, 1.0) for f in members[~taken])
        f = self.position(space, where)
        whole = bool(space.whole_center[f])
        options, start = [], -math.inf
        for low, high in self.ranges(space, where):
            if low > -math.inf:
                options.append(Between(f, start, -float(next_value(-low, whole))))
            start = float(next_value(high, whole)) if high < math.inf else math.inf
        if start < math.inf:
            options.append(Between(f, start))
        return tuple(options)

    def ranges(self, space: Space, where: str) -> tuple[Range, ...]:
        """The numbers of a column of numbers, in as few ranges as possible."""
        whole = bool(space.whole_center[self.position(space, where)])
        if not self.values:
            return merged([(self.low, self.high)], whole)
        points = [number(v, f"{where}, column {self.column!r}", "its values are numbers") for v in self.values]
        if not all(math.isfinite(p) for p in points):
            raise InputError(f"{where}, column {self.column!r}: its values must be finite numbers")
        return merged([(p, p) for p in points], whole)

    def position(self, space: Space, where: str) -> int:
        """The inner column of a column of numbers."""
        if self.column not in space.position:
            raise InputError(f"{where}: {unknown(self.column, space.columns)}")
        return space.position[self.column]

    def _group(self, space: Space, where: str) -> int | None:
        return group_of(space, self.column, where)

    def _categories(self, space: Space, g: int, where: str) -> Bools:
        if not self.values:
            raise InputError(f"{where}: column {self.column!r} holds categories, which have no range; list them")
        taken = np.zeros(space.members[g].size, dtype=np.bool_)
        taken[[member_of(space.groups[g], value, where) for value in self.values]] = True
        return taken

    # ---- words and files ----------------------------------------------------------------------------------------------
    @property
    def words(self) -> str:
        """purpose is 'car' or 'boat'; amount is at most 5000."""
        if self.values:
            return f"{self.column} is {in_words(self.values, 'or')}"
        match math.isfinite(self.low), math.isfinite(self.high):
            case True, True if self.low == self.high:
                return f"{self.column} is {plain(self.low)}"
            case True, True:
                return f"{self.column} lies between {plain(self.low)} and {plain(self.high)}"
            case True, False:
                return f"{self.column} is at least {plain(self.low)}"
            case False, True:
                return f"{self.column} is at most {plain(self.high)}"
            case _:
                return f"{self.column} is any number"

    def out(self) -> dict[str, Any]:
        if self.values:
            return {"column": self.column, "values": list(self.values)}
        return {"column": self.column, "low": number_out(self.low), "high": number_out(self.high)}

    @classmethod
    def read(cls, entry: Reader) -> Term:
        column = entry.at("column").text()
        values = entry.maybe("values")
        if values is None:
            low, high = entry.at("low").number(infinite=True), entry.at("high").number(infinite=True)
            return cls.parse(column, (low, high), entry.where)
        return cls.parse(column, [value_in(item) for item in values.items()], entry.where)


def group_of(space: Space, column: str, where: str) -> int | None:
    """The group that a name stands for; None for a column of numbers."""
    if column in space.position:
        return None
    for g, group in enumerate(space.groups):
        if group.name == column:
            return g
    known = list(dict.fromkeys([*space.columns, *(group.name for group in space.groups)]))
    raise InputError(f"{where}: {unknown(column, known)}")


def parse_terms(terms: object, where: str) -> tuple[Term, ...]:
    """A mapping from column to what it is, in the order given."""
    if isinstance(terms, tuple) and all(isinstance(term, Term) for term in terms) and terms:
        return terms
    if not isinstance(terms, Mapping) or not terms:
        raise InputError(
            f'{where}: give a mapping from column to value, list or range, for example {{"term": (12, None)}}'
        )
    return tuple(Term.parse(column, what, where) for column, what in terms.items())


def checked_value(value: object, where: str) -> Value:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | bool):
        return value
    if isinstance(value, int | float) and not is_missing(value):
        return number(value, where)
    raise InputError(f"{where}: {value!r} is neither a number nor the name of a category")


def value_in(entry: Reader) -> Value:
    """A value from a file; checked when the rule is made."""
    if not isinstance(entry.value, str | bool | int | float):
        raise entry.wrong(f"a number or the name of a category, not {entry.value!r:.60}")
    return entry.value if isinstance(entry.value, str | bool) else entry.number()


def plain(value: float) -> str:
    """The shortest decimal that reads back equal, without a needless .0, with thousands separators."""
    return format(float(value), ",").removesuffix(".0")


def shown(value: Value) -> str:
    """'car'; 12; True."""
    if isinstance(value, bool):
        return str(value)
    return f"'{named(value)}'" if isinstance(value, str) else plain(value)


def in_words(values: Iterable[Value], last: str) -> str:
    """12, 24 or 36."""
    return joined([shown(value) for value in values], last)


def joined(parts: list[str], last: str) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def said_everywhere(words: str, everywhere: bool) -> str:
    return f"{words} at every point of the room" if everywhere else words


def checked_everywhere(everywhere: object, where: str) -> bool:
    if not isinstance(everywhere, (bool, np.bool_)):
        raise InputError(f"{where}: everywhere={everywhere!r} must be True or False")
    return bool(everywhere)


def everywhere_out(everywhere: bool) -> dict[str, Any]:
    """Written only where it is asked for, so that older versions read all other files."""
    return {"everywhere": True} if everywhere else {}


def everywhere_in(entry: Reader) -> bool:
    found = entry.maybe("everywhere")
    return False if found is None else found.truth()
