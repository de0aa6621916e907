"""What every tree can gain when the room leaves a bad cell: the parts of the bound in `bound`.

Per tree in three steps: list the leaves that node and budget allow, with the dimensions that must move; share their gains
among all of these dimensions but one; let that one carry the exact envelope of what remains.
"""

from __future__ import annotations

from dataclasses import dataclass

from elbowroom.kernels.bundle import Bundle, array
from elbowroom.kernels.kernel import inlined, inner_kernel
from elbowroom.kernels.tools import Words, int64, lowest, sort_by
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.cells.leaves import ONE, ZERO, Ensemble
from elbowroom.search.trees.limits import ENVELOPE_LEAVES
from elbowroom.search.trees.question.question import COSTS, Question


@dataclass(frozen=True, eq=False)
class Scratch(Bundle):
    """Scratch arrays of the bound."""

    here: Words = array("words")  # leaves at v
    reach: Words = array("words")  # leaves that some position of the node can be in
    gain: Floats = array("steps")  # increments of G along each dimension, then G itself
    entry_key: Ints = array("entries")  # one entry per leaf and dimension that must move: 2 f + (1 if upwards)
    entry_position: Ints = array("entries")
    entry_cost: Floats = array("entries")
    entry_gain: Floats = array("entries")
    order: Ints = array("most")  # entries or steps
    rank: Floats = array("most")
    leaf: Ints = array("leaves")
    leaf_start: Ints = array("leaves")
    residual: Floats = array("leaves")
    seen: Ints = array("dims")
    breaks: Ints = array("breaks")
    span_first: Ints = array("leaves")
    span_last: Ints = array("leaves")
    step_cost: Floats = array("steps")
    step_gain: Floats = array("steps")
    price: Floats = array(1)  # of the last unit of gain in the last bound: its multiplier (-1: it needed none)
    hull_cost: Floats = array("steps")
    hull_gain: Floats = array("steps")


@inner_kernel
def clamp(v: int, low: int, high: int) -> int:
    """The cell of low..high nearest to v."""
    return low if v < low else (high if v > high else v)


@inner_kernel
def collect_gains(
    model: Ensemble, question: Question, rival: int, cell: Ints, low: Ints, high: Ints, paid: Floats, base: float,
    budget: float, floor: float, scratch: Scratch,
) -> float:  # fmt: skip
    """Add the gains of all trees to scratch.gain (as increments); return the sum of their largest affordable gains."""
    here, reach, most = scratch.here, scratch.reach, 0.0
    segment_word, segment_mask, segment_first = model.segment_word, model.segment_mask, model.segment_first
    for tree in range(model.tree_start[rival], model.tree_start[rival + 1]):
        if model.ended[0] != 0:  # the sum is not complete: nobody may use it
            break
        present, settled = int64(0), True
        for s in range(model.segment_start[tree], model.segment_start[tree + 1]):
            bits = here[segment_word[s]] & segment_mask[s]
            if bits != ZERO:
                present = segment_first[s] + int64(lowest(bits))
            settled = settled and bits == reach[segment_word[s]] & segment_mask[s]
        if settled:  # the node cannot leave the present leaf of this tree
            continue
        n_leaves, n_entries, largest = _list_leaves(
            model=model, question=question, tree=tree, present=present, cell=cell, low=low, high=high, paid=paid,
            base=base, budget=budget, scratch=scratch,
        )  # fmt: skip
        if n_leaves == 0:
            continue
        most += largest
        exact = _most_wanted(scratch.entry_key, n_entries, scratch.seen)
        if n_leaves > ENVELOPE_LEAVES:
            exact = int64(-1)
        _share_out(question, low, exact, n_entries, scratch)
        if exact >= 0:
            _add_envelope(
                model=model, question=question, present=present, cell=cell, low=low, high=high, exact=exact,
                n_leaves=n_leaves, n_entries=n_entries, floor=floor, scratch=scratch,
            )  # fmt: skip
    return most


@inner_kernel
def _list_leaves(
    model: Ensemble, question: Question, tree: int, present: int, cell: Ints, low: Ints, high: Ints, paid: Floats,
    base: float, budget: float, scratch: Scratch,
) -> tuple[int, int, float]:  # fmt: skip
    """List the other leaves of a tree within node and budget, each with an entry per dimension that must move.

    Every entry gets its share of the leaf's gain: in proportion to its cost, or all of it on the most expensive one
    (linf). Numbers of leaves and entries, and the largest gain.
    """
    additive = question.norm == COSTS.ADDITIVE
    reach, values = scratch.reach, model.value
    key, position, entry_cost = scratch.entry_key, scratch.entry_position, scratch.entry_cost
    segment_word, segment_mask, segment_first = model.segment_word, model.segment_mask, model.segment_first
    entry_dim, entry_low, entry_high = model.entry_dim, model.entry_low, model.entry_high
    edge_start, pos_start, cost = question.edge_start, question.pos_start, question.cost
    n_leaves = n_entries = int64(0)
    largest = 0.0
    for s in range(model.segment_start[tree], model.segment_start[tree + 1]):
        bits = reach[segment_word[s]] & segment_mask[s]
        while bits != ZERO:
            leaf = segment_first[s] + int64(lowest(bits))
            bits &= bits - ONE
            if leaf == present:
                continue
            first = n_entries
            total, costliest, reachable = 0.0, -1, True
            for e in range(model.entry_start[leaf], model.entry_start[leaf + 1]):
                f = entry_dim[e]
                o = edge_start[f] + 1
                if entry_low[e] > cell[f]:  # the whole room must move up
                    p = question.first_low[o + entry_low[e]]
                    reachable = p <= high[f] and p <= question.last_low[o + entry_high[e]]
                    k = 2 * f + 1
                elif entry_high[e] < cell[f]:
                    p = question.last_high[o + entry_high[e]]
                    reachable = p >= low[f] and p >= question.first_high[o + entry_low[e]]
                    k = 2 * f
                else:
                    continue
                if not reachable:
                    break
                price = cost[pos_start[f] + p]
                if additive:
                    price = max(0.0, price - paid[f])
                    total += price
                elif price > total or costliest < 0:
                    total, costliest = price, n_entries
                key[n_entries], position[n_entries], entry_cost[n_entries] = k, p, price
                n_entries += 1
            if not reachable or (base + total if additive else total) >= budget:
                n_entries = first
                continue
            gain = values[leaf] - values[present]
            _share(scratch, first, n_entries, gain, total, costliest)
            scratch.leaf[n_leaves], scratch.leaf_start[n_leaves] = leaf, first
            n_leaves += 1
            largest = max(largest, gain)
    scratch.leaf_start[n_leaves] = n_entries
    return n_leaves, n_entries, largest


@inlined
def _share(scratch: Scratch, first: int, end: int, gain: float, total: float, costliest: int) -> None:
    """Share a leaf's gain among its entries: all of it on the most expensive one if that is given (not -1)."""
    for i in range(first, end):
        scratch.entry_gain[i] = 0.0
        scratch.seen[scratch.entry_key[i] >> 1] += 1
        if gain > 0.0:
            if costliest >= 0:
                scratch.entry_gain[i] = gain if i == costliest else 0.0
            elif total > 0.0:
                scratch.entry_gain[i] = gain * (scratch.entry_cost[i] / total)
            else:
                scratch.entry_gain[i] = gain / (end - first)


@inlined
def _most_wanted(key: Ints, n_entries: int, seen: Ints) -> int:
    """The dimension that most leaves depend on: it carries the exact envelope (-1: there is none). Clears ``seen``."""
    exact = int64(-1)
    for i in range(n_entries):
        f = key[i] >> 1
        if exact < 0 or seen[f] > seen[exact]:
            exact = f
    for i in range(n_entries):
        seen[key[i] >> 1] = 0
    return exact


@inner_kernel
def _share_out(question: Question, low: Ints, exact: int, n_entries: int, scratch: Scratch) -> None:
    """Running maxima of the shares along every dimension but the exact one, and every direction, from the inside out."""
    key, position, share, gains = scratch.entry_key, scratch.entry_position, scratch.entry_gain, scratch.gain
    outwards(key, position, scratch.order, n_entries, scratch.rank)
    previous, running = -1, 0.0
    for t in range(n_entries):
        i = scratch.order[t]
        f = key[i] >> 1
        if f == exact:
            continue
        if key[i] != previous:
            previous, running = key[i], 0.0
        if share[i] > running:
            rise = share[i] - running
            running = share[i]
            o = question.pos_start[f] + f  # one spare slot per dimension, past its last position
            if key[i] & 1:
                gains[o + position[i]] += rise
            else:
                gains[o + low[f]] += rise
                gains[o + position[i] + 1] -= rise
        share[i] = running


@inner_kernel
def _add_envelope(
    model: Ensemble, question: Question, present: int, cell: Ints, low: Ints, high: Ints, exact: int, n_leaves: int,
    n_entries: int, floor: float, scratch: Scratch,
) -> None:  # fmt: skip
    """What every leaf still gains along the exact dimension once the others have had their shares, where it is open."""
    leaves, leaf_start, o = scratch.leaf, scratch.leaf_start, question.edge_start[exact] + 1
    leaves[n_leaves] = present
    leaf_start[n_leaves + 1] = n_entries
    for i in range(n_leaves + 1):
        a, b = int64(0), model.last[exact]
        for e in range(model.entry_start[leaves[i]], model.entry_start[leaves[i] + 1]):
            if model.entry_dim[e] == exact:
                a, b = model.entry_low[e], model.entry_high[e]
        rest = model.value[leaves[i]] - model.value[present]
        for t in range(leaf_start[i], leaf_start[i + 1]):
            if scratch.entry_key[t] >> 1 != exact:
                rest -= scratch.entry_gain[t]
        scratch.residual[i] = rest
        scratch.span_first[i] = question.first_low[o + a] if a > cell[exact] else question.first_high[o + a]
        scratch.span_last[i] = question.last_low[o + b] if b >= cell[exact] else question.last_high[o + b]
    envelope(
        residual=scratch.residual, first=scratch.span_first, final=scratch.span_last, size=n_leaves + 1, low=low[exact], high=high[exact], floor=floor,
        breaks=scratch.breaks, gains=scratch.gain, offset=question.pos_start[exact] + exact,
    )  # fmt: skip


@inner_kernel
def outwards(key: Ints, position: Ints, order: Ints, size: int, rank: Floats) -> None:
    """Sort entries by dimension and direction, and within these from the inside out."""
    for i in range(size):
        order[i] = i
        rank[i] = key[i] * 4294967296.0 + (position[i] if key[i] & 1 else 2147483648.0 - position[i])
    if size > 24:
        sort_by(order, rank, size)
        return
    for i in range(1, size):
        j = i
        while j > 0 and rank[order[j - 1]] > rank[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i


@inner_kernel
def envelope(
    residual: Floats, first: Ints, final: Ints, size: int, low: int, high: int, floor: float, breaks: Ints,
    gains: Floats, offset: int,
) -> None:  # fmt: skip
    """Add, along one dimension, the most that any leaf open at a position still gains (floor where none is open)."""
    n_breaks = 1
    breaks[0] = low
    for i in range(size):
        for side in range(2):
            at = first[i] if side == 0 else final[i] + 1
            if low < at <= high:
                j = n_breaks - 1
                while breaks[j] > at:
                    j -= 1
                if breaks[j] != at:
                    for z in range(n_breaks, j + 1, -1):
                        breaks[z] = breaks[z - 1]
                    breaks[j + 1] = at
                    n_breaks += 1
    previous = 0.0
    for j in range(n_breaks):
        most = floor
        for i in range(size):
            if first[i] <= breaks[j] <= final[i] and residual[i] > most:
                most = residual[i]
        gains[offset + breaks[j]] += most - previous
        previous = most
