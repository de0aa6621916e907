"""Further conditions on the centre of a region."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.given import number, unknown
from elbowroom.problem.space import Space


@dataclass(frozen=True)
class AtMost:
    """At most ``changes`` features (a one-hot group counts once) may differ from the factual."""

    changes: int

    def __post_init__(self) -> None:
        if isinstance(self.changes, bool) or not isinstance(self.changes, (int, np.integer)) or self.changes < 0:
            raise InputError(f"AtMost({self.changes!r}): give a whole number of at least 0")


@dataclass(frozen=True)
class LinearRule:
    """low <= sum over features of coefficient * value <= high, in raw units, for the centre."""

    coefficients: Mapping[str, float]
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping):
            raise InputError(f"LinearRule({self.coefficients!r}): give a mapping from column name to coefficient")
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
        """The coefficients as an array over the columns of a space."""
        row = np.zeros(len(space.names))
        for name, value in self.coefficients.items():
            if name not in space.position:
                raise InputError(f"LinearRule: {unknown(name, space.names)}")
            row[space.position[name]] = value
        return row


Rule = AtMost | LinearRule
