"""Balls and diamonds on trees: the closest centre whose whole room is good, to a small relative gap.

The driver around the kernels: quick incumbents, then best-first search in chunks, with a large-neighbourhood search now
and then; every candidate goes to the judge before it counts. A node is closed once the room at its nearest centre is
good up to a hair; that centre's cost is a proven bound, and a repaired copy of it is offered to the judge. The schedule
depends on numbers of nodes, never on time.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np

from elbowroom.errors import InputError
from elbowroom.models import TreeEnsemble
from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.problem import Distance, LinearRule, RecourseProblem, Shape
from elbowroom.result.certificate import Certificate, Counterexample, Verdict
from elbowroom.search.contract import Clock, Outcome, Referee
from elbowroom.search.trees.adversary import Stack
from elbowroom.search.trees.ball_boxes import box_centers
from elbowroom.search.trees.ball_descent import nearest_around
from elbowroom.search.trees.ball_entry import EXPAND, MEND, POLISH, PULL, run
from elbowroom.search.trees.ball_expand import CANDIDATE, EMPTY, FINE, FULL, PAUSED, STUCK
from elbowroom.search.trees.ball_geometry import Geometry
from elbowroom.search.trees.ball_incumbent import AGAIN
from elbowroom.search.trees.ball_regions import BallRegions, add_ball_region
from elbowroom.search.trees.ball_shared import one_hot_possible, push
from elbowroom.search.trees.ball_state import BOUNDS, CLOSED, NODES, Desk
from elbowroom.search.trees.ball_ties import regions_with, ways_out
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.nodes import FREE, OPEN_NODES, USED, Nodes
from elbowroom.search.trees.question import Layout, lay_out

GAP = 0.9 * TOLERANCES.continuous_gap  # a little less than promised: rounding must not lift the gap over it
ROUNDING = 1e-12  # relative: more than the rounding of a sum of costs
MAX_LEARNED = 20_000
MOST_TIES = 2000  # nodes that are settled by the judge alone
MOST_CALLS = 12  # of a kernel for one repair, and for pulling once
DIVES = 10
STARTS = 4  # earlier answers from which incumbents are pulled
REPAIRS = 6  # of the centre of a box, the first one plain, the others with noise
MOST_PROGRAMS = 20  # linear programs for one descent
WINDOW, SMALLEST_WINDOW = 0.5, 0.005  # semi-axes within which they are true enough
WORTH = 1e-6  # relative gain that makes another one worth while
FIRST_NODES = 200  # before the first large neighbourhood
NEIGHBOURHOOD_NODES = 200
MAIN_PER_NEIGHBOURHOOD = 5
POOL_BYTES = 2 * 2**30
STACK_BYTES = 64 * 2**20
SMALL_WORK = 50_000_000


def search_balls(
    problem: RecourseProblem, accept: Referee, clock: Clock, seed: int, memory: TreeMemory | None = None
) -> Outcome:
    """The closest certified ball or diamond, with both bounds; what the time limit allowed."""
    if not isinstance(problem.model, TreeEnsemble) or problem.walls.shape is Shape.BOX:
        raise TypeError("this engine answers questions about balls and diamonds on tree ensembles")
    if any(isinstance(rule, LinearRule) for rule in problem.rules):
        raise InputError(
            "LinearRule is not supported for balls and diamonds on trees; leave it out, or express it by bounds on "
            "single features"
        )
    if memory is None or not memory.fits(problem):
        memory = TreeMemory.of(problem)
    layout = lay_out(problem, memory.dimensions)
    if isinstance(layout, str):
        return Outcome(_method(problem), math.inf, reason=layout)
    search = _Search(problem, accept, clock, seed, memory, layout)
    try:
        search.run()
    finally:  # also when interrupted: what was learned stays true
        search.keep()
    return search.outcome()


def _method(problem: RecourseProblem) -> str:
    return f"{problem.walls.shape.value}s on trees: best-first over ranges"


def _float_nodes(capacity: int, n_dims: int) -> Nodes:
    """A pool of nodes whose ranges are values instead of positions."""
    low: Any = np.zeros((2, capacity, n_dims))
    return replace(Nodes.of(capacity, n_dims), low=low[0], high=low[1])


class _Search:
    """One run: the state of the kernels, the best accepted centre, and what is proven about all others."""

    def __init__(
        self, problem: RecourseProblem, accept: Referee, clock: Clock, seed: int, memory: TreeMemory, layout: Layout
    ) -> None:
        self.problem, self.accept, self.clock, self.memory, self.layout = problem, accept, clock, memory, layout
        self.seed = seed
        self.model, self.question = memory.ensemble, layout.question
        self.geometry = Geometry.of(problem, layout, memory.dimensions)
        self.n_dims, self.n_words = self.question.home.size, self.model.everything.size
        self.random = np.random.default_rng(seed)
        self.desk = Desk.of(self.model, self.n_dims, seed % 2**63)
        depth = int(np.clip(STACK_BYTES // (8 * (self.n_words + 2 * self.n_dims + 1)), 16, 1024))
        self.stack = Stack.of(depth, self.n_dims, self.n_words)
        # sub-ranges per call of the adversary: a fraction of a second also for the largest models
        self.adversary_limit = int(
            np.clip(SMALL_WORK // (self.n_words + self.model.segment_mask.size + 1), 500, 20_000)
        )
        self.regions = BallRegions.of(MAX_LEARNED, self.n_dims)
        self.nodes = _float_nodes(1024, self.n_dims)
        self.center: Floats | None = None
        self.certificate: Certificate | None = None
        self.best_x: Floats | None = None
        self.best = math.inf  # total cost of the best accepted centre
        self.closed = math.inf  # smallest key of a closed node
        self.bound = self.question.constant  # proven: no good centre in an open node has a smaller total cost
        self.proven = False
        self.reason = ""
        self.counters = {"neighbourhood_nodes": 0.0, "refused": 0.0, "repaired": 0.0}
        self.share, self.main_nodes, self.ties = 16, 0, 0
        self.root_low, self.root_high = self._root()
        for row in range(memory.rival.size):
            low, high = memory.low[row].astype(np.int64), memory.high[row].astype(np.int64)
            if one_hot_possible(self.question, low, high):
                add_ball_region(self.regions, self.geometry, low, high, int(memory.rival[row]), self.desk.bench.random)

    def _root(self) -> tuple[Floats, Floats]:
        """Limits of every dimension; a free group does not move."""
        low, high = self.geometry.lower.copy(), self.geometry.upper.copy()
        free = self.question.free_dim
        low[free] = high[free] = self.geometry.home[free]
        grouped = np.flatnonzero((self.geometry.rate == 0.0) & (self.geometry.kind == 1))
        low[grouped], high[grouped] = self.layout.root_low[grouped], self.layout.root_high[grouped]
        return low, high

    def run_kernel(self, task: int, nodes: Nodes, budget: float, noise: float, share: int) -> float:
        about = (self.model, self.question, self.geometry, self.regions)
        return run(task, *about, nodes, self.stack, self.desk, budget, noise, share, self.adversary_limit)

    @property
    def power(self) -> int:
        return 2 if self.problem.distance is Distance.L2 else 1

    # ---- the plan -----------------------------------------------------------------------------------------------------
    def run(self) -> None:
        if self.clock.expired:
            self.reason = "the time limit was reached before the search began"
            return
        if self.question.changes < 0:
            self.proven = True
            return
        self.dive()
        push(self.nodes, self.root_low, self.root_high, self.bound, 0)
        if not self.search_nodes(FIRST_NODES):
            return
        for center in box_centers(self.problem, self.accept, self.clock, self.seed, self.memory):
            for attempt in range(REPAIRS):
                if not self.clock.expired:
                    self.move_on(center[self.memory.dimensions.columns], 0.0 if attempt == 0 else 1.0)
        spent, size = 0, max(3, self.n_dims // 3)
        while True:
            target = max(FIRST_NODES, MAIN_PER_NEIGHBOURHOOD * spent)
            if not self.search_nodes(target):
                return
            used, finished = self.neighbourhood(size)
            spent += used
            size = min(self.n_dims, size + 1) if finished else max(3, size - 1)
            self.counters["neighbourhood_nodes"] = float(spent)

    def dive(self) -> None:
        """Quick incumbents: earlier answers, moved on where need be; greedy dives, the first one plain, then with noise."""
        for center in self.memory.nearest_centers(self.problem, STARTS):
            self.move_on(center[self.memory.dimensions.columns], 0.0)
        for attempt in range(DIVES):
            if self.clock.expired:
                return
            self.mend(self.root_low, self.root_high, 1.5 * self.best, 0.0 if attempt == 0 else 1.0)

    def move_on(self, x: Floats, noise: float) -> None:
        """Repair a centre without bringing any column nearer to home first, then pull it home."""
        home, x = self.geometry.home, np.clip(x, self.root_low, self.root_high)
        low, high = np.where(x > home, x, self.root_low), np.where(x < home, x, self.root_high)
        self.mend(low, high, 1.5 * self.best, noise)

    # ---- candidates ---------------------------------------------------------------------------------------------------
    def mend(self, low: Floats, high: Floats, budget: float, noise: float) -> bool:
        """Repair a node's nearest centre, pull it home, and offer it; True if it becomes the best."""
        trial = self.desk.trial
        trial.low[:], trial.high[:] = low, high
        total = AGAIN
        for _ in range(MOST_CALLS):
            if total == AGAIN and not self.clock.expired:
                total = self.run_kernel(MEND, self.nodes, budget, noise, 0)
        if total == AGAIN or total == math.inf:
            return False
        self.counters["repaired"] += 1
        for _ in range(MOST_CALLS):
            if self.clock.expired or self.run_kernel(PULL, self.nodes, budget, noise, 0) != AGAIN:
                break
        x = trial.x.copy()
        return self.total(x) < self.best and self.offer(x)

    def descend(self, start: Floats) -> bool:
        """Go down from a centre that is good, or good up to a hair, all columns at once; True if it becomes the best."""
        x, window, cost, better = start, WINDOW, math.inf, False
        for _ in range(MOST_PROGRAMS):
            y = None if self.clock.expired else nearest_around(self.geometry, self.regions, x, window)
            if y is None:
                break
            self.desk.trial.x[:] = y
            if self.run_kernel(POLISH, self.nodes, self.best, 0.0, 0) != 0.0:
                continue  # its bad regions are known now
            y = self.desk.trial.x.copy()
            total = self.total(y)
            if total >= cost * (1.0 - WORTH):
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
        verdict = self.accept(center)
        if not isinstance(verdict, Certificate):
            self.counters["refused"] += 1
            return verdict
        total = self.total(x)
        if total < self.best:
            self.best, self.best_x, self.center, self.certificate = total, x.copy(), center, verdict
            self.memory.remember(center)
            self.clock.report(lower_bound=self.lower_bound, best_distance=self.problem.measure(center))
        return verdict

    def offer(self, x: Floats) -> bool:
        """Ask the judge about a centre that should be good; if it is not, its bad cell is learned."""
        verdict = self.judge(x)
        if isinstance(verdict, Counterexample):
            cell = self.memory.dimensions.cells_of(verdict.point)
            add_ball_region(self.regions, self.geometry, cell, cell.copy(), 0, self.desk.bench.random)
        return isinstance(verdict, Certificate)

    @property
    def budget(self) -> float:
        """Totals from here on are not worth a search."""
        return self.best * (1.0 - GAP) ** self.power

    def advance(self, nodes: Nodes, share: int, main: bool) -> tuple[int, Nodes]:
        """Run the kernel once and do what it asks for; the nodes may have moved to a larger pool."""
        state = int(self.run_kernel(EXPAND, nodes, self.budget, 0.0, share))
        if state in (CANDIDATE, FINE):
            nodes = self.close(nodes, state == CANDIDATE, main)
        elif state == FULL and 4 * nodes.low.nbytes < POOL_BYTES:
            nodes = nodes.doubled()
        elif state == STUCK:
            self.adversary_limit *= 4
            if self.stack.low.shape[0] < self.adversary_limit:
                self.stack = Stack.of(2 * self.stack.low.shape[0], self.n_dims, self.n_words)
        return state, nodes

    def close(self, nodes: Nodes, good: bool, main: bool) -> Nodes:
        """The node on the desk is done with: its key is proven, and its nearest centre good up to a hair if ``good``.

        If a repaired copy of that centre is as near as makes no difference, nothing is left to do. Otherwise the judge
        is asked about the centre itself, and where it refuses, the node is split along its counterexample.
        """
        key, node = float(self.desk.bench.key[0]), self.desk.node
        low, high, x = node.low.copy(), node.high.copy(), node.x.copy()
        if good:
            self.desk.trial.x[:] = x
            if self.run_kernel(POLISH, self.nodes, self.best, 0.0, 0) == 0.0:
                polished = self.desk.trial.x.copy()
                if self.total(polished) < self.best:
                    self.offer(polished)
        if good and key < self.budget:
            self.descend(x)
        if key >= self.budget:
            return nodes
        if good and self.ties < MOST_TIES:
            self.ties += 1
            verdict = self.judge(x)
            if isinstance(verdict, Certificate):
                return nodes
            if isinstance(verdict, Counterexample):
                return self.split_tie(nodes, low, high, x, key, verdict.point[self.memory.dimensions.columns])
        if main:
            self.closed = min(self.closed, key)
        return nodes

    def split_tie(self, nodes: Nodes, low: Floats, high: Floats, x: Floats, key: float, point: Floats) -> Nodes:
        """Children of a node whose nearest centre x touches a bad region in ``point``; see `ball_ties`."""
        lone = _float_nodes(64, self.n_dims)
        push(lone, point, point, 0.0, 0)  # grows and stores bad regions around the point
        self.run_kernel(EXPAND, lone, math.inf, 0.0, 1)
        cell = self.memory.dimensions.cells_of(self.whole_point(point))
        add_ball_region(self.regions, self.geometry, cell, cell.copy(), 0, self.desk.bench.random)
        splits = [
            ways_out(self.geometry, self.regions.first[row], self.regions.last[row], low, high, x)
            for row in regions_with(self.regions, self.geometry, point)
        ]
        for child_low, child_high in min(splits, key=len):
            if nodes.count[USED] - nodes.count[FREE] + 8 > len(nodes.delays):
                nodes = nodes.doubled()
            push(nodes, child_low, child_high, key, 0)
        return nodes

    # ---- the searches -------------------------------------------------------------------------------------------------
    def search_nodes(self, target: int) -> bool:
        """The main search up to a number of nodes; False when the run is over."""
        while True:
            before, start = int(self.desk.bench.count[NODES]), time.perf_counter()
            share = max(1, min(self.share, target - self.main_nodes))
            state, self.nodes = self.advance(self.nodes, share, main=True)
            self.main_nodes += int(self.desk.bench.count[NODES]) - before
            seconds = time.perf_counter() - start
            if state == PAUSED and seconds < 0.05:
                self.share = min(2 * self.share, 100_000)
            elif seconds > 0.15:
                self.share = max(1, self.share // 2)
            if state == EMPTY:
                self.proven = True
                return False
            top = float(self.nodes.key[0]) if self.nodes.count[OPEN_NODES] else self.best
            self.bound = max(self.bound, min(top, self.best))
            self.clock.report(lower_bound=self.lower_bound)
            if state == FULL and self.nodes.count[USED] - self.nodes.count[FREE] + 8 > len(self.nodes.delays):
                self.reason = "the open nodes of the search fill the memory they may use"
                return False
            if self.clock.expired:
                self.reason = "the time limit was reached"
                return False
            if self.main_nodes >= target:
                return True

    def neighbourhood(self, size: int) -> tuple[int, bool]:
        """Some dimensions free, the others between home and the best centre; nodes used, and whether it was finished."""
        if self.best_x is None:
            return FIRST_NODES, False
        home = self.geometry.home
        low, high = np.minimum(home, self.best_x), np.maximum(home, self.best_x)
        free = self.random.choice(self.n_dims, min(self.n_dims, size), replace=False)
        low[free], high[free] = self.root_low[free], self.root_high[free]
        low, high = np.maximum(low, self.root_low), np.minimum(high, self.root_high)
        nodes = _float_nodes(256, self.n_dims)
        push(nodes, low, high, self.question.constant, 0)
        before = int(self.desk.bench.count[NODES])
        state = PAUSED
        while not self.clock.expired:
            left = NEIGHBOURHOOD_NODES - (int(self.desk.bench.count[NODES]) - before)
            if left <= 0:
                break
            state, nodes = self.advance(nodes, left, main=False)
            if state == EMPTY:
                break
        return max(1, int(self.desk.bench.count[NODES]) - before), state == EMPTY

    # ---- the end ------------------------------------------------------------------------------------------------------
    @property
    def lower_bound(self) -> float:
        """The proven bound as a distance, rounded down."""
        total = min(self.bound, self.budget, self.closed) * (1.0 - ROUNDING)
        return math.sqrt(total) if self.problem.distance is Distance.L2 else total

    def keep(self) -> None:
        n, r = int(self.regions.count[0]), self.regions
        self.memory.learn(r.low[:n], r.high[:n], r.rival[:n], r.uses[:n])

    def outcome(self) -> Outcome:
        if self.proven:
            self.bound = math.inf
        lower_bound = self.lower_bound
        shape = self.problem.walls.shape.value
        counters = {
            **self.counters,
            "nodes": float(self.desk.bench.count[NODES]),
            "bounds": float(self.desk.bench.count[BOUNDS]),
            "closed": float(self.desk.bench.count[CLOSED]),
            "sub_ranges": float(self.desk.bench.work[0]),
            "regions": float(self.regions.count[0]),
        }
        reason = self.reason
        if math.isinf(lower_bound):
            reason = f"every centre within the limits has a point of another class in its {shape}"
        elif self.proven and self.center is None:
            reason = f"centres whose {shape} is good up to a hair were found, but none that the judge accepts"
        return Outcome(
            _method(self.problem),
            lower_bound,
            self.center,
            self.certificate,
            reason,
            tolerance=TOLERANCES.continuous_gap,
            counters=counters,
        )
