"""The program of a node for deep networks: moves, and a relaxed copy of the network for each chosen scenario.

A copy's rows depend on its scenario, on the signs decided in it and on the reach, not on the other copies: most of them
are taken over from earlier nodes (`Blocks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elbowroom.numerics import Floats, Ints
from elbowroom.search.network.deep_bounds import ON, OPEN, DeepBounds, Layer, Phases
from elbowroom.search.network.first_layer import Scope
from elbowroom.search.network.limits import MOST_BLOCKS
from elbowroom.search.network.part import Reach
from elbowroom.search.network.program import INFINITY, SparseRows

Neuron = tuple[int, int, int]  # scenario, layer, number


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of one copy over the moves and its own columns; the last rows are the margins.

    Open neurons have a layer, a number, a column, z = Z x + z0 over moves and own columns, and three rows: ``floor`` (column
    >= z), ``chord`` and ``envelope`` (column <= ...).
    """

    rows: SparseRows
    row_low: Floats
    row_high: Floats
    high: Floats  # of its own columns; their lower limit is 0
    layer: Ints
    neuron: Ints
    column: Ints
    Z: Floats
    z0: Floats
    floor: Ints
    chord: Ints
    envelope: Ints


class Limits(NamedTuple):
    """New upper limits of some rows and columns."""

    rows: Ints
    row_high: Floats
    columns: Ints
    high: Floats


class NetworkCopy(NamedTuple):
    """A block in its place: the scenario, its first own column and its first row."""

    scenario: int
    block: Block
    column: int
    row: int


@dataclass(frozen=True, eq=False)
class Copies:
    """The rows and columns of all copies."""

    rows: SparseRows
    row_low: Floats
    row_high: Floats
    low: Floats
    high: Floats
    parts: tuple[NetworkCopy, ...]

    def losses(self, solution: Floats, duals: Floats, moves: int) -> Iterator[tuple[NetworkCopy, Floats, Floats]]:
        """Per copy and open neuron: how far its column is from relu(z) at a solution, and what this is worth by the
        multipliers of the rows that let it be there: the rise of the optimum if they met relu(z) at this point."""
        for copy in self.parts:
            block = copy.block
            own = np.concatenate([solution[:moves], solution[copy.column : copy.column + block.high.size]])
            error = np.abs(own[block.column] - np.maximum(block.Z @ own + block.z0, 0.0))
            price = np.abs(duals[copy.row + block.chord]) + np.abs(duals[copy.row + block.envelope])
            yield copy, error, price * error

    def deciding(self, neurons: Iterable[Neuron], active: bool, moves: int, slack: float) -> Limits:
        """The upper limits that make open neurons active (column = z) or inactive (column = 0)."""
        rows, row_high, columns = [], [], []
        wanted = set(neurons)
        for copy in self.parts:
            block = copy.block
            for i, (layer, neuron) in enumerate(zip(block.layer.tolist(), block.neuron.tolist(), strict=True)):
                if (copy.scenario, layer, neuron) in wanted:
                    rows.append(copy.row + int(block.floor[i]))
                    row_high.append(float(block.z0[i]) + slack)
                    columns.append(copy.column + int(block.column[i]) - moves)
        none = np.zeros(0, dtype=np.int64)
        if active:
            return Limits(np.array(rows, dtype=np.int64), np.array(row_high), none, np.zeros(0))
        return Limits(none, np.zeros(0), np.array(columns, dtype=np.int64), np.zeros(len(columns)))


class Blocks:
    """Blocks by scenario, decided signs and reach."""

    def __init__(self, bounds: DeepBounds) -> None:
        self.bounds = bounds
        self._known: dict[tuple[int, frozenset[tuple[tuple[int, int], bool]], bytes], Block | None] = {}

    def forget(self, j: int | None = None) -> None:
        """Drop the blocks of a scenario whose ranges changed, or all."""
        if j is None:
            self._known.clear()
        for key in [key for key in self._known if key[0] == j]:
            del self._known[key]

    def assemble(
        self, reach: Reach, phases: dict[int, Phases], copies: tuple[int, ...], v: Floats, margin: float = 0.0
    ) -> Copies | None:
        """All rows that every valid centre of the part satisfies; None if some copy is impossible."""
        m = reach.low.size
        where = reach.low.tobytes() + reach.high.tobytes() + np.float64(reach.budget).tobytes()
        parts: list[NetworkCopy] = []
        width, height = m, 0
        for j in copies:
            key = (j, frozenset(phases.get(j, {}).items()), where)
            if key not in self._known:
                if len(self._known) >= MOST_BLOCKS:
                    del self._known[next(iter(self._known))]
                self._known[key] = copy_block(self.bounds, reach, phases.get(j, {}), j, v)
            block = self._known[key]
            if block is None:
                return None
            parts.append(NetworkCopy(j, block, width, height))
            width += block.high.size
            height += len(block.rows)
        rivals = self.bounds.search.network.n_rivals
        rows, lows = [], []
        for _, block, first, _ in parts:
            columns = np.where(block.rows.columns < m, block.rows.columns, block.rows.columns + (first - m))
            rows.append(SparseRows(block.rows.starts, columns, block.rows.values))
            low = block.row_low
            if margin:
                low = low.copy()
                low[-rivals:] += margin
            lows.append(low)
        return Copies(
            SparseRows.join(rows), np.concatenate(lows), np.concatenate([copy.block.row_high for copy in parts]),
            np.concatenate([reach.low, np.zeros(width - m)]),
            np.concatenate([reach.high, *(copy.block.high for copy in parts)]), tuple(parts),
        )  # fmt: skip


def copy_block(bounds: DeepBounds, reach: Reach, phases: Phases, j: int, v: Floats) -> Block | None:
    """The relaxed copy of the network for scenario j; None if it is impossible.

    Per open neuron a column r with 0 <= r <= high: r >= z, r <= chord of [low, high], r <= envelope over the moves.
    A clamp with a kink inside the part gets a column of its own between its tangents and its chord.
    """
    scope = bounds.scope(j, reach)
    w = np.clip(bounds.clamps(v, j) - scope.start, 0.0, scope.caps)
    layers = bounds.layers(j, scope, reach, phases, w)
    if layers is None:
        return None
    kinked = np.flatnonzero(np.logical_or(*bounds.clamps.kinks(j, reach.low, reach.high)))
    open_ = sum(int((layer.state == OPEN).sum()) for layer in layers)
    builder = _Builder(reach.low.size + kinked.size + open_, reach)
    own_moves, constant = builder.moves_of(bounds, j, scope, kinked)
    builder.network(bounds, scope, layers, phases, own_moves, constant)
    return builder.done()


class _Builder:
    def __init__(self, width: int, reach: Reach) -> None:
        self.width, self.reach = width, reach
        self.used = reach.low.size
        self.rows: list[Floats] = []
        self.row_low: list[Floats] = []
        self.row_high: list[Floats] = []
        self.high = np.zeros(width)
        self.open: list[tuple[Ints, Ints, Ints, Floats, Floats, Ints, Ints, Ints]] = []
        self.count = 0

    def add(self, rows: Floats, low: Floats | float, high: Floats | float) -> None:
        self.rows.append(rows)
        self.count += len(rows)
        self.row_low.append(np.full(len(rows), low))
        self.row_high.append(np.full(len(rows), high))

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
        self, bounds: DeepBounds, scope: Scope, layers: list[Layer], phases: Phases, M: Floats, c: Floats
    ) -> None:
        net, slack = bounds.search.network, bounds.search.rounding
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
                floor = self.count + np.arange(open_.size)
                self.add(own - E[open_], e[open_] - slack, INFINITY)
                steep = layer.high[open_] / (layer.high[open_] - layer.low[open_])
                self.add(own - steep[:, None] * E[open_], -INFINITY, steep * (e[open_] - layer.low[open_]) + slack)
                self.add(own - layer.slope[open_] @ M, -INFINITY, layer.top[open_] + layer.slope[open_] @ c + slack)
                F[open_], f[open_] = own, 0.0
                chord, envelope = floor + open_.size, floor + 2 * open_.size
                self.open.append((np.full(open_.size, k), open_, columns, E[open_], e[open_], floor, chord, envelope))
            E, e = net.weights[k + 1] @ F, net.weights[k + 1] @ f + net.biases[k + 1]
        self.add(E, -e - slack, INFINITY)

    def done(self) -> Block:
        m = self.reach.low.size
        none = np.zeros(0, dtype=np.int64)
        nothing = (none, none, none, np.zeros((0, self.width)), np.zeros(0), none, none, none)
        layer, neuron, column, Z, z0, floor, chord, envelope = (
            np.concatenate(parts) for parts in zip(nothing, *self.open, strict=True)
        )
        return Block(
            rows=SparseRows.of(np.vstack(self.rows)), row_low=np.concatenate(self.row_low),
            row_high=np.concatenate(self.row_high), high=self.high[m:], layer=layer, neuron=neuron, column=column, Z=Z,
            z0=z0, floor=floor, chord=chord, envelope=envelope,
        )  # fmt: skip
