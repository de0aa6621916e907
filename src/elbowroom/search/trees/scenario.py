"""Which bad cell the adversary shall defend.

Any cell of the room at x makes a valid bound; a bad one that is hard to leave, or one where the rival's sum is far too
low, makes a strong one. Both kinds are tried.
"""

from __future__ import annotations

import math

from elbowroom.search.trees.bits import Ensemble, narrow, smallest_share
from elbowroom.search.trees.compiled import inner_kernel
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
    for g in range(question.free_start.shape[0] - 1):  # inside a free group: one category that the region holds
        begin, end = question.free_start[g], question.free_start[g + 1]
        for i in range(begin, end):
            d = question.free_dim[i]
            held = question.free_allowed[i] == 1
            held = held and regions.low[row, d] <= question.free_one[i] <= regions.high[row, d]
            for j in range(begin, end):
                e = question.free_dim[j]
                if j != i and not (regions.low[row, e] <= question.free_zero[j] <= regions.high[row, e]):
                    held = False
            if held:
                for j in range(begin, end):
                    state.cell[question.free_dim[j]] = question.free_one[j] if j == i else question.free_zero[j]
                break


@inner_kernel
def deepen(model: Ensemble, question: Question, state: State, rival: int) -> None:
    """Move the chosen cell, dimension by dimension, to where the rival's sum over the room is smallest."""
    begin, end = model.word_start[rival], model.word_start[rival + 1]
    n_dims, done, trial = state.x.shape[0], state.spare[0], state.spare[1]
    for w in range(begin, end):
        state.suffix[n_dims, w] = done[w] = model.everything[w]
    for d in range(n_dims - 1, -1, -1):
        for w in range(begin, end):
            state.suffix[d, w] = state.suffix[d + 1, w]
        narrow(state.suffix[d], model, d, state.cell[d], state.cell[d], begin, end)
    for d in range(n_dims):
        i = question.pos_start[d] + state.x[d]
        first, final = question.low_cell[i], question.high_cell[i]
        if first < final and question.in_free[d] == 0:  # categories cannot change one member at a time
            best, chosen = math.inf, state.cell[d]
            for k in range(first - 1, final + 1):
                c = state.cell[d] if k < first else k
                for w in range(begin, end):
                    trial[w] = done[w] & state.suffix[d + 1, w]
                narrow(trial, model, d, c, c, begin, end)
                total = smallest_share(trial, model, rival, d)
                if total < best:
                    best, chosen = total, c
            state.cell[d] = chosen
        narrow(done, model, d, state.cell[d], state.cell[d], begin, end)
