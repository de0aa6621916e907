"""A linear form of the centre between two numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.conditions import Conditions, Row
from elbowroom.problem.parsing import number, unknown
from elbowroom.problem.reader import Reader, number_out
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.terms import checked_everywhere, everywhere_in, everywhere_out, plain, said_everywhere
from elbowroom.problem.space import Space


@dataclass(frozen=True)
class LinearRule(Rule):
    """low <= sum over features of coefficient * value <= high, in raw units: for the centre, or for every point of the room.

    Args:
        coefficients: By column; columns that are not named have the coefficient 0.
        low: The least that the sum may be.
        high: The most that the sum may be.
        everywhere: At every point of the room instead of at its centre alone.

    Examples:
        >>> LinearRule({"debt": 1, "salary": -2}, high=0).words
        'debt - 2 * salary is at most 0'
    """

    coefficients: Mapping[str, float]
    low: float = -math.inf
    high: float = math.inf
    everywhere: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping):
            raise InputError(f"LinearRule({self.coefficients!r}): give a mapping from column name to coefficient")
        object.__setattr__(self, "everywhere", checked_everywhere(self.everywhere, "LinearRule"))
        for side in ("low", "high"):
            object.__setattr__(self, side, number(getattr(self, side), f"LinearRule {side}"))
        checked = {str(k): number(v, f"LinearRule coefficient of {k!r}") for k, v in self.coefficients.items()}
        object.__setattr__(self, "coefficients", checked)
        if not checked or not all(math.isfinite(v) for v in checked.values()):
            raise InputError("LinearRule needs at least one coefficient, all of them finite")
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise InputError(f"LinearRule: low {self.low} must not be above high {self.high}")
        if self.low == math.inf or self.high == -math.inf:
            raise InputError(
                f"LinearRule: no number lies between {self.low} and {self.high}; leave a side out to open it"
            )

    def row(self, space: Space) -> Floats:
        """The coefficients as an array over the columns of a space.

        Args:
            space: What the columns mean.

        Returns:
            One number per inner column.
        """
        row = np.zeros(len(space.names))
        for name, value in self.coefficients.items():
            if name not in space.position:
                raise InputError(f"LinearRule: {unknown(name, space.names)}")
            row[space.position[name]] = value
        return row

    def lower(self, space: Space, factual: Floats) -> Conditions:
        return Conditions(rows=(Row(self.row(space), self.low, self.high, self.source, self.everywhere),))

    @property
    def words(self) -> str:
        """amount - 2 * salary is at most 0."""
        return said_everywhere(self._words, self.everywhere)

    @property
    def _words(self) -> str:
        return self._order or self._sum

    @property
    def _order(self) -> str:
        """worst is at least mean; empty where the rule is no order of two columns."""
        plus = [name for name, value in self.coefficients.items() if value == 1.0]
        minus = [name for name, value in self.coefficients.items() if value == -1.0]
        if len(self.coefficients) != 2 or len(plus) != 1 or len(minus) != 1:
            return ""
        sides = {(0.0, math.inf): "at least ", (-math.inf, 0.0): "at most ", (0.0, 0.0): "equal to "}
        side = sides.get((self.low, self.high))
        return "" if side is None else f"{plus[0]} is {side}{minus[0]}"

    @property
    def _sum(self) -> str:
        total = ""
        for name, value in self.coefficients.items():
            sign = "-" if value < 0.0 else "+" if total else ""
            size = "" if abs(value) == 1.0 else f"{plain(abs(value))} * "
            total += f" {sign} {size}{name}" if total else f"{sign}{size}{name}"
        match math.isfinite(self.low), math.isfinite(self.high):
            case True, True if self.low == self.high:
                return f"{total} is {plain(self.low)}"
            case True, True:
                return f"{total} lies between {plain(self.low)} and {plain(self.high)}"
            case True, False:
                return f"{total} is at least {plain(self.low)}"
            case False, True:
                return f"{total} is at most {plain(self.high)}"
            case _:
                return f"{total} is any number"

    def fields(self) -> dict[str, Any]:
        return {
            "coefficients": {name: number_out(value) for name, value in self.coefficients.items()},
            "low": number_out(self.low),
            "high": number_out(self.high),
            **everywhere_out(self.everywhere),
        }

    @classmethod
    def read(cls, entry: Reader) -> LinearRule:
        terms = entry.at("coefficients")
        return cls(
            {name: terms.at(name).number() for name in terms.mapping()},
            entry.at("low").number(infinite=True),
            entry.at("high").number(infinite=True),
            everywhere_in(entry),
        )
