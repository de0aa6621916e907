"""The largest room around a given point."""

from __future__ import annotations

import math
from dataclasses import dataclass

from elbowroom.numerics import Floats


@dataclass(frozen=True, eq=False)
class RadiusResult:
    """Both bounds of the largest radius with one class, in units of the features' scales.

    Attributes:
        lower: Every room up to this radius is proven valid.
        upper: Every room with a larger one is proven to contain a point of another class.
        norm: Of the rooms.
        witness: Such a point, where one was found.
        seconds: That it took.
        near_tie: That point is within rounding of a tie, where nothing can be proven.

    Examples:
        >>> found = explainer.radius(row)
        >>> found.lower <= found.upper
        True
    """

    lower: float
    upper: float
    norm: str
    witness: Floats | None
    seconds: float
    near_tie: bool = False

    @property
    def exact(self) -> bool:
        """True if no float lies between the bounds."""
        return self.upper - self.lower <= 1e-9 * max(1.0, abs(self.upper)) or self.lower == self.upper

    def __float__(self) -> float:
        return self.lower

    def __str__(self) -> str:
        if self.exact:
            return f"the largest room ({self.norm}) has radius {self.lower:.9g}: proven, to rounding"
        beyond = f"those beyond {self.upper:.6g} do not" if self.upper < math.inf else "no room that fails is known"
        return f"rooms ({self.norm}) up to radius {self.lower:.6g} keep the outcome, {beyond}: proven"

    def _repr_html_(self) -> str:
        return f"<p>{str(self).capitalize()}</p>"
