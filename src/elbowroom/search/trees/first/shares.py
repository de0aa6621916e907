"""Shares of the cost: the arrays that the bound works on."""

from __future__ import annotations

from dataclasses import dataclass

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.tools import Shorts
from elbowroom.numerics import Floats, Ints


@dataclass(frozen=True, eq=False)
class Shares(Bundle):
    """The split and everything that it is made of. Column c has the fine cells cell_start[c] : cell_start[c + 1]; slot s, of one
    tree and one column, has its own coarser cells lam_start[s] : lam_start[s + 1], which begin at the fine cells ``coarse``."""

    value: Floats  # (leaves,)
    leaf_start: Ints  # (trees + 1,)
    priced: Floats  # (leaves,) sum of the shares that a leaf's ranges cost at least, beyond those of the whole tree
    stamp: Shorts  # (leaves,)
    entry_start: Ints  # (slots + 1,)
    entry_leaf: Shorts
    entry_low: Shorts
    entry_high: Shorts
    entry_share: Floats  # the smallest share in the range, beyond the smallest one of the slot
    floor: Floats  # (slots,) the smallest share anywhere: what leaves cost that the slot does not limit
    tree_floor: Floats  # (trees,)
    slot_tree: Ints  # (slots,)
    column_start: Ints  # (columns + 1,) into column_slot
    column_slot: Ints
    lam_start: Ints  # (slots + 1,)
    lam: Floats
    coarse: Shorts
    cell_start: Ints  # (columns + 1,)
    cost: Floats  # (fine cells,) of the cheapest place whose policy it is; inf: no centre may be there
    place_start: Ints  # (columns + 1,)
    place_cost: Floats  # (places,) what a centre there costs at least in its column
    place_first: Ints  # (places,) the fine cells of the column that its room meets
    place_last: Ints
    policy: Ints  # (places,) the one of them in which the adversary stands
    far: Floats  # (1,) the cost of cells in which it never stands: many times the best one
    queue: Ints  # (widest column + 1,)
    total: Floats  # (fine cells,) E
    lost: Ints  # (fine cells,) trees of which no leaf is left there
    level: Shorts  # (widest column + 1,) rounded down logarithms
    least: Floats  # (levels, widest column) smallest E of 2^level cells
