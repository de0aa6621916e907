"""The kernels for boxes, as Python calls them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from elbowroom.kernels.bundle import blank
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import RecourseProblem
from elbowroom.search.contract import Clock
from elbowroom.search.trees.bad.one_hot import one_hot_possible
from elbowroom.search.trees.boxes.climb import Ladder, ascend, shrink, total_cost
from elbowroom.search.trees.boxes.expand import expand
from elbowroom.search.trees.boxes.limits import FIRST_NODES, FIRST_TAPE, MANY_WORDS, NEIGHBOURHOOD_NODES, STEPS_AT_ONCE
from elbowroom.search.trees.boxes.log import HEAD, LOGGED, Log
from elbowroom.search.trees.boxes.regions import Regions, add_region, forbid_positions
from elbowroom.search.trees.boxes.workspace import COUNT, Workspace
from elbowroom.search.trees.drive import Schedule
from elbowroom.search.trees.heap import Nodes
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import Layout
from elbowroom.search.trees.scratch import Adversary, knapsack_scratch


class BoxKernels:
    """The arrays that the kernels for boxes work on; centres are positions."""

    kind: npt.DTypeLike = np.int32
    held_key = math.inf  # every node is in a heap

    def __init__(self, problem: RecourseProblem, clock: Clock, seed: int, memory: TreeMemory, layout: Layout) -> None:
        self._clock = clock
        self.model, self.question, self.layout = memory.ensemble.for_one_search(), layout.question, layout
        self.home, self.root_low, self.root_high = self.question.home, layout.root_low, layout.root_high
        n_dims, n_words = self.home.size, self.model.everything.size
        self.schedule = Schedule(
            first_nodes=FIRST_NODES,
            neighbourhood_nodes=NEIGHBOURHOOD_NODES,
            first_share=8 if n_words < MANY_WORDS else 1,
            rows_per_split=2 * n_dims + 2,
            rows_of_neighbourhood=64 + 4 * n_dims,
        )
        self.workspace = Workspace.of(n_dims, n_words, seed % 2**63)
        self.scratch = knapsack_scratch(self.model, self.question)
        blocks = self.question.group_home.size
        self.ladder = blank(
            Ladder, dims=n_dims, blocks=blocks, ends=2 * blocks + 2, words=n_words, rivals=self.model.need.size
        )
        self.adversary = Adversary(self.model, n_dims)
        self.regions = Regions.of(self.question)
        self.log = Log.of(n_dims, 0)
        for row in range(memory.rival.size):
            low, high = memory.low[row].astype(np.int64), memory.high[row].astype(np.int64)
            if one_hot_possible(self.question, low, high):
                self._learn(low, high, int(memory.rival[row]))

    @property
    def out_of_time(self) -> bool:
        """Calls are short: none is held in reserve."""
        return self._clock.expired

    @property
    def nodes(self) -> int:
        return int(self.workspace.count[COUNT.NODES])

    def drop_held(self) -> None:
        """There is none."""

    def start_log(self) -> None:
        """From now on the main search writes down what it does."""
        self.log = Log.of(self.home.size, FIRST_TAPE)

    def expand(self, nodes: Nodes, budget: float, share: int, main: bool = True) -> int:
        about = self.model, self.question, self.regions, nodes, self.adversary.stack, self.scratch, self.workspace
        self.log.count[LOGGED.IS_ON] = int(main and self.log.tape.size > 0)
        if self.log.count[LOGGED.IS_ON]:
            most = HEAD + 10 * self.home.size  # of one record; a node has a few
            while self.log.tape.size - int(self.log.count[LOGGED.USED]) < 64 * most:
                self.log = self.log.doubled()
            share = min(share, (self.log.tape.size - int(self.log.count[LOGGED.USED])) // (16 * most))
        return int(expand(*about, budget, share, self.adversary.limit, self.log))

    def look_longer(self) -> None:
        self.adversary.look_longer()

    def ascend(self, x: Ints, budget: float, low: Ints | None = None, high: Ints | None = None) -> int:
        """Climb a few steps from x, in place, within ranges; how that stopped: see `CLIMB`."""
        about = (
            self.model, self.question, self.root_low if low is None else low, self.root_high if high is None else high, x,
        )  # fmt: skip
        return int(ascend(*about, budget, STEPS_AT_ONCE, self.adversary.stack, self.ladder, self.workspace.work))

    def shrink(self, x: Ints) -> None:
        """Bring a good centre back towards home, in place."""
        about = self.model, self.question, self.root_low, self.root_high, x
        shrink(*about, self.adversary.limit, self.adversary.stack, self.ladder, self.workspace.work)

    def cost(self, x: Ints) -> tuple[float, int]:
        """Total cost and number of changes."""
        total, changes = total_cost(self.question, x, -1)
        return float(total), int(changes)

    def total(self, x: Ints) -> float:
        return self.cost(x)[0]

    def center(self, x: Ints) -> Floats:
        return self.layout.center(x)

    def learn_cells(self, low: Ints, high: Ints) -> None:
        self._learn(low, high, 0)

    def forbid(self, below: Ints, above: Ints) -> None:
        """Store what a rule forbids: all positions between these, in every dimension."""
        forbid_positions(self.regions, self.question, below, above)

    def _learn(self, low: Ints, high: Ints, rival: int) -> None:
        add_region(self.regions, self.question, low, high, rival, self.workspace.random)

    def counters(self) -> dict[str, float]:
        count = self.workspace.count
        return {
            "nodes": float(count[COUNT.NODES]),
            "sub_ranges": float(self.workspace.work[0]),
            "bounds": float(count[COUNT.BOUNDS]),
            "meetings": float(count[COUNT.MEETINGS]),
            "regions": float(self.regions.count[0]),
        }
