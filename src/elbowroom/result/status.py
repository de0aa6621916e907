"""How a search ended, and what it did on the way."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """The outcome of a search; the value is the sentence a user may read.

    Attributes:
        OPTIMAL: The region is certified and proven closest, within the tolerance of the search.
        CERTIFIED: The region is certified; a closer one may exist within the stated gap.
        NONE_EXISTS: It is proven that no such region exists.
        UNKNOWN: Neither a region nor a proof that none exists was found.

    Examples:
        >>> region.status is Status.OPTIMAL, none.status is Status.NONE_EXISTS
        (True, True)
    """

    OPTIMAL = "the region is certified and proven closest, within the tolerance of the search"
    CERTIFIED = "the region is certified; a closer one may exist within the stated gap"
    NONE_EXISTS = "it is proven that no such region exists"
    UNKNOWN = "neither a region nor a proof that none exists was found"


NEAR_TIE = "within rounding of a tie"  # where only the rounding of the model's own sums decides


@dataclass(frozen=True)
class Step:
    """One iteration of a search.

    Attributes:
        seconds: Since the question was asked.
        lower_bound: No region is closer than this, as far as it is known.
        best_distance: Of the best certified region so far; inf while there is none.
        certified_radius: Of the iterate, where the method computes it.
        note: What the search was doing, in words.

    Examples:
        >>> region.trace[-1].lower_bound <= region.trace[-1].best_distance
        True
    """

    seconds: float
    lower_bound: float
    best_distance: float  # inf while nothing is certified
    certified_radius: float | None = None  # of the iterate, where the method computes it
    note: str = ""
