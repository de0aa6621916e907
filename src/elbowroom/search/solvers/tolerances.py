"""Every epsilon of Algorithm 1 and of its solvers, in one place.

None of them can make a region valid or a bound false: the judge decides about centres, weak duality about bounds. They
decide how often a candidate is spoiled by rounding, and how near to the optimum it lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Epsilons:
    """All relative, unless stated otherwise."""

    # what is asked of a solver
    mip_gap: float = 1e-7
    mip_gap_absolute: float = 1e-10
    feasibility: float = 1e-9
    feasibility_scip: float = 1e-7  # tighter ones make its LP solver give up
    smallest_coefficient: float = 1e-12  # HiGHS drops what is smaller; absolute
    norm_row: float = 1e-7  # violation of a norm row that needs another tangent; what is left is repaired or judged
    least_norm: float = 1e-9  # what a norm is measured against, at least; absolute
    # what a candidate must hold beyond the question, so that rounding cannot spoil it; grows when it does
    first_extra: float = 1e-7  # margin, as a share of the deficit of the factual (linear models, networks)
    most_extra: float = 1e-2
    first_distance: float = 1e-7  # distance from the hyperplanes of oblique splits, in units of the room
    most_distance: float = 1e-3
    extra_step: float = 10.0
    stretch_trees: float = 1e-5  # how much longer the shifts of balls and diamonds are
    stretch_oblique: float = 1e-6
    # the adversary
    below_slack: float = (
        1e-9  # a bad sum of leaves is asked to be below the slack by this share; the judge finds the rest
    )
    # candidates
    unmoved: float = 1e-9  # columns that moved less than this share of the largest move are put back
    farther: float = 1e-3  # how far beyond the best known distance the master still looks
    # the proof of the lower bound
    rounding: float = 1e-12  # given away for the rounding of distances and costs
    close_enough: float = 1e-9  # the proof stops this near to the known distance
    outwards: float = 1e-9  # bounds of columns are wider by this
    whole: float = 1e-10  # a column this near to a whole number is not branched on; absolute
    tangent: float = 1e-6  # violation of a norm row that is worth a tangent


EPSILONS: Final = Epsilons()
