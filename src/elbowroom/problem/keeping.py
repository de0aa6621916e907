"""A promise about slips: the class of the centre is kept with at least a given probability.

The answer that is carried out is clip(c + s) with s ~ N(0, diag(sigma^2)), as `slips` says: immutable columns and categories do
not slip, what lies beyond a bound is moved to it, whole numbers move by completed steps. `Probability(p, sigma)` asks for
centres c with P(the model gives clip(c + s) the wanted class) >= p. It is asked for besides the room, whose points all
have the class for certain; ``room=Box(0)`` leaves the centre itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Bools, Floats
from elbowroom.problem.parsing import Radius, number
from elbowroom.problem.rooms import checked_radius, per_column
from elbowroom.problem.space import Space

STRICTLY = "give a number strictly between 0 and 1"


@dataclass(frozen=True)
class Probability:
    """At least this ``probability`` that a Gaussian slip of the answer keeps its class.

    Args:
        probability: How likely the class has to be kept, strictly between 0 and 1.
        sigma: The standard deviation of the slip: a number in units of the scales, or raw units per feature (a mapping or
            a list). Immutable features and categories do not slip.

    Examples:
        >>> promise = Probability(0.9, sigma={"salary": 100})
        >>> region = explainer.explain(row, room=Box(0), keeps=promise, time_limit=5)
        >>> region.kept.lower >= 0.9
        True
    """

    probability: float
    sigma: Radius

    def __post_init__(self) -> None:
        chance = number(self.probability, "probability", STRICTLY)
        if isinstance(self.probability, (bool, np.bool_)) or not 0.0 < chance < 1.0:
            raise InputError(f"probability={self.probability!r}: {STRICTLY}")
        object.__setattr__(self, "probability", chance)
        object.__setattr__(self, "sigma", checked_radius(self.sigma, "sigma", needed=True))

    @property
    def words(self) -> str:
        """The promise in words."""
        if isinstance(self.sigma, Mapping):
            spread = ", ".join(f"{name} {value:g}" for name, value in self.sigma.items())
        elif isinstance(self.sigma, float):
            spread = f"{self.sigma:g} of each scale"
        else:
            spread = "one of its own per feature"
        return f"a slip with standard deviation {spread} keeps the class with probability {self.probability:g} at least"

    def spread(self, space: Space, immutable: Bools) -> Floats:
        """The standard deviation of every column, in raw units.

        Args:
            space: What the columns mean.
            immutable: Which of them never move.

        Returns:
            One number per column; 0 for those that do not slip.
        """
        return np.where(immutable, 0.0, per_column(self.sigma, space, "sigma"))


def parse_keeps(keeps: object) -> Probability | None:
    """What `explain` was handed."""
    if keeps is None or isinstance(keeps, Probability):
        return keeps
    raise InputError(f"keeps={keeps!r}: give Probability(0.95, sigma=0.05)")
