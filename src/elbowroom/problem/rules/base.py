"""What every rule can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from elbowroom.numerics import Floats
from elbowroom.problem.conditions import Conditions
from elbowroom.problem.reader import Reader
from elbowroom.problem.space import Space


class Rule(ABC):
    """A condition on the centre, as users state it: a frozen dataclass that checks its own numbers when created."""

    @abstractmethod
    def lower(self, space: Space, factual: Floats) -> Conditions:
        """The conditions that it comes down to; raises `InputError` if it does not fit the space.

        Args:
            space: What the columns mean.
            factual: The row of the question, as inner floats.

        Returns:
            Rows, limits on changes, domains of single columns, clauses.
        """

    @property
    @abstractmethod
    def words(self) -> str:
        """The rule as a clause that follows "in which": at most one feature changes."""

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """What a file keeps of it.

        Returns:
            Plain values, from which `read` makes the rule again.
        """

    @classmethod
    @abstractmethod
    def read(cls, entry: Reader) -> Self:
        """The rule with these `fields`.

        Args:
            entry: Where the file is read.

        Returns:
            An equal rule.
        """

    @property
    def source(self) -> str:
        """Its name and its words, for messages."""
        return f"{type(self).__name__} ({self.words})"
