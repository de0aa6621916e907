"""Which bad cell the adversary defends.

Any cell of the room at x makes a valid bound; a bad one that is hard to leave, or one where the rival's sum is far too
low, makes a strong one. Both kinds are tried.
"""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import Words
from elbowroom.numerics import Ints
from elbowroom.search.trees.cells.leaves import Ensemble, narrow, smallest_share


@inner_kernel
def hard_to_leave(first: int, last: int, at_low: bool, at_high: bool) -> int:
    """The cell of first..last that is farthest from where the centre can move, given the ends of the node it stands at."""
    if at_low:
        return last
    return first if at_high else (first + last) // 2


@inner_kernel
def deepest_cell(
    model: Ensemble, rival: int, cell: Ints, first: Ints, final: Ints, suffix: Words, spare: Words
) -> None:
    """Move a cell, dimension by dimension, to where the rival's sum over first .. final is smallest."""
    begin, end = model.word_start[rival], model.word_start[rival + 1]
    n_dims, done, trial = cell.shape[0], spare[0], spare[1]
    for w in range(begin, end):
        suffix[n_dims, w] = done[w] = model.everything[w]
    for d in range(n_dims - 1, -1, -1):
        for w in range(begin, end):
            suffix[d, w] = suffix[d + 1, w]
        narrow(suffix[d], model, d, cell[d], cell[d], begin, end)
    for d in range(n_dims):
        if first[d] < final[d]:
            best, chosen = math.inf, cell[d]
            for k in range(first[d] - 1, final[d] + 1):
                if model.ended[0] != 0:
                    return
                c = cell[d] if k < first[d] else k
                for w in range(begin, end):
                    trial[w] = done[w] & suffix[d + 1, w]
                narrow(trial, model, d, c, c, begin, end)
                total = smallest_share(trial, model, rival, d)
                if total < best:
                    best, chosen = total, c
            cell[d] = chosen
        narrow(done, model, d, cell[d], cell[d], begin, end)
