"""The engine for axis-aligned trees: boxes, balls and diamonds, and what one question teaches the next."""

from __future__ import annotations

from typing import Any

from elbowroom.kernels.kernel import PLAIN
from elbowroom.kernels.warm import announce, without_collection
from elbowroom.models.tiny import two_stumps
from elbowroom.problem import RecourseProblem, Takes
from elbowroom.problem.shapes import Shape, is_round
from elbowroom.search.contract import Clock, Ending, Referee, refusal
from elbowroom.search.rehearsal import rehearse
from elbowroom.search.trees.memory import TreeMemory

MOST_TARGETS = 2  # whose memories are kept: a large forest in cells takes hundreds of megabytes
SHAPES = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
TAKES = Takes(most_changes=True)  # only finitely many centres of boxes are searched: a row would need others


class TreeEngine:
    """Trees, forests and boosting. What was learned about a model and a target stays valid for the next row and the next
    radius, and is kept here."""

    def __init__(self, memory: TreeMemory | None = None) -> None:
        self._memory: dict[tuple[int, float | None], TreeMemory] = {}
        if memory is not None:
            self._memory[memory.target_index, memory.probability] = memory

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
        memory = self._memory_for(problem)
        if is_round(problem.walls.shape):
            from elbowroom.search.trees.balls.search import search_balls

            return search_balls(problem, referee, clock, seed, memory)
        from elbowroom.search.trees.boxes.search import search_boxes

        return search_boxes(problem, referee, clock, seed, memory)

    def _memory_for(self, problem: RecourseProblem) -> TreeMemory:
        """Of this model and target; a memory that does not fit (another model or space) is replaced."""
        key = problem.target_index, problem.target.probability
        memory = self._memory.pop(key, None)
        if memory is None or not memory.fits(problem):
            memory = TreeMemory.of(problem)
        self._memory[key] = memory  # the newest is last
        while len(self._memory) > MOST_TARGETS:
            del self._memory[next(iter(self._memory))]
        return memory


def largest_kernel(shape: Shape) -> Any:
    """Of those that questions about rooms of this shape need: what takes longest to compile, and is compiled last."""
    if is_round(shape):
        from elbowroom.search.trees.balls.kernels import run

        return run
    from elbowroom.search.trees.boxes.expand import expand

    return expand
