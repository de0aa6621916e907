"""The best-first search over ranges of positions, as one resumable kernel.

A node is a range of positions per dimension; its key bounds the cost of every good centre in it from below. Per node:

1. x is its nearest centre; one-hot groups and the limit on changes are propagated, positions beyond the budget cut;
2. a learned bad region that the room at x meets is chosen; if there is none, the adversary looks for one, and if that
   fails x is the best centre of the node: a candidate for the judge;
3. the bound of `bound` for a bad cell of the room prunes, raises the key, or cuts positions (then again from 1);
4. the node is split along the literals of the region's clause, cheapest first, each child excluding the earlier ones.

The first candidate popped is optimal. A pause at any node and a later call go on exactly as one call would.
"""

from __future__ import annotations

import math

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import int64, sort_by
from elbowroom.search.trees.bad.find import BAD, LIMIT, Stack, find_bad
from elbowroom.search.trees.bad.grow import grow
from elbowroom.search.trees.bound.bound import PRUNED, bound
from elbowroom.search.trees.bound.gains import Scratch
from elbowroom.search.trees.boxes.cell import choose_cell, deepen
from elbowroom.search.trees.boxes.node import State, settle
from elbowroom.search.trees.boxes.regions import Regions, add_region, literal_cost, met_regions
from elbowroom.search.trees.cells.leaves import Ensemble
from elbowroom.search.trees.heap import FREE, OPEN_NODES, USED, Nodes, pop, push
from elbowroom.search.trees.question.question import ADDITIVE, Question

# How `expand` stopped.
EMPTY = 0  # no node with a key below the budget is left
PAUSED = 1  # the share of nodes is used up
CANDIDATE = 2  # state.x is good by this engine's own sums; its node is in state.low, state.high
FULL = 3  # the pool of nodes has no room for another split
STUCK = 4  # the adversary needs a larger limit or stack

# Indices into State.count
NODES = 0
ADVERSARY = 1
BOUNDS = 2
MEETINGS = 3  # nodes that a learned region settled without the adversary

MOST_DELAYS = 3  # a node whose key rose is put back at most this often before it is split


@inner_kernel
def learn(
    model: Ensemble, question: Question, state: State, stack: Stack, regions: Regions, rival: int, budget: float
) -> int:
    """Grow the bad range in row 0 of the stack, cheapest exits first, and store it."""
    n_dims = state.x.shape[0]
    for d in range(n_dims):
        o, e = question.pos_start[d], question.edge_start[d] + 1
        n = question.pos_start[d + 1] - o
        # Beyond the cells that any affordable position meets a region has nothing to forbid.
        p, q = 0, n - 1
        while p < state.x[d] and question.cost[o + p] >= budget:
            p += 1
        while q > state.x[d] and question.cost[o + q] >= budget:
            q -= 1
        state.first[d], state.final[d] = question.high_cell[o + p], question.low_cell[o + q]
        below = question.last_high[e + stack.low[0, d] - 1]
        above = question.first_low[e + stack.high[0, d] + 1]
        state.rank[2 * d] = literal_cost(question, state.paid, state.member, d, below) if below >= 0 else math.inf
        state.rank[2 * d + 1] = literal_cost(question, state.paid, state.member, d, above) if above < n else math.inf
        state.order[2 * d], state.order[2 * d + 1] = 2 * d, 2 * d + 1
    sort_by(state.order, state.rank, 2 * n_dims)
    low, high = stack.low[0], stack.high[0]
    grow(model, rival, low, high, state.order[: 2 * n_dims], state.first, state.final, state.suffix, state.spare)
    return add_region(regions, question, low, high, rival, state.random)


@inner_kernel
def split(
    question: Question, state: State, regions: Regions, row: int, nodes: Nodes, base: float, key: float, budget: float
) -> None:
    """One child per live literal of the region's clause, cheapest first; each excludes the literals before it."""
    low, high, n_dims = state.low, state.high, state.x.shape[0]
    additive = question.norm == ADDITIVE
    n_literals = int64(0)
    for d in range(n_dims):
        for side in range(2):
            p = int64(regions.below[row, d] if side == 0 else regions.above[row, d])
            if (p >= low[d]) if side == 0 else (p <= high[d]):
                cost = literal_cost(question, state.paid, state.member, d, p)
                total = base + cost if additive else max(base, cost)
                if total < budget:
                    state.order[n_literals] = 2 * d + side
                    state.rank[2 * d + side] = total
                    n_literals += 1
    sort_by(state.order, state.rank, n_literals)
    for i in range(n_literals):
        d, up = state.order[i] // 2, state.order[i] % 2 == 1
        p = regions.above[row, d] if up else regions.below[row, d]
        first, final = low[d], high[d]
        if p < first or p > final:
            continue
        if up:
            low[d] = p
        else:
            high[d] = p
        push(nodes, low, high, max(key, state.rank[state.order[i]]), int64(0))
        low[d], high[d] = first, final
        if up:
            high[d] = p - 1
        else:
            low[d] = p + 1
        if low[d] > high[d]:
            break


@kernel
def expand(
    model: Ensemble, question: Question, regions: Regions, nodes: Nodes, stack: Stack, scratch: Scratch, state: State,
    budget: float, share: int, adversary_limit: int,
) -> int:  # fmt: skip
    """Work on up to ``share`` nodes, looking for centres of total cost < budget."""
    n_dims = state.x.shape[0]
    worked = 0
    while nodes.count[OPEN_NODES] > 0:
        if nodes.key[0] >= budget:
            nodes.count[OPEN_NODES] = 0
            break
        if worked >= share:
            return PAUSED
        if nodes.count[USED] - nodes.count[FREE] + 2 * n_dims + 2 > nodes.note.shape[0]:
            return FULL
        key, delays = pop(nodes, state.low, state.high)
        worked += 1
        state.counts[NODES] += 1
        row = int64(-1)
        base = math.inf
        while True:
            base = settle(question, state, budget)
            if base >= budget:
                row = -1
                break
            key = max(key, base)
            hits = met_regions(
                regions, question, state.x, state.low, state.high, state.paid, state.member, base, budget, state.found,
                state.weight,
            )  # fmt: skip
            if hits == 0:
                for d in range(n_dims):
                    state.first[d] = question.low_cell[question.pos_start[d] + state.x[d]]
                    state.final[d] = question.high_cell[question.pos_start[d] + state.x[d]]
                verdict, rival = find_bad(model, question, state.first, state.final, adversary_limit, stack, state.work)
                state.counts[ADVERSARY] = state.work[0]
                if verdict == LIMIT:
                    push(nodes, state.low, state.high, key, delays)
                    return STUCK
                if verdict != BAD:
                    return CANDIDATE
                state.found[0] = learn(model, question, state, stack, regions, rival, budget)
                state.weight[0], hits = 1.0, int64(1)
            else:
                state.counts[MEETINGS] += 1
            row = state.found[0] if state.weight[0] > 0.0 else -1
            moved = False
            for attempt in range(2):  # the deepest cell of the room first, then one of the region that is hard to leave
                if row < 0 or moved:
                    break
                choose_cell(question, state, regions, row)
                if attempt == 0:
                    regions.uses[row] += 1
                    deepen(model, question, state, regions.rival[row])
                state.counts[BOUNDS] += 1
                outcome, value = bound(
                    model, question, regions.rival[row], state.cell, state.low, state.high, state.x,
                    state.paid, base, budget, scratch,
                )  # fmt: skip
                if outcome == PRUNED:
                    row = -1
                    break
                key = max(key, value)
                for d in range(n_dims):
                    if state.x[d] < state.low[d] or state.x[d] > state.high[d]:
                        moved = True
            if row < 0 or not moved:
                break
        if row < 0:
            continue
        if delays < MOST_DELAYS and nodes.count[OPEN_NODES] > 0 and key > nodes.key[0]:
            push(nodes, state.low, state.high, key, delays + 1)
            continue
        split(question, state, regions, row, nodes, base, key, budget)
    return EMPTY
