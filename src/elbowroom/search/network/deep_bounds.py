"""Deep networks: linear bounds of every layer of one scenario over a part, pushed forward.

Every z of layer k lies between two linear functions of the scenario's own moves w. Through a ReLU whose sign is open the
upper function U becomes the envelope of max(0, U(w)) over the reachable w, the lower function L becomes 0 or L. Decided
signs (by bounds or by branching) pass both functions on, or zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.search.network.envelope import envelopes, supports
from elbowroom.search.network.first_layer import FirstLayer, Scope
from elbowroom.search.network.part import Reach

OFF, ON, OPEN = 0, 1, 2
Phases = dict[tuple[int, int], bool]  # (layer, neuron) -> active


@dataclass(frozen=True, eq=False)
class Layer:
    """State of a layer's neurons, range of z, and for open ones relu(z) <= top + slope . w."""

    state: Ints
    low: Floats
    high: Floats
    top: Floats
    slope: Floats


class DeepBounds(FirstLayer):
    """Forward bounds, and tightened ranges that the root's programs found."""

    def bind(self) -> None:
        """Forget tightened ranges: they hold for one cutoff only."""
        self.tight: dict[tuple[int, int], tuple[Floats, Floats]] = {}

    def layers(self, j: int, scope: Scope, reach: Reach, phases: Phases, w: Floats) -> list[Layer] | None:
        """Bounds of all layers in scenario j; None if the phases or the margins are impossible."""
        network, slack = self.search.network, self.search.rounding
        args = (scope.caps, reach.cost, scope.budget)
        upper, lower = (scope.z0, self.A), (scope.z0, self.A)
        found: list[Layer] = []
        for k in range(network.depth):
            high = upper[0] + supports(upper[1], *args) + slack
            low = lower[0] - supports(-lower[1], *args) - slack
            if (j, k) in self.tight:
                low, high = np.maximum(low, self.tight[j, k][0]), np.minimum(high, self.tight[j, k][1])
                if (low > high).any():  # both are proven: no centre is left
                    return None
            state = np.where(low >= 0.0, ON, np.where(high <= 0.0, OFF, OPEN))
            for (layer, q), active in phases.items():
                if layer != k:
                    continue
                if (active and high[q] < 0.0) or (not active and low[q] > 0.0):
                    return None
                state[q] = ON if active else OFF
            chosen = (state == OPEN).astype(np.int64)
            top, slope = envelopes(chosen, upper[0], upper[1], *args, np.clip(w, 0.0, scope.caps))
            found.append(Layer(state, low, high, top, slope))
            on, open_ = state == ON, state == OPEN
            keep = np.where(on, 1.0, np.where(open_, high > -low, 0.0))
            relu_top = np.where(on, upper[0], top), np.where(on[:, None], upper[1], slope)
            relu_low = keep * lower[0], keep[:, None] * lower[1]
            weight, bias = network.weights[k + 1], network.biases[k + 1]
            up, down = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
            upper = up @ relu_top[0] + down @ relu_low[0] + bias, up @ relu_top[1] + down @ relu_low[1]
            lower = up @ relu_low[0] + down @ relu_top[0] + bias, up @ relu_low[1] + down @ relu_top[1]
            upper = upper[0], np.ascontiguousarray(upper[1])
            lower = lower[0], np.ascontiguousarray(lower[1])
        best = upper[0] + supports(upper[1], *args)
        return None if (best < -slack).any() else found
