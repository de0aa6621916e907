"""Candidates for balls and diamonds: where good centres come from, and how they become better.

Repairs and dives bring centres, pulls and descents better them; every one goes to the judge before it counts.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.result.certificate import Certificate
from elbowroom.search.trees.balls.calls import BallKernels
from elbowroom.search.trees.balls.candidates.descent import nearest_around
from elbowroom.search.trees.balls.candidates.from_boxes import box_centers
from elbowroom.search.trees.balls.candidates.repair import UNFINISHED
from elbowroom.search.trees.balls.limits import (
    DIVES,
    MOST_PROGRAMS,
    MOST_STEPS,
    REPAIRS,
    SMALLEST_WINDOW,
    STARTS,
    WINDOW,
    WORTH_A_PROGRAM,
)  # fmt: skip
from elbowroom.search.trees.drive import Drive


class Candidates:
    """Ways to better centres; the drive keeps the best one."""

    def __init__(self, drive: Drive, kernels: BallKernels) -> None:
        self._drive, self._kernels = drive, kernels
        drive.counters["repaired"] = 0.0

    # ---- where they come from -----------------------------------------------------------------------------------------
    def dive(self) -> None:
        """Quick incumbents: earlier answers, moved on where need be; greedy dives, the first one plain, then with noise."""
        drive, kernels = self._drive, self._kernels
        for center in drive.memory.nearest_centers(drive.problem, STARTS):
            self._move_on(center[drive.memory.dimensions.columns], 0.0)
        for attempt in range(DIVES):
            if drive.out_of_time:
                return
            self.mend(kernels.root_low, kernels.root_high, 1.5 * drive.best, 0.0 if attempt == 0 else 1.0)

    def from_boxes(self) -> None:
        """Repair the centres of the closest boxes, then go down from the best centre known."""
        drive = self._drive
        for center in box_centers(drive.problem, drive.referee, drive.clock, drive.seed, drive.memory):
            for attempt in range(REPAIRS):
                if not drive.out_of_time:
                    self._move_on(center[drive.memory.dimensions.columns], 0.0 if attempt == 0 else 1.0)
        if drive.best_x is not None:
            self.descend(drive.best_x)

    def _move_on(self, x: Floats, noise: float) -> None:
        """Repair a centre without bringing any column nearer to home first, then pull it home."""
        home, root_low, root_high = self._kernels.home, self._kernels.root_low, self._kernels.root_high
        x = np.clip(x, root_low, root_high)
        low, high = np.where(x > home, x, root_low), np.where(x < home, x, root_high)
        self.mend(low, high, 1.5 * self._drive.best, noise)

    # ---- how they become better ---------------------------------------------------------------------------------------
    def mend(self, low: Floats, high: Floats, budget: float, noise: float) -> bool:
        """Repair a node's nearest centre, pull it home, and offer it; True if it becomes the best."""
        drive, kernels, trial = self._drive, self._kernels, self._kernels.workspace.trial
        trial.low[:], trial.high[:] = low, high
        total = UNFINISHED
        for _ in range(MOST_STEPS // kernels.steps):
            if total == UNFINISHED and not drive.out_of_time:
                total = kernels.mend(budget, noise)
        if total == UNFINISHED or total == math.inf:
            return False
        drive.counters["repaired"] += 1
        for _ in range(MOST_STEPS // kernels.steps):
            if drive.out_of_time or kernels.pull() != UNFINISHED:
                break
        return self.offer(trial.x.copy())

    def descend(self, start: Floats) -> bool:
        """Go down from a centre that is good, or nearly so, all columns at once; True if it becomes the best."""
        drive, kernels = self._drive, self._kernels
        x, window, cost, better = start, WINDOW, math.inf, False
        for _ in range(MOST_PROGRAMS):
            y = None if drive.out_of_time else nearest_around(kernels.geometry, kernels.regions, x, window)
            if y is None:
                break
            y = kernels.polish(y)
            if y is None:
                continue  # its bad regions are known now
            total = kernels.total(y)
            if total >= cost * (1.0 - WORTH_A_PROGRAM):
                window /= 4.0
                if total >= cost or window < SMALLEST_WINDOW:
                    break
            if total < cost:
                x, cost = y, total
            better = self.offer(y) or better
        return better

    def offer(self, x: Floats) -> bool:
        """Ask the judge about a centre that is nearer than the best; True if it becomes the best."""
        return self._kernels.total(x) < self._drive.best and isinstance(self._drive.offer(x), Certificate)
