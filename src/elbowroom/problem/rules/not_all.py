"""Another set of changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.conditions import Clause, Conditions
from elbowroom.problem.parsing import is_list
from elbowroom.problem.reader import Reader
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.together import states_of
from elbowroom.problem.space import Space


@dataclass(frozen=True)
class NotAll(Rule):
    """At least one of these features stays as it is: what tells an answer of `Explainer.explain_diverse` from those before
    it.

    Args:
        features: Columns, or one-hot groups by name.

    Examples:
        >>> NotAll(("salary", "debt")).words
        'salary and debt do not all change'
    """

    features: tuple[str, ...]

    def __post_init__(self) -> None:
        if not is_list(self.features):
            raise InputError(f"NotAll({self.features!r}): give a list of names of columns")
        object.__setattr__(self, "features", tuple(map(str, self.features)))
        if not self.features:
            raise InputError("NotAll needs at least one feature")
        if len(set(self.features)) < len(self.features):
            raise InputError(f"NotAll({list(self.features)}): name each feature once")

    def lower(self, space: Space, factual: Floats) -> Conditions:
        """A clause: this one stays, or that one does, ..."""
        stay = [option for name in self.features for option in states_of(space, factual, name, "NotAll")[0]]
        return Conditions(clauses=(Clause(tuple(stay), self.source),))

    @property
    def words(self) -> str:
        """amount, duration and savings do not all change."""
        if len(self.features) == 1:
            return f"{self.features[0]} stays as it is"
        return f"{', '.join(self.features[:-1])} and {self.features[-1]} do not all change"

    def fields(self) -> dict[str, Any]:
        return {"features": list(self.features)}

    @classmethod
    def read(cls, entry: Reader) -> NotAll:
        return cls(tuple(item.text() for item in entry.at("features").items()))
