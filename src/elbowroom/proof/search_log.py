"""The log of a search for boxes, node by node: see `search.trees.boxes.log`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.kernels.tools import Shorts
from elbowroom.numerics import Ints
from elbowroom.search.trees.boxes.log import BOUND_RECORD, HEAD, LOGGED, Log


@dataclass(frozen=True, eq=False)
class AskedBound:
    """A bad cell was defended against a node whose nearest centre is x; the ranges that this left, where it cut any."""

    rival: int
    cell: Ints
    x: Ints
    multiplier: float | None
    value: float  # every good centre costs at least this; inf: there is none within the budget
    left: Shorts  # (n, 3): dimension, low, high


@dataclass(frozen=True, eq=False)
class Division:
    """A bad region divided a node: its cells, and the children in their order: (dimension, upwards, position) to number."""

    rival: int
    low: Ints
    high: Ints
    children: dict[tuple[int, bool, int], int]


Record = AskedBound | Division


def records_by_node(log: Log) -> dict[int, list[Record]]:
    """What was done to every node, in order; nothing at all if a record was lost."""
    found: dict[int, list[Record]] = {}
    if log.count[LOGGED.LOST]:
        return found
    tape, n, at = log.tape, log.low.size, 0
    while at < log.count[LOGGED.USED]:
        kind, node, rival, price, size = tape[at : at + HEAD].tolist()
        first, second = tape[at + HEAD : at + HEAD + n], tape[at + HEAD + n : at + HEAD + 2 * n]
        at += HEAD + 2 * n
        record: Record
        if kind == BOUND_RECORD:
            multiplier, value = log.price[price].tolist()
            left = tape[at : at + 3 * size].reshape(size, 3)
            cell, x = first.astype(np.int64), second.astype(np.int64)
            record = AskedBound(rival, cell, x, multiplier if multiplier >= 0.0 else None, value, left)
            at += 3 * size
        else:
            rows = tape[at : at + 4 * size].reshape(size, 4).tolist()
            children = {(d, bool(upwards), position): number for d, upwards, position, number in rows}
            record = Division(rival, first.astype(np.int64), second.astype(np.int64), children)
            at += 4 * size
        found.setdefault(node, []).append(record)
    return found
