"""The first layer in every scenario: z = z0 + A clamp(v), its ranges over a part, and how scenarios imply each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.clamps import Clamps
from elbowroom.search.network.envelope import supports
from elbowroom.search.network.part import Reach


class Scope(NamedTuple):
    """What scenario j may do inside a part: its own moves w = clamp(v) - clamp(low) lie in 0 <= w <= caps, within budget."""

    start: Floats  # clamp(low), in moves
    caps: Floats
    budget: float
    z0: Floats  # first-layer z at w = 0


class FirstLayer:
    """Tables over scenarios that grow with the pool."""

    def __init__(self, search: NetworkSearch) -> None:
        self.search = search
        self.weight, self.bias = search.network.weights[0], search.network.biases[0]
        self.A = np.ascontiguousarray(search.moves.pull(self.weight))
        self.clamps = Clamps.of(search.moves, search.scenarios)
        self.z_start = self.clamps.start @ self.weight.T + self.bias
        self._offsets: dict[tuple[int, int], tuple[Floats, Floats]] = {}

    def refresh(self) -> None:
        """Take in scenarios that joined the pool."""
        known = len(self.z_start)
        if known < len(self.search.scenarios):
            later = Clamps.of(self.search.moves, self.search.scenarios, known)
            self.clamps = self.clamps.join(later)
            self.z_start = np.vstack([self.z_start, later.start @ self.weight.T + self.bias])

    def scope(self, j: int, reach: Reach) -> Scope:
        start = self.clamps(reach.low, j)
        caps = np.maximum(self.clamps(reach.high, j) - start, 0.0)
        budget = min(reach.budget, float(caps @ reach.cost))
        return Scope(start, caps, budget, np.asarray(self.z_start[j] + self.A @ start))

    def ranges(self, scope: Scope, reach: Reach) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the first layer's z in a scope."""
        low = scope.z0 - supports(-self.A, scope.caps, reach.cost, scope.budget)
        high = scope.z0 + supports(self.A, scope.caps, reach.cost, scope.budget)
        return low, high

    def offset(self, known: int, neuron: int, j: int) -> tuple[float, float]:
        """Range of z(scenario j) - z(scenario known) of a neuron over all centres.

        Clamps differ piecewise linearly, so the extremes lie at the ends of the range and at the kinks.
        """
        least, most = self._offsets.get((known, neuron), (np.zeros(0), np.zeros(0)))
        if j >= least.size:
            new = np.arange(least.size, len(self.z_start))
            constant = self.z_start[new, neuron] - self.z_start[known, neuron]
            low, high = self.search.moves.low, np.minimum(self.search.moves.high, 1e15)
            dead, end = self.clamps.dead[new], self.clamps.dead[new] + np.minimum(self.clamps.length[new], 1e15)
            own_dead = self.clamps.dead[known]
            own_end = own_dead + np.minimum(self.clamps.length[known], 1e15)
            terms = []
            for corner in (low, high, dead, end, own_dead, own_end):
                v = np.clip(np.broadcast_to(corner, dead.shape), low, high)
                terms.append(
                    (np.clip(v, dead, end) - dead - (np.clip(v, own_dead, own_end) - own_dead)) * self.A[neuron]
                )
            least = np.concatenate([least, constant + np.min(terms, axis=0).sum(axis=1)])
            most = np.concatenate([most, constant + np.max(terms, axis=0).sum(axis=1)])
            self._offsets[(known, neuron)] = (least, most)
        return float(least[j]), float(most[j])
