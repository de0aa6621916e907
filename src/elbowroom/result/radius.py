"""The largest room around a given point."""

from __future__ import annotations

from dataclasses import dataclass

from elbowroom.numerics import Floats


@dataclass(frozen=True, eq=False)
class RadiusResult:
    """The certified radius lies in [lower, upper]: every room up to ``lower`` is proven valid, every larger one than
    ``upper`` is proven to contain a point of another class (``witness``, where one was found), or with ``near_tie`` one
    within rounding of a tie, where nothing can be proven. Units: feature scales."""

    lower: float
    upper: float
    norm: str
    witness: Floats | None
    seconds: float
    near_tie: bool = False

    @property
    def exact(self) -> bool:
        return self.upper - self.lower <= 1e-9 * max(1.0, abs(self.upper)) or self.lower == self.upper

    def __float__(self) -> float:
        return self.lower
