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
``none``          always zero: the load of no cover
================  ====================================================================================================

``node`` is the node being expanded, and what is handed over to Python; ``trial`` is the next node of a dive, which must
survive a pause, and outside of dives the node that repairs, pulls and polishes change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.tools import Words
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.balls.bounds.cover import Cover
from elbowroom.search.trees.balls.bounds.inscribed import Inscribed
from elbowroom.search.trees.balls.literals import Literals
from elbowroom.search.trees.balls.node import Node
from elbowroom.search.trees.bound.gains import Scratch
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.question.question import Question


class _Count(NamedTuple):
    """Indices into Progress.count."""

    NODES: int = 0
    BOUNDS: int = 1
    CLOSED: int = 2  # nodes whose nearest centre is good or nearly so


COUNT: Final = _Count()


@dataclass(frozen=True, eq=False)
class Progress(Bundle):
    """What goes on from call to call."""

    count: Ints  # see `COUNT`
    work: Ints  # (1,) sub-ranges that the adversary has looked at
    random: Words  # (1,)
    key: Floats  # (2,) of the node handed over, and of the one in ``trial`` during a dive
    dive: Ints  # (1,) 1 + the depth of a dive that goes on with ``trial`` at the next call; 0: none does

    @classmethod
    def of(cls, seed: int) -> Progress:
        return cls(
            count=np.zeros(len(COUNT), np.int64),
            work=np.zeros(1, np.int64),
            random=np.array([seed], dtype=np.uint64),
            key=np.zeros(2),
            dive=np.zeros(1, np.int64),
        )


@dataclass(frozen=True, eq=False)
class Arrays(Bundle):
    """Scratch arrays that belong to none of the other parts: see above."""

    used: Floats  # (dims,)
    order: Ints  # (2 dims,)
    rank: Floats
    suffix: Words  # (2 dims + 1, words)
    spare: Words  # (3, words)
    taken: Ints  # (2 dims,)
    turn: Ints  # (dims,)
    ends: Floats  # (6,)
    none: Floats  # (2 dims,)

    @classmethod
    def of(cls, n_words: int, n_dims: int) -> Arrays:
        sides = 2 * n_dims
        return cls(
            used=np.zeros(n_dims),
            order=np.zeros(sides, np.int64),
            rank=np.zeros(sides),
            suffix=np.zeros((sides + 1, n_words), np.uint64),
            spare=np.zeros((3, n_words), np.uint64),
            taken=np.zeros(sides, np.int64),
            turn=np.zeros(n_dims, np.int64),
            ends=np.zeros(6),
            none=np.zeros(sides),
        )


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
    def of(cls, model: Ensemble, cells: Question, seed: int) -> Workspace:
        n_words, n_dims = model.everything.size, cells.home.size
        return cls(
            node=Node.of(n_dims),
            trial=Node.of(n_dims),
            literals=Literals.of(n_dims),
            cover=Cover.of(n_dims),
            inside=Inscribed.of(n_dims),
            arrays=Arrays.of(n_words, n_dims),
            progress=Progress.of(seed),
            cells=cells,
            scratch=Scratch.of(model, cells),
        )
