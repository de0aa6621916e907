"""Which numbers a column may take: certain values, steps, and no change that is too small to matter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.conditions import Between, Clause, Conditions
from elbowroom.problem.domains import Domain, Grid, decimal
from elbowroom.problem.parsing import number
from elbowroom.problem.reader import Reader, number_out
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.terms import (
    Term,
    checked_everywhere,
    everywhere_in,
    everywhere_out,
    group_of,
    joined,
    parse_terms,
    plain,
    said_everywhere,
)  # fmt: skip
from elbowroom.problem.space import Space


@dataclass(frozen=True)
class Allowed(Rule):
    """Nothing but these values.

    Args:
        values: By column: a list of numbers or categories, or a pair of ends of which either may be None:
            ``{"term": [12, 24, 36], "purpose": ["car", "boat"], "age": (18, 65)}``.
        everywhere: At every point of the room instead of at its centre alone.

    Examples:
        >>> Allowed({"salary": (0, 2500)}).words
        'salary lies between 0 and 2,500'
    """

    values: Mapping[str, Any] | tuple[Term, ...]
    everywhere: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", parse_terms(self.values, "Allowed"))
        object.__setattr__(self, "everywhere", checked_everywhere(self.everywhere, "Allowed"))

    @property
    def _terms(self) -> tuple[Term, ...]:
        assert isinstance(self.values, tuple)
        return self.values

    def lower(self, space: Space, factual: Floats) -> Conditions:
        domains, clauses = [], []
        for term in self._terms:
            g = group_of(space, term.column, "Allowed")
            if g is None:
                f = term.position(space, "Allowed")
                ranges = term.ranges(space, "Allowed")
                if not ranges:
                    raise InputError(
                        f"Allowed: {term.words}, which no whole number is; column {term.column!r} needs one"
                    )
                domains.append(Domain(f, ranges, None, self.source, self.everywhere))
            else:
                taken = {option.column for option in term.inside(space, "Allowed")}
                barred = [int(f) for f in space.members[g] if int(f) not in taken]
                clauses += [Clause((Between(f, high=0.0),), self.source, self.everywhere) for f in barred]
        return Conditions(domains=tuple(domains), clauses=tuple(clauses))

    @property
    def words(self) -> str:
        return said_everywhere(joined([term.words for term in self._terms], "and"), self.everywhere)

    def fields(self) -> dict[str, Any]:
        return {"values": [term.out() for term in self._terms], **everywhere_out(self.everywhere)}

    @classmethod
    def read(cls, entry: Reader) -> Allowed:
        return cls(tuple(Term.read(item) for item in entry.at("values").items()), everywhere_in(entry))


@dataclass(frozen=True)
class Steps(Rule):
    """A column that changes takes a multiple of its step. It may stay as it is.

    Args:
        steps: By column: ``{"amount": 100}``.
        everywhere: At every point of the room instead of at its centre alone.

    Examples:
        >>> print(explainer.explain(row, room=Box({"salary": 0}), rules=[Steps({"salary": 500})]).center["salary"])
        3000.0
    """

    steps: Mapping[str, float]
    everywhere: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", sizes(self.steps, "Steps"))
        object.__setattr__(self, "everywhere", checked_everywhere(self.everywhere, "Steps"))

    def lower(self, space: Space, factual: Floats) -> Conditions:
        domains = []
        for name, step in self.steps.items():
            f = position(space, name, "Steps")
            now = float(factual[f])
            domains.append(Domain(f, ((now, now),), Grid(0.0, step), self.source, self.everywhere))
        return Conditions(domains=tuple(domains))

    @property
    def words(self) -> str:
        parts = [f"{name} stays as it is or is a multiple of {plain(step)}" for name, step in self.steps.items()]
        return said_everywhere(joined(parts, "and"), self.everywhere)

    def fields(self) -> dict[str, Any]:
        return {"steps": sizes_out(self.steps), **everywhere_out(self.everywhere)}

    @classmethod
    def read(cls, entry: Reader) -> Steps:
        return cls(sizes_in(entry.at("steps")), everywhere_in(entry))


@dataclass(frozen=True)
class LeastChange(Rule):
    """A column that changes does so by at least this much.

    Args:
        least: By column, in raw units: ``{"income": 500}``.

    Examples:
        >>> print(explainer.explain(row, room=Box({"salary": 0}), rules=[LeastChange({"salary": 700})]).center["salary"])
        2700.0
    """

    least: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "least", sizes(self.least, "LeastChange"))

    def lower(self, space: Space, factual: Floats) -> Conditions:
        domains = []
        for name, least in self.least.items():
            f = position(space, name, "LeastChange")
            now = float(factual[f])
            down, up = float(decimal(now) - decimal(least)), float(decimal(now) + decimal(least))
            domains.append(Domain(f, ((-math.inf, down), (now, now), (up, math.inf)), None, self.source))
        return Conditions(domains=tuple(domains))

    @property
    def words(self) -> str:
        parts = [f"{name} stays as it is or changes by at least {plain(least)}" for name, least in self.least.items()]
        return joined(parts, "and")

    def fields(self) -> dict[str, Any]:
        return {"least": sizes_out(self.least)}

    @classmethod
    def read(cls, entry: Reader) -> LeastChange:
        return cls(sizes_in(entry.at("least")))


def sizes(given: object, where: str) -> dict[str, float]:
    """A mapping from column to a positive number."""
    if not isinstance(given, Mapping) or not given:
        raise InputError(f'{where}({given!r}): give a mapping from column to number, for example {{"amount": 100}}')
    checked = {str(name): number(size, f"{where} of {name!r}", "give a number") for name, size in given.items()}
    for name, size in checked.items():
        if isinstance(given.get(name), bool) or not (math.isfinite(size) and size > 0.0):
            raise InputError(f"{where} of {name!r}: {size} must be a positive number")
    return checked


def sizes_out(given: Mapping[str, float]) -> dict[str, float | str]:
    return {name: number_out(size) for name, size in given.items()}


def sizes_in(entry: Reader) -> dict[str, float]:
    return {name: entry.at(name).number() for name in entry.mapping()}


def position(space: Space, name: str, where: str) -> int:
    """A column of numbers."""
    if group_of(space, name, where) is not None or space.group_of[space.position[name]] >= 0:
        raise InputError(f"{where}: column {name!r} holds categories, which have no size")
    return space.position[name]
