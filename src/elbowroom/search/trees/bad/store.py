"""Stored bad regions: which row is next, and where its bit stands.

Row r is bit 63 - r % 64 of word r // 64, so that the lowest set bit of the last words is the newest region.
"""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import Words, random_below
from elbowroom.numerics import Ints

_NEWEST = np.uint64(1 << 63)  # the bit of the first row of a word


@inner_kernel
def next_row(count: Ints, rivals: Ints, uses: Ints, rival: int, random: Words) -> int:
    """The row of a new region that ``rival`` wins: a fresh one, or a random one if the store is full."""
    if count[0] < rivals.shape[0]:
        row = count[0]
        count[0] += 1
    else:
        row = random_below(random, rivals.shape[0])
    rivals[row] = rival
    uses[row] = 0
    return row


@inner_kernel
def bit_of(row: int) -> np.uint64:
    """The bit of a row in its word."""
    return _NEWEST >> np.uint64(row & 63)


@inner_kernel
def row_of(word: int, bit: int) -> int:
    """The row of a bit, given by its index, of a word."""
    return 64 * word + 63 - bit
