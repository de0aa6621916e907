"""Branch and bound over the open neurons of a room: the quick part of the judge for networks.

A node has decided the signs of some open neurons (z >= 0 or z <= 0); together the children of a node are the node. All rivals that
the first bounds have not settled share one heap, the smallest bound is looked at next. A child inherits its parent's
multipliers; the intervals of all later neurons are narrowed; a few steps improve the multipliers. The relaxed worst point of
every bound is tried as a counterexample. A node that is still open with all of its signs decided is a linear program over a
polyhedron: it goes back to the caller at once.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np

from elbowroom.certify.compact import Reduced
from elbowroom.certify.compact_kernels import (
    ALPHA,
    BEST_LAM,
    BEST_X,
    HIGH,
    LOW,
    NODE_ROWS,
    SCRATCH_ROWS,
    SIGN,
    climb,
    look,
    refresh,
)
from elbowroom.numerics import Floats, Ints

_FIRST_ROUNDS, _ROUNDS, _LAST_ROUNDS = 15, 8, 200  # steps on multipliers: at the root, at nodes, with all signs decided
_TRIES, _RATE = 4, 0.3
_WORK_OF_A_LOOK: Final = 1e7  # multiplications, about: a hundredth of a second
_MOST_NUMBERS: Final = 2.5e7  # in waiting nodes: 200 MB; beyond them the latest node is looked at next


@dataclass(eq=False)
class Settled:
    """How the search ended: the smallest proven margin, and where it ran out of looks, the smallest bound of what was left."""

    smallest: float
    reached: float | None = None


class OpenNeurons:
    """One room, the rivals that are left. ``attempt`` sees relaxed worst points (in all columns), and raises if one is a
    counterexample. ``finish`` gets a rival and the signs of all open neurons; it returns a proven margin, or raises."""

    def __init__(
        self,
        reduced: Reduced,
        base: Floats,
        attempt: Callable[[Floats, int], None],
        finish: Callable[[int, Floats], float],
        looks: float,
        deadline: float,
    ) -> None:
        self.reduced, self.net, self.base = reduced, reduced.net, base
        self.attempt, self.finish = attempt, finish
        self.looks, self.deadline = looks, deadline
        n, columns = self.net.size, self.net.low.size
        self.scratch = np.zeros((SCRATCH_ROWS, max(n, columns)))
        self._pass = n * (columns + 0.5 * n) / _WORK_OF_A_LOOK

    def settle(self, rivals: Ints) -> Settled:
        net, n = self.net, self.net.size
        ticket, heap, stack = (
            count(),
            list[tuple[float, int, int, Floats, Floats]](),
            list[tuple[float, int, int, Floats, Floats]](),
        )
        done = Settled(np.inf)
        most = int(_MOST_NUMBERS / ((NODE_ROWS + 1) * n))

        def keep(value: float, row: int, node: Floats) -> None:
            entry = (value, next(ticket), row, node, self.scratch[BEST_LAM, :n].copy())
            if len(heap) < most:
                heapq.heappush(heap, entry)
            else:
                stack.append(entry)

        for row, rival in enumerate(rivals):
            node = np.zeros((NODE_ROWS, n))
            node[LOW], node[HIGH] = self.reduced.at.low, self.reduced.at.high
            node[ALPHA] = node[HIGH] > -node[LOW]
            value = self._bound(node, row, int(rival), _FIRST_ROUNDS)
            if value >= 0.0:
                done.smallest = min(done.smallest, value)
            else:
                keep(value, row, node)
        while heap or stack:
            if self.looks < 0.0 or time.perf_counter() > self.deadline:
                done.reached = min(entry[0] for entry in (heap[:1] + stack))
                break
            value, _, row, node, slopes = stack.pop() if stack else heapq.heappop(heap)
            rival = int(rivals[row])
            self.scratch[BEST_LAM, :n] = slopes
            self.looks -= 2.0 * _TRIES * self._pass
            neuron = look(net, node, self.scratch, row, _TRIES)
            if neuron < 0:
                last = self._bound(node, row, rival, _LAST_ROUNDS)
                done.smallest = min(done.smallest, last if last >= 0.0 else self.finish(rival, node[SIGN]))
                continue
            for sign in (1.0, -1.0):
                child = node.copy()
                child[LOW if sign > 0.0 else HIGH, neuron] = 0.0
                child[SIGN, neuron] = sign
                self.looks -= 2.0 * (n - neuron) * self._pass
                if not refresh(net, child, self.scratch, neuron + 1):
                    continue
                better = max(value, self._bound(child, row, rival, _ROUNDS))
                if better >= 0.0:
                    done.smallest = min(done.smallest, better)
                else:
                    keep(better, row, child)
        return done

    def _bound(self, node: Floats, row: int, rival: int, rounds: int) -> float:
        """A proven bound of the margin beyond what is needed; where it is negative, its low point is tried."""
        self.looks -= 1.5 * rounds * self._pass
        value = float(climb(self.net, node, self.scratch, row, rounds, _RATE))
        if not value >= 0.0:
            point = self.base.copy()
            point[self.reduced.columns] = self.scratch[BEST_X, : self.net.low.size]
            self.attempt(point, rival)
        return value if value < np.inf else -np.inf
