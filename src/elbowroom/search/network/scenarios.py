"""Scenarios: points that every region must contain, as functions of its centre.

A shift s of the room (and a category for each free one-hot group) gives the point y_s(x) = clip(x + s) of the region
around x, whatever x is: clipping to the limits moves a point towards a centre that lies inside them. So the condition
margin(y_s(x)) >= 0 holds for every valid centre, and a finite pool of scenarios gives a relaxation.
"""

from __future__ import annotations

import numpy as np

from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.problem import RecourseProblem
from elbowroom.search.network.limits import SAME_SHIFT


class Scenarios:
    """A growing pool of shifts. ``pinned`` holds the values of free categories and NaN where y follows x."""

    def __init__(self, problem: RecourseProblem) -> None:
        self.lower, self.upper = problem.lower, problem.upper
        free = [problem.space.members[g] for g in problem.walls.free_groups]
        self.free = np.zeros(problem.factual.size, dtype=bool)
        for members in free:
            self.free[members] = True
        self._resolution = SAME_SHIFT * np.maximum(
            np.maximum(problem.walls.up, problem.walls.down), np.finfo(float).tiny
        )
        self.shift = np.zeros((0, problem.factual.size))
        self.pinned = np.zeros((0, problem.factual.size))
        start = problem.factual.copy()
        for members in free:  # the first allowed category; the attack finds the others
            allowed = members[self.upper[members] >= 1.0]
            if allowed.size and self.upper[members[np.argmax(start[members])]] < 1.0:
                start[members] = 0.0
                start[allowed[0]] = 1.0
        self.add(start, start)

    def __len__(self) -> int:
        return len(self.shift)

    def add(self, center: Floats, point: Floats) -> int:
        """Remember the point of the region around ``center`` as a scenario; its number, old or new."""
        shift = np.where(self.free, 0.0, point - center)
        pinned = np.where(self.free, point, np.nan)
        if len(self.shift):
            same = (np.abs(self.shift - shift) <= self._resolution).all(axis=1)
            same &= (self.pinned[:, self.free] == pinned[self.free]).all(axis=1)
            if same.any():
                return int(np.argmax(same))
        self.shift = np.vstack([self.shift, shift])
        self.pinned = np.vstack([self.pinned, pinned])
        return len(self.shift) - 1

    def keep(self, which: Ints) -> None:
        """Forget all others."""
        self.shift, self.pinned = self.shift[which], self.pinned[which]

    def points(self, center: Floats, which: Ints | slice = slice(None)) -> Floats:
        """y_s(center) for the chosen scenarios."""
        moved = np.clip(center + self.shift[which], self.lower, self.upper)
        return np.where(self.free, self.pinned[which], moved)

    def following(self, center: Floats, which: Ints | slice = slice(None)) -> Bools:
        """Where y_s moves with x at this centre: neither clipped nor pinned."""
        moved = center + self.shift[which]
        return np.asarray((moved >= self.lower) & (moved <= self.upper) & ~self.free)
