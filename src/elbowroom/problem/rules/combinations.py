"""What goes together and what does not: implications and forbidden combinations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elbowroom.numerics import Floats
from elbowroom.problem.conditions import Clause, Conditions
from elbowroom.problem.reader import Reader
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.terms import (
    Term,
    checked_everywhere,
    everywhere_in,
    everywhere_out,
    joined,
    parse_terms,
    said_everywhere,
)  # fmt: skip
from elbowroom.problem.space import Space


@dataclass(frozen=True)
class Implies(Rule):
    """If all of one thing holds, so does all of another.

    Args:
        condition: By column, as in `Allowed`: ``{"purpose": "car"}``.
        consequence: What then has to hold: ``{"term": (12, None)}``.
        everywhere: At every point of the room instead of at its centre alone.

    Examples:
        >>> Implies({"salary": (4000, None)}, {"age": (40, None)}).words
        'if salary is at least 4,000, then age is at least 40'
    """

    condition: Mapping[str, Any] | tuple[Term, ...]
    consequence: Mapping[str, Any] | tuple[Term, ...]
    everywhere: bool = False

    def __post_init__(self) -> None:
        for part in ("condition", "consequence"):
            object.__setattr__(self, part, parse_terms(getattr(self, part), f"Implies, {part}"))
        object.__setattr__(self, "everywhere", checked_everywhere(self.everywhere, "Implies"))

    def lower(self, space: Space, factual: Floats) -> Conditions:
        """not a, or not b, or c: a clause for every c."""
        unless = tuple(o for term in terms(self.condition) for o in term.outside(space, "Implies"))
        clauses = [
            Clause(unless + term.inside(space, "Implies"), self.source, self.everywhere)
            for term in terms(self.consequence)
        ]
        return Conditions(clauses=tuple(clauses))

    @property
    def words(self) -> str:
        first, then = (joined([t.words for t in terms(p)], "and") for p in (self.condition, self.consequence))
        return said_everywhere(f"if {first}, then {then}", self.everywhere)

    def fields(self) -> dict[str, Any]:
        return {
            "condition": [term.out() for term in terms(self.condition)],
            "consequence": [term.out() for term in terms(self.consequence)],
            **everywhere_out(self.everywhere),
        }

    @classmethod
    def read(cls, entry: Reader) -> Implies:
        condition, consequence = (
            tuple(Term.read(item) for item in entry.at(part).items()) for part in ("condition", "consequence")
        )
        return cls(condition, consequence, everywhere_in(entry))


@dataclass(frozen=True)
class Forbidden(Rule):
    """Not all of this at once.

    Args:
        combination: By column, as in `Allowed`: ``{"housing": "owner", "savings": (None, 100)}``.
        everywhere: At every point of the room instead of at its centre alone.

    Examples:
        >>> Forbidden({"salary": (4000, None), "debt": (None, 0)}).words
        'it is not the case that salary is at least 4,000 and debt is at most 0'
    """

    combination: Mapping[str, Any] | tuple[Term, ...]
    everywhere: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "combination", parse_terms(self.combination, "Forbidden"))
        object.__setattr__(self, "everywhere", checked_everywhere(self.everywhere, "Forbidden"))

    def lower(self, space: Space, factual: Floats) -> Conditions:
        options = tuple(o for term in terms(self.combination) for o in term.outside(space, "Forbidden"))
        return Conditions(clauses=(Clause(options, self.source, self.everywhere),))

    @property
    def words(self) -> str:
        return said_everywhere(
            f"it is not the case that {joined([t.words for t in terms(self.combination)], 'and')}", self.everywhere
        )

    def fields(self) -> dict[str, Any]:
        return {"combination": [t.out() for t in terms(self.combination)], **everywhere_out(self.everywhere)}

    @classmethod
    def read(cls, entry: Reader) -> Forbidden:
        return cls(tuple(Term.read(item) for item in entry.at("combination").items()), everywhere_in(entry))


def terms(parsed: Mapping[str, Any] | tuple[Term, ...]) -> tuple[Term, ...]:
    """What the constructor has made of a mapping."""
    assert isinstance(parsed, tuple)
    return parsed
