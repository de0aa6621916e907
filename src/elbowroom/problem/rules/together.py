"""Features that change together or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats, next_value
from elbowroom.problem.conditions import Between, Clause, Conditions
from elbowroom.problem.parsing import is_sequence
from elbowroom.problem.reader import Reader
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.terms import group_of, joined
from elbowroom.problem.space import Space


@dataclass(frozen=True)
class Together(Rule):
    """Either all of these features change or none does.

    Args:
        columns: Columns, or one-hot groups by name: ``["amount", "term"]``.

    Examples:
        >>> Together(["salary", "debt"]).words
        'salary and debt change together or not at all'
    """

    columns: Sequence[str]

    def __post_init__(self) -> None:
        if not is_sequence(self.columns) or isinstance(self.columns, str):
            raise InputError(f"Together({self.columns!r}): give a list of columns")
        columns = tuple(str(name) for name in self.columns)
        if len(set(columns)) < max(2, len(columns)):
            raise InputError(f"Together({list(columns)}): name at least two columns, each of them once")
        object.__setattr__(self, "columns", columns)

    def lower(self, space: Space, factual: Floats) -> Conditions:
        """Who changes, the next one changes, in a circle: a clause for every pair of neighbours."""
        states = [states_of(space, factual, name, "Together") for name in self.columns]
        return Conditions(
            clauses=tuple(
                Clause(still + moved, self.source)
                for (still, _), (_, moved) in zip(states, [*states[1:], states[0]], strict=True)
            )
        )

    @property
    def words(self) -> str:
        return f"{joined(list(self.columns), 'and')} change together or not at all"

    def fields(self) -> dict[str, Any]:
        return {"columns": list(self.columns)}

    @classmethod
    def read(cls, entry: Reader) -> Together:
        return cls([item.text() for item in entry.at("columns").items()])


def states_of(space: Space, factual: Floats, name: str, rule: str) -> tuple[tuple[Between, ...], tuple[Between, ...]]:
    """Options for "stays as it is" and for "changes"."""
    g = group_of(space, name, rule)
    if g is None and space.group_of[space.position[name]] >= 0:
        raise InputError(
            f"{rule}: column {name!r} is a part of {space.groups[space.group_of[space.position[name]]].name!r}; name that"
        )
    if g is not None:
        now = int(space.members[g][np.argmax(factual[space.members[g]])])
        return (Between(now, 1.0, 1.0),), (Between(now, high=0.0),)
    f = space.position[name]
    here, whole = float(factual[f]), bool(space.whole_center[f])
    below, above = -float(next_value(-here, whole)), float(next_value(here, whole))
    return (Between(f, here, here),), (Between(f, high=below), Between(f, above))
