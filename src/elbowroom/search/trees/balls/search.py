"""Balls and diamonds on trees: the closest centre whose whole room is good, to a small relative gap.

A node is closed once the room at its nearest centre is good up to rounding; that centre's cost is a proven bound, and a
repaired copy of it is offered to the judge.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.problem import RecourseProblem
from elbowroom.result.certificate import Certificate, Counterexample
from elbowroom.search.contract import Clock, Ending, Referee
from elbowroom.search.trees.balls.calls import BallKernels
from elbowroom.search.trees.balls.candidates.descent import nearest_around
from elbowroom.search.trees.balls.candidates.from_boxes import box_centers
from elbowroom.search.trees.balls.limits import (
    ALLOWANCE,
    GAP,
    MOST_FRUITLESS,
    MOST_PROGRAMS,
    MOST_TIES,
    REPAIRS,
    RUNGS,
    SMALLEST_WINDOW,
    WINDOW,
    WORTH_A_PROGRAM,
)
from elbowroom.search.trees.balls.ties import regions_with, ways_out
from elbowroom.search.trees.cells.gradual import NOT_READY
from elbowroom.search.trees.drive import Drive, Known
from elbowroom.search.trees.heap import Nodes, push
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import lay_out
from elbowroom.search.trees.stop import STOP


def search_balls(
    problem: RecourseProblem, referee: Referee, clock: Clock, seed: int, memory: TreeMemory, known: Known | None = None
) -> Ending:
    """The closest certified ball or diamond, with both bounds; what the time limit allowed. ``known`` is what was accepted before
    the search."""
    method = f"{problem.walls.shape.value}s on trees: best-first over ranges"
    if not memory.ready(clock):
        return Ending(method, 0.0, NOT_READY, counters={"nodes": 0.0})
    layout = lay_out(problem, memory.dimensions)
    if isinstance(layout, str):
        return Ending(method, math.inf, layout)
    kernels = BallKernels(problem, clock, seed, memory, layout)
    if clock.diary is not None and known is None:
        clock.diary.append(kernels)
    closer, rungs = (1.0 - GAP) ** kernels.power, RUNGS**kernels.power
    drive = Drive(problem, referee, clock, seed, memory, kernels, closer, rungs=rungs)
    if known is not None:
        drive.start_from(known, known.center[memory.dimensions.columns])
    return drive.run(BallStrategy(method, drive, kernels))


class BallStrategy:
    """Dives and boxes bring candidates; nodes that are closed are polished, mended, and split where they tie."""

    tolerance = TOLERANCES.continuous_gap
    unaccepted = "candidates valid up to rounding were found, but the judge accepted none"

    def __init__(self, method: str, drive: Drive, kernels: BallKernels) -> None:
        self.method = method
        self._drive, self._kernels, self._candidates = drive, kernels, Candidates(drive, kernels)
        self._ties = self._fruitless = 0

    @property
    def waves(self) -> tuple[Callable[[], None], ...]:
        return self._candidates.dive, self._candidates.from_boxes

    def close(self, nodes: Nodes, stop: int, main: bool) -> Nodes:
        """The node in the workspace is done with: its key is proven, and its nearest centre is nearly good if it is a
        candidate.

        If a repaired copy of that centre is close enough to optimal, nothing is left to do. Otherwise the judge is asked
        about the centre itself, and where it refuses, the node is split along its counterexample.
        """
        drive, node = self._drive, self._kernels.workspace.node
        key, good = float(self._kernels.workspace.progress.key[0]), stop == STOP.CANDIDATE
        low, high, x = node.low.copy(), node.high.copy(), node.x.copy()
        if good:
            self._better(low, high, x, key)
        if key >= drive.budget:
            return nodes
        if good and self._ties < MOST_TIES and self._kernels.total(x) < drive.reach:
            self._ties += 1
            verdict = drive.judge(x)
            if isinstance(verdict, Certificate):
                return nodes
            if drive.hopes_for(verdict):
                if main:
                    drive.stop_at_tie(key)
                return nodes
            if isinstance(verdict, Counterexample):
                point = verdict.point[drive.memory.dimensions.columns]
                return self._split_tie(nodes, low, high, x, key, point)
        if main:
            drive.unsettled = min(drive.unsettled, key)
        return nodes

    def _better(self, low: Floats, high: Floats, x: Floats, key: float) -> None:
        """Make a good centre of one that is nearly good, in three ways, until one is close enough to optimal."""
        drive, candidates = self._drive, self._candidates
        polished = self._kernels.polish(x)
        if polished is not None:
            candidates.offer(polished)
        if key < drive.budget and self._fruitless < MOST_FRUITLESS:
            self._fruitless = 0 if candidates.descend(x) else self._fruitless + 1
        if key < drive.budget:
            candidates.mend(low, high, drive.best, 0.0)

    def _split_tie(self, nodes: Nodes, low: Floats, high: Floats, x: Floats, key: float, point: Floats) -> Nodes:
        """Children of a node whose nearest centre x touches a bad region in ``point``; see `ties`."""
        kernels = self._kernels
        kernels.learn_around(point)
        regions, geometry = kernels.regions, kernels.geometry
        splits = [
            ways_out(geometry, regions.first[row], regions.last[row], low, high, x)
            for row in regions_with(regions, geometry, point)
        ]
        for child_low, child_high in min(splits, key=len):
            if nodes.free_rows < kernels.schedule.rows_per_split:
                nodes = nodes.doubled()
            push(nodes, child_low, child_high, key, 0)
        return nodes


class Candidates:
    """Ways to better centres; the drive keeps the best one."""

    def __init__(self, drive: Drive, kernels: BallKernels) -> None:
        self._drive, self._kernels = drive, kernels

    # ---- where they come from -----------------------------------------------------------------------------------------
    def dive(self) -> None:
        """Quick incumbents: greedy dives, the first one plain, then with noise."""
        drive, kernels = self._drive, self._kernels
        found = kernels.dive(0, drive.best, drive.best_x)
        while found is not None:
            number, x = found
            drive.offer(x)
            found = kernels.dive(number + 1, drive.best, drive.best_x)

    def from_boxes(self) -> None:
        """Repair the centres of the closest boxes, then go down from the best centre known."""
        drive, kernels = self._drive, self._kernels
        for center in box_centers(drive.problem, drive.referee, drive.clock, drive.seed, drive.memory, drive.known):
            for attempt in range(REPAIRS):
                if not kernels.out_of_time:
                    self._move_on(center[drive.memory.dimensions.columns], 0.0 if attempt == 0 else 1.0)
        if drive.best_x is not None:
            self.descend(drive.best_x)

    def _move_on(self, x: Floats, noise: float) -> None:
        """Repair a centre without bringing any column nearer to home first, then pull it home."""
        home, root_low, root_high = self._kernels.home, self._kernels.root_low, self._kernels.root_high
        x = np.clip(x, root_low, root_high)
        low, high = np.where(x > home, x, root_low), np.where(x < home, x, root_high)
        self.mend(low, high, ALLOWANCE * self._drive.best, noise)

    # ---- how they become better ---------------------------------------------------------------------------------------
    def mend(self, low: Floats, high: Floats, budget: float, noise: float) -> bool:
        """Repair a node's nearest centre, pull it home, and offer it; True if it becomes the best."""
        x = self._kernels.mend(low, high, budget, noise)
        return x is not None and self.offer(x)

    def descend(self, start: Floats) -> bool:
        """Go down from a centre that is good, or nearly so, all columns at once; True if it becomes the best."""
        kernels = self._kernels
        x, window, cost, better = start, WINDOW, math.inf, False
        for _ in range(MOST_PROGRAMS):
            y = None if kernels.out_of_time else nearest_around(kernels.geometry, kernels.regions, x, window)
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
