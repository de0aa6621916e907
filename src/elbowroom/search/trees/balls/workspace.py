"""Scratch arrays of the node being expanded, and who owns them.

An array belongs to one step of the search and holds nothing once that step is over; a step that calls another does not
keep anything in the other's arrays.

================  ====================================================================================================
``used``          `find_bad_near`: what the gaps of the sub-range on top of the stack use of the room
``order, rank``   learning a region: its sides, sorted by what it costs to reach them
``suffix, spare`` growing a region, and deepening a cell
``taken``         `region_bound`: literals that the knapsack has used up
``turn``          `pull`: the order in which columns are brought back, while it learns regions
``ends``          `split_at`: ends of the children
``exits``         `split_by_exits`: where the children begin
``none``          always zero: the load of no cover
================  ====================================================================================================

``node`` is the node being expanded, and what is handed over to Python; ``trial`` is the next node of a dive, which must
survive a pause, and outside of dives the node that repairs, pulls and polishes change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from elbowroom.kernels.bundle import Bundle, array, blank
from elbowroom.kernels.tools import Words
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.balls.bounds.cover import Cover
from elbowroom.search.trees.balls.bounds.inscribed import Inscribed
from elbowroom.search.trees.balls.geometry import Geometry
from elbowroom.search.trees.balls.limits import MAX_MET, MAX_SIGNED, MAX_SLOTS
from elbowroom.search.trees.balls.literals import Literals
from elbowroom.search.trees.balls.node import Node
from elbowroom.search.trees.bound.gains import Scratch
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.question.question import Question
from elbowroom.search.trees.scratch import knapsack_scratch


class _Count(NamedTuple):
    """Indices into Progress.count."""

    NODES: int = 0
    BOUNDS: int = 1
    CLOSED: int = 2  # nodes whose nearest centre is good or nearly so


COUNT: Final = _Count()


@dataclass(frozen=True, eq=False)
class Progress(Bundle):
    """What goes on from call to call."""

    count: Ints = array(len(COUNT))  # see `COUNT`
    work: Ints = array(1)  # sub-ranges that the adversary has looked at
    random: Words = array(1)
    key: Floats = array(2)  # of the node handed over, and of the one in ``trial`` during a dive
    dive: Ints = array(1)  # 1 + the depth of a dive that goes on with ``trial`` at the next call; 0: none does


@dataclass(frozen=True, eq=False)
class Arrays(Bundle):
    """Scratch arrays that belong to none of the other parts: see above."""

    used: Floats = array("dims")
    order: Ints = array("sides")
    rank: Floats = array("sides")
    exits: Floats = array("sides")
    suffix: Words = array("sides_and_one", "words")
    spare: Words = array(3, "words")
    taken: Ints = array("sides")
    turn: Ints = array("dims")
    ends: Floats = array(6)
    none: Floats = array("sides")


class Workspace(NamedTuple):
    """Scratch arrays of the node being expanded."""

    node: Node
    trial: Node
    literals: Literals
    cover: Cover
    inside: Inscribed
    arrays: Arrays
    progress: Progress
    cells: Question  # the question with one position per cell: its costs are filled in for every node
    scratch: Scratch  # of the knapsack bound

    @classmethod
    def of(cls, model: Ensemble, question: Question, geometry: Geometry, seed: int) -> Workspace:
        n_dims, cells = question.home.size, question_of_cells(question, geometry)
        sides, rows = 2 * n_dims, MAX_MET + MAX_SIGNED + 1
        slots = min(sides, MAX_SLOTS)
        made = cls(
            node=blank(Node, dims=n_dims),
            trial=blank(Node, dims=n_dims),
            literals=blank(Literals, sides=sides),
            cover=blank(Cover, dims=n_dims, sides=sides, rows=rows, slots=slots, slots_and_one=slots + 1),
            inside=blank(Inscribed, dims=n_dims),
            arrays=blank(Arrays, dims=n_dims, sides=sides, sides_and_one=sides + 1, words=model.everything.size),
            progress=blank(Progress),
            cells=cells,
            scratch=knapsack_scratch(model, cells),
        )
        made.progress.random[0] = seed
        return made


def question_of_cells(question: Question, geometry: Geometry) -> Question:
    """The same question with one position per cell; the costs are filled in for every node."""
    sizes = np.diff(geometry.cell_start)
    cells = [np.arange(size) for size in sizes]
    flat = np.concatenate([np.zeros(0, np.int64), *cells])
    first = np.concatenate([np.zeros(0, np.int64), *([0, *row, row.size] for row in cells)])
    last = np.concatenate([np.zeros(0, np.int64), *([-1, *row, row.size - 1] for row in cells)])
    return replace(
        question,
        pos_start=geometry.cell_start,
        cost=np.zeros(flat.size),
        low_cell=flat,
        high_cell=flat.copy(),
        edge_start=geometry.cell_start + 2 * np.arange(sizes.size + 1),
        first_low=first,
        first_high=first.copy(),
        last_low=last,
        last_high=last.copy(),
    )
