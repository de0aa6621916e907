"""How much further must a centre go before a bad cell inside its ball or diamond lets it through?

A box of half-widths a with sum phi(a_f / r_f) <= 1 lies inside the room of every centre. So the bound for boxes holds
for any such box: fix a bad cell v that the box at x meets; the adversary stands at clamp(v, x' - a, x' + a). For every
tree and every leaf within the budget, the gain over the leaf at v is shared among the dimensions that must move, in
proportion to their cost; with G_f the sum over trees of the running maxima of these shares along f,

    F(x') <= F0 + sum_f G_f(cost_f(x')),

and the deficit need - F0 must be filled: a knapsack over the concave hulls of G_f. A second bound, the reach: the
smallest budget at which every tree may take its best leaf within that budget and the sum is enough.

The half-widths are chosen by filling up: as far as the region's exits are concerned, all of them get equally dear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.ball_geometry import FREE, LARGEST, ROUND, Geometry, cell_at, guard, move_cost, phi
from elbowroom.search.trees.ball_regions import BallRegions, Node
from elbowroom.search.trees.bits import ONE, ZERO, Ensemble, lowest, narrow, smallest_sum
from elbowroom.search.trees.bundle import Bundle
from elbowroom.search.trees.compiled import Words, inner_kernel, int64, sort_by
from elbowroom.search.trees.question import Question

INSIDE = 1.0 - 1e-9  # sum phi(a_f / r_f) of the inscribed box: rounding does not carry it outside
FILLINGS = 30


@dataclass(frozen=True, eq=False)
class Tally(Bundle):
    """Arrays that the bound uses."""

    here: Words  # (words,) leaves at v
    reach: Words  # (words,) leaves that the adversary may be pushed into
    half: Floats  # (dims,) half-widths a
    gap: Floats  # (dims,)
    exit: Floats  # (dims,) raw way to the nearest side of the region that the node can pass
    cell: Ints  # (dims,) v
    entry_key: Ints  # one entry per leaf and dimension that must move: 2 f + (1 if upwards)
    entry_cost: Floats
    entry_gain: Floats
    leaf_cost: Floats
    leaf_gain: Floats
    order: Ints
    rank: Floats
    event_key: Ints  # steps of G along dimension and direction
    event_cost: Floats
    event_rise: Floats
    reach_cost: Floats  # steps of the reach
    reach_rise: Floats
    step_cost: Floats  # steps of the hulls
    step_gain: Floats
    hull_cost: Floats
    hull_gain: Floats
    start: Ints  # (dims + 1,) events of each dimension, in ``order``

    @classmethod
    def of(cls, model: Ensemble, n_dims: int) -> Tally:
        n_words, n = model.everything.size, model.entry_dim.size + model.value.size + n_dims + 2

        def ints() -> Ints:
            return np.zeros(n, np.int64)

        def floats() -> Floats:
            return np.zeros(n)

        return cls(
            np.zeros(n_words, np.uint64), np.zeros(n_words, np.uint64), np.zeros(n_dims), np.zeros(n_dims),
            np.zeros(n_dims), np.zeros(n_dims, np.int64),
            ints(), floats(), floats(), floats(), floats(), ints(), floats(), ints(), floats(), floats(), floats(),
            floats(), floats(), floats(), floats(), floats(), np.zeros(n_dims + 1, np.int64),
        )  # fmt: skip


@inner_kernel
def _half_width(gap: float, nearest: float, axis: float, reach: float) -> float:
    """The half-width at which leaving the region along one dimension takes a move of length ``reach``."""
    return gap if nearest == math.inf else min(max(gap, reach - nearest), axis)


@inner_kernel
def fill_up(geometry: Geometry, node: Node, regions: BallRegions, row: int, tally: Tally) -> None:
    """Half-widths of an inscribed box that meets the region and makes its cheapest exit as dear as possible."""
    n_dims, square = node.x.shape[0], geometry.square
    gaps, exits, axis, rate, half = tally.gap, tally.exit, geometry.axis, geometry.rate, tally.half
    low, high = 0.0, 0.0
    for d in range(n_dims):
        gaps[d], exits[d] = 0.0, math.inf
        if geometry.kind[d] == ROUND:
            x, first, last = node.x[d], regions.first[row, d], regions.last[row, d]
            gaps[d] = max(0.0, first - x, x - last)
            if last < node.high[d]:
                exits[d] = last - x  # negative where x is outside already
            if first > node.low[d]:
                exits[d] = min(exits[d], x - first)
            if exits[d] < math.inf:
                high = max(high, rate[d] * (exits[d] + axis[d]))
    for step in range(FILLINGS + 1):
        level = high if step == 0 else (low + high) / 2.0
        total = 0.0
        for d in range(n_dims):
            if axis[d] > 0.0:
                total += phi(square, _half_width(gaps[d], exits[d], axis[d], level / rate[d]) / axis[d])
        if total <= INSIDE:
            low = level
            if step == 0:
                break
        else:
            high = level
    for d in range(n_dims):
        half[d] = _half_width(gaps[d], exits[d], axis[d], low / rate[d]) if axis[d] > 0.0 else 0.0
        if geometry.whole[d] == 1:  # part of a step would put the adversary where no value is
            half[d] = np.floor(half[d])


@inner_kernel
def choose_bad_cell(
    geometry: Geometry, question: Question, node: Node, regions: BallRegions, row: int, tally: Tally
) -> None:
    """A cell that region and inscribed box share: as far as possible from where the node can move."""
    for d in range(node.x.shape[0]):
        x, half = node.x[d], tally.half[d]
        first, last = regions.first[row, d], regions.last[row, d]
        gap = first - x if x < first else (x - last if x > last else 0.0)
        width = max(gap, half * INSIDE - guard(x, half))
        begin, end = geometry.cell_start[d], geometry.cell_start[d + 1]
        a = max(cell_at(geometry.last, begin, end, x - width), int64(regions.low[row, d]))
        b = min(cell_at(geometry.last, begin, end, x + width), int64(regions.high[row, d]))
        a, b = min(a, int64(regions.high[row, d])), max(b, int64(regions.low[row, d]))
        if node.low[d] == x:
            tally.cell[d] = b
        elif node.high[d] == x:
            tally.cell[d] = a
        else:
            tally.cell[d] = (a + b) // 2
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
                    tally.cell[question.free_dim[j]] = question.free_one[j] if j == i else question.free_zero[j]
                break


@inner_kernel
def _entry_move(
    first: Floats, last: Floats, at: int, v: int, low: int, high: int, half: float, x: float, node_low: float,
    node_high: float,
) -> tuple[int, float]:  # fmt: skip
    """Which way, and how far in raw units, must a dimension move so that the adversary stands in cells low..high instead
    of v? 0: down, 1: up, 2: it cannot. ``at`` is where its cells begin."""
    slack = 0.0
    if low > v:
        edge = first[at + low] if half == 0.0 else last[at + low - 1]
        if half > 0.0:
            slack = guard(edge, x) + guard(half, node_high)
        if (edge - node_high) + half > slack:
            return 2, 0.0
        return 1, max(0.0, (edge - x) + half - slack)
    edge = last[at + high] if half == 0.0 else first[at + high + 1]
    if half > 0.0:
        slack = guard(edge, x) + guard(half, node_low)
    if (node_low - edge) + half > slack:
        return 2, 0.0
    return 0, max(0.0, (x - edge) + half - slack)


@inner_kernel
def _tree_events(
    model: Ensemble, geometry: Geometry, node: Node, tree: int, base: float, proven: float, budget: float, load: Floats,
    tally: Tally, n_events: int, n_reach: int,
) -> tuple[int, int]:  # fmt: skip
    """Append the steps of one tree's gains; ``proven`` is what ``load`` has proven beyond ``base``."""
    key, cost, share, cell, half = tally.entry_key, tally.entry_cost, tally.entry_gain, tally.cell, tally.half
    firsts, lasts, starts, kinds, rates = (
        geometry.first, geometry.last, geometry.cell_start, geometry.kind, geometry.rate,
    )  # fmt: skip
    entry_dim, entry_low, entry_high, norm = model.entry_dim, model.entry_low, model.entry_high, geometry.norm
    x, low, high, paid = node.x, node.low, node.high, node.paid
    present = int64(0)
    for s in range(model.segment_start[tree], model.segment_start[tree + 1]):
        bits = tally.here[model.segment_word[s]] & model.segment_mask[s]
        if bits != ZERO:
            present = model.segment_first[s] + int64(lowest(bits))
    n_leaves = n_entries = int64(0)
    for s in range(model.segment_start[tree], model.segment_start[tree + 1]):
        bits = tally.reach[model.segment_word[s]] & model.segment_mask[s]
        while bits != ZERO:
            leaf = model.segment_first[s] + int64(lowest(bits))
            bits &= bits - ONE
            gain = model.value[leaf] - model.value[present]
            if gain <= 0.0:
                continue
            begin, total, reduced, reachable = n_entries, 0.0, 0.0, True
            for e in range(model.entry_start[leaf], model.entry_start[leaf + 1]):
                d = entry_dim[e]
                if entry_low[e] <= cell[d] <= entry_high[e]:
                    continue
                direction, length = 2, 0.0
                if kinds[d] != FREE:
                    direction, length = _entry_move(
                        firsts, lasts, starts[d], cell[d], entry_low[e], entry_high[e], half[d], x[d], low[d], high[d]
                    )
                if direction == 2:
                    reachable = False
                    break
                if rates[d] == 0.0:
                    whole = geometry.category_price[d] if node.unpaid[d] == 1 else 0.0
                    full = max(0.0, whole - base) if norm == LARGEST else whole / 2.0
                else:
                    full = move_cost(norm, paid[d], length * rates[d], base)
                k = 2 * d + direction
                key[n_entries], cost[n_entries] = k, full * max(0.0, 1.0 - load[k])
                if norm == LARGEST:
                    total = max(total, full)
                    reduced = total
                else:
                    total += full
                    reduced += cost[n_entries]
                n_entries += 1
            if not reachable or base + total >= budget or base + proven + reduced >= budget:
                n_entries = begin
                continue
            for i in range(begin, n_entries):
                share[i] = gain * (cost[i] / reduced) if reduced > 0.0 else gain / (n_entries - begin)
            tally.leaf_cost[n_leaves], tally.leaf_gain[n_leaves] = max(total, proven + reduced), gain
            n_leaves += 1
    for i in range(n_leaves):
        tally.order[i] = i
    sort_by(tally.order, tally.leaf_cost, n_leaves)
    running = 0.0
    for t in range(n_leaves):
        i = tally.order[t]
        if tally.leaf_gain[i] > running:
            tally.reach_cost[n_reach], tally.reach_rise[n_reach] = tally.leaf_cost[i], tally.leaf_gain[i] - running
            running = tally.leaf_gain[i]
            n_reach += 1
    for i in range(n_entries):
        tally.order[i] = i
    sort_by(tally.order, cost, n_entries)
    for t in range(n_entries):  # running maxima per dimension and direction; few entries, so a plain search will do
        i = tally.order[t]
        running = 0.0
        for u in range(t):
            j = tally.order[u]
            if key[j] == key[i]:
                running = max(running, share[j])
        if share[i] > running:
            tally.event_key[n_events], tally.event_cost[n_events] = key[i], cost[i]
            tally.event_rise[n_events] = share[i] - running
            n_events += 1
    return n_events, n_reach


@inner_kernel
def count_gains(
    model: Ensemble, geometry: Geometry, node: Node, rival: int, base: float, proven: float, budget: float,
    load: Floats, tally: Tally,
) -> tuple[float, int, int]:  # fmt: skip
    """The deficit at v (<= 0: v is not bad by this engine's own sums), and the numbers of steps of G and of the reach."""
    begin, end = model.word_start[rival], model.word_start[rival + 1]
    for w in range(begin, end):
        tally.here[w] = tally.reach[w] = model.everything[w]
    for d in range(node.x.shape[0]):
        v, half = tally.cell[d], tally.half[d]
        narrow(tally.here, model, d, v, v, begin, end)
        first = final = v
        at, after = geometry.cell_start[d], geometry.cell_start[d + 1]
        if geometry.kind[d] != FREE:
            if node.low[d] > -math.inf:
                first = min(v, cell_at(geometry.last, at, after, node.low[d] + half - guard(node.low[d], half)))
            else:
                first = int64(0)
            if node.high[d] < math.inf:
                final = max(v, cell_at(geometry.last, at, after, node.high[d] - half + guard(node.high[d], half)))
            else:
                final = model.last[d]
        narrow(tally.reach, model, d, first, final, begin, end)
    deficit = model.need[rival] - smallest_sum(tally.here, model, rival)
    n_events = n_reach = int64(0)
    if deficit <= 0.0:
        return 0.0, n_events, n_reach
    for tree in range(model.tree_start[rival], model.tree_start[rival + 1]):
        n_events, n_reach = _tree_events(
            model, geometry, node, tree, base, proven, budget, load, tally, n_events, n_reach
        )
    return deficit - model.guard[rival], n_events, n_reach
