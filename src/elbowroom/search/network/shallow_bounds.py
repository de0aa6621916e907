"""One hidden layer: margins of a scenario as linear rows in the moves.

margin_r(y_s(x)) = c_r + sum_q out_rq relu(z_q), z_q = z0_q + sum_i A_qi clamp_i(v_i). The neurons with out < 0 are
concave in the scenario's moves: tangents are exact. Those with out > 0 are bounded from above by `relaxed_sum`, and the
clamps by their own lines. Phases that branching has fixed (facts) narrow the range of z, for other scenarios as well:
the difference of two scenarios' z over the whole search space has a known range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.search.network.envelope import relaxed_sum
from elbowroom.search.network.first_layer import FirstLayer, Scope
from elbowroom.search.network.part import Reach


class Fact(NamedTuple):
    """Branching decided the sign of one neuron in one scenario."""

    scenario: int
    neuron: int
    active: bool


@dataclass(frozen=True, eq=False)
class Row:
    """g v >= h is valid in the node; ``value`` is the bound on the margin at the point where it was made."""

    g: Floats
    h: float
    value: float
    neuron_loss: Floats
    move_loss: Floats


class ShallowBounds(FirstLayer):
    """Rows for the program of a node."""

    def enter(self, reach: Reach, facts: tuple[Fact, ...]) -> None:
        """Begin a node: ranges are computed once per scenario and node."""
        self._reach, self._facts = reach, facts
        self._known: dict[int, tuple[Scope, Floats, Floats]] = {}

    def _ranges_of(self, j: int) -> tuple[Scope, Floats, Floats]:
        if j not in self._known:
            scope = self.scope(j, self._reach)
            low, high = self.ranges(scope, self._reach)
            for fact in self._facts:
                least, most = self.offset(fact.scenario, fact.neuron, j)
                if fact.active:
                    low[fact.neuron] = max(low[fact.neuron], least)
                else:
                    high[fact.neuron] = min(high[fact.neuron], most)
            self._known[j] = (scope, low, high)
        return self._known[j]

    def row(self, j: int, r: int, v: Floats) -> Row:
        """The linear consequence of margin_r(y_j(x)) >= 0 in the node that is strongest at v."""
        reach = self._reach
        scope, low, high = self._ranges_of(j)
        w = np.clip(self.clamps(v, j) - scope.start, 0.0, scope.caps)
        slope, loss = np.empty(w.size), np.empty(low.size)
        out = self.search.network.weights[1][r]
        intercept = float(self.search.network.biases[1][r]) + relaxed_sum(
            out=out, z0=scope.z0, A=self.A, low=low, high=high, h=scope.caps, cost=reach.cost, budget=scope.budget,
            w=w, slope=slope, loss=loss,
        )  # fmt: skip
        constant, g = self.clamps.upper_line(j, slope, reach.low, reach.high, v)
        move_loss = np.maximum(constant + g * v - slope * w, 0.0)
        total = intercept + float(constant.sum())
        return Row(g, -total - self.search.rounding, total + float(g @ v), loss, move_loss)

    def fact_row(self, fact: Fact, v: Floats) -> tuple[Floats, float]:
        """The linear consequence of a fact: z >= 0 or -z >= 0 with z bounded by the clamps' lines."""
        reach = self._reach
        sign = 1.0 if fact.active else -1.0
        constant, g = self.clamps.upper_line(fact.scenario, sign * self.A[fact.neuron], reach.low, reach.high, v)
        z0 = sign * float(self.scope(fact.scenario, reach).z0[fact.neuron])
        return g, -(z0 + float(constant.sum())) - self.search.rounding
