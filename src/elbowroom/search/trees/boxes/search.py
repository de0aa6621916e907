"""Boxes on trees: the closest centre whose whole box is good, proven.

Incumbents are climbed to from home; a node that is handed over has a nearest centre that is good
by the engine's own sums, and goes to the judge.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from elbowroom.numerics import TOLERANCES, Ints
from elbowroom.problem import RecourseProblem
from elbowroom.result.certificate import Certificate, Counterexample, Verdict
from elbowroom.search.contract import Clock, Ending, Referee
from elbowroom.search.trees.boxes.calls import BoxKernels
from elbowroom.search.trees.boxes.climb import CLIMB
from elbowroom.search.trees.boxes.limits import CLOSE, STARTS, STEPS, STEPS_AT_ONCE
from elbowroom.search.trees.cells.gradual import NOT_READY
from elbowroom.search.trees.drive import Drive
from elbowroom.search.trees.heap import Nodes, push
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.layout import lay_out

METHOD = "boxes on trees: best-first over cells"


def search_boxes(
    problem: RecourseProblem,
    referee: Referee,
    clock: Clock,
    seed: int,
    memory: TreeMemory,
    most_nodes: float = math.inf,
) -> Ending:
    """The closest certified box, with a proof that no closer one exists, or what the limits allowed."""
    if not memory.ready(clock):
        return Ending(METHOD, 0.0, NOT_READY, counters={"nodes": 0.0})
    layout = lay_out(problem, memory.dimensions)
    if isinstance(layout, str):
        return Ending(METHOD, math.inf, layout)
    kernels = BoxKernels(problem, clock, seed, memory, layout)
    drive = Drive(problem, referee, clock, seed, memory, kernels, 1.0 - CLOSE, most_nodes)
    return drive.run(BoxStrategy(drive, kernels))


class BoxStrategy:
    """Climbs to incumbents, and asks the judge about the nearest centre of every node that is handed over."""

    method = METHOD
    tolerance = TOLERANCES.optimal_gap
    unaccepted = "the judge could not decide about the candidates that were found"

    def __init__(self, drive: Drive, kernels: BoxKernels) -> None:
        self._drive, self._kernels = drive, kernels

    @property
    def waves(self) -> tuple[Callable[[], None], ...]:
        return (self.climb,)

    def climb(self) -> None:
        """Quick incumbents from home and from what other boxes of the same search found."""
        drive, kernels = self._drive, self._kernels
        starts = [kernels.home.copy()]
        starts += [kernels.layout.nearest(c) for c in drive.memory.nearest_centers(drive.problem, STARTS)]
        found: list[Ints] = []
        budget = math.inf
        for start in starts:
            if kernels.out_of_time:
                break
            x = self._consistent(start)
            end, steps = CLIMB.CLIMBING, 0
            while end == CLIMB.CLIMBING and steps < STEPS and not kernels.out_of_time:
                end = kernels.ascend(x, budget)
                steps += STEPS_AT_ONCE
            if end == CLIMB.ARRIVED:
                kernels.shrink(x)
                total, changes = kernels.cost(x)
                if changes <= kernels.question.changes and total < budget:
                    budget = total
                    found.append(x)
        for x in reversed(found):
            if isinstance(self._offer(x), Certificate):
                break

    def _consistent(self, x: Ints) -> Ints:
        """Exactly one category in every fixed group: the nearest start that the ascent understands."""
        question, low, high = self._kernels.question, self._kernels.root_low, self._kernels.root_high
        x = np.clip(x, low, high)
        for b in np.flatnonzero(question.group_home >= 0):
            begin, end = int(question.block_start[b]), int(question.block_start[b + 1])
            if x[begin:end].sum() != 1:
                allowed = high[begin:end]
                home = int(question.group_home[b]) - begin
                x[begin:end] = 0
                x[begin + (home if allowed[home] else int(np.argmax(allowed)))] = 1
        return x

    def _offer(self, x: Ints) -> Verdict:
        """What the judge cannot decide limits what can be proven."""
        verdict = self._drive.offer(x)
        if not isinstance(verdict, Certificate | Counterexample):
            self._drive.unsettled = min(self._drive.unsettled, self._kernels.total(x))
        return verdict

    def close(self, nodes: Nodes, stop: int, main: bool) -> Nodes:
        """Ask about the node's nearest centre; where the judge refuses it, the node is next again, without its bad cell."""
        workspace = self._kernels.workspace
        low, high, x = workspace.low.copy(), workspace.high.copy(), workspace.x.copy()
        verdict = self._offer(x)
        if self._drive.hopes_for(verdict):
            if main:
                self._drive.stop_at_tie(self._kernels.total(x))
        elif isinstance(verdict, Counterexample):
            push(nodes, low, high, self._kernels.question.constant, 0)
        return nodes
