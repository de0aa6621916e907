"""The engine for axis-aligned trees: boxes, balls and diamonds. The model in cells is kept for the next question."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from elbowroom.kernels.kernel import PLAIN
from elbowroom.kernels.warm import announce, without_collection
from elbowroom.models.margins import Need
from elbowroom.models.tiny import two_stumps
from elbowroom.problem import RecourseProblem, Takes
from elbowroom.problem.further import Key
from elbowroom.problem.shapes import Shape, is_round
from elbowroom.result.status import NEAR_TIE
from elbowroom.search.contract import NEAR_TIES, Clock, Ending, Referee, refusal
from elbowroom.search.rehearsal import rehearse
from elbowroom.search.some_columns import rules_with_some_columns
from elbowroom.search.trees.by_shape import search_of
from elbowroom.search.trees.first.size import is_large
from elbowroom.search.trees.memory import TreeMemory
from elbowroom.search.trees.question.pairs import TooManyPositionsError, ties_of

if TYPE_CHECKING:
    from elbowroom.search.trees.large import Standing

MOST_TARGETS = 2  # whose memories are kept: a large forest in cells takes hundreds of megabytes
SHAPES = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
TAKES = Takes(most_changes=True, further=True)
OF_BOXES = Takes(
    most_changes=True, domains=True, clauses=True, prices=True, further=True
)  # finitely many centres are searched: see `pairs`


class TreeEngine:
    """Trees, forests and boosting. Only what depends on the model and the target alone is kept from question to question,
    so that earlier ones change how soon an answer comes, and never the answer; see `memory`."""

    def __init__(self, memory: TreeMemory | None = None) -> None:
        self._memory: dict[tuple[int, Need, tuple[Key, ...], bool], TreeMemory] = {}  # the last: hopeful or not
        self._standings: list[Standing] = []
        if memory is not None:
            self._memory[memory.target_index, memory.need, memory.further, True] = memory

    def takes(self, problem: RecourseProblem) -> Takes:
        """Clauses about a category that is free inside the room are left to others: its centre does not move here."""
        shape = problem.walls.shape
        if shape not in SHAPES or is_round(shape) or problem.conditions.further:
            return TAKES
        free = [f for g in problem.walls.free_groups for f in problem.space.members[g].tolist()]
        tied = {option.column for clause in problem.conditions.clauses for option in clause.options}
        takes = replace(OF_BOXES, clauses=tied.isdisjoint(free))
        if not problem.conditions.rows or ties_of(problem) is None:
            return takes
        used = np.any([row.coefficients != 0.0 for row in problem.conditions.rows], axis=0)
        return replace(takes, rows=True, domains=not any(used[domain.column] for domain in problem.conditions.domains))

    def refuses(self, problem: RecourseProblem) -> str | None:
        who = "the engine for trees"
        refused = refusal(problem, who, SHAPES, self.takes(problem), some_columns=True)
        return refused or rules_with_some_columns(problem, who) or _refuses_centers(problem)

    def prepare(self, shape: Shape) -> None:
        largest = largest_kernel(shape)
        if PLAIN or largest.signatures:  # what this process has run once is loaded
            return
        announce(largest, "balls and diamonds on trees" if is_round(shape) else "boxes on trees")
        with without_collection():
            rehearse(TreeEngine(), two_stumps(), shape)
            from elbowroom.search.trees.large import rehearse_first

            rehearse_first(two_stumps(), shape)

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        """First among all centres that may be good, so that bounds and proofs hold for all of them. Where the nearest one
        that is left is within rounding of a tie, the judge accepts none there: the search goes on among those that can be
        proven, and the bound stays where it is."""
        try:
            return self._searched(problem, referee, clock, seed)
        except TooManyPositionsError:
            return Ending("trees", 0.0, "the rules tie columns together in more ways than are searched")

    def _searched(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        prove = self._way(problem, referee, clock, seed)
        ending = prove(True)
        near = ending.lower_bound
        if not ending.counters.get(NEAR_TIES) or near >= (1.0 - ending.tolerance) * referee.distance:
            return ending
        clock.ceiling = near
        clock.report(note=f"a centre at distance {near:.6g} is {NEAR_TIE}")
        rest = prove(False)
        reason = rest.reason
        if math.isinf(rest.lower_bound):
            room = problem.walls.shape.value
            reason = (
                f"too close to a tie to prove: the {room} of every centre within the limits has a point with another outcome or "
                f"one {NEAR_TIE}"
            )
        return Ending(rest.method, near, reason, rest.tolerance, {**rest.counters, NEAR_TIES: 1.0})

    def _way(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Callable[[bool], Ending]:
        """How this question is searched, hopefully or not. Large models: a region first, from the trees themselves; the proof
        then needs only what that leaves of the trees."""
        search = search_of(problem.walls.shape)
        if is_large(problem) and all(each.model.sets is None for each in problem.further):
            from elbowroom.search.trees.large import First

            first = First(problem, self._standing_for(problem), referee, clock, seed)
            if first.find():
                return first.prove
        return lambda hopeful: search(problem, referee, clock, seed, self._memory_for(problem, hopeful).anew())

    def _standing_for(self, problem: RecourseProblem) -> Standing:
        """Of this model and target, as `_memory_for`."""
        from elbowroom.search.trees.large import Standing

        kept = [standing for standing in self._standings if standing.fits(problem)][-1:] or [Standing.of(problem)]
        self._standings = [*(s for s in self._standings if s is not kept[0]), *kept][-MOST_TARGETS:]
        return kept[0]

    def _memory_for(self, problem: RecourseProblem, hopeful: bool) -> TreeMemory:
        """Of this model and target; a memory that does not fit (another model or space) is replaced. Several threads may ask
        at once: each works on its own copy of the list."""
        further = tuple(each.key for each in problem.further)
        key, kept = (problem.target_index, problem.target.need, further, hopeful), dict(self._memory)
        memory = kept.pop(key, None)
        if memory is None or not memory.fits(problem):
            memory = TreeMemory.of(problem, hopeful)
        kept[key] = memory  # the newest is last
        while len(kept) > MOST_TARGETS:
            del kept[next(iter(kept))]
        self._memory = kept
        return memory


def _refuses_centers(problem: RecourseProblem) -> str | None:
    """Margins of the centre alone: for boxes, in which the centre's categories are the room's."""
    for each in problem.further:
        if each.everywhere:
            continue
        if is_round(problem.walls.shape):
            return (
                f"the engine for trees takes {each.source} at the centre of boxes, not of a {problem.walls.shape.value}; "
                "ask for it with everywhere=True, or for a Box"
            )
        for g in problem.walls.free_groups:
            if any(each.model.cuts[f].size for f in problem.space.members[g]):
                return (
                    f"the engine for trees does not take {each.source} at the centre where the room takes several categories "
                    f"of {problem.space.groups[g].name!r}; ask for it with everywhere=True, or fix that category"
                )
    return None


def largest_kernel(shape: Shape) -> Any:
    """Of those that questions about rooms of this shape need: what takes longest to compile, and is compiled last."""
    if is_round(shape):
        from elbowroom.search.trees.balls.kernels import run

        return run
    from elbowroom.search.trees.boxes.expand import expand

    return expand
