"""Shares for a part of the centres: what lies outside its windows is left out, leaves and cells alike."""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.first.adversary import price_cells
from elbowroom.search.trees.first.shares import Shares
from elbowroom.search.trees.first.split_kernels import ascend_column, smallest_shares


def narrowed(shares: Shares, first: Ints, last: Ints) -> tuple[Shares, float] | None:
    """The shares of centres in the places first .. last of each column, with the shares as they are; and what columns cost at least in
    which nothing is left to be decided. None if no centre is left."""
    n_slots, n_columns = len(shares.slot_tree), len(first)
    places = shares.place_start[:-1] + first, shares.place_start[:-1] + last
    first, last = shares.place_first[places[0]], shares.place_last[places[1]]  # fine cells
    alive, cut, cells, entries = np.ones(len(shares.value), np.int64), *(np.zeros(n_slots, np.int64) for _ in range(3))
    if not _count(shares, first, last, alive, cut, cells, entries):
        return None
    kept = cells > 1
    leaf_of = np.cumsum(alive) - 1
    slot_of = np.cumsum(kept) - 1
    leaf_start = np.concatenate([[0], np.cumsum(alive)])[shares.leaf_start]
    column = np.repeat(np.arange(n_columns), np.diff(shares.column_start))
    held = kept[shares.column_slot]
    column_start = np.searchsorted(column[held], np.arange(n_columns + 1)).astype(np.int64)
    cell_start = np.concatenate([[0], np.cumsum(last - first + 1)]).astype(np.int64)
    place_start = np.concatenate([[0], np.cumsum(places[1] - places[0] + 1)]).astype(np.int64)
    of = np.repeat(np.arange(n_columns), np.diff(place_start))
    chosen = (places[0] - place_start[:-1])[of] + np.arange(place_start[-1])
    cost, shift = shares.place_cost[chosen], first[of]
    had = np.diff(shares.column_start) > 0
    settled = np.flatnonzero(had & (np.diff(column_start) == 0))
    rest = sum(float(cost[place_start[f] : place_start[f + 1]].min()) for f in settled)
    if not np.isfinite(rest):
        return None
    entry_start = np.concatenate([[0], np.cumsum(entries[kept])]).astype(np.int64)
    lam_start = np.concatenate([[0], np.cumsum(cells[kept])]).astype(np.int64)
    size, n_leaves, n_lam = int(entry_start[-1]), int(leaf_start[-1]), int(lam_start[-1])
    widest = int((last - first).max(initial=0)) + 1
    n_kept = len(lam_start) - 1
    made = Shares(
        value=shares.value[alive != 0], leaf_start=leaf_start.astype(np.int64), priced=np.zeros(n_leaves),
        stamp=np.full(n_leaves, -1, np.int32), entry_start=entry_start, entry_leaf=np.zeros(size, np.int32),
        entry_low=np.zeros(size, np.int32), entry_high=np.zeros(size, np.int32), entry_share=np.zeros(size),
        floor=np.zeros(n_kept), tree_floor=np.zeros(len(shares.tree_floor)), slot_tree=shares.slot_tree[kept],
        column_start=column_start, column_slot=slot_of[shares.column_slot[held]].astype(np.int64), lam_start=lam_start,
        lam=np.zeros(n_lam), coarse=np.zeros(n_lam, np.int32), cell_start=cell_start,
        cost=np.zeros(cell_start[-1]), place_start=place_start, place_cost=cost, place_first=shares.place_first[chosen] - shift,
        place_last=shares.place_last[chosen] - shift, policy=shares.policy[chosen] - shift, far=shares.far,
        queue=np.zeros(widest + 1, np.int64), total=np.zeros(cell_start[-1]), lost=np.zeros(cell_start[-1], np.int64), level=shares.level[: widest + 1].copy(),
        least=np.zeros((int(shares.level[widest]) + 1, widest)),
    )  # fmt: skip
    _fill(shares, first, last, alive, leaf_of, cut, cells, made)
    return made, rest


@kernel
def _count(
    shares: Shares, first: Ints, last: Ints, alive: Ints, cut: Ints, cells: Ints, entries: Ints
) -> bool:  # fmt: skip
    """Which leaves are left; per slot, the first of its cells that is left (``cut``), how many there are, and how many entries. False if
    some tree has no leaf left."""
    for column in range(first.shape[0]):
        for q in range(shares.column_start[column], shares.column_start[column + 1]):
            s = shares.column_slot[q]
            begin, stop = shares.lam_start[s], shares.lam_start[s + 1]
            a = begin
            while a + 1 < stop and shares.coarse[a + 1] <= first[column]:
                a += 1
            b = a
            while b + 1 < stop and shares.coarse[b + 1] <= last[column]:
                b += 1
            cut[s], cells[s] = a - begin, b - a + 1
            for e in range(shares.entry_start[s], shares.entry_start[s + 1]):
                if shares.entry_high[e] < a - begin or shares.entry_low[e] > b - begin:
                    alive[shares.entry_leaf[e]] = 0
    for s in range(cells.shape[0]):
        a, b = cut[s], cut[s] + cells[s] - 1
        for e in range(shares.entry_start[s], shares.entry_start[s + 1]):
            if alive[shares.entry_leaf[e]] != 0 and (shares.entry_low[e] > a or shares.entry_high[e] < b):
                entries[s] += 1
    for t in range(shares.leaf_start.shape[0] - 1):
        left = 0
        for l in range(shares.leaf_start[t], shares.leaf_start[t + 1]):  # noqa: E741
            left += alive[l]
        if left == 0:
            return False
    return True


@kernel
def _fill(
    shares: Shares, first: Ints, last: Ints, alive: Ints, leaf_of: Ints, cut: Ints, cells: Ints, made: Shares
) -> None:  # fmt: skip
    """Cells, entries and shares of the slots that are left."""
    for column in range(first.shape[0]):
        left = made.column_start[column]
        for q in range(shares.column_start[column], shares.column_start[column + 1]):
            s = shares.column_slot[q]
            if cells[s] == 1:
                continue
            n = made.column_slot[left]
            left += 1
            begin, at = shares.lam_start[s] + cut[s], made.lam_start[n]
            for j in range(cells[s]):
                made.lam[at + j] = shares.lam[begin + j]
                made.coarse[at + j] = max(shares.coarse[begin + j] - first[column], 0)
            e_out = made.entry_start[n]
            a, b = cut[s], cut[s] + cells[s] - 1
            for e in range(shares.entry_start[s], shares.entry_start[s + 1]):
                low, high = shares.entry_low[e], shares.entry_high[e]
                if alive[shares.entry_leaf[e]] != 0 and (low > a or high < b):
                    made.entry_leaf[e_out] = leaf_of[shares.entry_leaf[e]]
                    made.entry_low[e_out], made.entry_high[e_out] = max(low, a) - a, min(high, b) - a
                    e_out += 1
    for column in range(first.shape[0]):
        price_cells(made, column)
    for s in range(made.floor.shape[0]):
        smallest_shares(made, s)


@kernel
def set_shares(shares: Shares, lam: Floats, policy: Ints) -> None:
    """Other shares and policies, and everything that follows from them."""
    for p in range(policy.shape[0]):
        shares.policy[p] = policy[p]
    for column in range(shares.cell_start.shape[0] - 1):
        price_cells(shares, column)
    for j in range(lam.shape[0]):
        shares.lam[j] = lam[j]
    for s in range(shares.floor.shape[0]):
        smallest_shares(shares, s)


@inner_kernel
def _between(shares: Shares, column: int, y: int) -> int:
    """The last place on the left of the boundary after the fine cell ``y``: where the fewest places have their policy on the other side.
    -1 if all places are on one side."""
    begin, end = shares.place_start[column], shares.place_start[column + 1]
    wrong = 0  # with all places on the right
    for p in range(begin, end):
        wrong += 1 if shares.policy[p] <= y else 0
    found, least = -1, end - begin + 1
    for p in range(begin, end - 1):
        wrong += 1 if shares.policy[p] > y else -1
        meets = shares.place_first[p] <= y and shares.place_last[p + 1] > y  # not only one side of the boundary
        if meets and wrong < least:
            found, least = p - begin, wrong
    return found


@inner_kernel
def _widest(shares: Shares, found: Ints) -> int:
    """The middle of the most places; -1 if no column has two."""
    most = 1
    for column in range(shares.cell_start.shape[0] - 1):
        n = shares.place_start[column + 1] - shares.place_start[column]
        if n > most and shares.column_start[column] < shares.column_start[column + 1]:
            most = n
            found[0], found[1] = column, (n - 2) // 2
    return 0 if most > 1 else -1


@kernel
def choose(
    shares: Shares, mu: float, chosen: Ints, sides: Floats, found: Ints, first: Ints, last: Ints
) -> int:  # fmt: skip
    """Where to divide: between the cells of a column where the picked leaves of most trees want to be on either side. ``found``: the
    column, and the last place of the left part. Returns how many of the smaller side there are (0: the picked leaves meet, in the cells
    first .. last); -1 if nothing can be divided."""
    for t in range(shares.leaf_start.shape[0] - 1):
        best = np.inf
        for l in range(shares.leaf_start[t], shares.leaf_start[t + 1]):  # noqa: E741
            c = shares.priced[l] - mu * shares.value[l]
            if c < best:
                best, chosen[t] = c, l
    most, more = -1, -1.0
    for column in range(shares.cell_start.shape[0] - 1):
        begin, end = shares.column_start[column], shares.column_start[column + 1]
        n = shares.cell_start[column + 1] - shares.cell_start[column]
        first[column], last[column] = 0, n - 1
        if begin == end:
            continue
        for p in range(n + 1):
            sides[0, p] = sides[1, p] = 0.0
            sides[2, p] = 0.0
        for q in range(begin, end):
            s = shares.column_slot[q]
            l, at, stop = chosen[shares.slot_tree[s]], shares.lam_start[s], shares.lam_start[s + 1]  # noqa: E741
            for j in range(at + 1, stop):
                sides[2, shares.coarse[j] - 1] = 1.0  # a boundary that some tree knows
            for e in range(shares.entry_start[s], shares.entry_start[s + 1]):
                if shares.entry_leaf[e] == l:
                    low, high = shares.coarse[at + shares.entry_low[e]], n - 1
                    if at + shares.entry_high[e] + 1 < stop:
                        high = shares.coarse[at + shares.entry_high[e] + 1] - 1
                    first[column], last[column] = max(first[column], low), min(last[column], high)
                    sides[0, high] += 1.0
                    sides[1, 0] += 1.0
                    sides[1, low] -= 1.0
                    break
        left = right = 0.0
        for y in range(n - 1):
            left += sides[0, y]
            right += sides[1, y]
            if sides[2, y] > 0.0:
                smaller, both = min(left, right), left + right
                if smaller > most or (smaller == most and both > more):
                    p = _between(shares, column, y)
                    if p >= 0:
                        most, more = int(smaller), both
                        found[0], found[1] = column, p
    if most < 0:
        most = _widest(shares, found)
    return most


@kernel
def tighten(shares: Shares, mu: float, now: float, enough: float, first: Ints, last: Ints, ended: Ints) -> bool:
    """Where centres of a cost below ``enough`` can be: the first and last place of every column, by what the shares prove about each
    place. False if nowhere."""
    for column in range(first.shape[0]):
        begin, end = shares.cell_start[column], shares.cell_start[column + 1]
        start, stop = shares.place_start[column], shares.place_start[column + 1]
        first[column], last[column] = 0, stop - start - 1
        if ended[0] != 0 or shares.column_start[column] == shares.column_start[column + 1]:
            continue
        ascend_column(shares, column, mu, 1)
        least, largest = np.inf, 0.0
        for y in range(begin, end):
            if shares.total[y] < np.inf:
                least, largest = min(least, shares.total[y]), max(largest, abs(shares.total[y]))
        limit = enough + 1e-9 * largest - now + least
        a, b = start, stop - 1
        while a < stop and not _proven_cost(shares, begin, a) < limit:
            a += 1
        while b >= start and not _proven_cost(shares, begin, b) < limit:
            b -= 1
        if a > b:
            return False
        first[column], last[column] = a - start, b - start
    return True


@inner_kernel
def _proven_cost(shares: Shares, begin: int, p: int) -> float:
    """E of a place, after an ascent: as its policy's cell, for what it costs itself."""
    y, c = begin + shares.policy[p], shares.place_cost[p]
    return shares.total[y] + (c - shares.cost[y]) if c < np.inf else np.inf
