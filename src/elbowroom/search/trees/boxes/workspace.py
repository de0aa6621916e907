"""Scratch arrays of the node being expanded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.tools import Words
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.boxes.limits import MAX_HITS


class _Count(NamedTuple):
    """Indices into Workspace.count."""

    NODES: int = 0
    BOUNDS: int = 1
    MEETINGS: int = 2  # nodes that a learned region settled without the adversary


COUNT: Final = _Count()


@dataclass(frozen=True, eq=False)
class Workspace(Bundle):
    """The node being expanded, its scratch arrays, and what goes on from call to call.

    An array belongs to the step of `expand` that is named with it; nothing in it survives that step. ``order``, ``rank``,
    ``suffix`` and ``spare`` serve learning, deepening and splitting in turn: none of these runs inside another.
    """

    # the node: ranges of positions, its nearest centre, and what that one has paid
    low: Ints  # (dims,)
    high: Ints
    x: Ints
    paid: Floats  # (dims,) cost at x, beyond which moves cost extra
    member: Ints  # (dims,) 1 for members of a fixed one-hot group whose switch is not paid yet
    # scratch
    cell: Ints  # (dims,) the bad cell that the bound is asked about
    first: Ints  # (dims,) cells: of the room at x (adversary, deepening), or limits of growth (learning)
    final: Ints
    order: Ints  # (2 dims + 1,) sides, sorted by rank
    rank: Floats
    suffix: Words  # (2 dims + 1, words)
    spare: Words  # (3, words)
    found: Ints  # (MAX_HITS,) regions that the room at x meets
    weight: Floats
    # from call to call
    work: Ints  # (1,) sub-ranges that the adversary has looked at
    count: Ints  # see `COUNT`
    random: Words  # (1,)

    @classmethod
    def of(cls, n_dims: int, n_words: int, seed: int) -> Workspace:
        low, high, x, member, cell, first, final = np.zeros((7, n_dims), np.int64)
        return cls(
            low=low,
            high=high,
            x=x,
            paid=np.zeros(n_dims),
            member=member,
            cell=cell,
            first=first,
            final=final,
            order=np.zeros(2 * n_dims + 1, np.int64),
            rank=np.zeros(2 * n_dims + 1),
            suffix=np.zeros((2 * n_dims + 1, n_words), np.uint64),
            spare=np.zeros((3, n_words), np.uint64),
            found=np.zeros(MAX_HITS, np.int64),
            weight=np.zeros(MAX_HITS),
            work=np.zeros(1, np.int64),
            count=np.zeros(len(COUNT), np.int64),
            random=np.array([seed], dtype=np.uint64),
        )
