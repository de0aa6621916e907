"""Boxes on trees: the closest centre whose whole box is good, proven.

Incumbents are climbed to from home; a node that is handed over has a nearest centre that is good
by the engine's own sums, and goes to the judge.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from elbowroom.numerics import TOLERANCES, Ints
from elbowroom.problem import RecourseProblem
from elbowroom.result.certificate import Certificate, Counterexample, Verdict
from elbowroom.search.contract import Clock, Ending, Referee
from elbowroom.search.trees.boxes.calls import BoxKernels
from elbowroom.search.trees.boxes.climb import CLIMB
from elbowroom.search.trees.boxes.dive import consistent, dive
from elbowroom.search.trees.boxes.limits import CLOSE, STARTS, STEPS, STEPS_AT_ONCE
from elbowroom.search.trees.boxes.log import NOTES
from elbowroom.search.trees.cells.gradual import NOT_READY
from elbowroom.search.trees.drive import Drive, Known
from elbowroom.search.trees.heap import Nodes, push
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.choices import Forbidden, forbidden_at
from elbowroom.search.trees.question.layout import lay_out
from elbowroom.search.trees.question.pairs import forbidden_by_ties, ties_of

METHOD = "boxes on trees: best-first over cells"


def search_boxes(
    problem: RecourseProblem,
    referee: Referee,
    clock: Clock,
    seed: int,
    memory: TreeMemory,
    most_nodes: float = math.inf,
    known: Known | None = None,
) -> Ending:
    """The closest certified box, with a proof that no closer one exists, or what the limits allowed; ``known`` is what was
    accepted before the search."""
    if not memory.ready(clock):
        return Ending(METHOD, 0.0, NOT_READY, counters={"nodes": 0.0})
    layout = lay_out(problem, memory.dimensions)
    if isinstance(layout, str):
        return Ending(METHOD, math.inf, layout)
    kernels = BoxKernels(problem, clock, seed, memory, layout)
    if clock.diary is not None and known is None:
        kernels.start_log()
        clock.diary.append(kernels)
    drive = Drive(problem, referee, clock, seed, memory, kernels, 1.0 - CLOSE, most_nodes)
    if known is not None:
        drive.start_from(known, layout.nearest(known.center))
    return drive.run(BoxStrategy(drive, kernels))


class BoxStrategy:
    """Climbs to incumbents, and asks the judge about the nearest centre of every node that is handed over."""

    method = METHOD
    tolerance = TOLERANCES.optimal_gap
    unaccepted = "the judge could not decide about the candidates that were found"

    def __init__(self, drive: Drive, kernels: BoxKernels) -> None:
        self._drive, self._kernels = drive, kernels
        self._ties = (ties_of(drive.problem) or ()) if drive.problem.conditions.rows else ()

    @property
    def waves(self) -> tuple[Callable[[], None], ...]:
        return (self.climb,)

    def climb(self) -> None:
        """Quick incumbents from home and from what other boxes of the same search found."""
        drive, kernels = self._drive, self._kernels
        if drive.best < math.inf:  # a better way was gone already: see `large`
            return
        starts = [kernels.home.copy()]
        starts += [kernels.layout.nearest(c) for c in drive.memory.nearest_centers(drive.problem, STARTS)]
        found: list[Ints] = []
        budget = math.inf
        for start in starts:
            if kernels.out_of_time:
                break
            x = start.copy()
            if not consistent(kernels, x, kernels.root_low, kernels.root_high):
                continue
            end, steps = CLIMB.CLIMBING, 0
            while end == CLIMB.CLIMBING and steps < STEPS and not kernels.out_of_time:
                end = kernels.ascend(x, budget)
                steps += STEPS_AT_ONCE
            if end == CLIMB.ARRIVED:
                kernels.shrink(x)
                if self._forbidden(x):
                    found += self._dived(start, budget)
                    budget = min([budget, *(kernels.total(way) for way in found)])
                    continue
                total, changes = kernels.cost(x)
                if changes <= kernels.question.changes and total < budget:
                    budget = total
                    found.append(x)
        for x in reversed(found):
            if isinstance(self._offer(x), Certificate):
                break

    def _dived(self, start: Ints, budget: float) -> list[Ints]:
        """A good centre that obeys the rules, if a dive finds one."""
        kernels = self._kernels
        x = dive(kernels, self._drive.problem.conditions.clauses, self._ties, start, budget)
        if x is None:
            return []
        total, changes = kernels.cost(x)
        return [x] if changes <= kernels.question.changes and total < budget else []

    def _forbidden(self, x: Ints) -> bool:
        """True if a rule forbids a centre; then it is forbidden from now on, with all centres that break the rule likewise."""
        layout, clauses = self._kernels.layout, self._drive.problem.conditions.clauses
        found: Forbidden | None = forbidden_at(layout, clauses, x) if clauses else None
        if found is None and self._ties:
            found = forbidden_by_ties(layout, self._ties, x)
        if found is not None:
            self._kernels.forbid(*found)
        return found is not None

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
        note = int(workspace.note[0]) // NOTES * NOTES
        if self._forbidden(x):
            push(nodes, low, high, self._kernels.question.constant, note)
            return nodes
        verdict = self._offer(x)
        if self._drive.hopes_for(verdict):
            if main:
                self._drive.stop_at_tie(self._kernels.total(x))
        elif isinstance(verdict, Counterexample):
            push(nodes, low, high, self._kernels.question.constant, note)
        return nodes
