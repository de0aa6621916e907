"""First answers from boxes: a box is easier to place than a ball, and its best place is near that of the ball.

The box of the same half-widths contains the ball or diamond, so its closest centre is good for them as well; centres of
smaller boxes are nearer, and often need only a little more. Each search has a number of nodes, never a number of seconds:
what it finds does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem import Box, RecourseProblem
from elbowroom.search.contract import Clock, Referee
from elbowroom.search.trees.balls.limits import BOX_SIZES, BOX_WORDS, FEWEST_BOX_NODES, MOST_BOX_NODES
from elbowroom.search.trees.boxes.search import search_boxes
from elbowroom.search.trees.drive import Known
from elbowroom.search.trees.memory import TreeMemory


def box_centers(
    problem: RecourseProblem, referee: Referee, clock: Clock, seed: int, memory: TreeMemory, known: Known | None
) -> Iterator[Floats]:
    """Centres of the closest boxes of several sizes, as far as they are found in a few nodes; closer than what is known."""
    nodes = int(np.clip(BOX_WORDS // (memory.ensemble.everything.size + 1), FEWEST_BOX_NODES, MOST_BOX_NODES))
    for size in BOX_SIZES:
        box = Box(tuple(float(size * width) for width in problem.walls.up), categories=problem.room.categories)
        question = replace(problem, room=box)
        of_boxes = referee.about(question)
        search_boxes(question, of_boxes, clock.part(1.0), seed, memory, nodes, known)
        if of_boxes.center is not None:
            yield of_boxes.center
