"""Where an adversary stands in the room of each centre: column by column, and wherever the shares of the cost suffer most.

Fine cells lie between the cuts of a column; places are ranges of the centre from each of which its room meets the same cells,
first .. last. The adversary picks one of them for every place. Whatever it picks is a point of the room, column by column, so that a
good centre is good there: every policy proves a bound, as if the room were that point and a cell cost what the cheapest place
costs from which the adversary comes to it. Cells to which it never comes may cost anything; they get a price that is FAR.

With M the sum over trees of what they cost at least in a cell, the best policy for one column, all else fixed, is the cell of
largest M that the place offers: so a sweep adapts policies as it goes, and the bound never falls.
"""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import Shorts
from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.search.trees.first.shares import Shares


@inner_kernel
def price_cells(shares: Shares, column: int) -> None:
    """What each fine cell costs under the policy."""
    begin, end = shares.cell_start[column], shares.cell_start[column + 1]
    for y in range(begin, end):
        shares.cost[y] = -1.0
    for p in range(shares.place_start[column], shares.place_start[column + 1]):
        y, c = begin + shares.policy[p], shares.place_cost[p]
        shares.cost[y] = c if shares.cost[y] < 0.0 else min(shares.cost[y], c)
    for y in range(begin, end):
        if shares.cost[y] < 0.0:
            shares.cost[y] = shares.far[0]


@inner_kernel
def _margin(shares: Shares, y: int) -> float:
    return np.inf if shares.lost[y] > 0 else shares.total[y]


@inner_kernel
def adapt_policy(shares: Shares, column: int) -> None:
    """Every place gets the cell of the largest ``total`` (inf where some tree has no leaf left) among those that it offers; of equal
    ones it keeps the one that it has. Both ends of the cells that places offer grow: a queue of falling totals is enough."""
    begin, queue = shares.cell_start[column], shares.queue
    head, tail, pushed = 0, 0, 0  # the queue is head .. tail - 1
    for p in range(shares.place_start[column], shares.place_start[column + 1]):
        while pushed <= shares.place_last[p]:
            now = _margin(shares, begin + pushed)
            while tail > head and _margin(shares, begin + queue[tail - 1]) <= now:
                tail -= 1
            queue[tail] = pushed
            tail += 1
            pushed += 1
        while queue[head] < shares.place_first[p]:
            head += 1
        if _margin(shares, begin + shares.policy[p]) < _margin(shares, begin + queue[head]):
            shares.policy[p] = queue[head]
    price_cells(shares, column)


@kernel
def price_all_cells(shares: Shares) -> None:
    """`price_cells`, of all columns."""
    for column in range(shares.cell_start.shape[0] - 1):
        price_cells(shares, column)


def monotone(column: Ints | Shorts, cut: Floats, below: Floats, above: Floats, n_columns: int) -> Bools:
    """Columns in which both ends grow with the cut, as rounding leaves them: what policies rest on."""
    order = np.lexsort((above, below, cut, column))
    column, below, above = column[order], below[order], above[order]
    falls = (column[1:] == column[:-1]) & ((below[1:] < below[:-1]) | (above[1:] < above[:-1]))
    found = np.ones(n_columns, np.bool_)
    found[column[1:][falls]] = False
    return found
