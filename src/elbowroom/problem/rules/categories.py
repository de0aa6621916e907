"""Which category may follow which: transitions, and grades that never fall or never rise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats, Ints
from elbowroom.problem.conditions import Between, Clause, Conditions
from elbowroom.problem.freedom import member_of
from elbowroom.problem.parsing import is_sequence
from elbowroom.problem.reader import Reader
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.terms import (
    Value,
    checked_everywhere,
    checked_value,
    everywhere_in,
    everywhere_out,
    group_of,
    in_words,
    said_everywhere,
    shown,
    value_in,
)  # fmt: skip
from elbowroom.problem.space import Space
from elbowroom.visible import listed


@dataclass(frozen=True)
class Transitions(Rule):
    """A category changes only as listed. It may always stay as it is; a category that is no key stays.

    Args:
        column: A column of categories.
        allowed: What each may become: ``{"single": ["married"], "married": ["divorced"]}``.
        everywhere: At every point of the room instead of at its centre alone.

    Examples:
        >>> Transitions("status", {"single": ["married"], "married": ["divorced"]}).words
        "status changes only from 'single' to 'married', from 'married' to 'divorced'"
    """

    column: str
    allowed: Mapping[Value, Sequence[Value]]
    everywhere: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.allowed, Mapping) or not all(is_sequence(to) for to in self.allowed.values()):
            raise InputError(f"Transitions of {self.column!r}: give a mapping from category to a list of categories")
        object.__setattr__(self, "column", str(self.column))
        where = f"Transitions of {self.column!r}"
        checked = {
            checked_value(start, where): tuple(checked_value(end, where) for end in ends)
            for start, ends in self.allowed.items()
        }
        object.__setattr__(self, "allowed", checked)
        object.__setattr__(self, "everywhere", checked_everywhere(self.everywhere, "Transitions"))

    def lower(self, space: Space, factual: Floats) -> Conditions:
        where = f"Transitions of {self.column!r}"
        g = _group(space, self.column, where)
        group, members = space.groups[g], space.members[g]
        now = int(np.argmax(factual[members]))
        allowed = np.arange(members.size) == now
        for start, ends in self.allowed.items():
            places = [member_of(group, end, where) for end in ends]
            if member_of(group, start, where) == now:
                allowed[places] = True
        if group.missing_member == now:
            allowed[:] = True  # what is missing has no category to start from
        return _only(members[~allowed], self.source, self.everywhere)

    @property
    def words(self) -> str:
        steps = [f"from {shown(start)} to {in_words(ends, 'or')}" for start, ends in self.allowed.items() if ends]
        change = f"changes only {', '.join(steps)}" if steps else "does not change"
        return said_everywhere(f"{self.column} {change}", self.everywhere)

    def fields(self) -> dict[str, Any]:
        pairs = [{"from": start, "to": list(ends)} for start, ends in self.allowed.items()]
        return {"column": self.column, "allowed": pairs, **everywhere_out(self.everywhere)}

    @classmethod
    def read(cls, entry: Reader) -> Transitions:
        allowed = {
            value_in(pair.at("from")): [value_in(item) for item in pair.at("to").items()]
            for pair in entry.at("allowed").items()
        }
        return cls(entry.at("column").text(), allowed, everywhere_in(entry))


@dataclass(frozen=True)
class Ordered(Rule):
    """A grade never falls (or never rises).

    Args:
        column: A column of categories.
        categories: In order, the lowest first: ``["school", "college", "university"]``.
        never: "down" or "up".
        everywhere: At every point of the room instead of at its centre alone.

    Examples:
        >>> Ordered("education", ["school", "college", "university"], never="down").words
        "education never goes down in the order 'school', 'college', 'university'"
    """

    column: str
    categories: Sequence[Value]  # from low to high
    never: str = "down"
    everywhere: bool = False

    def __post_init__(self) -> None:
        if not is_sequence(self.categories):
            raise InputError(f"Ordered of {self.column!r}: give its categories as a list, from low to high")
        if self.never not in ("down", "up"):
            raise InputError(f'Ordered of {self.column!r}: never={self.never!r} is unknown; use "down" or "up"')
        object.__setattr__(self, "column", str(self.column))
        where = f"Ordered of {self.column!r}"
        object.__setattr__(self, "categories", tuple(checked_value(category, where) for category in self.categories))
        object.__setattr__(self, "everywhere", checked_everywhere(self.everywhere, "Ordered"))

    def lower(self, space: Space, factual: Floats) -> Conditions:
        where = f"Ordered of {self.column!r}"
        g = _group(space, self.column, where)
        group, members = space.groups[g], space.members[g]
        places = [member_of(group, category, where) for category in self.categories]
        left = sorted(set(range(members.size)) - set(places) - {group.missing_member})
        if left or len(set(places)) < len(places):
            lacking = [str(group.labels[i] if group.labels is not None else group.members[i]) for i in left]
            what = f"{listed(lacking)} have no place in the order" if left else "a category has two places in the order"
            raise InputError(f"{where}: {what}; name every category once, from low to high")
        now = int(np.argmax(factual[members]))
        if now not in places:
            return Conditions()
        rank = places.index(now)
        barred = places[:rank] if self.never == "down" else places[rank + 1 :]
        return _only(members[np.array(barred, dtype=np.int64)], self.source, self.everywhere)

    @property
    def words(self) -> str:
        order = ", ".join(shown(category) for category in self.categories)
        return said_everywhere(f"{self.column} never goes {self.never} in the order {order}", self.everywhere)

    def fields(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "categories": list(self.categories),
            "never": self.never,
            **everywhere_out(self.everywhere),
        }

    @classmethod
    def read(cls, entry: Reader) -> Ordered:
        categories = [value_in(item) for item in entry.at("categories").items()]
        return cls(entry.at("column").text(), categories, entry.at("never").text(), everywhere_in(entry))


def _group(space: Space, column: str, where: str) -> int:
    g = group_of(space, column, where)
    if g is None:
        raise InputError(f"{where}: this column holds numbers; use increasing= or decreasing= of the space, or Allowed")
    return g


def _only(barred: Ints, source: str, everywhere: bool) -> Conditions:
    """None of these categories."""
    return Conditions(clauses=tuple(Clause((Between(int(f), high=0.0),), source, everywhere) for f in barred))
