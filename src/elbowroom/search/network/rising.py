"""Simplices with cutoffs that grow towards the best distance.

Bounds on a simplex lose with its size. A small one is closed by a few cuts, which proves its size as a bound; the next one is
larger. The first one that is not closed soon goes on, best first, for as long as that raises its bound.
"""

from __future__ import annotations

import numpy as np

from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.first_regions import FirstRegions
from elbowroom.search.network.limits import (
    ALMOST_THE_BEST,
    FARTHEST,
    FAST_CUTOFF,
    FIRST_CUTOFF,
    FIRST_SIMPLICES,
    KICKS_BETWEEN,
    MOST_SIMPLICES,
    SHORTEST_CUTOFF,
    SLOW_CUTOFF,
)
from elbowroom.search.network.simplices import Simplices


class Rising:
    """One cutoff after the other. ``farthest``: no centre within the limits is farther away."""

    def __init__(self, search: NetworkSearch, regions: FirstRegions, farthest: float) -> None:
        self.search, self.regions, self.farthest = search, regions, farthest
        self.closed = False  # nothing closer than the best is left, or nothing at all
        self.cutoff = FIRST_CUTOFF * max(search.lower_bound, SHORTEST_CUTOFF * regions.penalty.length)
        self.simplices: Simplices | None = None
        self._kick_in, self._patience = 1, 1  # runs of simplices until the best centre is kicked again

    def go_on(self, nodes: int) -> bool:
        """So many more simplices, at most; True if all is closed."""
        search = self.search
        if self.closed or search.clock.expired or self.cutoff > FARTHEST:
            return self.closed
        if self.simplices is None:
            if self.cutoff * ALMOST_THE_BEST >= search.best_distance:
                self.cutoff = search.best_distance
            self.simplices = Simplices(search, self.regions, self.cutoff)
        if self.simplices.run(nodes):
            if search.best_distance <= self.cutoff:
                self.closed = True
            elif self.cutoff >= self.farthest:
                search.prove(np.inf)
                self.closed = True
            self.cutoff *= FAST_CUTOFF if self.simplices.nodes < FIRST_SIMPLICES else SLOW_CUTOFF
            self.simplices = None
        return self.closed

    def while_it_rises(self, hardly: float) -> bool:
        """Twice as many each time, kicks in between, until that raises the bound by less than a share of the distance; True if all
        is closed."""
        search = self.search
        while not search.clock.expired and self.cutoff <= FARTHEST:
            done, before = (self.simplices.nodes, self.simplices.bound) if self.simplices is not None else (0, 0.0)
            for _ in range(max(1, done // MOST_SIMPLICES)):
                if self.go_on(min(max(FIRST_SIMPLICES, done), MOST_SIMPLICES)):
                    return True
                if self.simplices is None:
                    break
                self._kick()
            if self.simplices is None:
                continue
            if self.simplices.bound - before < hardly * min(self.cutoff, search.best_distance):
                break
        return self.closed

    def _kick(self) -> None:
        """Kick the best centre now and then: twice as seldom after kicks in vain, at once again after a success."""
        self._kick_in -= 1
        if self._kick_in <= 0:
            self._patience = 1 if self.regions.improve(KICKS_BETWEEN) else 2 * self._patience
            self._kick_in = self._patience
