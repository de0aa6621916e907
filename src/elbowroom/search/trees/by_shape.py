"""The searches in cells, by the shape of the room; each is loaded when it is needed."""

from __future__ import annotations

from typing import Protocol

from elbowroom.problem import RecourseProblem
from elbowroom.problem.shapes import Shape, is_round
from elbowroom.search.contract import Clock, Ending, Referee
from elbowroom.search.trees.drive import Known
from elbowroom.search.trees.memory import TreeMemory


class Search(Protocol):
    """``known``: what was accepted before, where the trees are what that leaves of them."""

    def __call__(
        self,
        problem: RecourseProblem,
        referee: Referee,
        clock: Clock,
        seed: int,
        memory: TreeMemory,
        *,
        known: Known | None = None,
    ) -> Ending: ...


def search_of(shape: Shape) -> Search:
    """The search for rooms of a shape."""
    if is_round(shape):
        from elbowroom.search.trees.balls.search import search_balls

        return search_balls
    from elbowroom.search.trees.boxes.search import search_boxes

    return search_boxes
