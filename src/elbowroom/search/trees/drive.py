"""The best-first driver, once for all rooms.

Candidates first, then best-first search in chunks, with a large-neighbourhood search now and then; every candidate goes to
the judge before it counts. The schedule depends on numbers of nodes, never on time, so that a run that ends by itself gives
the same answer on every machine.

What differs between rooms stands behind two protocols: `Kernels`, the compiled code with its arrays, and `Strategy`, where
candidates come from and what is done with a node that the kernels hand over.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from elbowroom.kernels.alarm import alarm
from elbowroom.kernels.tools import Shorts
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Distance, RecourseProblem
from elbowroom.result.certificate import Certificate, Counterexample, Verdict
from elbowroom.search.contract import NEAR_TIES, Clock, Ending, Referee
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.heap import HEAP, Nodes, Range, push
from elbowroom.search.trees.limits import (
    HIGHEST_RUNG,
    LONG_CALL,
    LOWEST_RUNG,
    MAIN_PER_NEIGHBOURHOOD,
    MOST_SHARE,
    ONE_MOMENT,
    POOL_BYTES,
    ROUNDING,
    SHORT_CALL,
)  # fmt: skip
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.question import Question
from elbowroom.search.trees.stop import STOP


@dataclass(frozen=True)
class Schedule:
    """How an engine shares its work out, in numbers of nodes."""

    first_nodes: int  # before the first large neighbourhood
    neighbourhood_nodes: int
    first_share: int  # nodes of the first call of the kernel
    rows_per_split: int  # of the pool: at least one per child
    rows_of_neighbourhood: int  # of the pool of a neighbourhood, at first


class LearnedRegions(Protocol):
    """Bad regions as ranges of cells: rows 0 .. count[0] - 1."""

    @property
    def low(self) -> Shorts: ...
    @property
    def high(self) -> Shorts: ...
    @property
    def rival(self) -> Ints: ...
    @property
    def uses(self) -> Ints: ...
    @property
    def count(self) -> Ints: ...


class Kernels(Protocol):
    """The compiled code of one engine and the arrays it works on."""

    schedule: Schedule
    model: Ensemble  # with a flag of its own
    question: Question
    kind: npt.DTypeLike  # of the ends of ranges
    home: Range
    root_low: Range
    root_high: Range

    @property
    def out_of_time(self) -> bool:
        """True if another call may pass the time limit: none is interrupted."""

    @property
    def regions(self) -> LearnedRegions: ...

    @property
    def nodes(self) -> int:
        """Nodes worked on so far."""

    @property
    def held_key(self) -> float:
        """Key of the node that the next call goes on with and that is in no heap; inf: there is none."""

    def drop_held(self) -> None:
        """Forget that node."""

    def expand(self, nodes: Nodes, budget: float, share: int, main: bool = True) -> int:
        """Work on up to ``share`` nodes, for centres of total cost < budget, in the ``main`` search or a neighbourhood; how that
        stopped: see `STOP`."""

    def look_longer(self) -> None:
        """The adversary was stuck: give it more time and space."""

    def total(self, x: Range) -> float:
        """Total cost of a centre, as the kernels add it up: squares for the Euclidean distance."""

    def center(self, x: Range) -> Floats:
        """A centre in all columns of the model."""

    def learn_cells(self, low: Ints, high: Ints) -> None:
        """Store a range of bad cells that the judge has found."""

    def counters(self) -> dict[str, float]:
        """What was counted, for people."""


class Strategy(Protocol):
    """Where candidates come from, and what becomes of a node that is handed over."""

    method: str
    tolerance: float  # relative gap at which an answer is called optimal
    unaccepted: str  # the reason to give if candidates were found and none accepted

    @property
    def waves(self) -> tuple[Callable[[], None], ...]:
        """Ways to candidates: the first is gone before the first node, each later one after another ``first_nodes``."""

    def close(self, nodes: Nodes, stop: int, main: bool) -> Nodes:
        """See to the node in the workspace; ``nodes`` is the heap it came from, that of the ``main`` search or not."""


@dataclass(frozen=True, eq=False)
class Known:
    """A centre that was accepted before the search, with its total cost: the trees are those that closer centres see. A better
    one below ``restart_below`` ends the search."""

    center: Floats
    total: float
    restart_below: float


class Drive:
    """One run: the best accepted centre as far as the search needs it, and what is proven about all others.

    Centres are worth a search while they cost less in total than ``closer`` times the best. With ``rungs`` the main search climbs a
    ladder: first it rules out all centres of total cost below a rung, then those below the next one, so many times as far. The
    smaller the budget, the more every bound prunes, so that all the lower rungs together take a part of the time of the highest.
    """

    def __init__(
        self,
        problem: RecourseProblem,
        referee: Referee,
        clock: Clock,
        seed: int,
        memory: TreeMemory,
        kernels: Kernels,
        closer: float,
        most_nodes: float = math.inf,
        rungs: float = math.inf,
    ) -> None:
        self.problem, self.referee, self.clock, self.memory = problem, referee, clock, memory
        self.seed, self.kernels, self.closer, self.question = seed, kernels, closer, kernels.question
        self.most_nodes = most_nodes  # of the main search
        self._rungs, self.rung = rungs, math.inf  # how far apart they are; the total cost that is to be ruled out next
        self.n_dims = self.question.home.size
        self.random = np.random.default_rng(seed)
        self.nodes = Nodes.of(1024, self.n_dims, kernels.kind)
        self.best_x: Range | None = None
        self.best = math.inf  # total cost of the best accepted centre
        self.unsettled = math.inf  # smallest total cost of a centre that neither the search nor the judge could decide
        self.bound = self.question.constant  # proven: no good centre in an open node has a smaller total cost
        self.proven = False
        self.tied = False  # the nearest centre that is left is within rounding of a tie
        self.reason = ""
        self.counters = {"neighbourhood_nodes": 0.0, "refused": 0.0}
        self.share, self.main_nodes = kernels.schedule.first_share, 0
        self.restart_below = -math.inf  # a best centre of a smaller total cost ends the run: see `large`
        self.known: Known | None = None
        self.reach = math.inf  # centres of this total cost and more may meet what the trees no longer know

    @property
    def budget(self) -> float:
        """Totals from here on are not worth a search."""
        return self.best * self.closer

    @property
    def lower_bound(self) -> float:
        """The proven bound as a distance, rounded down."""
        total = min(self.bound, self.budget, self.unsettled) * (1.0 - ROUNDING)
        return math.sqrt(total) if self.problem.distance is Distance.L2 else total

    # ---- the plan -----------------------------------------------------------------------------------------------------
    def run(self, strategy: Strategy) -> Ending:
        with alarm(self.kernels.model.ended, self.clock.deadline) if self._may_be_late else nullcontext():
            self._plan(strategy)
        self._keep()
        return self._ending(strategy)

    @property
    def _may_be_late(self) -> bool:
        """One step of a kernel looks at most at every leaf for every position: on small models that is a moment."""
        return self.kernels.model.everything.size * int(self.question.pos_start[-1]) > ONE_MOMENT

    def _plan(self, strategy: Strategy) -> None:
        if self.kernels.out_of_time:
            self.reason = "the time limit was reached before the search began"
            return
        if self.question.changes < 0:
            self.proven = True
            return
        schedule = self.kernels.schedule
        first, *later = strategy.waves
        first()
        push(self.nodes, self.kernels.root_low, self.kernels.root_high, self.bound, 0)
        for wave in later:
            if not self._search_nodes(strategy, schedule.first_nodes):
                return
            wave()
        self._start_at_rung()
        spent, size = 0, max(3, self.n_dims // 3)
        while self._search_nodes(strategy, max(schedule.first_nodes, MAIN_PER_NEIGHBOURHOOD * spent)):
            used, finished = self._neighbourhood(strategy, size)
            spent += used
            size = min(self.n_dims, size + 1) if finished else max(3, size - 1)
            self.counters["neighbourhood_nodes"] = float(spent)

    def _start_at_rung(self) -> bool:
        """Begin again at the root, to rule out what costs less than the next rung; False if there is no ladder or none is left."""
        if math.isinf(self._rungs) or math.isinf(self.best):
            return False
        rung = self._rungs * max(self.bound, LOWEST_RUNG * self.best)
        self.rung = rung if rung < HIGHEST_RUNG * self.budget else math.inf
        if math.isinf(self.rung) and self.nodes.count[HEAP.OPEN] > 0:  # nearly there without a ladder
            return True
        self.kernels.drop_held()
        self.nodes.count[:] = 0
        push(self.nodes, self.kernels.root_low, self.kernels.root_high, self.bound, 0)
        return True

    def _climbed(self) -> bool:
        """The main search is through: no centre costs less than the rung. True if it goes on with a higher one."""
        if self.rung >= self.budget:
            return False
        self.bound = max(self.bound, self.rung)
        return self._start_at_rung()

    # ---- candidates ---------------------------------------------------------------------------------------------------
    def start_from(self, known: Known, x: Range) -> None:
        """A centre was accepted before; x is near it."""
        self.best, self.best_x = known.total, x.copy()
        self.known, self.restart_below, self.reach = known, known.restart_below, known.total

    def judge(self, x: Range) -> Verdict:
        """Ask the judge about a centre; an accepted one that is better than the best becomes the best."""
        center = self.kernels.center(x)
        verdict = self.referee(center)
        if not isinstance(verdict, Certificate):
            self.counters["refused"] += 1
            return verdict
        total = self.kernels.total(x)
        if total < self.best:
            self.best, self.best_x = total, x.copy()
            self.memory.remember(center)
            self.clock.report(lower_bound=self.lower_bound, best_distance=self.referee.distance)
        return verdict

    def offer(self, x: Range) -> Verdict:
        """Ask the judge about a centre that should be good; if it is not, its bad cell is learned. Not where the trees are
        collapsed and say nothing: there the bad point of the whole model is in a cell that is not bad."""
        verdict = self.judge(x)
        if isinstance(verdict, Counterexample) and not self.hopes_for(verdict) and self.kernels.total(x) < self.reach:
            self.kernels.learn_cells(*self.memory.dimensions.bad_range(verdict.point, verdict.at_center))
        return verdict

    def hopes_for(self, verdict: Verdict) -> bool:
        """True if the judge refused no more than a tie that counts as good here."""
        return self.memory.hopeful and isinstance(verdict, Counterexample) and verdict.near_tie

    def stop_at_tie(self, total: float) -> None:
        """The nearest centre left may be good, and nobody can prove it: nothing beyond its total cost can be, either."""
        self.unsettled, self.tied = min(self.unsettled, total), True

    # ---- the searches -------------------------------------------------------------------------------------------------
    def _advance(self, strategy: Strategy, nodes: Nodes, share: int, main: bool) -> tuple[int, Nodes]:
        """Run the kernel once and do what it asks for; the nodes may have moved to a larger pool."""
        stop = self.kernels.expand(nodes, min(self.budget, self.rung) if main else self.budget, share, main)
        if stop in (STOP.CANDIDATE, STOP.FINE):
            nodes = strategy.close(nodes, stop, main)
        elif stop == STOP.FULL and 4 * nodes.low.nbytes < POOL_BYTES:
            nodes = nodes.doubled()
        elif stop == STOP.STUCK and not self.kernels.out_of_time:
            self.kernels.look_longer()
        return stop, nodes

    def _search_nodes(self, strategy: Strategy, target: int) -> bool:
        """The main search up to a number of nodes; False when the run is over (or all nodes allowed are used up)."""
        target = int(min(target, self.most_nodes))
        while True:
            before, start = self.kernels.nodes, time.perf_counter()
            share = max(1, min(self.share, target - self.main_nodes))
            stop, self.nodes = self._advance(strategy, self.nodes, share, main=True)
            self.main_nodes += self.kernels.nodes - before
            seconds = time.perf_counter() - start
            if stop == STOP.PAUSED and seconds < SHORT_CALL:
                self.share = min(2 * self.share, MOST_SHARE)
            elif seconds > LONG_CALL:
                self.share = max(1, self.share // 2)
            if stop == STOP.EMPTY and not self._climbed():
                self.proven = True
                return False
            if stop == STOP.ENDED:  # in the middle of a node, which is in no heap any more: the bound stays as it was
                self.reason = "the time limit was reached"
                return False
            top = float(self.nodes.key[0]) if self.nodes.count[HEAP.OPEN] else self.best
            self.bound = max(self.bound, min(top, self.kernels.held_key, self.best, self.rung))
            self.clock.report(lower_bound=self.lower_bound)
            if self.tied or self.best < self.restart_below:
                return False
            if stop == STOP.FULL and self.nodes.free_rows < self.kernels.schedule.rows_per_split:
                self.reason = "the open nodes of the search filled the memory allowed for them"
                return False
            if self.kernels.out_of_time:
                self.reason = "the time limit was reached"
                return False
            if self.main_nodes >= target and math.isinf(self.kernels.held_key):
                return self.main_nodes < self.most_nodes

    def _neighbourhood(self, strategy: Strategy, size: int) -> tuple[int, bool]:
        """Some dimensions free, the others between home and the best centre; nodes used, and whether it was finished."""
        kernels, schedule = self.kernels, self.kernels.schedule
        if self.best_x is None:
            return schedule.first_nodes, False
        low, high = np.minimum(kernels.home, self.best_x), np.maximum(kernels.home, self.best_x)
        free = self.random.choice(self.n_dims, min(self.n_dims, size), replace=False)
        low[free], high[free] = kernels.root_low[free], kernels.root_high[free]
        low, high = np.maximum(low, kernels.root_low), np.minimum(high, kernels.root_high)
        nodes = Nodes.of(schedule.rows_of_neighbourhood, self.n_dims, kernels.kind)
        push(nodes, low, high, self.question.constant, 0)
        before, stop = kernels.nodes, STOP.PAUSED
        while not self.kernels.out_of_time and stop not in (STOP.EMPTY, STOP.ENDED):
            left = schedule.neighbourhood_nodes - (kernels.nodes - before)
            if left <= 0 and math.isinf(kernels.held_key):
                break
            stop, nodes = self._advance(strategy, nodes, max(1, left), main=False)
        kernels.drop_held()
        return max(1, kernels.nodes - before), stop == STOP.EMPTY

    # ---- the end ------------------------------------------------------------------------------------------------------
    def _keep(self) -> None:
        regions = self.kernels.regions
        known = np.flatnonzero(regions.rival[: int(regions.count[0])] >= 0)  # what rules forbid is known anyway
        self.memory.learn(regions.low[known], regions.high[known], regions.rival[known], regions.uses[known])

    def _ending(self, strategy: Strategy) -> Ending:
        if self.proven:
            self.bound = math.inf
        lower_bound, reason = self.lower_bound, self.reason
        if math.isinf(lower_bound):
            room = self.problem.walls.shape.value
            reason = f"every centre within the limits has a point with another outcome in its {room}"
        elif self.proven and self.best_x is None and not self.tied:
            reason = strategy.unaccepted
        counters = {**self.counters, **self.kernels.counters()}
        if self.tied:
            counters[NEAR_TIES] = 1.0
        return Ending(strategy.method, lower_bound, reason, strategy.tolerance, counters)
