"""Actions on causes, distances that follow the data, and actions for groups, against enumeration of all cells.

Small random questions about linear models, trees and networks; a linear program (or least squares) in every cell says what the
closest answer is; for linear models also with several rivals, whole numbers, a category and all shapes of rooms, and with
prices of all kinds. Every region is attacked. Nothing here measures seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.causal_truth import causes, covariance
from tests.support.group_truth import actions, group
from tests.support.meeting_truth import meeting
from tests.support.slant_truth import priced, slanted

from benchmarks.exact import Parts, run_parts

FIRST = 10_000  # seeds that no test of the suite asks about
CAUSES: Parts = {
    "causes": (300, FIRST, causes),
    "covariance": (300, FIRST, covariance),
    "linear, all rooms": (300, FIRST, slanted),
    "linear, prices": (300, FIRST, priced),
}
GROUPS: Parts = {
    "group, linear": (300, FIRST, lambda seed: group(seed, "linear")),
    "group, trees": (300, FIRST, lambda seed: group(seed, "trees")),
    "fewest actions": (100, FIRST, actions),
    "common region, linear": (300, FIRST, lambda seed: meeting(seed, "linear")),
    "common region, trees": (300, FIRST, lambda seed: meeting(seed, "trees")),
    "common region, slanted trees": (100, FIRST, lambda seed: meeting(seed, "oblique")),
    "common region, networks": (50, FIRST, lambda seed: meeting(seed, "network")),
}


def run_causes(rows: int | None = None, only: Sequence[str] = ()) -> dict[str, Any]:
    """One record per part: how many questions, how they ended, and what was wrong."""
    return run_parts(CAUSES, rows, only)


def run_groups(rows: int | None = None, only: Sequence[str] = ()) -> dict[str, Any]:
    """The same for common moves and common regions."""
    return run_parts(GROUPS, rows, only)
