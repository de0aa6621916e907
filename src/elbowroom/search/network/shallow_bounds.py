"""One hidden layer: margins of a scenario as linear rows in the moves.

margin_r(y_s(x)) = c_r + sum_q out_rq relu(z_q), z_q = z0_q + sum_i A_qi clamp_i(v_i). The neurons with out < 0 are
concave in the scenario's moves: tangents are exact. Those with out > 0 are bounded from above by `relaxed_sum`, and the
clamps by their own lines. Phases that branching has fixed (facts) narrow the range of z, also for other scenarios: the
difference of two scenarios' z over the whole search space has a known range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.search.network.candidates import Hunt
from elbowroom.search.network.clamps import Clamps
from elbowroom.search.network.envelope import relaxed_sum, supports
from elbowroom.search.network.region import Part, Reach


class Fact(NamedTuple):
    """Branching decided the sign of one neuron in one scenario."""

    scenario: int
    neuron: int
    active: bool


@dataclass(frozen=True, eq=False)
class Row:
    """G v >= h is valid in the node; ``value`` is the bound on the margin at the point where it was made."""

    g: Floats
    h: float
    value: float
    neuron_loss: Floats
    move_loss: Floats


class ShallowBounds:
    """Tables over scenarios that grow with the pool."""

    def __init__(self, hunt: Hunt) -> None:
        self.hunt = hunt
        network, moves = hunt.network, hunt.moves
        self.weight, self.bias = network.weights[0], network.biases[0]
        self.out, self.out_bias = network.weights[1], network.biases[1]
        self.A = np.ascontiguousarray(moves.pull(self.weight))
        self.clamps = Clamps.of(moves, hunt.scenarios)
        self._z_start = self.clamps.start @ self.weight.T + self.bias
        self._whole_part = Part(moves.low, moves.high)
        self._offsets: dict[tuple[int, int], tuple[Floats, Floats]] = {}

    def refresh(self) -> None:
        """Take in scenarios that joined the pool."""
        known = len(self._z_start)
        if known < len(self.hunt.scenarios):
            later = Clamps.of(self.hunt.moves, self.hunt.scenarios, known)
            self.clamps = self.clamps.join(later)
            self._z_start = np.vstack([self._z_start, later.start @ self.weight.T + self.bias])

    def at(self, j: int, low: Floats) -> Floats:
        """z of scenario j at the lowest moves of a part."""
        return np.asarray(self._z_start[j] + self.A @ self.clamps(low, j))

    def caps(self, j: int, reach: Reach) -> Floats:
        return np.maximum(self.clamps(reach.high, j) - self.clamps(reach.low, j), 0.0)

    def ranges(self, j: int, reach: Reach, facts: tuple[Fact, ...]) -> tuple[Floats, Floats, Floats, Floats]:
        """z at the start of the part, its lower and upper bounds in scenario j, and the caps of its moves."""
        z0, h = self.at(j, reach.low), self.caps(j, reach)
        budget = min(reach.budget, float(h @ reach.cost))
        low = z0 - supports(-self.A, h, reach.cost, budget)
        high = z0 + supports(self.A, h, reach.cost, budget)
        for fact in facts:
            least, most = self._offset(fact.scenario, fact.neuron, j)
            if fact.active:
                low[fact.neuron] = max(low[fact.neuron], least)
            else:
                high[fact.neuron] = min(high[fact.neuron], most)
        return z0, low, high, h

    def _offset(self, known: int, neuron: int, j: int) -> tuple[float, float]:
        """Range of z(scenario j) - z(scenario known) of a neuron over all centres: clamps differ piecewise linearly,
        so the extremes lie at the ends of the range and at the kinks."""
        least, most = self._offsets.get((known, neuron), (np.zeros(0), np.zeros(0)))
        if j >= least.size:
            new = np.arange(least.size, len(self._z_start))
            weights = self.A[neuron]
            constant = self._z_start[new, neuron] - self._z_start[known, neuron]
            c = self.clamps
            dead, length = c.dead[new], c.length[new]
            dead_known, length_known = c.dead[known], c.length[known]
            top = np.minimum(self._whole_part.high, 1e15)
            ends = [np.broadcast_to(e, dead.shape) for e in (
                self._whole_part.low, top, dead, dead + np.minimum(length, 1e15), dead_known,
                dead_known + np.minimum(length_known, 1e15),
            )]  # fmt: skip
            spread = []
            for end in ends:
                v = np.clip(end, self._whole_part.low, top)
                spread.append(np.clip(v - dead, 0.0, length) - np.clip(v - dead_known, 0.0, length_known))
            terms = np.array(spread) * weights
            least = np.concatenate([least, constant + terms.min(axis=0).sum(axis=1)])
            most = np.concatenate([most, constant + terms.max(axis=0).sum(axis=1)])
            self._offsets[(known, neuron)] = (least, most)
        return float(least[j]), float(most[j])

    def row(self, j: int, r: int, reach: Reach, facts: tuple[Fact, ...], v: Floats) -> Row:
        """The linear consequence of margin_r(y_j(x)) >= 0 that is strongest at v."""
        z0, low, high, h = self.ranges(j, reach, facts)
        budget = min(reach.budget, float(h @ reach.cost))
        start = self.clamps(reach.low, j)
        w = np.clip(self.clamps(v, j) - start, 0.0, h)
        slope, loss = np.empty(w.size), np.empty(z0.size)
        intercept = relaxed_sum(
            self.out[r], z0, self.A, low, high, h, reach.cost, budget, w, slope, loss
        ) + float(self.out_bias[r])  # fmt: skip
        constant, g = self.clamps.upper_line(j, slope, reach.low, reach.high, v)
        move_loss = constant + g * v - slope * w
        total = intercept + float(constant.sum())
        return Row(g, -total - self.hunt.rounding, total + float(g @ v), loss, np.maximum(move_loss, 0.0))

    def fact_row(self, fact: Fact, reach: Reach, v: Floats) -> tuple[Floats, float]:
        """The linear consequence of a fact: z >= 0 or -z >= 0 with z bounded by the clamps' lines."""
        sign = 1.0 if fact.active else -1.0
        constant, g = self.clamps.upper_line(
            fact.scenario, sign * self.A[fact.neuron], reach.low, reach.high, v
        )
        z0 = sign * float(self.at(fact.scenario, reach.low)[fact.neuron])
        return g, -(z0 + float(constant.sum())) - self.hunt.rounding
