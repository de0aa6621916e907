"""Candidates for balls and diamonds: where good centres come from, and how they become the best one.

Repairs and dives bring centres, pulls and descents better them; every one goes to the judge before it counts.
"""

from __future__ import annotations

import math

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.result.certificate import Certificate, Counterexample, Verdict
from elbowroom.search.contract import Clock, Referee
from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.bad.one_hot import one_hot_possible
from elbowroom.search.trees.balls.bounds.pushed import question_of_cells
from elbowroom.search.trees.balls.candidates.descent import nearest_around
from elbowroom.search.trees.balls.candidates.repair import UNFINISHED
from elbowroom.search.trees.balls.geometry import KIND, Geometry
from elbowroom.search.trees.balls.kernels import TASK, run
from elbowroom.search.trees.balls.limits import (
    DIVES,
    GAP,
    MAX_LEARNED,
    MOST_IN_RESERVE,
    MOST_PROGRAMS,
    MOST_STEPS,
    SMALLEST_WINDOW,
    STARTS,
    STEPS_AT_ONCE,
    WINDOW,
    WORTH_A_PROGRAM,
)
from elbowroom.search.trees.balls.regions import BallRegions, add_ball_region
from elbowroom.search.trees.balls.workspace import Workspace
from elbowroom.search.trees.heap import Nodes
from elbowroom.search.trees.limits import ROUNDING, SMALL_WORK, STACK_BYTES
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import Layout


class Candidates:
    """The state of the kernels, the best accepted centre, and ways to better ones."""

    def __init__(
        self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int, memory: TreeMemory, layout: Layout
    ) -> None:
        self.problem, self.referee, self.clock, self.memory, self.layout = problem, referee, clock, memory, layout
        self.seed = seed
        self.model, self.question = memory.ensemble, layout.question
        self.geometry = Geometry.of(problem, layout, memory.dimensions)
        self.n_dims, self.n_words = self.question.home.size, self.model.everything.size
        self.random = np.random.default_rng(seed)
        self.workspace = Workspace.of(self.model, question_of_cells(self.question, self.geometry), seed % 2**63)
        depth = int(np.clip(STACK_BYTES // (8 * (self.n_words + 2 * self.n_dims + 1)), 16, 1024))
        self.stack = Stack.of(depth, self.n_dims, self.n_words)
        # sub-ranges per call of the adversary: a fraction of a second also for the largest models
        self.adversary_limit = int(
            np.clip(SMALL_WORK // (self.n_words + self.model.segment_mask.size + 1), 500, 20_000)
        )
        growing = 10 * self.n_dims**2 * self.n_words  # of one bad region: most of a step
        self.steps = int(np.clip(SMALL_WORK // (growing + 1), 10, STEPS_AT_ONCE))
        self.regions = BallRegions.of(MAX_LEARNED, self.geometry)
        self.nodes = Nodes.of(1024, self.n_dims, np.float64)
        self.best_x: Floats | None = None
        self.best = math.inf  # total cost of the best accepted centre
        self.closed = math.inf  # smallest key of a closed node
        self.bound = self.question.constant  # proven: no good centre in an open node has a smaller total cost
        self.proven = False
        self.longest_call = 0.0  # seconds
        self.reason = ""
        self.counters = {"neighbourhood_nodes": 0.0, "refused": 0.0, "repaired": 0.0}
        self.share, self.main_nodes, self.ties, self.fruitless = 1, 0, 0, 0
        self.root_low, self.root_high = self._root()
        for row in range(memory.rival.size):
            low, high = memory.low[row].astype(np.int64), memory.high[row].astype(np.int64)
            if one_hot_possible(self.question, low, high):
                add_ball_region(
                    self.regions, self.geometry, low, high, int(memory.rival[row]), self.workspace.progress.random
                )

    def _root(self) -> tuple[Floats, Floats]:
        """Limits of every dimension; a free group does not move."""
        low, high = self.geometry.lower.copy(), self.geometry.upper.copy()
        free = self.question.free_dim
        low[free] = high[free] = self.geometry.home[free]
        grouped = np.flatnonzero((self.geometry.rate == 0.0) & (self.geometry.kind == KIND.STILL))
        low[grouped], high[grouped] = self.layout.root_low[grouped], self.layout.root_high[grouped]
        return low, high

    def run_kernel(self, task: int, nodes: Nodes, budget: float, noise: float, share: int) -> float:
        about, began = (self.model, self.question, self.geometry, self.regions), self.clock.seconds
        answer = run(task, *about, nodes, self.stack, self.workspace, budget, noise, share, self.adversary_limit)
        self.longest_call = max(self.longest_call, self.clock.seconds - began)
        return answer

    @property
    def out_of_time(self) -> bool:
        """True if another call of a kernel may pass the time limit: none is interrupted."""
        return self.clock.remaining <= min(self.longest_call, MOST_IN_RESERVE * self.clock.time_limit)

    @property
    def power(self) -> int:
        return 2 if self.problem.distance is Distance.L2 else 1

    def dive(self) -> None:
        """Quick incumbents: earlier answers, moved on where need be; greedy dives, the first one plain, then with noise."""
        for center in self.memory.nearest_centers(self.problem, STARTS):
            self.move_on(center[self.memory.dimensions.columns], 0.0)
        for attempt in range(DIVES):
            if self.out_of_time:
                return
            self.mend(self.root_low, self.root_high, 1.5 * self.best, 0.0 if attempt == 0 else 1.0)

    def move_on(self, x: Floats, noise: float) -> None:
        """Repair a centre without bringing any column nearer to home first, then pull it home."""
        home, x = self.geometry.home, np.clip(x, self.root_low, self.root_high)
        low, high = np.where(x > home, x, self.root_low), np.where(x < home, x, self.root_high)
        self.mend(low, high, 1.5 * self.best, noise)

    def mend(self, low: Floats, high: Floats, budget: float, noise: float) -> bool:
        """Repair a node's nearest centre, pull it home, and offer it; True if it becomes the best."""
        trial = self.workspace.trial
        trial.low[:], trial.high[:] = low, high
        total = UNFINISHED
        for _ in range(MOST_STEPS // self.steps):
            if total == UNFINISHED and not self.out_of_time:
                total = self.run_kernel(TASK.MEND, self.nodes, budget, noise, self.steps)
        if total == UNFINISHED or total == math.inf:
            return False
        self.counters["repaired"] += 1
        for _ in range(MOST_STEPS // self.steps):
            if self.out_of_time or self.run_kernel(TASK.PULL, self.nodes, budget, noise, self.steps) != UNFINISHED:
                break
        x = trial.x.copy()
        return self.total(x) < self.best and self.offer(x)

    def descend(self, start: Floats) -> bool:
        """Go down from a centre that is good, or good up to a hair, all columns at once; True if it becomes the best."""
        x, window, cost, better = start, WINDOW, math.inf, False
        for _ in range(MOST_PROGRAMS):
            y = None if self.out_of_time else nearest_around(self.geometry, self.regions, x, window)
            if y is None:
                break
            self.workspace.trial.x[:] = y
            if self.run_kernel(TASK.POLISH, self.nodes, self.best, 0.0, self.steps) != 0.0:
                continue  # its bad regions are known now
            y = self.workspace.trial.x.copy()
            total = self.total(y)
            if total >= cost * (1.0 - WORTH_A_PROGRAM):
                window /= 4.0
                if total >= cost or window < SMALLEST_WINDOW:
                    break
            if total < cost:
                x, cost = y, total
            if total < self.best:
                better = self.offer(y) or better
        return better

    def total(self, x: Floats) -> float:
        """Total cost of a centre, as the kernels add it up: squares for the Euclidean distance."""
        return self.problem.measure(self.whole_point(x)) ** self.power

    def whole_point(self, x: Floats) -> Floats:
        """The centre in all columns of the model."""
        center = self.layout.idle.copy()
        center[self.memory.dimensions.columns] = x
        return center + 0.0

    def judge(self, x: Floats) -> Verdict:
        """Ask the judge about a centre; an accepted one that is better than the best becomes the best."""
        center = self.whole_point(x)
        verdict = self.referee(center)
        if not isinstance(verdict, Certificate):
            self.counters["refused"] += 1
            return verdict
        total = self.total(x)
        if total < self.best:
            self.best, self.best_x = total, x.copy()
            self.memory.remember(center)
            self.clock.report(lower_bound=self.lower_bound, best_distance=self.problem.measure(center))
        return verdict

    def offer(self, x: Floats) -> bool:
        """Ask the judge about a centre that should be good; if it is not, its bad cell is learned."""
        verdict = self.judge(x)
        if isinstance(verdict, Counterexample):
            cell = self.memory.dimensions.cells_of(verdict.point)
            add_ball_region(self.regions, self.geometry, cell, cell.copy(), 0, self.workspace.progress.random)
        return isinstance(verdict, Certificate)

    @property
    def budget(self) -> float:
        """Totals from here on are not worth a search."""
        return self.best * (1.0 - GAP) ** self.power

    @property
    def lower_bound(self) -> float:
        """The proven bound as a distance, rounded down."""
        total = min(self.bound, self.budget, self.closed) * (1.0 - ROUNDING)
        return math.sqrt(total) if self.problem.distance is Distance.L2 else total
