"""Open nodes of the best-first search: a pool of ranges and a binary heap over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from elbowroom.kernels.bundle import Bundle
from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.numerics import Floats, Ints


class _Heap(NamedTuple):
    """Indices into Nodes.count."""

    OPEN: int = 0  # size of the heap
    USED: int = 1  # rows of the pool that were ever used
    FREE: int = 2  # rows that are free again
    SERIAL: int = 3  # nodes ever pushed: ties go to the newest


HEAP: Final = _Heap()


Range = npt.NDArray[Any]  # ends per dimension: positions (boxes) or values (balls and diamonds)


@dataclass(frozen=True, eq=False)
class Nodes(Bundle):
    """Row i of the pool is a node: the range low[i] .. high[i]; ``note[i]`` is the search's own (0: new)."""

    low: Range  # (capacity, dims)
    high: Range
    note: Ints
    serial: Ints
    free: Ints
    key: Floats  # heap: keys and rows of the pool
    row: Ints
    count: Ints

    @classmethod
    def of(cls, capacity: int, n_dims: int, kind: npt.DTypeLike) -> Nodes:
        """An empty heap over ranges of positions (int32) or of values (float64)."""
        note, serial, free, row = (np.zeros(capacity, np.int64) for _ in range(4))
        return cls(
            low=np.zeros((capacity, n_dims), kind),
            high=np.zeros((capacity, n_dims), kind),
            note=note,
            serial=serial,
            free=free,
            key=np.zeros(capacity),
            row=row,
            count=np.zeros(4, np.int64),
        )

    @property
    def free_rows(self) -> int:
        """Nodes that the pool still has room for."""
        return int(len(self.note) - self.count[HEAP.USED] + self.count[HEAP.FREE])

    def doubled(self) -> Nodes:
        """The same nodes with twice the room."""

        def twice(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.concatenate([rows, np.zeros_like(rows)])

        return Nodes(
            low=twice(self.low),
            high=twice(self.high),
            note=twice(self.note),
            serial=twice(self.serial),
            free=twice(self.free),
            key=twice(self.key),
            row=twice(self.row),
            count=self.count,
        )


@inner_kernel
def lacks_room(nodes: Nodes, rows: int) -> bool:
    """True if the pool has no room for a number of nodes."""
    return nodes.count[HEAP.USED] - nodes.count[HEAP.FREE] + rows > nodes.note.shape[0]


@inner_kernel
def comes_first(nodes: Nodes, key: float, row: int, other: int) -> bool:
    """Order of the heap: small keys first, the newest first among equals."""
    if key != nodes.key[other]:
        return key < nodes.key[other]
    return nodes.serial[row] > nodes.serial[nodes.row[other]]


@kernel
def push(nodes: Nodes, low: Range, high: Range, key: float, note: int) -> None:
    """Add a node. The caller has made sure that the pool has a free row."""
    count = nodes.count
    if count[HEAP.FREE] > 0:
        count[HEAP.FREE] -= 1
        row = nodes.free[count[HEAP.FREE]]
    else:
        row = count[HEAP.USED]
        count[HEAP.USED] += 1
    for d in range(low.shape[0]):
        nodes.low[row, d], nodes.high[row, d] = low[d], high[d]
    nodes.note[row] = note
    nodes.serial[row] = count[HEAP.SERIAL]
    count[HEAP.SERIAL] += 1
    i = count[HEAP.OPEN]
    count[HEAP.OPEN] += 1
    while i > 0 and comes_first(nodes, key, row, (i - 1) // 2):
        nodes.key[i], nodes.row[i] = nodes.key[(i - 1) // 2], nodes.row[(i - 1) // 2]
        i = (i - 1) // 2
    nodes.key[i], nodes.row[i] = key, row


@inner_kernel
def pop(nodes: Nodes, low: Range, high: Range) -> tuple[float, int]:
    """Remove the first node, copy its ranges out, and return its key and its note."""
    count = nodes.count
    key, row = nodes.key[0], nodes.row[0]
    for d in range(low.shape[0]):
        low[d], high[d] = nodes.low[row, d], nodes.high[row, d]
    nodes.free[count[HEAP.FREE]] = row
    count[HEAP.FREE] += 1
    count[HEAP.OPEN] -= 1
    size = count[HEAP.OPEN]
    last_key, last_row = nodes.key[size], nodes.row[size]
    i = 0
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and comes_first(nodes, nodes.key[child + 1], nodes.row[child + 1], child):
            child += 1
        if comes_first(nodes, last_key, last_row, child):
            break
        nodes.key[i], nodes.row[i] = nodes.key[child], nodes.row[child]
        i = child
    nodes.key[i], nodes.row[i] = last_key, last_row
    return key, nodes.note[row]
