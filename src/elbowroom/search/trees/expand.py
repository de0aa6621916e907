"""The best-first search over ranges of positions, as one resumable kernel.

A node is a range of positions per dimension; its key bounds the cost of every good centre in it from below. Per node:

1. x is its nearest centre; one-hot groups and the limit on changes are propagated, positions beyond the budget cut;
2. a learned bad region that the room at x meets is chosen; if there is none, the adversary looks for one, and if that
   fails x is the best centre of the node: a candidate for the judge;
3. the bound of `bound` for a bad cell in region and room prunes, raises the key, or cuts positions (then again from 1);
4. the node is split along the literals of the region's clause, cheapest first, each child excluding the earlier ones.

The first candidate popped is optimal. A pause at any node and a later call go on exactly as one call would.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.adversary import BAD, LIMIT, Stack, find_bad
from elbowroom.search.trees.bits import Ensemble, common_words, copy_words, narrow, smallest_share
from elbowroom.search.trees.bound import PRUNED, bound
from elbowroom.search.trees.compiled import Words, inlined, kernel, sort_by
from elbowroom.search.trees.gains import Scratch, extra
from elbowroom.search.trees.grow import grow
from elbowroom.search.trees.nodes import FREE, OPEN_NODES, USED, Nodes, pop, push
from elbowroom.search.trees.question import ADDITIVE, Question
from elbowroom.search.trees.regions import MAX_HITS, Regions, add_region, literal_cost, met_regions

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

MOST_BOUNDS = 1
DEEP = 1
MOST_DELAYS = 3  # a node whose key rose is put back at most this often before it is split


class State(NamedTuple):
    """The node at hand, and room to work on it."""

    low: Ints  # (dims,)
    high: Ints
    x: Ints
    paid: Floats  # (dims,) cost at x, beyond which moves cost extra
    member: Ints  # (dims,) 1 for members of a fixed one-hot group whose switch is not paid yet
    cell: Ints
    first: Ints
    final: Ints
    order: Ints  # (2 dims + 1,)
    rank: Floats
    suffix: Words  # (2 dims + 1, words)
    spare: Words  # (3, words)
    found: Ints  # (MAX_HITS,)
    weight: Floats
    work: Ints  # (1,)
    count: Ints
    random: Words  # (1,)

    @classmethod
    def of(cls, n_dims: int, n_words: int, seed: int) -> State:
        ints = lambda: np.zeros(n_dims, np.int64)  # noqa: E731
        return cls(
            ints(), ints(), ints(), np.zeros(n_dims), ints(), ints(), ints(), ints(),
            np.zeros(2 * n_dims + 1, np.int64), np.zeros(2 * n_dims + 1), np.zeros((2 * n_dims + 1, n_words), np.uint64),
            np.zeros((3, n_words), np.uint64), np.zeros(MAX_HITS, np.int64), np.zeros(MAX_HITS), np.zeros(1, np.int64), np.zeros(4, np.int64),
            np.array([seed], dtype=np.uint64),
        )  # fmt: skip


@kernel
def settle_group(question: Question, block: int, low: Ints, high: Ints, x: Ints) -> int:
    """Propagate "exactly one member is 1", set x to home or the first category left, and return it (-1: none)."""
    begin, end = question.block_start[block], question.block_start[block + 1]
    forced, possible = -1, 0
    chosen = -1
    for d in range(begin, end):
        if low[d] == 1:
            if forced >= 0:
                return -1
            forced = d
        if high[d] == 1:
            possible += 1
            if chosen < 0 or d == question.group_home[block]:
                chosen = d
    if possible == 0:
        return -1
    if forced >= 0:
        chosen = forced
    for d in range(begin, end):
        if d == chosen and (forced >= 0 or possible == 1):
            low[d] = 1
        elif forced >= 0:
            high[d] = 0
        x[d] = 1 if d == chosen else 0
    return chosen


@kernel
def settle(question: Question, state: State, budget: float) -> float:
    """Nearest centre of the node, its total cost (inf: none), and positions that the budget or the number of changes
    still allows."""
    low, high, x, paid, member = state.low, state.high, state.x, state.paid, state.member
    additive = question.norm == ADDITIVE
    base, changes = question.constant, 0
    for b in range(question.group_home.shape[0]):
        begin = question.block_start[b]
        if question.group_home[b] >= 0:
            chosen = settle_group(question, b, low, high, x)
            if chosen < 0:
                return math.inf
            moved = chosen != question.group_home[b]
            price = question.group_price[b] if moved else 0.0
            for d in range(begin, question.block_start[b + 1]):
                paid[d] = price / 2
                member[d] = 0 if moved else 1
        else:
            if low[begin] > high[begin]:
                return math.inf
            x[begin] = min(max(question.home[begin], low[begin]), high[begin])
            price = question.cost[question.pos_start[begin] + x[begin]]
            moved = x[begin] != question.home[begin]
            paid[begin] = price
            member[begin] = 0
        base = base + price if additive else max(base, price)
        if moved:
            changes += question.block_counts[b]
    if changes > question.changes or base >= budget:
        return math.inf
    for b in range(question.group_home.shape[0]):
        begin = question.block_start[b]
        if question.group_home[b] >= 0:
            total = base + question.group_price[b] if additive else max(base, question.group_price[b])
            if member[begin] == 1 and (changes == question.changes or total >= budget):
                for d in range(begin, question.block_start[b + 1]):
                    low[d] = high[d] = x[d]
            continue
        if changes == question.changes and x[begin] == question.home[begin] and question.block_counts[b] == 1:
            low[begin] = high[begin] = x[begin]
        spare = budget - base if additive else budget
        while low[begin] < x[begin] and extra(question, paid, begin, low[begin]) >= spare:
            low[begin] += 1
        while high[begin] > x[begin] and extra(question, paid, begin, high[begin]) >= spare:
            high[begin] -= 1
    return base


@kernel
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
    return add_region(regions, question, low, high, rival, state.random)  # type: ignore[no-any-return]


@kernel
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


@kernel
def deepen(model: Ensemble, question: Question, state: State, rival: int) -> None:
    """Move the chosen cell, dimension by dimension, to where the rival's sum over the room is smallest."""
    begin, end = model.word_start[rival], model.word_start[rival + 1]
    n_dims, done, trial = state.x.shape[0], state.spare[0], state.spare[1]
    copy_words(state.suffix[n_dims], model.everything, begin, end)
    copy_words(done, model.everything, begin, end)
    for d in range(n_dims - 1, -1, -1):
        copy_words(state.suffix[d], state.suffix[d + 1], begin, end)
        narrow(state.suffix[d], model, d, state.cell[d], state.cell[d], begin, end)
    for d in range(n_dims):
        i = question.pos_start[d] + state.x[d]
        first, final = question.low_cell[i], question.high_cell[i]
        if first < final:
            best, chosen = math.inf, state.cell[d]
            for k in range(first - 1, final + 1):
                c = state.cell[d] if k < first else k
                common_words(trial, done, state.suffix[d + 1], begin, end)
                narrow(trial, model, d, c, c, begin, end)
                total = smallest_share(trial, model, rival, d)
                if total < best:
                    best, chosen = total, c
            state.cell[d] = chosen
        narrow(done, model, d, state.cell[d], state.cell[d], begin, end)


@kernel
def split(
    question: Question, state: State, regions: Regions, row: int, nodes: Nodes, base: float, key: float, budget: float
) -> None:
    """One child per live literal of the region's clause, cheapest first; each excludes the literals before it."""
    low, high, n_dims = state.low, state.high, state.x.shape[0]
    additive = question.norm == ADDITIVE
    n_literals = 0
    for d in range(n_dims):
        for side in range(2):
            p = np.int64(regions.below[row, d] if side == 0 else regions.above[row, d])
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
        push(nodes, low, high, max(key, state.rank[state.order[i]]), np.int64(0))
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
        if nodes.count[USED] - nodes.count[FREE] + 2 * n_dims + 2 > nodes.delays.shape[0]:
            return FULL
        key, delays = pop(nodes, state.low, state.high)
        worked += 1
        state.count[NODES] += 1
        row = np.int64(-1)
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
                state.count[ADVERSARY] = state.work[0]
                if verdict == LIMIT:
                    push(nodes, state.low, state.high, key, delays)
                    return STUCK
                if verdict != BAD:
                    return CANDIDATE
                state.found[0] = learn(model, question, state, stack, regions, rival, budget)
                state.weight[0], hits = 1.0, np.int64(1)
            else:
                state.count[MEETINGS] += 1
            row = state.found[0] if state.weight[0] > 0.0 else -1
            moved = False
            for i in range(2):
                if row < 0 or moved:
                    break
                regions.uses[row] += 1
                choose_cell(question, state, regions, row)
                if i == 0:
                    deepen(model, question, state, regions.rival[row])
                state.count[BOUNDS] += 1
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
