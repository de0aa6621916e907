"""Affine functions above a margin on simplices, as their values at the vertices; many simplices at once.

On a simplex relu of an affine function is convex, so that it lies below the interpolation of its values at the vertices (exact
there); from below it has any slope alpha in [0, 1]. A layer is then two matrix products. The last hidden layer's neurons that stay
linear (on, or of negative weight) are summed up over the layer below before that one is relaxed, so that they cancel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.search.network.margins import MarginNetwork


class Signs(NamedTuple):
    """Signs of neurons of the first layer in one simplex. They were decided for one shift of the room: where ``on`` the neuron's z
    of that shift is not negative, else not positive, and a row is that z, or -z, at the vertices. Another shift's z' differs from it
    by an affine function, whose extremes lie at vertices: relu(z') is at most z' + lift where on, and at most lift where off."""

    neuron: Ints
    on: Bools
    rows: Floats  # (neurons, vertices): not negative at any centre of the part

    @classmethod
    def none(cls, vertices: int) -> Signs:
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_), np.zeros((0, vertices)))

    def and_one(self, neuron: int, on: bool, row: Floats) -> Signs:
        return Signs(np.append(self.neuron, neuron), np.append(self.on, on), np.vstack([self.rows, row]))


def bounds_above(
    network: MarginNetwork, Y: Floats, slopes: list[Floats], rival: Ints, signs: list[Signs]
) -> tuple[Floats, list[Floats]]:
    """Values at the vertices of affine functions above a rival's margin, (simplices, vertices); and middle values of z per hidden
    layer, (simplices, vertices, neurons). ``Y``: (simplices, vertices, columns)."""
    weights, biases = network.weights, network.biases
    B, N, columns = Y.shape
    above = below = (Y.reshape(B * N, columns) @ weights[0].T + biases[0]).reshape(B, N, -1)
    depth, middle = len(weights) - 1, list[Floats]()
    active = low = above
    for k in range(1, depth):
        middle.append(above if above is below else 0.5 * (above + below))
        on, off = below.min(axis=1) >= 0.0, above.max(axis=1) <= 0.0
        active = np.maximum(above, 0.0)
        slope = np.where(on, 1.0, slopes[k - 1] * ~off)
        if k == 1:
            _decide(signs, above, active, slope)
        low = below * slope[:, None, :]
        positive, negative = np.maximum(weights[k], 0.0).T, np.minimum(weights[k], 0.0).T
        high_rows, low_rows = active.reshape(B * N, -1), low.reshape(B * N, -1)
        above = (high_rows @ positive + low_rows @ negative + biases[k]).reshape(B, N, -1)
        below = (low_rows @ positive + high_rows @ negative + biases[k]).reshape(B, N, -1)
    middle.append(0.5 * (above + below))
    w = weights[-1][rival]
    on, off = below.min(axis=1) >= 0.0, above.max(axis=1) <= 0.0
    slope = np.where(on, 1.0, np.where(off, 0.0, slopes[-1]))
    direct = ~on & ~off & (w >= 0.0)
    value = np.matmul(np.maximum(above, 0.0), (direct * w)[:, :, None])[:, :, 0]
    summed = np.where(direct, 0.0, slope) * w
    lam = summed @ weights[-2]
    value += np.matmul(active, np.maximum(lam, 0.0)[:, :, None])[:, :, 0]
    value += np.matmul(low, np.minimum(lam, 0.0)[:, :, None])[:, :, 0]
    return value + (summed @ biases[-2] + biases[-1][rival])[:, None], middle


def _decide(signs: list[Signs], z: Floats, active: Floats, slope: Floats) -> None:
    """What is known of the signs of the first layer's neurons where rows are not negative, see `Signs`."""
    for i, part in enumerate(signs):
        if part.neuron.size:
            own = z[i][:, part.neuron].T
            lift = np.where(part.on, (part.rows - own).max(axis=1), (part.rows + own).max(axis=1))
            lift = np.maximum(lift, 0.0)
            active[i][:, part.neuron] = np.where(part.on[:, None], own + lift[:, None], lift[:, None]).T
            slope[i, part.neuron] = part.on
