"""The kernels for balls and diamonds, as Python calls them."""

from __future__ import annotations

import math
import time

import numpy as np
import numpy.typing as npt

from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.search.contract import Clock
from elbowroom.search.trees.balls.candidates.repair import UNFINISHED
from elbowroom.search.trees.balls.geometry import KIND
from elbowroom.search.trees.balls.kernels import REPAIRED, TASK, run
from elbowroom.search.trees.balls.limits import (
    ALLOWANCE,
    CHILDREN,
    DIVES,
    FIRST_NODES,
    MAX_LEARNED,
    MOST_STEPS,
    NEIGHBOURHOOD_NODES,
    STEPS_AT_ONCE,
)  # fmt: skip
from elbowroom.search.trees.balls.measure import geometry_of
from elbowroom.search.trees.balls.regions import BallRegions, add_ball_region
from elbowroom.search.trees.balls.workspace import COUNT, Workspace
from elbowroom.search.trees.drive import Schedule
from elbowroom.search.trees.heap import Nodes, push
from elbowroom.search.trees.limits import MOST_IN_RESERVE, SMALL_WORK
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import Layout
from elbowroom.search.trees.scratch import Adversary


class BallKernels:
    """The arrays that the kernels for balls and diamonds work on; centres are values."""

    kind: npt.DTypeLike = np.float64

    def __init__(self, problem: RecourseProblem, clock: Clock, seed: int, memory: TreeMemory, layout: Layout) -> None:
        self.memory, self.layout = memory, layout
        self._measure, self._factual = problem.metric, problem.factual
        self.power = 2 if problem.distance is Distance.L2 else 1
        self._deadline, self._reserve = clock.deadline, MOST_IN_RESERVE * clock.time_limit
        self.model, self.question = memory.ensemble.for_one_search(), layout.question
        self.geometry = geometry_of(problem, layout, memory.dimensions)
        self.home = self.geometry.home
        self.root_low, self.root_high = self._root()
        n_dims, n_words = self.home.size, self.model.everything.size
        self.workspace = Workspace.of(self.model, self.question, self.geometry, seed % 2**63)
        self.adversary = Adversary(self.model, n_dims)
        growing = 10 * n_dims**2 * n_words  # of one bad region: most of a step
        self.steps = int(np.clip(SMALL_WORK // (growing + 1), 10, STEPS_AT_ONCE))
        self.schedule = Schedule(
            first_nodes=FIRST_NODES,
            neighbourhood_nodes=NEIGHBOURHOOD_NODES,
            first_share=1,
            rows_per_split=CHILDREN + 2 * n_dims,
            rows_of_neighbourhood=256 + 4 * n_dims,
        )
        self.regions = BallRegions.of(MAX_LEARNED, self.geometry)
        self._longest_call = 0.0  # seconds
        self._repaired = 0
        self._no_nodes = Nodes.of(1, n_dims, np.float64)  # for tasks that have nothing to do with nodes

    def _root(self) -> tuple[Floats, Floats]:
        """Limits of every dimension; a free group does not move."""
        low, high = self.geometry.lower.copy(), self.geometry.upper.copy()
        free = self.question.free_dim
        low[free] = high[free] = self.geometry.home[free]
        grouped = np.flatnonzero((self.geometry.rate == 0.0) & (self.geometry.kind == KIND.STILL))
        low[grouped], high[grouped] = self.layout.root_low[grouped], self.layout.root_high[grouped]
        return low, high

    @property
    def out_of_time(self) -> bool:
        """True if another call may pass the time limit: none is interrupted, so the longest one is held in reserve."""
        return self._deadline - time.perf_counter() <= min(self._longest_call, self._reserve)

    # ---- nodes --------------------------------------------------------------------------------------------------------
    @property
    def nodes(self) -> int:
        return int(self.workspace.progress.count[COUNT.NODES])

    @property
    def held_key(self) -> float:
        """A dive goes on with a node that is in no heap."""
        progress = self.workspace.progress
        return float(progress.key[1]) if progress.dive[0] > 0 else math.inf

    def drop_held(self) -> None:
        self.workspace.progress.dive[0] = 0

    def expand(self, nodes: Nodes, budget: float, share: int, main: bool = True) -> int:
        return int(self.run(TASK.EXPAND, nodes, budget, 0.0, share))

    def look_longer(self) -> None:
        self.adversary.look_longer()

    def run(self, task: int, nodes: Nodes, budget: float, noise: float, share: int) -> float:
        began = time.perf_counter()
        about = self.model, self.question, self.geometry, self.regions, nodes, self.adversary.stack, self.workspace
        answer = float(run(task, *about, budget, noise, share, self.adversary.limit))
        self._longest_call = max(self._longest_call, time.perf_counter() - began)
        return answer

    # ---- candidates ---------------------------------------------------------------------------------------------------
    def mend(self, low: Floats, high: Floats, budget: float, noise: float) -> Floats | None:
        """Repair the nearest centre of a node and pull it home, as far as time allows; None if it cannot be repaired."""
        trial, calls = self.workspace.trial, MOST_STEPS // self.steps
        trial.low[:], trial.high[:] = low, high
        total = UNFINISHED
        for _ in range(calls):
            if total == UNFINISHED and not self.out_of_time:
                total = self.run(TASK.MEND, self._no_nodes, budget, noise, self.steps)
        if total == UNFINISHED or total == math.inf:
            return None
        for _ in range(calls - 1):
            if total == REPAIRED and not self.out_of_time:
                pulled = self.run(TASK.PULL, self._no_nodes, 0.0, 0.0, self.steps)
                total = REPAIRED if pulled == UNFINISHED else 0.0
        self._repaired += 1
        return trial.x.copy()

    def dive(self, first: int, best: float, best_x: Floats | None) -> tuple[int, Floats] | None:
        """Dives from the root, from number ``first`` on, the first one of all plain, the others with noise, until one ends
        at a centre that costs less than the best: its number and that centre. Most end where an earlier one did."""
        for number in range(first, DIVES):
            if self.out_of_time:
                return None
            x = self.mend(self.root_low, self.root_high, ALLOWANCE * best, 0.0 if number == 0 else 1.0)
            if x is None or (best_x is not None and np.array_equal(x, best_x)):
                continue
            if self.total(x) < best:
                return number, x
        return None

    def polish(self, x: Floats) -> Floats | None:
        """Push a centre away from the regions it touches; None if its room is not good then."""
        self.workspace.trial.x[:] = x
        good = self.run(TASK.POLISH, self._no_nodes, 0.0, 0.0, self.steps) == 0.0
        return self.workspace.trial.x.copy() if good else None

    def learn_around(self, point: Floats) -> None:
        """Grow and store bad regions around a bad point, and its cell."""
        lone = Nodes.of(2 * self.schedule.rows_per_split, self.home.size, np.float64)
        push(lone, point, point, 0.0, 0)
        self.expand(lone, math.inf, 1)
        self.drop_held()
        self.learn_cells(*self.memory.dimensions.bad_range(self.center(point)))

    # ---- centres and regions ------------------------------------------------------------------------------------------
    def total(self, x: Floats) -> float:
        return self._measure(self._factual, self.center(x)) ** self.power

    def center(self, x: Floats) -> Floats:
        center = self.layout.idle.copy()
        center[self.memory.dimensions.columns] = x
        return center + 0.0

    def learn_cells(self, low: Ints, high: Ints) -> None:
        self._learn(low, high, 0)

    def _learn(self, low: Ints, high: Ints, rival: int) -> None:
        add_ball_region(self.regions, self.geometry, low, high, rival, self.workspace.progress.random)

    def counters(self) -> dict[str, float]:
        progress = self.workspace.progress
        return {
            "nodes": float(progress.count[COUNT.NODES]),
            "bounds": float(progress.count[COUNT.BOUNDS]),
            "closed": float(progress.count[COUNT.CLOSED]),
            "sub_ranges": float(progress.work[0]),
            "regions": float(self.regions.count[0]),
            "repaired": float(self._repaired),
        }
