"""How a search ended, and what it did on the way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """The outcome of a search; the value is the sentence a user may read."""

    OPTIMAL = "the region is certified and proven closest, within the tolerance of the search"
    CERTIFIED = "the region is certified; a closer one may exist within the stated gap"
    NONE_EXISTS = "it is proven that no such region exists"
    UNKNOWN = "neither a region nor a proof that none exists was found"


NEAR_TIE = "within rounding of a tie"  # where only the rounding of the model's own sums decides


@dataclass(frozen=True)
class Step:
    """One iteration of a search."""

    seconds: float
    lower_bound: float
    best_distance: float  # inf while nothing is certified
    certified_radius: float | None = None  # of the iterate, where the method computes it
    note: str = ""
