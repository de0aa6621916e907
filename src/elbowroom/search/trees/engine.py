"""The engine for axis-aligned trees: boxes, balls and diamonds. The model in cells is kept for the next question."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from elbowroom.kernels.kernel import PLAIN
from elbowroom.kernels.warm import announce, without_collection
from elbowroom.models.margins import Need
from elbowroom.models.tiny import two_stumps
from elbowroom.problem import RecourseProblem, Takes
from elbowroom.problem.shapes import Shape, is_round
from elbowroom.result.status import NEAR_TIE
from elbowroom.search.contract import NEAR_TIES, Clock, Ending, Referee, refusal
from elbowroom.search.rehearsal import rehearse
from elbowroom.search.trees.memory import TreeMemory

Search: TypeAlias = Callable[[RecourseProblem, Referee, Clock, int, TreeMemory], Ending]
MOST_TARGETS = 2  # whose memories are kept: a large forest in cells takes hundreds of megabytes
SHAPES = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
TAKES = Takes(most_changes=True)  # only finitely many centres of boxes are searched: a row would need others


class TreeEngine:
    """Trees, forests and boosting. Only what depends on the model and the target alone is kept from question to question,
    so that earlier ones change how soon an answer comes, and never the answer; see `memory`."""

    def __init__(self, memory: TreeMemory | None = None) -> None:
        self._memory: dict[tuple[int, Need, bool], TreeMemory] = {}  # the last: hopeful or not
        if memory is not None:
            self._memory[memory.target_index, memory.need, True] = memory

    def refuses(self, problem: RecourseProblem) -> str | None:
        return refusal(problem, "the engine for trees", SHAPES, TAKES)

    def prepare(self, shape: Shape) -> None:
        largest = largest_kernel(shape)
        if PLAIN or largest.signatures:  # what this process has run once is loaded
            return
        announce(largest, "balls and diamonds on trees" if is_round(shape) else "boxes on trees")
        with without_collection():
            rehearse(TreeEngine(), two_stumps(), shape)

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        """First among all centres that may be good, so that bounds and proofs hold for all of them. Where the nearest one
        that is left is within rounding of a tie, the judge accepts none there: the search goes on among those that can be
        proven, and the bound stays where it is."""
        search = search_of(problem.walls.shape)
        ending = search(problem, referee, clock, seed, self._memory_for(problem, hopeful=True).anew())
        near = ending.lower_bound
        if not ending.counters.get(NEAR_TIES) or near >= (1.0 - ending.tolerance) * referee.distance:
            return ending
        clock.ceiling = near
        clock.report(note=f"a centre at distance {near:.6g} is {NEAR_TIE}")
        rest = search(problem, referee, clock, seed, self._memory_for(problem, hopeful=False).anew())
        reason = rest.reason
        if math.isinf(rest.lower_bound):
            room = problem.walls.shape.value
            reason = (
                f"too close to a tie to prove: the {room} of every centre within the limits has a point with another outcome or "
                f"one {NEAR_TIE}"
            )
        return Ending(rest.method, near, reason, rest.tolerance, {**rest.counters, NEAR_TIES: 1.0})

    def _memory_for(self, problem: RecourseProblem, hopeful: bool) -> TreeMemory:
        """Of this model and target; a memory that does not fit (another model or space) is replaced. Several threads may ask
        at once: each works on its own copy of the list."""
        key, kept = (problem.target_index, problem.target.need, hopeful), dict(self._memory)
        memory = kept.pop(key, None)
        if memory is None or not memory.fits(problem):
            memory = TreeMemory.of(problem, hopeful)
        kept[key] = memory  # the newest is last
        while len(kept) > MOST_TARGETS:
            del kept[next(iter(kept))]
        self._memory = kept
        return memory


def search_of(shape: Shape) -> Search:
    """The search for rooms of a shape, loaded when it is needed."""
    if is_round(shape):
        from elbowroom.search.trees.balls.search import search_balls

        return search_balls
    from elbowroom.search.trees.boxes.search import search_boxes

    return search_boxes


def largest_kernel(shape: Shape) -> Any:
    """Of those that questions about rooms of this shape need: what takes longest to compile, and is compiled last."""
    if is_round(shape):
        from elbowroom.search.trees.balls.kernels import run

        return run
    from elbowroom.search.trees.boxes.expand import expand

    return expand
