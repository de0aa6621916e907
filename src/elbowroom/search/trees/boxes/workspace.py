"""Scratch arrays of the node being expanded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from elbowroom.kernels.bundle import Bundle, array, blank
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
    low: Ints = array("dims")
    high: Ints = array("dims")
    x: Ints = array("dims")
    paid: Floats = array("dims")  # cost at x, beyond which moves cost extra
    member: Ints = array("dims")  # 1 for members of a fixed one-hot group whose switch is not paid yet
    # scratch
    cell: Ints = array("dims")  # the bad cell that the bound is asked about
    first: Ints = array("dims")  # cells: of the room at x (adversary, deepening), or limits of growth (learning)
    final: Ints = array("dims")
    order: Ints = array("sides_and_one")  # sides, sorted by rank
    rank: Floats = array("sides_and_one")
    suffix: Words = array("sides_and_one", "words")
    spare: Words = array(3, "words")
    found: Ints = array(MAX_HITS)  # regions that the room at x meets
    weight: Floats = array(MAX_HITS)
    # from call to call
    work: Ints = array(1)  # sub-ranges that the adversary has looked at
    count: Ints = array(len(COUNT))  # see `COUNT`
    random: Words = array(1)
    note: Ints = array(1)  # of the node: see `log`

    @classmethod
    def of(cls, n_dims: int, n_words: int, seed: int) -> Workspace:
        made = blank(cls, dims=n_dims, sides_and_one=2 * n_dims + 1, words=n_words)
        made.random[0] = seed
        return made
