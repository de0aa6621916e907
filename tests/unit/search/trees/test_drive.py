"""The driver alone, with kernels that follow a script: what it does with every way in which they stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pytest

from elbowroom.numerics import Floats, Ints
from elbowroom.search.contract import Clock
from elbowroom.search.trees.boxes.regions import Regions
from elbowroom.search.trees.drive import Drive, Schedule
from elbowroom.search.trees.heap import HEAP, Nodes, Range
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import Layout, lay_out
from elbowroom.search.trees.stop import STOP
from tests.support.referee import Referee
from tests.support.small_questions import hard_question


class Script:
    """Kernels that work on all nodes of their share, then stop as the script says."""

    schedule = Schedule(
        first_nodes=10, neighbourhood_nodes=5, first_share=4, rows_per_split=2, rows_of_neighbourhood=16
    )
    kind: npt.DTypeLike = np.int32
    out_of_time = False
    held_key = math.inf

    def __init__(self, memory: TreeMemory, layout: Layout, stops: Iterator[int]) -> None:
        self.model = memory.ensemble
        self.layout, self.question, self.stops = layout, layout.question, stops
        self.home, self.root_low, self.root_high = self.question.home, layout.root_low, layout.root_high
        self.regions = Regions.of(self.question)
        self.nodes = self.longer = 0
        self.pools: list[int] = []
        self.budgets: list[float] = []  # of the main search
        self.open: list[int] = []  # nodes at every call

    def drop_held(self) -> None:
        pass

    def expand(self, nodes: Nodes, budget: float, share: int, main: bool = True) -> int:
        self.nodes += share
        self.pools.append(nodes.note.size)
        stop = next(self.stops)
        if main:
            self.budgets.append(budget)
            self.open.append(int(nodes.count[HEAP.OPEN]))
        if stop == STOP.EMPTY:
            nodes.count[HEAP.OPEN] = 0
        return stop

    def look_longer(self) -> None:
        self.longer += 1

    def total(self, x: Range) -> float:
        return 1.0

    def center(self, x: Range) -> Floats:
        return self.layout.center(x)

    def learn_cells(self, low: Ints, high: Ints) -> None:
        pass

    def counters(self) -> dict[str, float]:
        return {"nodes": float(self.nodes)}


class Told:
    """A strategy that writes down what it is told."""

    method, tolerance, unaccepted = "script", 1e-9, "none accepted"

    def __init__(self, kernels: Script, n_waves: int = 1) -> None:
        self.kernels, self.n_waves = kernels, n_waves
        self.waves_at: list[int] = []
        self.closed: list[tuple[int, bool]] = []

    @property
    def waves(self) -> tuple[Callable[[], None], ...]:
        return (lambda: self.waves_at.append(self.kernels.nodes),) * self.n_waves

    def close(self, nodes: Nodes, stop: int, main: bool) -> Nodes:
        self.closed.append((stop, main))
        return nodes


def driven(*stops: int, rungs: float = math.inf) -> tuple[Drive, Script]:
    problem = hard_question(0)
    memory = TreeMemory.of(problem)
    layout = lay_out(problem, memory.dimensions)
    assert isinstance(layout, Layout)
    kernels = Script(memory, layout, iter(stops))
    return Drive(problem, Referee(problem), Clock(60.0), 0, memory, kernels, closer=0.5, rungs=rungs), kernels


def test_every_way_to_stop_is_seen_to() -> None:
    drive, kernels = driven(STOP.CANDIDATE, STOP.STUCK, STOP.FULL, STOP.FINE, STOP.EMPTY)
    told = Told(kernels)
    ending = drive.run(told)
    assert told.closed == [(STOP.CANDIDATE, True), (STOP.FINE, True)]
    assert kernels.longer == 1
    assert kernels.pools == [1024, 1024, 1024, 2048, 2048]  # full: twice the room from the next call on
    assert ending.lower_bound == math.inf  # no open node is left, and nothing is unsettled
    assert ending.counters["nodes"] == kernels.nodes


def test_later_waves_come_after_the_first_nodes() -> None:
    drive, kernels = driven(*[STOP.PAUSED] * 6, STOP.EMPTY)
    told = Told(kernels, n_waves=3)
    drive.run(told)
    first, second, third = told.waves_at
    assert first == 0
    assert kernels.schedule.first_nodes <= second < third


def test_what_nobody_could_decide_limits_what_is_proven() -> None:
    drive, kernels = driven(STOP.EMPTY)
    drive.unsettled = 0.25
    ending = drive.run(Told(kernels))
    assert 0.25 * (1 - 1e-9) <= ending.lower_bound <= 0.25
    assert ending.reason == "none accepted"


def test_an_accepted_centre_counts_if_it_is_better() -> None:
    drive, kernels = driven(STOP.EMPTY)
    drive.best = 0.5
    drive.judge(kernels.home)
    assert drive.best == 0.5  # a total of 1, accepted or not, is not better


def test_a_ladder_rules_out_what_is_near_before_what_is_far() -> None:
    drive, kernels = driven(*[STOP.PAUSED] * 2, *[STOP.EMPTY] * 9, rungs=1.5)
    drive.best, drive.best_x, drive.bound = 1.0, kernels.home, 0.1
    ending = drive.run(Told(kernels, n_waves=2))
    rungs = kernels.budgets[2:]
    assert kernels.budgets[:2] == [0.5] * 2  # the first nodes look below the best: most questions end there
    assert rungs == pytest.approx([0.15, 0.225, 0.3375, 0.5])  # the next one would be near the budget
    assert kernels.open[2:] == [1] * 4  # from the root, each time
    assert 0.5 * (1 - 1e-9) <= ending.lower_bound <= 0.5  # what counts as closer than the best


def test_what_a_rung_leaves_out_is_never_proven() -> None:
    """The nodes of a rung know nothing of centres beyond it: bounds stop there, also where the search is over in the middle."""
    drive, kernels = driven(*[STOP.PAUSED] * 2, STOP.EMPTY, *[STOP.ENDED] * 2, rungs=1.5)
    drive.best, drive.best_x, drive.bound = 1.0, kernels.home, 0.1
    ending = drive.run(Told(kernels, n_waves=2))
    assert 0.15 * (1 - 1e-9) <= ending.lower_bound <= 0.15
    assert ending.reason == "the time limit was reached"


def test_no_ladder_without_a_centre() -> None:
    drive, kernels = driven(*[STOP.PAUSED] * 2, STOP.EMPTY, rungs=1.5)
    drive.bound = 0.1
    assert drive.run(Told(kernels, n_waves=2)).lower_bound == math.inf
    assert kernels.budgets == [math.inf] * 3
