"""Few changes, in words."""

from __future__ import annotations

from elbowroom.present.numbers import about, percent
from elbowroom.problem.conditions import NUMBERS
from elbowroom.result.few import Few
from elbowroom.result.region import Region


def how_many(changes: int) -> str:
    """one feature; two features; 12 features."""
    return f"{in_words(changes)} {'feature' if changes == 1 else 'features'}"


def in_words(count: int) -> str:
    """no; one; two; 12."""
    return "no" if count == 0 else NUMBERS[count - 1] if count <= len(NUMBERS) else f"{count:,}"


def few_text(few: Few) -> str:
    """the closest answer of all is at 0.434 and changes four features."""
    proven = few.closest_lower_bound >= few.closest_distance * (1.0 - 1e-6)
    where = f"the closest answer {'of all' if proven else 'found'} is at {about(few.closest_distance, 4)}"
    return f"{where} and changes {how_many(few.closest_changes)}"


def few_line(region: Region) -> str:
    """The sentence under an answer for which few changes were preferred; empty for others."""
    few = region.few
    if few is None:
        return ""
    text = few_text(few)
    share = percent(few.share)
    fewest = (
        f"no answer within {share} of it changes fewer features than this one"
        if few.proven
        else f"whether one within {share} of it changes even fewer features than this one was not decided in time"
    )
    return f"Few changes were preferred: {text}; {fewest}."
