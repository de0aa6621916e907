"""What the main search did to its nodes, written down while it runs, for whoever writes the proof.

Node 0 is the root; children are numbered as they are pushed, and a node keeps its number when it is put back. The number
travels in the note of the heap: note = number * `NOTES` + delays. The tape holds records of int32, one after the other:

* BOUND, node, rival, prices so far, pairs of changed ends n, cell (per dimension), x, then n times (dimension, low, high): the
  bound of a bad cell was asked, and left these ranges of positions where they were wider before;
* SPLIT, node, rival, children n, low cells of the region, high cells, then n times (dimension, upwards, position, number): the
  region divides the node. No children: nothing that is left of it costs less than the budget.

Two numbers of every BOUND are on a tape of their own: the multiplier of its knapsack (negative: it has none), and the cost below
which it left no good centre (inf: the node was closed by it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import Shorts
from elbowroom.numerics import Floats, Ints

NOTES: Final = 8  # more than the delays of a node
BOUND_RECORD: Final = 1
SPLIT_RECORD: Final = 2
HEAD: Final = 5  # numbers of a record before its cells


class _Count(NamedTuple):
    """Indices into Log.count."""

    IS_ON: int = 0
    USED: int = 1  # of the tape
    PRICES: int = 2
    NUMBERED: int = 3  # nodes
    LOST: int = 4  # records that found no room


LOGGED: Final = _Count()


@dataclass(frozen=True, eq=False)
class Log(Bundle):
    tape: Shorts
    price: Floats
    low: Ints  # ends before a bound was asked
    high: Ints
    count: Ints

    @classmethod
    def of(cls, n_dims: int, capacity: int) -> Log:
        """With room for a number of int32; without any, nothing is ever written."""
        count = np.zeros(len(LOGGED), np.int64)
        count[LOGGED.NUMBERED] = 1
        low, high = np.zeros(n_dims, np.int64), np.zeros(n_dims, np.int64)
        return cls(
            tape=np.zeros(capacity, np.int32), price=np.zeros((capacity // 16, 2)), low=low, high=high, count=count
        )

    def doubled(self) -> Log:
        tape, price = (np.concatenate([each, np.zeros_like(each)]) for each in (self.tape, self.price))
        return Log(tape=tape, price=price, low=self.low, high=self.high, count=self.count)


@inner_kernel
def has_room(log: Log, size: int) -> bool:
    """True if a record of this size is to be written and fits."""
    if log.count[LOGGED.IS_ON] == 0:
        return False
    if log.count[LOGGED.USED] + size <= log.tape.shape[0] and log.count[LOGGED.PRICES] < log.price.shape[0]:
        return True
    log.count[LOGGED.LOST] += 1
    return False


@inner_kernel
def keep_ends(log: Log, low: Ints, high: Ints) -> None:
    """Ends of a node, before they are changed."""
    if log.count[LOGGED.IS_ON] != 0:
        for d in range(low.shape[0]):
            log.low[d], log.high[d] = low[d], high[d]


@inner_kernel
def log_bound(
    log: Log, node: int, rival: int, cell: Ints, x: Ints, low: Ints, high: Ints, price: float, value: float
) -> None:
    """A BOUND record."""
    n_dims = x.shape[0]
    if not has_room(log, HEAD + 5 * n_dims):
        return
    tape, at = log.tape, log.count[LOGGED.USED]
    tape[at], tape[at + 1], tape[at + 2], tape[at + 3] = BOUND_RECORD, node, rival, log.count[LOGGED.PRICES]
    log.price[log.count[LOGGED.PRICES], 0], log.price[log.count[LOGGED.PRICES], 1] = price, value
    log.count[LOGGED.PRICES] += 1
    changed, end = 0, at + HEAD + 2 * n_dims
    for d in range(n_dims):
        tape[at + HEAD + d], tape[at + HEAD + n_dims + d] = cell[d], x[d]
        if low[d] != log.low[d] or high[d] != log.high[d]:
            tape[end], tape[end + 1], tape[end + 2] = d, low[d], high[d]
            changed, end = changed + 1, end + 3
    tape[at + 4] = changed
    log.count[LOGGED.USED] = end


@inner_kernel
def log_split(log: Log, node: int, rival: int, low: Shorts, high: Shorts) -> int:
    """A SPLIT record without children yet; where it begins (-1: nowhere)."""
    n_dims = low.shape[0]
    if not has_room(log, HEAD + 10 * n_dims):
        return -1
    tape, at = log.tape, log.count[LOGGED.USED]
    tape[at], tape[at + 1], tape[at + 2], tape[at + 3], tape[at + 4] = SPLIT_RECORD, node, rival, 0, 0
    for d in range(n_dims):
        tape[at + HEAD + d], tape[at + HEAD + n_dims + d] = low[d], high[d]
    log.count[LOGGED.USED] = at + HEAD + 2 * n_dims
    return at


@inner_kernel
def log_child(log: Log, at: int, d: int, upwards: int, position: int) -> int:
    """Add a child to the SPLIT record that begins at ``at``; its note."""
    if at < 0:
        return 0
    tape, end, number = log.tape, log.count[LOGGED.USED], log.count[LOGGED.NUMBERED]
    tape[end], tape[end + 1], tape[end + 2], tape[end + 3] = d, upwards, position, number
    tape[at + 4] += 1
    log.count[LOGGED.USED] = end + 4
    log.count[LOGGED.NUMBERED] = number + 1
    return number * NOTES
