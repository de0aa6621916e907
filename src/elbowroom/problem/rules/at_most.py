"""Few changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.conditions import Conditions, changes_in_words
from elbowroom.problem.reader import Reader
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.space import Space


@dataclass(frozen=True)
class AtMost(Rule):
    """At most so many features differ from the factual.

    Args:
        changes: How many; a one-hot group counts once.

    Examples:
        >>> AtMost(2).words
        'at most two features change'
    """

    changes: int

    def __post_init__(self) -> None:
        if isinstance(self.changes, bool) or not isinstance(self.changes, (int, np.integer)) or self.changes < 0:
            raise InputError(f"AtMost({self.changes!r}): give a whole number of at least 0")
        object.__setattr__(self, "changes", int(self.changes))

    def lower(self, space: Space, factual: Floats) -> Conditions:
        return Conditions(most_changes=self.changes)

    @property
    def words(self) -> str:
        return changes_in_words(self.changes)

    def fields(self) -> dict[str, Any]:
        return {"changes": self.changes}

    @classmethod
    def read(cls, entry: Reader) -> AtMost:
        return cls(entry.at("changes").whole(low=0))
