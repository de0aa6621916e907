"""Boxes on trees: the closest centre whose whole box is good, proven.

The driver around the kernels: quick incumbents, then best-first search in chunks, with a large-neighbourhood search now
and then; every candidate goes to the judge before it counts. The schedule depends on numbers of nodes, never on time, so
that a run that ends by itself gives the same answer on every machine.
"""

from __future__ import annotations

import math
import time
from enum import Enum

import numpy as np

from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Ints
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.result.certificate import Certificate, Counterexample
from elbowroom.search.contract import Clock, Ending, Referee
from elbowroom.search.trees.bad.find import Stack
from elbowroom.search.trees.bad.one_hot import one_hot_possible
from elbowroom.search.trees.bound.gains import Scratch
from elbowroom.search.trees.boxes.climb import CLIMB, Ladder, ascend, shrink, total_cost
from elbowroom.search.trees.boxes.expand import expand
from elbowroom.search.trees.boxes.limits import CLOSE, FIRST_NODES, NEIGHBOURHOOD_NODES, STARTS, STEPS, STEPS_AT_ONCE
from elbowroom.search.trees.boxes.regions import Regions, add_region
from elbowroom.search.trees.boxes.workspace import COUNT, Workspace
from elbowroom.search.trees.heap import HEAP, Nodes, push
from elbowroom.search.trees.limits import MAIN_PER_NEIGHBOURHOOD, POOL_BYTES, ROUNDING, SMALL_WORK, STACK_BYTES
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import Layout, lay_out
from elbowroom.search.trees.stop import STOP

METHOD = "boxes on trees: best-first over cells"


class Answer(Enum):
    """What the judge said about a candidate."""

    ACCEPTED = "every point of the room is good"
    REFUSED = "a bad point was found; its cell is a new bad region"
    UNDECIDED = "the judge could not tell; the candidate's cost limits what can be proven"


def search_boxes(
    problem: RecourseProblem, referee: Referee, clock: Clock, seed: int, memory: TreeMemory | None = None
) -> Ending:
    """The closest certified box, with a proof that no closer one exists, or what the time limit allowed."""
    if not isinstance(problem.model, TreeEnsemble):
        raise TypeError("this engine answers questions about boxes on tree ensembles")
    if memory is None or not memory.fits(problem):
        memory = TreeMemory.of(problem)
    layout = lay_out(problem, memory.dimensions)
    if isinstance(layout, str):
        return Ending(METHOD, math.inf, layout)
    search = _Search(problem, referee, clock, seed, memory, layout)
    try:
        search.run()
    finally:  # also when interrupted: what was learned stays true
        search.keep()
    return search.ending()


class _Search:
    """One run: the state of the kernels, the best accepted centre, and what is proven about all others."""

    def __init__(
        self,
        problem: RecourseProblem,
        referee: Referee,
        clock: Clock,
        seed: int,
        memory: TreeMemory,
        layout: Layout,
    ) -> None:
        self.problem, self.referee, self.clock, self.memory, self.layout = problem, referee, clock, memory, layout
        self.model, self.question = memory.ensemble, layout.question
        self.n_dims, self.n_words = self.question.home.size, self.model.everything.size
        self.random = np.random.default_rng(seed)
        self.workspace = Workspace.of(self.n_dims, self.n_words, seed % 2**63)
        self.scratch = Scratch.of(self.model, self.question)
        self.ladder = Ladder.of(self.n_dims, self.question.group_home.size, self.n_words, self.model.need.size)
        depth = int(np.clip(STACK_BYTES // (8 * (self.n_words + 2 * self.n_dims + 1)), 16, 1024))
        self.stack = Stack.of(depth, self.n_dims, self.n_words)
        # sub-ranges per call: a fraction of a second also for the largest models
        self.adversary_limit = int(
            np.clip(SMALL_WORK // (self.n_words + self.model.segment_mask.size + 1), 500, 20_000)
        )
        self.regions = Regions.of(self.question)
        self.nodes = Nodes.of(1024, self.n_dims, np.int32)
        self.best_x: Ints | None = None
        self.best = math.inf  # total cost of the best accepted centre
        self.undecided = math.inf  # smallest total cost of a candidate that the judge could not decide
        self.bound = self.question.constant  # proven: no good centre has a smaller total cost
        self.proven = False
        self.reason = ""
        self.counters = {"neighbourhood_nodes": 0.0, "refused": 0.0}
        self.share, self.main_nodes = 8, 0
        for row in memory.regions_for(problem):
            low, high = memory.low[row].astype(np.int64), memory.high[row].astype(np.int64)
            if one_hot_possible(self.question, low, high):
                add_region(self.regions, self.question, low, high, int(memory.rival[row]), self.workspace.random)

    # ---- the plan -----------------------------------------------------------------------------------------------------
    def run(self) -> None:
        if self.clock.expired:
            self.reason = "the time limit was reached before the search began"
            return
        if self.question.changes < 0:
            self.proven = True
            return
        self.climb()
        push(self.nodes, self.layout.root_low, self.layout.root_high, self.bound, 0)
        spent, size = 0, max(3, self.n_dims // 3)
        while True:
            target = max(FIRST_NODES, MAIN_PER_NEIGHBOURHOOD * spent)
            if not self.search_nodes(target):
                return
            used, closed = self.neighbourhood(size)
            spent += used
            size = min(self.n_dims, size + 1) if closed else max(3, size - 1)
            self.counters["neighbourhood_nodes"] = float(spent)

    def climb(self) -> None:
        """Quick incumbents from home and from earlier answers nearby."""
        starts = [self.question.home.copy()]
        starts += [self.layout.nearest(c) for c in self.memory.nearest_centers(self.problem, STARTS)]
        first, final = self.layout.root_low, self.layout.root_high
        found: list[tuple[float, Ints]] = []
        budget = math.inf
        for start in starts:
            if self.clock.expired:
                break
            x = self._consistent(start)
            args = (self.stack, self.ladder, self.workspace.work)
            end, steps = CLIMB.CLIMBING, 0
            while end == CLIMB.CLIMBING and steps < STEPS and not self.clock.expired:
                end = ascend(self.model, self.question, first, final, x, budget, STEPS_AT_ONCE, *args)
                steps += STEPS_AT_ONCE
            if end == CLIMB.ARRIVED:
                shrink(self.model, self.question, first, final, x, self.adversary_limit, *args)
                total, changes = total_cost(self.question, x, -1)
                if changes <= self.question.changes and total < budget:
                    budget = total
                    found.append((total, x))
        for _, x in reversed(found):
            if self.offer(x) is Answer.ACCEPTED:
                break

    def _consistent(self, x: Ints) -> Ints:
        """Exactly one category in every fixed group: the nearest start that the ascent understands."""
        x = np.clip(x, self.layout.root_low, self.layout.root_high)
        q = self.question
        for b in np.flatnonzero(q.group_home >= 0):
            begin, end = int(q.block_start[b]), int(q.block_start[b + 1])
            if x[begin:end].sum() != 1:
                allowed = self.layout.root_high[begin:end]
                home = int(q.group_home[b]) - begin
                x[begin:end] = 0
                x[begin + (home if allowed[home] else int(np.argmax(allowed)))] = 1
        return x

    # ---- candidates ---------------------------------------------------------------------------------------------------
    def offer(self, x: Ints) -> Answer:
        """Ask the judge about the centre at positions x; an accepted one becomes the best if it is."""
        center = self.layout.center(x)
        verdict = self.referee(center)
        total = float(total_cost(self.question, x, -1)[0])
        if isinstance(verdict, Certificate):
            if total < self.best:
                self.best, self.best_x = total, x.copy()
                self.memory.remember(center)
                self.clock.report(lower_bound=self.lower_bound, best_distance=self.problem.measure(center))
            return Answer.ACCEPTED
        self.counters["refused"] += 1
        if isinstance(verdict, Counterexample):
            cell = self.memory.dimensions.cells_of(verdict.point)
            add_region(self.regions, self.question, cell, cell.copy(), 0, self.workspace.random)
            return Answer.REFUSED
        self.undecided = min(self.undecided, total)
        return Answer.UNDECIDED

    @property
    def budget(self) -> float:
        return self.best * (1.0 - CLOSE)

    def advance(self, nodes: Nodes, share: int) -> tuple[int, Nodes]:
        """Run the kernel once and do what it asks for; the nodes may have moved to a larger pool."""
        state = expand(
            self.model,
            self.question,
            self.regions,
            nodes,
            self.stack,
            self.scratch,
            self.workspace,
            self.budget,
            share,
            self.adversary_limit,
        )
        if state == STOP.CANDIDATE:
            low, high = self.workspace.low.copy(), self.workspace.high.copy()
            x = self.workspace.x.copy()
            if self.offer(x) is Answer.REFUSED:
                push(nodes, low, high, self.bound, 0)
        elif state == STOP.FULL and 2 * nodes.low.nbytes * 2 < POOL_BYTES:
            nodes = nodes.doubled()
        elif state == STOP.STUCK:
            self.adversary_limit *= 4
            if self.stack.low.shape[0] < self.adversary_limit:
                self.stack = Stack.of(2 * self.stack.low.shape[0], self.n_dims, self.n_words)
        return state, nodes

    # ---- the searches -------------------------------------------------------------------------------------------------
    def search_nodes(self, target: int) -> bool:
        """The main search up to a number of nodes; False when the run is over."""
        while True:
            before, start = int(self.workspace.count[COUNT.NODES]), time.perf_counter()
            share = max(1, min(self.share, target - self.main_nodes))
            state, self.nodes = self.advance(self.nodes, share)
            self.main_nodes += int(self.workspace.count[COUNT.NODES]) - before
            seconds = time.perf_counter() - start
            if state == STOP.PAUSED and seconds < 0.05:
                self.share = min(2 * self.share, 100_000)
            elif seconds > 0.15:
                self.share = max(1, self.share // 2)
            if state == STOP.EMPTY:
                self.proven = True
                return False
            top = float(self.nodes.key[0]) if self.nodes.count[HEAP.OPEN] else self.best
            self.bound = max(self.bound, min(top, self.best))
            self.clock.report(lower_bound=self.lower_bound)
            if state == STOP.FULL and self.nodes.count[HEAP.USED] - self.nodes.count[
                HEAP.FREE
            ] + 2 * self.n_dims + 2 > len(self.nodes.note):
                self.reason = "the open nodes of the search fill the memory they may use"
                return False
            if self.clock.expired:
                self.reason = "the time limit was reached"
                return False
            if self.main_nodes >= target:
                return True

    def neighbourhood(self, size: int) -> tuple[int, bool]:
        """Some dimensions free, the others between home and the best centre; nodes used, and whether it was closed."""
        if self.best_x is None:
            return FIRST_NODES, False
        q = self.question
        low, high = np.minimum(q.home, self.best_x), np.maximum(q.home, self.best_x)
        free = self.random.choice(self.n_dims, min(self.n_dims, size), replace=False)
        low[free], high[free] = self.layout.root_low[free], self.layout.root_high[free]
        low, high = np.maximum(low, self.layout.root_low), np.minimum(high, self.layout.root_high)
        nodes = Nodes.of(64 + 4 * self.n_dims, self.n_dims, np.int32)
        push(nodes, low, high, self.question.constant, 0)
        before = int(self.workspace.count[COUNT.NODES])
        state = STOP.PAUSED
        while not self.clock.expired:
            left = NEIGHBOURHOOD_NODES - (int(self.workspace.count[COUNT.NODES]) - before)
            if left <= 0:
                break
            state, nodes = self.advance(nodes, left)
            if state == STOP.EMPTY:
                break
        return max(1, int(self.workspace.count[COUNT.NODES]) - before), state == STOP.EMPTY

    # ---- the end ------------------------------------------------------------------------------------------------------
    @property
    def lower_bound(self) -> float:
        """The proven bound as a distance, rounded down."""
        total = min(self.bound, self.best * (1.0 - CLOSE), self.undecided) * (1.0 - ROUNDING)
        return math.sqrt(total) if self.problem.distance is Distance.L2 else total

    def keep(self) -> None:
        n = int(self.regions.count[0])
        r = self.regions
        self.memory.learn(r.low[:n], r.high[:n], r.rival[:n], r.uses[:n], self.problem.factual)

    def ending(self) -> Ending:
        if self.proven:
            self.bound = math.inf
        lower_bound = self.lower_bound
        counters = {
            **self.counters,
            "nodes": float(self.workspace.count[COUNT.NODES]),
            "sub_ranges": float(self.workspace.work[0]),
            "bounds": float(self.workspace.count[COUNT.BOUNDS]),
            "meetings": float(self.workspace.count[COUNT.MEETINGS]),
            "regions": float(self.regions.count[0]),
        }
        reason = self.reason
        if self.proven and self.best_x is None and math.isfinite(self.undecided):
            reason = "the judge could not decide about the candidates that were found"
        if math.isinf(lower_bound):
            reason = "every centre within the limits has a point of another class in its box"
        return Ending(METHOD, lower_bound, reason, counters=counters)
