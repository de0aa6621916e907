"""Which bad cell the adversary shall defend.

Any cell of the room at x makes a valid bound; a bad one that is hard to leave, or one where the rival's sum is far too
low, makes a strong one. Both kinds are tried.
"""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import Shorts, Words
from elbowroom.numerics import Ints
from elbowroom.search.trees.bits import Ensemble, narrow, smallest_share
from elbowroom.search.trees.node import State
from elbowroom.search.trees.question import Question
from elbowroom.search.trees.regions import Regions


@inner_kernel
def choose_cell(question: Question, state: State, regions: Regions, row: int) -> None:
    """A bad cell that region and room share and that is hard to leave: far from where the node can move."""
    for d in range(state.x.shape[0]):
        o, x = question.pos_start[d], state.x[d]
        a = max(question.low_cell[o + x], regions.low[row, d])
        b = min(question.high_cell[o + x], regions.high[row, d])
        if state.low[d] == x:
            state.cell[d] = b
        elif state.high[d] == x:
            state.cell[d] = a
        else:
            state.cell[d] = (a + b) // 2
    choose_categories(question, regions.low, regions.high, row, state.cell)


@inner_kernel
def choose_categories(question: Question, low: Shorts, high: Shorts, row: int, cell: Ints) -> None:
    """Inside every free group: one category that the region low[row] .. high[row] holds."""
    for g in range(question.free_start.shape[0] - 1):
        begin, end = question.free_start[g], question.free_start[g + 1]
        for i in range(begin, end):
            d = question.free_dim[i]
            held = question.free_allowed[i] == 1
            held = held and low[row, d] <= question.free_one[i] <= high[row, d]
            for j in range(begin, end):
                e = question.free_dim[j]
                if j != i and not (low[row, e] <= question.free_zero[j] <= high[row, e]):
                    held = False
            if held:
                for j in range(begin, end):
                    cell[question.free_dim[j]] = question.free_one[j] if j == i else question.free_zero[j]
                break


@inner_kernel
def deepen(model: Ensemble, question: Question, state: State, rival: int) -> None:
    """Move the chosen cell, dimension by dimension, to where the rival's sum over the room is smallest."""
    for d in range(state.x.shape[0]):
        i = question.pos_start[d] + state.x[d]
        state.first[d], state.final[d] = question.low_cell[i], question.high_cell[i]
        if question.in_free[d] == 1:  # categories cannot change one member at a time
            state.first[d] = state.final[d] = state.cell[d]
    deepest_cell(model, rival, state.cell, state.first, state.final, state.suffix, state.spare)


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
                c = cell[d] if k < first[d] else k
                for w in range(begin, end):
                    trial[w] = done[w] & suffix[d + 1, w]
                narrow(trial, model, d, c, c, begin, end)
                total = smallest_share(trial, model, rival, d)
                if total < best:
                    best, chosen = total, c
            cell[d] = chosen
        narrow(done, model, d, cell[d], cell[d], begin, end)
