"""First answers from boxes: a box is easier to place than a ball, and its best place is near that of the ball.

The box of the same half-widths contains the ball or diamond, so its closest centre is good for them as well; centres of
smaller boxes are nearer, and often need only a little more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from elbowroom.numerics import Floats
from elbowroom.problem import Box, RecourseProblem
from elbowroom.search.contract import Clock, Referee
from elbowroom.search.trees.boxes.search import search_boxes
from elbowroom.search.trees.memory import TreeMemory

SIZES = (1.0, 0.8, 0.6, 0.4)  # of the boxes, against the box around the room
TIME = 0.04  # share of the remaining time for each box


def box_centers(
    problem: RecourseProblem, referee: Referee, clock: Clock, seed: int, memory: TreeMemory
) -> Iterator[Floats]:
    """Centres of the closest boxes of several sizes, as far as they are found in a small part of the time."""
    free = {problem.space.groups[g].name: "any" for g in problem.walls.free_groups}
    for size in SIZES:
        box = Box(tuple(float(size * width) for width in problem.walls.up), categories=free)
        question = replace(problem, room=box)
        of_boxes = referee.about(question)
        search_boxes(question, of_boxes, clock.part(TIME), seed, memory)
        if of_boxes.center is not None:
            yield of_boxes.center
