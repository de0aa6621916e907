"""Scratch arrays of the node being expanded, and who owns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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

# Indices into Bench.count
NODES = 0
BOUNDS = 1
CLOSED = 2  # nodes whose nearest centre is good or nearly so


@dataclass(frozen=True, eq=False)
class Bench(Bundle):
    """Arrays without a place of their own."""

    used: Floats  # (dims,)
    order: Ints  # (2 dims,)
    rank: Floats
    taken: Ints
    none: Floats  # (2 dims,) no load
    low: Ints  # (dims,)
    high: Ints
    suffix: Words  # (2 dims + 1, words)
    spare: Words  # (3, words)
    work: Ints  # (1,)
    count: Ints
    random: Words  # (1,)
    key: Floats  # (2,) of the node handed over, and of the one in desk.trial during a dive
    dive: Ints  # (1,) 1 + the depth of a dive that goes on with desk.trial at the next call; 0: none does
    ends: Floats  # (6,) of children

    @classmethod
    def of(cls, n_words: int, n_dims: int, seed: int) -> Bench:
        sides = 2 * n_dims
        return cls(
            np.zeros(n_dims), np.zeros(sides, np.int64), np.zeros(sides), np.zeros(sides, np.int64), np.zeros(sides),
            np.zeros(n_dims, np.int64), np.zeros(n_dims, np.int64), np.zeros((sides + 1, n_words), np.uint64),
            np.zeros((3, n_words), np.uint64), np.zeros(1, np.int64), np.zeros(3, np.int64),
            np.array([seed], dtype=np.uint64), np.zeros(2), np.zeros(1, np.int64), np.zeros(6),
        )  # fmt: skip


class Desk(NamedTuple):
    """Room to work on one node."""

    node: Node
    trial: Node
    literals: Literals
    cover: Cover
    inside: Inscribed
    bench: Bench
    cells: Question
    scratch: Scratch

    @classmethod
    def of(cls, model: Ensemble, cells: Question, seed: int) -> Desk:
        n_words, n_dims = model.everything.size, cells.home.size
        return cls(
            Node.of(n_dims), Node.of(n_dims), Literals.of(n_dims), Cover.of(n_dims), Inscribed.of(n_dims),
            Bench.of(n_words, n_dims, seed), cells, Scratch.of(model, cells),
        )  # fmt: skip
