"""The promise of a saved region, computed again: the bounds on the probability that a slip keeps the class."""

from __future__ import annotations

from typing import Final

from elbowroom.certify.kept import kept_probability, slip_of
from elbowroom.explainer import Explainer
from elbowroom.present.checking_model import question_of
from elbowroom.present.findings import Finding
from elbowroom.present.numbers import above, below
from elbowroom.result import Region

TOLERANCE: Final = 1e-3
ROUNDING: Final = 1e-9  # bounds that another machine computed may differ by so much


def kept_again(region: Region, explainer: Explainer, time_limit: float) -> list[Finding]:
    """What was promised, and the bounds that the file states; nothing for a file without a promise."""
    keeps, kept = region.keeps, region.kept
    if keeps is None or kept is None:
        return []
    slip = slip_of(question_of(region, explainer), region.body.center)
    about_it = explainer.model, region.target, slip, None
    asked = kept_probability(*about_it, TOLERANCE, time_limit)
    decided = kept_probability(*about_it, 0.0, time_limit, keeps.probability)
    lower, upper = max(asked.lower, decided.lower), min(asked.upper, decided.upper)
    shown = f"between {below(lower, 6)} and {above(upper, 6)}"
    if upper < keeps.probability:
        return [
            Finding(False, f"refuted: a slip keeps the class with a probability {shown}, not {keeps.probability:g}")
        ]
    if lower < keeps.probability:
        return [
            Finding(None, f"a slip keeps the class with a probability {shown}; {keeps.probability:g} is not proven")
        ]
    found = [Finding(True, f"proven again: a slip keeps the class with a probability {shown}")]
    if kept.lower > upper + ROUNDING or kept.upper < lower - ROUNDING:
        found.append(Finding(False, "the bounds of the file on this probability are false"))
    elif kept.lower > lower + ROUNDING or kept.upper < upper - ROUNDING:
        found.append(
            Finding(None, "the bounds of the file on this probability are closer than those that were proven again")
        )
    else:
        found.append(Finding(True, "the bounds of the file on this probability are proven"))
    return found
