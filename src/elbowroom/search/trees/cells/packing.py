"""Leaves as bits of words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from elbowroom.kernels.tools import Words
from elbowroom.numerics import Ints

_ONE = np.uint64(1)
_ALL = np.uint64(2**64 - 1)


class Packing(NamedTuple):
    """Which bit of which word a leaf is; see `leaves.Ensemble`."""

    segment_start: Ints
    segment_word: Ints
    segment_mask: Words
    segment_first: Ints
    word: Ints  # (leaves,)
    bit: Words  # (leaves,)
    word_start: Ints  # (rivals + 1,)


def pack(sizes: Ints, tree_start: Ints) -> Packing:
    """Give every leaf a bit: small trees share a word, large ones take several; rivals do not share words."""
    starts, words, shifts, widths, word_start = [0], [], [], [], [0]
    word, used = 0, 0
    for r in range(tree_start.size - 1):
        for t in range(int(tree_start[r]), int(tree_start[r + 1])):
            left = int(sizes[t])
            if used + left > 64 and used > 0:
                word, used = word + 1, 0
            while left > 0:
                width = min(left, 64 - used)
                words.append(word)
                shifts.append(used)
                widths.append(width)
                left, used = left - width, used + width
                if used == 64:
                    word, used = word + 1, 0
            starts.append(len(words))
        if used > 0:
            word, used = word + 1, 0
        word_start.append(word)
    segment_word, shift, long = (np.array(part, dtype=np.int64) for part in (words, shifts, widths))
    first = np.cumsum(long) - long  # leaf of each segment's first bit
    place = np.arange(int(long.sum())) - np.repeat(first - shift, long)
    return Packing(
        segment_start=np.array(starts, dtype=np.int64),
        segment_word=segment_word,
        segment_mask=(_ALL >> (64 - long).astype(np.uint64)) << shift.astype(np.uint64),
        segment_first=first - shift,
        word=np.repeat(segment_word, long),
        bit=_ONE << place.astype(np.uint64),
        word_start=np.array(word_start, dtype=np.int64),
    )
