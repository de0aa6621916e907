"""What all trees share: how they end, and branching that does not look at the network."""

from __future__ import annotations

from enum import Enum

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.search.network.limits import BOTH_USED, FRACTIONAL, MOVED, NARROWEST_PART
from elbowroom.search.network.moves import Moves
from elbowroom.search.network.part import Part


class TreeEnd(Enum):
    """How a tree ended; its bound says that no valid centre is closer than min(bound, cutoff), up to the gap."""

    PROVEN = "every part is closed"
    STOPPED = "time is up, or the number of nodes"


def discrete_children(moves: Moves, part: Part, v: Floats) -> tuple[Part, Part] | None:
    """Branch on the most fractional whole move, or on a block that an at-most rule must count; None if v is fine."""
    if moves.whole.any():
        steps = np.where(moves.whole, v / np.where(moves.whole, moves.step, 1.0), 0.0)
        away = np.abs(steps - np.rint(steps))
        i = int(np.argmax(away))
        if away[i] > FRACTIONAL:
            return part.split(moves, i, float(v[i]))
    if moves.most_changes is not None:
        amount = np.bincount(moves.block, v, minlength=moves.n_blocks)
        changed = [int(b) for b in np.argsort(-amount, kind="stable") if amount[b] > MOVED]
        fresh = [b for b in changed if b not in part.used]
        if len(changed) > moves.most_changes and fresh:
            return part.counted(moves, fresh[0])
    return None


def exclusive_children(moves: Moves, part: Part, v: Floats) -> tuple[Part, Part] | None:
    """Branch on a block in which two moves that exclude each other are both used."""
    best, pair = BOTH_USED, None
    for b in np.unique(moves.block):
        mine = np.flatnonzero(moves.block == b)
        if mine.size > 1:
            order = mine[np.argsort(v[mine], kind="stable")]
            if v[order[-2]] > best:
                best, pair = float(v[order[-2]]), (int(order[-2]), int(order[-1]))
    return None if pair is None else part.one_sided(*pair)


def halves(moves: Moves, part: Part, cutoff: float) -> tuple[Part, Part] | None:
    """Halve the widest move; None where nothing wide is left."""
    reach = part.within(moves, cutoff)
    if reach is None or not moves.size:
        return None
    width = np.where(moves.whole, np.floor((reach.high - reach.low) / np.where(moves.whole, moves.step, 1.0)), 0.0)
    width = np.where(moves.whole, width * moves.step, reach.high - reach.low)
    i = int(np.argmax(width))
    if width[i] <= NARROWEST_PART * cutoff:
        return None
    return part.split(moves, i, float(0.5 * (reach.low[i] + reach.high[i])))
