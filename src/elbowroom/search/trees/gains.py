"""What every tree can gain when the room leaves a bad cell: the parts of the bound in `bound`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.bits import ONE, ZERO, Ensemble, lowest
from elbowroom.search.trees.compiled import Words, kernel, sort_by
from elbowroom.search.trees.question import ADDITIVE, Question

ENVELOPE_LEAVES = 48  # trees with more live leaves go without the exact envelope


class Scratch(NamedTuple):
    """Arrays that the bound uses and nobody else reads."""

    here: Words  # (words,) leaves at v
    reach: Words  # (words,) leaves that some position of the node can stand in
    gain: Floats  # (positions + dims,) increments of G along each dimension, then G itself
    entry_key: Ints  # one entry per leaf and dimension that must move: 2 f + (1 if upwards)
    entry_position: Ints
    entry_cost: Floats
    entry_gain: Floats
    order: Ints
    rank: Floats
    leaf: Ints
    leaf_start: Ints
    residual: Floats
    seen: Ints  # (dims,)
    breaks: Ints
    span_first: Ints
    span_last: Ints
    step_cost: Floats
    step_gain: Floats
    hull_cost: Floats
    hull_gain: Floats

    @classmethod
    def of(cls, model: Ensemble, question: Question) -> Scratch:
        n_dims = question.home.size
        positions = int(question.pos_start[-1])
        leaves = entries = 1
        for t in range(model.segment_start.size - 1):
            own = model.segment_mask[model.segment_start[t] : model.segment_start[t + 1]]
            first = int(model.segment_first[model.segment_start[t]]) + (int(own[0]) & -int(own[0])).bit_length() - 1
            size = sum(int(mask).bit_count() for mask in own)
            leaves = max(leaves, size)
            entries = max(entries, int(model.entry_start[first + size] - model.entry_start[first]))
        n_words, n_entries, n_steps = model.everything.size, entries + 1, positions + n_dims + 1
        return cls(
            np.zeros(n_words, np.uint64),
            np.zeros(n_words, np.uint64),
            np.zeros(n_steps),
            np.zeros(n_entries, np.int64),
            np.zeros(n_entries, np.int64),
            np.zeros(n_entries),
            np.zeros(n_entries),
            np.zeros(max(n_entries, n_steps), np.int64),
            np.zeros(max(n_entries, n_steps)),
            np.zeros(leaves + 2, np.int64),
            np.zeros(leaves + 2, np.int64),
            np.zeros(leaves + 2),
            np.zeros(n_dims, np.int64),
            np.zeros(2 * leaves + 4, np.int64),
            np.zeros(leaves + 2, np.int64),
            np.zeros(leaves + 2, np.int64),
            np.zeros(n_steps),
            np.zeros(n_steps),
            np.zeros(n_steps),
            np.zeros(n_steps),
        )


@kernel
def clamp(v: int, low: int, high: int) -> int:
    """The cell of low..high nearest to v."""
    return low if v < low else (high if v > high else v)


@kernel
def extra(question: Question, paid: Floats, dim: int, position: int) -> float:
    """What a dimension costs at a position beyond what is paid for it already (linf: its whole cost)."""
    cost = question.cost[question.pos_start[dim] + position]
    if question.norm == ADDITIVE:
        return max(0.0, cost - paid[dim])
    return cost


@kernel
def tree_gains(
    model: Ensemble, question: Question, tree: int, cell: Ints, low: Ints, high: Ints, paid: Floats,
    base: float, budget: float, floor: float, scratch: Scratch,
) -> float:  # fmt: skip
    """Add the gains of one tree to scratch.gain (as increments); return its largest affordable gain."""
    additive = question.norm == ADDITIVE
    key, position, entry_cost, share = (
        scratch.entry_key, scratch.entry_position, scratch.entry_cost, scratch.entry_gain,
    )  # fmt: skip
    present = np.int64(0)
    for s in range(model.segment_start[tree], model.segment_start[tree + 1]):
        bits = scratch.here[model.segment_word[s]] & model.segment_mask[s]
        if bits != ZERO:
            present = model.segment_first[s] + np.int64(lowest(bits))
    n_leaves = n_entries = np.int64(0)
    largest = 0.0
    for s in range(model.segment_start[tree], model.segment_start[tree + 1]):
        bits = scratch.reach[model.segment_word[s]] & model.segment_mask[s]
        while bits != ZERO:
            leaf = model.segment_first[s] + np.int64(lowest(bits))
            bits &= bits - ONE
            if leaf == present:
                continue
            gain = model.value[leaf] - model.value[present]
            first = n_entries
            total, dearest, reachable = 0.0, -1, True
            for e in range(model.entry_start[leaf], model.entry_start[leaf + 1]):
                f = model.entry_dim[e]
                o = question.edge_start[f] + 1
                if model.entry_low[e] > cell[f]:  # the whole room must move up
                    p = question.first_low[o + model.entry_low[e]]
                    reachable = p <= high[f] and p <= question.last_low[o + model.entry_high[e]]
                    k = 2 * f + 1
                elif model.entry_high[e] < cell[f]:
                    p = question.last_high[o + model.entry_high[e]]
                    reachable = p >= low[f] and p >= question.first_high[o + model.entry_low[e]]
                    k = 2 * f
                else:
                    continue
                if not reachable:
                    break
                cost = extra(question, paid, f, p)
                key[n_entries], position[n_entries], entry_cost[n_entries] = k, p, cost
                if additive:
                    total += cost
                elif cost > total or dearest < 0:
                    total, dearest = cost, n_entries
                n_entries += 1
            if not reachable or (base + total if additive else total) >= budget:
                n_entries = first
                continue
            for i in range(first, n_entries):
                share[i] = 0.0
                scratch.seen[key[i] >> 1] += 1
                if gain > 0.0:
                    if not additive:
                        share[i] = gain if i == dearest else 0.0
                    elif total > 0.0:
                        share[i] = gain * (entry_cost[i] / total)
                    else:
                        share[i] = gain / (n_entries - first)
            scratch.leaf[n_leaves], scratch.leaf_start[n_leaves] = leaf, first
            n_leaves += 1
            largest = max(largest, gain)
    scratch.leaf_start[n_leaves] = n_entries
    if n_leaves == 0:
        return 0.0
    exact = np.int64(-1)  # the dimension that carries the envelope: the one most leaves depend on
    for i in range(n_entries):
        f = key[i] >> 1
        if exact < 0 or scratch.seen[f] > scratch.seen[exact]:
            exact = f
    for i in range(n_entries):
        scratch.seen[key[i] >> 1] = 0
    if n_leaves > ENVELOPE_LEAVES:
        exact = np.int64(-1)
    # Running maxima along every other dimension and direction, from the inside out.
    widest = np.float64(question.cost.shape[0] + 1)
    for i in range(n_entries):
        scratch.order[i] = i
        scratch.rank[i] = key[i] * widest + (position[i] if key[i] & 1 else widest - 1 - position[i])
    sort_by(scratch.order, scratch.rank, n_entries)
    previous, running = -1, 0.0
    for t in range(n_entries):
        i = scratch.order[t]
        if key[i] != previous:
            previous, running = key[i], 0.0
        f = key[i] >> 1
        if f == exact:
            continue
        if share[i] > running:
            rise = share[i] - running
            running = share[i]
            o = question.pos_start[f] + f  # one spare slot per dimension, past its last position
            if key[i] & 1:
                scratch.gain[o + position[i]] += rise
            else:
                scratch.gain[o + low[f]] += rise
                scratch.gain[o + position[i] + 1] -= rise
        share[i] = running
    if exact >= 0:
        envelope(model, question, exact, present, n_leaves, cell, low, high, floor, scratch)
    return largest


@kernel
def envelope(
    model: Ensemble, question: Question, exact: int, present: int, n_leaves: int, cell: Ints, low: Ints, high: Ints,
    floor: float, scratch: Scratch,
) -> None:  # fmt: skip
    """Along one dimension: the most that any leaf open at p still gains once its shares elsewhere are taken off."""
    leaf, residual, breaks = scratch.leaf, scratch.residual, scratch.breaks
    o = question.edge_start[exact] + 1
    v = cell[exact]
    leaf[n_leaves] = present
    n_breaks = 1
    breaks[0] = low[exact]
    for i in range(n_leaves + 1):
        rest = model.value[leaf[i]] - model.value[present]
        a, b = 0, model.last[exact]
        for e in range(model.entry_start[leaf[i]], model.entry_start[leaf[i] + 1]):
            if model.entry_dim[e] == exact:
                a, b = model.entry_low[e], model.entry_high[e]
        if i < n_leaves:
            for t in range(scratch.leaf_start[i], scratch.leaf_start[i + 1]):
                if scratch.entry_key[t] >> 1 != exact:
                    rest -= scratch.entry_gain[t]
        residual[i] = rest
        first = question.first_low[o + a] if a > v else question.first_high[o + a]
        final = question.last_low[o + b] if b >= v else question.last_high[o + b]
        scratch.span_first[i], scratch.span_last[i] = first, final
        for side in range(2):
            at = first if side == 0 else final + 1
            if low[exact] < at <= high[exact]:
                j = n_breaks - 1
                while breaks[j] > at:
                    j -= 1
                if breaks[j] != at:
                    for z in range(n_breaks, j + 1, -1):
                        breaks[z] = breaks[z - 1]
                    breaks[j + 1] = at
                    n_breaks += 1
    previous = 0.0
    o = question.pos_start[exact] + exact
    for j in range(n_breaks):
        most = floor
        for i in range(n_leaves + 1):
            if scratch.span_first[i] <= breaks[j] <= scratch.span_last[i] and residual[i] > most:
                most = residual[i]
        scratch.gain[o + breaks[j]] += most - previous
        previous = most
