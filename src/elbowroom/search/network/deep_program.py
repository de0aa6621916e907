"""The program of a node for deep networks: moves, and a relaxed copy of the network for each chosen scenario."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.search.network.deep_bounds import ON, OPEN, DeepBounds, Layer, Phases
from elbowroom.search.network.first_layer import Scope
from elbowroom.search.network.program import INFINITY
from elbowroom.search.network.region import Reach

Neuron = tuple[int, int, int]  # scenario, layer, neuron


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows and columns of all copies. ``open_neurons`` maps open neurons to their column and to z as (row, constant)."""

    G: Floats
    row_low: Floats
    row_high: Floats
    low: Floats
    high: Floats
    open_neurons: dict[Neuron, tuple[int, Floats, float]]


def assemble(
    bounds: DeepBounds, reach: Reach, phases: dict[int, Phases], copies: list[int], v: Floats, margin: float = 0.0
) -> Copies | None:
    """All rows that every valid centre of the part satisfies; None if some copy is impossible.

    Per open neuron a column r with 0 <= r <= high: r >= z, r <= chord of [low, high], r <= envelope over the moves.
    A clamp with a kink inside the part gets a column of its own between its tangents and its chord.
    """
    scopes: dict[int, Scope] = {}
    layers: dict[int, list[Layer]] = {}
    m = reach.low.size
    width = m
    kinked: dict[int, np.ndarray] = {}
    for j in copies:
        scopes[j] = bounds.scope(j, reach)
        w = np.clip(bounds.clamps(v, j) - scopes[j].start, 0.0, scopes[j].caps)
        found = bounds.layers(j, scopes[j], reach, phases.get(j, {}), w)
        if found is None:
            return None
        layers[j] = found
        kinked[j] = np.flatnonzero(np.logical_or(*bounds.clamps.kinks(j, reach.low, reach.high)))
        width += kinked[j].size + sum(int((layer.state == OPEN).sum()) for layer in found)
    builder = _Builder(width, reach)
    for j in copies:
        own_moves, constant = builder.moves_of(bounds, j, scopes[j], kinked[j])
        builder.network(bounds, j, scopes[j], layers[j], phases.get(j, {}), own_moves, constant, margin)
    return builder.done()


class _Builder:
    def __init__(self, width: int, reach: Reach) -> None:
        self.width, self.reach = width, reach
        self.used = reach.low.size
        self.rows: list[Floats] = []
        self.row_low: list[Floats] = []
        self.row_high: list[Floats] = []
        self.low = np.concatenate([reach.low, np.zeros(width - self.used)])
        self.high = np.concatenate([reach.high, np.zeros(width - self.used)])
        self.open_neurons: dict[Neuron, tuple[int, Floats, float]] = {}

    def add(self, rows: Floats, low: Floats | float, high: Floats | float) -> None:
        self.rows.append(rows)
        self.row_low.append(np.broadcast_to(np.asarray(low, dtype=np.float64), (len(rows),)))
        self.row_high.append(np.broadcast_to(np.asarray(high, dtype=np.float64), (len(rows),)))

    def moves_of(self, bounds: DeepBounds, j: int, scope: Scope, kinked: np.ndarray) -> tuple[Floats, Floats]:
        """The scenario's moves w as rows over the columns, w = M x + c."""
        reach, m = self.reach, self.reach.low.size
        width = reach.high - reach.low
        chord = np.where(width > 0.0, scope.caps / np.where(width > 0.0, width, 1.0), 0.0)
        M = np.zeros((m, self.width))
        M[np.arange(m), np.arange(m)] = chord
        c = -chord * reach.low
        dead = bounds.clamps.dead[j]
        starts, ends = bounds.clamps.kinks(j, reach.low, reach.high)
        for i in kinked:
            column = self.used
            self.used += 1
            self.high[column] = scope.caps[i]
            follow, secant = np.zeros((1, self.width)), np.zeros((1, self.width))
            follow[0, [column, i]] = 1.0, -1.0
            secant[0, [column, i]] = 1.0, -chord[i]
            if starts[i] and not ends[i]:  # convex: w >= 0, w >= v - dead, w <= chord
                self.add(follow, -dead[i], INFINITY)
                self.add(secant, -INFINITY, -chord[i] * reach.low[i])
            elif ends[i] and not starts[i]:  # concave: w <= caps, w <= v - low, w >= chord
                self.add(follow, -INFINITY, -reach.low[i])
                self.add(secant, -chord[i] * reach.low[i], INFINITY)
            M[i], c[i] = 0.0, 0.0
            M[i, column] = 1.0
        return M, c

    def network(
        self, bounds: DeepBounds, j: int, scope: Scope, layers: list[Layer], phases: Phases, M: Floats, c: Floats,
        margin: float,
    ) -> None:  # fmt: skip
        net, slack = bounds.hunt.network, bounds.hunt.rounding
        E, e = bounds.A @ M, scope.z0 + bounds.A @ c
        for k, layer in enumerate(layers):
            F, f = np.zeros_like(E), np.zeros_like(e)
            on, open_ = layer.state == ON, np.flatnonzero(layer.state == OPEN)
            F[on], f[on] = E[on], e[on]
            for (where, q), active in phases.items():
                if where == k and layer.low[q] < 0.0 < layer.high[q]:
                    if active:
                        self.add(E[q : q + 1], -e[q] - slack, INFINITY)
                    else:
                        self.add(E[q : q + 1], -INFINITY, -e[q] + slack)
            if open_.size:
                columns = self.used + np.arange(open_.size)
                self.used += int(open_.size)
                self.high[columns] = layer.high[open_]
                own = np.zeros((open_.size, self.width))
                own[np.arange(open_.size), columns] = 1.0
                self.add(own - E[open_], e[open_] - slack, INFINITY)
                steep = layer.high[open_] / (layer.high[open_] - layer.low[open_])
                self.add(own - steep[:, None] * E[open_], -INFINITY, steep * (e[open_] - layer.low[open_]) + slack)
                self.add(own - layer.slope[open_] @ M, -INFINITY, layer.top[open_] + layer.slope[open_] @ c + slack)
                F[open_], f[open_] = own, 0.0
                for q, column in zip(open_.tolist(), columns.tolist(), strict=True):
                    self.open_neurons[(j, k, q)] = (column, E[q], float(e[q]))
            E, e = net.weights[k + 1] @ F, net.weights[k + 1] @ f + net.biases[k + 1]
        self.add(E, margin - e - slack, INFINITY)

    def done(self) -> Copies:
        return Copies(
            np.vstack(self.rows), np.concatenate(self.row_low), np.concatenate(self.row_high), self.low, self.high,
            self.open_neurons,
        )  # fmt: skip
