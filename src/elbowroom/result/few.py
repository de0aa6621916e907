"""Few changes preferred: what was given up for them, and what is proven about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from elbowroom.problem.reader import Reader, number_out

ROUNDING = 1e-12  # of a distance


@dataclass(frozen=True)
class Few:
    """The closest answer of all, beside one with fewer changes within a share of its distance.

    Attributes:
        share: Of the closest distance, that was offered for fewer changes.
        closest_distance: Of the closest answer of all, as far as it was found.
        closest_lower_bound: No answer of all is closer than this.
        closest_changes: What the closest answer of all changes.
        proven: No answer with fewer changes than the region's lies within that share.

    Examples:
        >>> explainer.explain(row, prefer_few=0.1).few.proven
        True
    """

    share: float
    closest_distance: float
    closest_lower_bound: float
    closest_changes: int
    proven: bool


def few_out(few: Few) -> dict[str, Any]:
    return {
        "share": number_out(few.share),
        "closest_distance": number_out(few.closest_distance),
        "closest_lower_bound": number_out(few.closest_lower_bound),
        "closest_changes": few.closest_changes,
        "proven": few.proven,
    }


def few_in(entry: Reader, distance: float) -> Few:
    """What a file says, if it can be true of a region at this distance."""
    few = Few(
        entry.at("share").number(),
        entry.at("closest_distance").number(),
        entry.at("closest_lower_bound").number(),
        entry.at("closest_changes").whole(low=0),
        entry.at("proven").truth(),
    )
    if few.share < 0.0:
        raise entry.at("share").wrong(f"at least 0, not {few.share!r}")
    if not 0.0 <= few.closest_lower_bound <= few.closest_distance:
        raise entry.at("closest_lower_bound").wrong("between 0 and closest_distance")
    if not few.closest_distance <= distance * (1.0 + ROUNDING):
        raise entry.at("closest_distance").wrong(f"at most the distance {distance!r}")
    if not distance <= (1.0 + few.share) * few.closest_distance * (1.0 + ROUNDING):
        raise entry.at("closest_distance").wrong(f"one of whose distance {distance!r} lies within the share")
    return few
