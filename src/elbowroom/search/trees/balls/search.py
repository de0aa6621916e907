"""Balls and diamonds on trees: the closest centre whose whole room is good, to a small relative gap.

The driver around the kernels: quick incumbents, then best-first search in chunks, with a large-neighbourhood search now
and then; every candidate goes to the judge before it counts. A node is closed once the room at its nearest centre is
good up to a hair; that centre's cost is a proven bound, and a repaired copy of it is offered to the judge. The schedule
depends on numbers of nodes, never on time.
"""

from __future__ import annotations

import math
import time

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.numerics import TOLERANCES, Floats
from elbowroom.problem import RecourseProblem
from elbowroom.result.certificate import Certificate, Counterexample
from elbowroom.search.contract import Clock, Ending, Referee
from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.balls.candidates.candidates import Candidates
from elbowroom.search.trees.balls.candidates.from_boxes import box_centers
from elbowroom.search.trees.balls.kernels import TASK
from elbowroom.search.trees.balls.limits import FIRST_NODES, MOST_FRUITLESS, MOST_TIES, NEIGHBOURHOOD_NODES, REPAIRS
from elbowroom.search.trees.balls.regions import add_ball_region
from elbowroom.search.trees.balls.ties import regions_with, ways_out
from elbowroom.search.trees.balls.workspace import COUNT
from elbowroom.search.trees.heap import HEAP, Nodes, push
from elbowroom.search.trees.limits import MAIN_PER_NEIGHBOURHOOD, POOL_BYTES
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import lay_out
from elbowroom.search.trees.stop import STOP


def search_balls(
    problem: RecourseProblem, referee: Referee, clock: Clock, seed: int, memory: TreeMemory | None = None
) -> Ending:
    """The closest certified ball or diamond, with both bounds; what the time limit allowed."""
    if not isinstance(problem.model, TreeEnsemble):
        raise TypeError("this engine answers questions about balls and diamonds on tree ensembles")
    if memory is None or not memory.fits(problem):
        memory = TreeMemory.of(problem)
    layout = lay_out(problem, memory.dimensions)
    if isinstance(layout, str):
        return Ending(_method(problem), math.inf, layout)
    search = _Search(problem, referee, clock, seed, memory, layout)
    try:
        search.run()
    finally:  # also when interrupted: what was learned stays true
        search.keep()
    return search.ending()


def _method(problem: RecourseProblem) -> str:
    return f"{problem.walls.shape.value}s on trees: best-first over ranges"


class _Search(Candidates):
    """One run: candidates, and what is proven about all other centres."""

    def run(self) -> None:
        if self.out_of_time:
            self.reason = "the time limit was reached before the search began"
            return
        if self.question.changes < 0:
            self.proven = True
            return
        self.dive()
        push(self.nodes, self.root_low, self.root_high, self.bound, 0)
        if not self.search_nodes(FIRST_NODES):
            return
        for center in box_centers(self.problem, self.referee, self.clock, self.seed, self.memory):
            for attempt in range(REPAIRS):
                if not self.out_of_time:
                    self.move_on(center[self.memory.dimensions.columns], 0.0 if attempt == 0 else 1.0)
        if self.best_x is not None:
            self.descend(self.best_x)
        spent, size = 0, max(3, self.n_dims // 3)
        while True:
            target = max(FIRST_NODES, MAIN_PER_NEIGHBOURHOOD * spent)
            if not self.search_nodes(target):
                return
            used, finished = self.neighbourhood(size)
            spent += used
            size = min(self.n_dims, size + 1) if finished else max(3, size - 1)
            self.counters["neighbourhood_nodes"] = float(spent)

    def advance(self, nodes: Nodes, share: int, main: bool) -> tuple[int, Nodes]:
        """Run the kernel once and do what it asks for; the nodes may have moved to a larger pool."""
        state = int(self.run_kernel(TASK.EXPAND, nodes, self.budget, 0.0, share))
        if state in (STOP.CANDIDATE, STOP.FINE):
            nodes = self.close(nodes, state == STOP.CANDIDATE, main)
        elif state == STOP.FULL and 4 * nodes.low.nbytes < POOL_BYTES:
            nodes = nodes.doubled()
        elif state == STOP.STUCK:
            self.adversary_limit *= 4
            if self.stack.low.shape[0] < self.adversary_limit:
                self.stack = Stack.of(2 * self.stack.low.shape[0], self.n_dims, self.n_words)
        return state, nodes

    def close(self, nodes: Nodes, good: bool, main: bool) -> Nodes:
        """The node on the workspace is done with: its key is proven, and its nearest centre good up to a hair if ``good``.

        If a repaired copy of that centre is as near as makes no difference, nothing is left to do. Otherwise the judge
        is asked about the centre itself, and where it refuses, the node is split along its counterexample.
        """
        key, node = float(self.workspace.progress.key[0]), self.workspace.node
        low, high, x = node.low.copy(), node.high.copy(), node.x.copy()
        if good:
            self.workspace.trial.x[:] = x
            if self.run_kernel(TASK.POLISH, self.nodes, self.best, 0.0, self.steps) == 0.0:
                polished = self.workspace.trial.x.copy()
                if self.total(polished) < self.best:
                    self.offer(polished)
        if good and key < self.budget and self.fruitless < MOST_FRUITLESS:
            self.fruitless = 0 if self.descend(x) else self.fruitless + 1
        if good and key < self.budget:
            self.mend(low, high, self.best, 0.0)
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
        lone = Nodes.of(64, self.n_dims, np.float64)
        push(lone, point, point, 0.0, 0)  # grows and stores bad regions around the point
        self.run_kernel(TASK.EXPAND, lone, math.inf, 0.0, 1)
        self.workspace.progress.dive[0] = 0
        cell = self.memory.dimensions.cells_of(self.whole_point(point))
        add_ball_region(self.regions, self.geometry, cell, cell.copy(), 0, self.workspace.progress.random)
        splits = [
            ways_out(self.geometry, self.regions.first[row], self.regions.last[row], low, high, x)
            for row in regions_with(self.regions, self.geometry, point)
        ]
        for child_low, child_high in min(splits, key=len):
            if nodes.count[HEAP.USED] - nodes.count[HEAP.FREE] + 8 > len(nodes.note):
                nodes = nodes.doubled()
            push(nodes, child_low, child_high, key, 0)
        return nodes

    @property
    def diving(self) -> bool:
        """True if the next call of the kernel goes on with a dive: its node is in no heap."""
        return bool(self.workspace.progress.dive[0] > 0)

    # ---- the searches -------------------------------------------------------------------------------------------------
    def search_nodes(self, target: int) -> bool:
        """The main search up to a number of nodes; False when the run is over."""
        while True:
            before, start = int(self.workspace.progress.count[COUNT.NODES]), time.perf_counter()
            share = max(1, min(self.share, target - self.main_nodes))
            state, self.nodes = self.advance(self.nodes, share, main=True)
            self.main_nodes += int(self.workspace.progress.count[COUNT.NODES]) - before
            seconds = time.perf_counter() - start
            if state == STOP.PAUSED and seconds < 0.05:
                self.share = min(2 * self.share, 100_000)
            elif seconds > 0.15:
                self.share = max(1, self.share // 2)
            if state == STOP.EMPTY:
                self.proven = True
                return False
            top = float(self.nodes.key[0]) if self.nodes.count[HEAP.OPEN] else self.best
            if self.diving:
                top = min(top, float(self.workspace.progress.key[1]))
            self.bound = max(self.bound, min(top, self.best))
            self.clock.report(lower_bound=self.lower_bound)
            if state == STOP.FULL and self.nodes.count[HEAP.USED] - self.nodes.count[HEAP.FREE] + 8 > len(
                self.nodes.note
            ):
                self.reason = "the open nodes of the search fill the memory they may use"
                return False
            if self.out_of_time:
                self.reason = "the time limit was reached"
                return False
            if self.main_nodes >= target and not self.diving:
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
        nodes = Nodes.of(256, self.n_dims, np.float64)
        push(nodes, low, high, self.question.constant, 0)
        before = int(self.workspace.progress.count[COUNT.NODES])
        state = STOP.PAUSED
        while not self.out_of_time:
            left = NEIGHBOURHOOD_NODES - (int(self.workspace.progress.count[COUNT.NODES]) - before)
            if left <= 0 and not self.diving:
                break
            state, nodes = self.advance(nodes, max(1, left), main=False)
            if state == STOP.EMPTY:
                break
        self.workspace.progress.dive[0] = 0
        return max(1, int(self.workspace.progress.count[COUNT.NODES]) - before), state == STOP.EMPTY

    # ---- the end ------------------------------------------------------------------------------------------------------
    def keep(self) -> None:
        n, r = int(self.regions.count[0]), self.regions
        self.memory.learn(r.low[:n], r.high[:n], r.rival[:n], r.uses[:n])

    def ending(self) -> Ending:
        if self.proven:
            self.bound = math.inf
        lower_bound = self.lower_bound
        shape = self.problem.walls.shape.value
        counters = {
            **self.counters,
            "nodes": float(self.workspace.progress.count[COUNT.NODES]),
            "bounds": float(self.workspace.progress.count[COUNT.BOUNDS]),
            "closed": float(self.workspace.progress.count[COUNT.CLOSED]),
            "sub_ranges": float(self.workspace.progress.work[0]),
            "regions": float(self.regions.count[0]),
        }
        reason = self.reason
        if math.isinf(lower_bound):
            reason = f"every centre within the limits has a point of another class in its {shape}"
        elif self.proven and self.best_x is None:
            reason = f"centres whose {shape} is good up to a hair were found, but none that the judge accepts"
        return Ending(_method(self.problem), lower_bound, reason, TOLERANCES.continuous_gap, counters)
