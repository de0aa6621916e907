"""Rules that no user can state: they come down to certain values and to clauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from elbowroom.numerics import Floats
from elbowroom.problem import Rule, Space
from elbowroom.problem.conditions import Between, Clause, Conditions
from elbowroom.problem.domains import Domain, Grid
from elbowroom.problem.reader import Reader


@dataclass(frozen=True)
class InSteps(Rule):
    """A column moves in steps away from the factual."""

    column: str
    step: float

    def lower(self, space: Space, factual: Floats) -> Conditions:
        f = space.position[self.column]
        return Conditions(domains=(Domain(f, (), Grid(float(factual[f]), self.step), self.source),))

    @property
    def words(self) -> str:
        return f"{self.column} moves in steps of {self.step}"

    def fields(self) -> dict[str, Any]:
        return {"column": self.column, "step": self.step}

    @classmethod
    def read(cls, entry: Reader) -> InSteps:
        return cls(entry.at("column").text(), entry.at("step").number())


@dataclass(frozen=True)
class LowOrHigh(Rule):
    """One column is small, or another one is large."""

    low: tuple[str, float]
    high: tuple[str, float]

    def lower(self, space: Space, factual: Floats) -> Conditions:
        options = (
            Between(space.position[self.low[0]], high=self.low[1]),
            Between(space.position[self.high[0]], low=self.high[1]),
        )
        return Conditions(clauses=(Clause(options, self.source),))

    @property
    def words(self) -> str:
        return f"{self.low[0]} is at most {self.low[1]} or {self.high[0]} is at least {self.high[1]}"

    def fields(self) -> dict[str, Any]:
        return {"low": list(self.low), "high": list(self.high)}

    @classmethod
    def read(cls, entry: Reader) -> LowOrHigh:
        low, high = (entry.at(side).items(2) for side in ("low", "high"))
        return cls((low[0].text(), low[1].number()), (high[0].text(), high[1].number()))
