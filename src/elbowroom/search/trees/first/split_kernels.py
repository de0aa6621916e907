"""Kernels of `split`: leaves as ranges, block ascent of one column, and the value of the bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import Shorts
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.first.adversary import adapt_policy
from elbowroom.search.trees.first.limits import MU_STEPS
from elbowroom.search.trees.first.shares import Shares

OUT_OF_REACH = 1e30  # a share of the cost where no centre may be
_FAR = 1e29  # sums with such a share in them
_LEAST_MU, _MOST_MU, _STRIDE = 1e-9, 1e9, 1.5  # prices of the margin


@dataclass(frozen=True, eq=False)
class Paths(Bundle):
    """Trees in which every split is a threshold on the centre: node k goes left iff the column is in one of the cells <= own[k]
    of its slot (-1: always right, -2: always left)."""

    feature: Ints  # (nodes,) < 0: a leaf
    left: Ints
    right: Ints
    roots: Ints
    own: Ints  # (nodes,)
    slot: Ints  # (nodes,) among the slots of its tree
    slot_start: Ints  # (trees + 1,)
    thresholds: Ints  # (slots,) how many its tree has


@kernel
def list_leaves(
    paths: Paths, stack: Ints, low: Ints, high: Ints, fill: int, leaf: Ints, leaf_start: Ints, at: Ints, entry_leaf: Shorts,
    entry_low: Shorts, entry_high: Shorts,
) -> None:  # fmt: skip
    """All leaves that a centre can reach, tree by tree; and per leaf and slot that limits it an entry: leaf, first and last cell. ``at``:
    where the next entry of each slot goes. Without ``fill`` they are only counted."""
    n_leaves = 0
    for t in range(paths.roots.shape[0]):
        begin, end = paths.slot_start[t], paths.slot_start[t + 1]
        for s in range(begin, end):
            low[s - begin], high[s - begin] = 0, paths.thresholds[s]
        leaf_start[t] = n_leaves
        top = 0
        stack[0, 0], stack[1, 0], stack[2, 0] = (
            paths.roots[t],
            0,
            0,
        )  # node, how often it was seen, what it limited before
        while top >= 0:
            k, seen = stack[0, top], stack[1, top]
            if paths.feature[k] < 0:
                for s in range(begin, end):
                    first, last = low[s - begin], high[s - begin]
                    if first > 0 or last < paths.thresholds[s]:
                        if fill != 0:
                            entry_leaf[at[s]], entry_low[at[s]], entry_high[at[s]] = n_leaves, first, last
                        at[s] += 1
                if fill != 0:
                    leaf[n_leaves] = k
                n_leaves += 1
                top -= 1
                continue
            own, s = paths.own[k], paths.slot[k]
            stack[1, top] = seen + 1
            if seen == 0:
                if own == -1 or (own >= 0 and low[s] > own):
                    continue  # nobody goes left
                if own >= 0:
                    stack[2, top] = high[s]
                    high[s] = min(high[s], own)
                top += 1
                stack[0, top], stack[1, top] = paths.left[k], 0
            elif seen == 1:
                if own >= 0 and low[s] <= own:
                    high[s] = stack[2, top]
                if own == -2 or (own >= 0 and high[s] <= own):
                    stack[1, top] = 3
                    continue
                if own >= 0:
                    stack[2, top] = low[s]
                    low[s] = max(low[s], own + 1)
                top += 1
                stack[0, top], stack[1, top] = paths.right[k], 0
            else:
                if seen == 2 and own >= 0:
                    low[s] = stack[2, top]
                top -= 1
    leaf_start[paths.roots.shape[0]] = n_leaves


@inner_kernel
def smallest_shares(shares: Shares, s: int) -> None:
    """The floor and the entries of a slot anew."""
    offset, t = shares.lam_start[s], shares.slot_tree[s]
    floor = np.inf
    for j in range(offset, shares.lam_start[s + 1]):
        floor = min(floor, shares.lam[j])
    shares.tree_floor[t] += floor - shares.floor[s]
    shares.floor[s] = floor
    for e in range(shares.entry_start[s], shares.entry_start[s + 1]):
        least = np.inf
        for j in range(offset + shares.entry_low[e], offset + shares.entry_high[e] + 1):
            least = min(least, shares.lam[j])
        l = shares.entry_leaf[e]  # noqa: E741
        shares.priced[l] += (least - floor) - shares.entry_share[e]
        shares.entry_share[e] = least - floor


@inner_kernel
def _add_steps(shares: Shares, s: int, begin: int) -> None:
    """Add the numbers of a slot's cells to those of the column's fine cells: only where they change."""
    before, gone = 0.0, 0
    for j in range(shares.lam_start[s], shares.lam_start[s + 1]):
        far = 1 if shares.lam[j] >= _FAR else 0
        now = 0.0 if far == 1 else shares.lam[j]
        p = begin + shares.coarse[j]
        shares.total[p] += now - before
        shares.lost[p] += far - gone
        before, gone = now, far


@inner_kernel
def _clear(shares: Shares, begin: int, end: int) -> None:
    for p in range(begin, end):
        shares.total[p] = 0.0
        shares.lost[p] = 0


@inner_kernel
def _add_up(shares: Shares, begin: int, end: int) -> None:
    """Steps become sums."""
    for p in range(begin + 1, end):
        shares.total[p] += shares.total[p - 1]
        shares.lost[p] += shares.lost[p - 1]


@inner_kernel
def _list_least(shares: Shares, begin: int, end: int) -> None:
    """The smallest E of every run of 2^k fine cells, so that the smallest one of any run is that of two of them."""
    n, least = end - begin, shares.least
    for p in range(n):
        least[0, p] = shares.total[begin + p]
    for k in range(1, shares.level[n] + 1):
        half = 1 << (k - 1)
        for p in range(n - 2 * half + 1):
            least[k, p] = min(least[k - 1, p], least[k - 1, p + half])


@inner_kernel
def ascend_column(shares: Shares, column: int, mu: float, adapt: int) -> None:
    """The best shares of one column for all its trees at once. M_t(j): what tree t costs at least with the column in its cell j, but
    for its share. E(p) = cost(p) + sum over trees of M_t, with the cost that the best policy leaves; every tree gets
    -M_t(j) + min over j of E / trees."""
    begin, end = shares.cell_start[column], shares.cell_start[column + 1]
    _clear(shares, begin, end)
    first, last = shares.column_start[column], shares.column_start[column + 1]
    for q in range(first, last):
        s = shares.column_slot[q]
        t, offset, stop = shares.slot_tree[s], shares.lam_start[s], shares.lam_start[s + 1]
        others = shares.tree_floor[t] - shares.floor[s]
        for j in range(offset, stop):
            shares.lam[j] = np.inf
        for e in range(shares.entry_start[s], shares.entry_start[s + 1]):
            l = shares.entry_leaf[e]  # noqa: E741
            shares.stamp[l] = s
            c = others + shares.priced[l] - shares.entry_share[e] - mu * shares.value[l]
            for j in range(offset + shares.entry_low[e], offset + shares.entry_high[e] + 1):
                shares.lam[j] = min(shares.lam[j], c)
        rest = np.inf
        for l in range(shares.leaf_start[t], shares.leaf_start[t + 1]):  # noqa: E741
            if shares.stamp[l] != s:
                rest = min(rest, others + shares.priced[l] - mu * shares.value[l])
        for j in range(offset, stop):
            shares.lam[j] = min(shares.lam[j], rest)
        _add_steps(shares, s, begin)
    _add_up(shares, begin, end)
    if adapt != 0:
        adapt_policy(shares, column)
    for p in range(begin, end):
        shares.total[p] = shares.total[p] + shares.cost[p] if shares.lost[p] == 0 else np.inf
    _list_least(shares, begin, end)
    n = last - first
    for q in range(first, last):
        s = shares.column_slot[q]
        offset, stop = shares.lam_start[s], shares.lam_start[s + 1]
        for j in range(offset, stop):
            at = shares.coarse[j]
            after = shares.coarse[j + 1] if j + 1 < stop else end - begin
            k = shares.level[after - at]
            least = min(shares.least[k, at], shares.least[k, after - (1 << k)])
            shares.lam[j] = least / n - shares.lam[j] if least < np.inf else OUT_OF_REACH
        smallest_shares(shares, s)


@kernel
def ascend_all(shares: Shares, mu: float, adapt: int, ended: Ints) -> None:
    """All columns once, and what leaves and trees cost anew: sums that are only ever changed drift."""
    for column in range(shares.cell_start.shape[0] - 1):
        if ended[0] != 0:  # the shares prove something at any time
            break
        if shares.column_start[column] < shares.column_start[column + 1]:
            ascend_column(shares, column, mu, adapt)
    _sum_up(shares)


@inner_kernel
def _sum_up(shares: Shares) -> None:
    for l in range(shares.priced.shape[0]):  # noqa: E741
        shares.priced[l] = 0.0
    for e in range(shares.entry_leaf.shape[0]):
        shares.priced[shares.entry_leaf[e]] += shares.entry_share[e]
    for t in range(shares.tree_floor.shape[0]):
        shares.tree_floor[t] = 0.0
    for s in range(shares.floor.shape[0]):
        shares.tree_floor[shares.slot_tree[s]] += shares.floor[s]


@kernel
def sum_up_shares(shares: Shares) -> None:
    """`_sum_up`, for Python."""
    _sum_up(shares)


@inner_kernel
def _value(shares: Shares, mu: float, picked: Floats) -> float:
    total, size = 0.0, 0.0
    picked[0] = 0.0
    for t in range(shares.leaf_start.shape[0] - 1):
        best, value = np.inf, 0.0
        for l in range(shares.leaf_start[t], shares.leaf_start[t + 1]):  # noqa: E741
            c = shares.priced[l] - mu * shares.value[l]
            if c < best:
                best, value = c, shares.value[l]
        total += shares.tree_floor[t] + best
        size += abs(shares.tree_floor[t]) + abs(best) + mu * abs(value)
        picked[0] += value
    picked[1] = size
    return total


@kernel
def value_of(shares: Shares, mu: float, picked: Floats) -> float:
    """Sum over trees of the smallest  share - mu value  of a leaf; ``picked``: the sum of these leaves' values, and of all sizes."""
    return _value(shares, mu, picked)


@kernel
def best_mu(shares: Shares, missing: float, mu: float, picked: Floats) -> float:
    """The price at which these shares prove most, sought from ``mu`` on. The bound is concave in it: its slope is what is missing in the
    picked leaves."""
    low, high = mu, max(mu, _LEAST_MU)
    _value(shares, high, picked)
    if missing - picked[0] > 0.0:
        while missing - picked[0] > 0.0 and high < _MOST_MU:
            low, high = high, _STRIDE * high
            _value(shares, high, picked)
    else:
        while missing - picked[0] <= 0.0 and low > _LEAST_MU:
            low, high = low / _STRIDE, low
            _value(shares, low, picked)
        if missing - picked[0] <= 0.0:
            low = 0.0
    for _ in range(MU_STEPS):
        middle = 0.5 * (low + high)
        _value(shares, middle, picked)
        if missing - picked[0] > 0.0:
            low = middle
        else:
            high = middle
    return low


@kernel
def excess(shares: Shares, size: Floats) -> float:
    """By how much the shares of all trees exceed the cost, at most, summed over columns: 0 but for rounding. Where no centre can be
    they may be anything. ``size``: the sum of the largest costs, and of all that is added up."""
    total = 0.0
    size[0] = 0.0
    for column in range(shares.cell_start.shape[0] - 1):
        begin, end = shares.cell_start[column], shares.cell_start[column + 1]
        _clear(shares, begin, end)
        for q in range(shares.column_start[column], shares.column_start[column + 1]):
            s = shares.column_slot[q]
            _add_steps(shares, s, begin)
            largest = 0.0
            for j in range(shares.lam_start[s], shares.lam_start[s + 1]):
                if shares.lam[j] < _FAR:
                    largest = max(largest, abs(shares.lam[j]))
            size[0] += largest
        _add_up(shares, begin, end)
        most, largest = 0.0, 0.0
        for p in range(begin, end):
            if shares.cost[p] < np.inf and shares.lost[p] == 0:
                most = max(most, shares.total[p] - shares.cost[p])
                largest = max(largest, shares.cost[p])
        total += most
        size[0] += largest
    return total
