"""A question for the kernels: positions, their costs, and the cells of their rooms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.numerics import Floats, Ints


class _Costs(NamedTuple):
    """How the costs of dimensions make up the total."""

    ADDITIVE: int = 0  # they add up: l1, and l2 with squared moves
    MAXIMUM: int = 1  # the largest counts: linf


COSTS: Final = _Costs()


@dataclass(frozen=True, eq=False)
class Question(Bundle):
    """Everything the kernels know about the question.

    Position p of dimension d is the flat index pos_start[d] + p; its room covers cells low_cell .. high_cell.
    ``first_low`` is the first position whose low_cell is >= c, ``last_high`` the last one whose high_cell is <= c, and
    so on, at index edge_start[d] + c + 1 for cells c = -1 .. last + 1 (so that the ends need no special case).
    Blocks are single dimensions, fixed one-hot groups, or two linked dimensions of one column: the room's and the centre's
    (see `Dimensions`). These have the same positions at the same costs, always stand at the same one, and are paid for once.
    """

    pos_start: Ints
    cost: Floats
    low_cell: Ints
    high_cell: Ints
    home: Ints  # (dims,) the factual, moved into the limits
    edge_start: Ints
    first_low: Ints
    first_high: Ints
    last_low: Ints
    last_high: Ints
    partner: Ints  # (dims,) the linked dimension; -1: none
    block_start: Ints
    group_home: Ints  # (blocks,) dimension of the factual's category; -1 for single dimensions
    group_price: Floats  # (blocks,) cost of another category; 0 for single dimensions
    block_counts: Ints  # (blocks,) 1 if leaving home is a change, 0 if home itself is one already
    free_start: Ints  # free groups: their dimensions, and the cells of the values 0 and 1
    free_dim: Ints
    free_zero: Ints
    free_one: Ints
    free_allowed: Ints
    in_free: Ints  # (dims,) 1 for members of free groups
    norm: int
    constant: float
    changes: int  # how many blocks may leave home


@inner_kernel
def extra(question: Question, paid: Floats, dim: int, position: int) -> float:
    """What a dimension costs at a position beyond what is paid for it already (linf: its whole cost)."""
    cost = question.cost[question.pos_start[dim] + position]
    if question.norm == COSTS.ADDITIVE:
        return max(0.0, cost - paid[dim])
    return cost
