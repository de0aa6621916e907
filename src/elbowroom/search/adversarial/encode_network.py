"""ReLU networks: the usual mixed-integer encoding, with bounds propagated from the bounds of the point.

h = max(z, 0), l <= z <= u:  l >= 0: h = z;  u <= 0: h = 0;  else  h >= z,  h >= 0,  h <= z - l (1 - a),  h <= u a,  a in {0, 1}.

The master has one copy of the network per scenario, over everything the centre may reach; the adversary one copy over
the room, which is small, so that most of its neurons are decided.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.models import Affine, ReluNetwork
from elbowroom.models.margins import network_margins
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import RecourseProblem
from elbowroom.search.adversarial.center import Stance, add_center, tidy
from elbowroom.search.adversarial.encode_linear import EXTRA_STEP, FIRST_EXTRA, MOST_EXTRA, asked, deficit_scale
from elbowroom.search.adversarial.family import Master
from elbowroom.search.adversarial.matrix import Builder
from elbowroom.search.adversarial.point_block import PointBlock, add_point
from elbowroom.search.adversarial.room_block import add_room, into_body
from elbowroom.search.adversarial.scenario import Scenario
from elbowroom.search.solvers.protocol import Chain

_OUTWARDS = 1e-12


@dataclass(frozen=True, eq=False)
class _Signal:
    """Values of a layer: columns with offsets (a constant where the column is negative), bounds, evaluation error."""

    block: PointBlock
    error: Floats


class NetworkFamily:
    """margin(p) = the network's last layer must be at least the propagated error and the slack."""

    needs_reach = True

    def __init__(self, problem: RecourseProblem) -> None:
        assert isinstance(problem.model, ReluNetwork)
        self.problem = problem
        margins = network_margins(problem.model, problem.target_index, problem.target.probability)
        self.layers, self.slack = margins.layers, margins.slack
        self.scale = deficit_scale(self._margin(problem.factual[None])[0])
        self.extra = FIRST_EXTRA

    def _margin(self, points: Floats) -> Floats:
        hidden = points
        for layer in self.layers[:-1]:
            hidden = np.maximum(layer(hidden), 0.0)
        return self.layers[-1](hidden)

    @property
    def hopeless(self) -> str:
        return ""

    def spare(self, points: Floats) -> Floats:
        needed = np.empty((len(points), self.slack.size))
        for i, point in enumerate(points):
            hidden, error = point, np.zeros(point.size)
            for k, layer in enumerate(self.layers):
                error = _error_after(layer, np.abs(hidden), error)
                hidden = np.maximum(layer(hidden), 0.0) if k < len(self.layers) - 1 else hidden
            needed[i] = error + self.slack
        return np.asarray((self._margin(points) - needed).min(axis=1))

    def deepened(self, center: Floats, point: Floats) -> Floats:
        del center
        return point

    def harden(self, scenario: int | None, point: Floats) -> bool:
        del scenario, point
        self.extra *= EXTRA_STEP
        return self.extra <= MOST_EXTRA

    def attack(self, center: Floats, solver: Chain, seconds: float) -> list[Floats]:
        body = self.problem.body(center)
        found = []
        for rival in range(self.slack.size):
            builder = Builder()
            y = add_room(builder, body)
            room = PointBlock(y, np.zeros(y.size), body.lower, body.upper)
            last = self._hidden(builder, _Signal(room, np.zeros(y.size)))
            columns, values, _ = last.block.expression(self.layers[-1].weight[rival])
            cost = np.concatenate(builder.cost)
            np.add.at(cost, columns, values)
            builder.cost = [cost]
            answer = solver.solve(builder.program(), seconds / self.slack.size)
            for x in (answer.x, *answer.pool):
                if x is not None and np.isfinite(x).all():
                    point = into_body(body, x[y])
                    if point is not None:
                        found.append(point)
        return found

    def master(self, scenarios: list[Scenario], stance: Stance, reach: float) -> Master:
        builder = Builder()
        block = add_center(builder, self.problem, reach, stance)
        last = self.layers[-1]
        for scenario in scenarios:
            point = add_point(builder, self.problem, scenario, block)
            signal = self._hidden(builder, _Signal(point, np.zeros(point.offset.size)))
            error = _error_after(last, signal.block.magnitude, signal.error)
            needed = asked(error, self.slack, self.extra * self.scale, stance)
            for row, bias, least in zip(last.weight, last.bias, needed, strict=True):
                columns, values, constant = signal.block.expression(row)
                builder.row(columns, values, float(least) - float(bias) - constant)
        return Master(builder.program(), lambda x: tidy(self.problem, x[block.columns]), lambda v: v, lambda d: d)

    def _hidden(self, builder: Builder, signal: _Signal) -> _Signal:
        for layer in self.layers[:-1]:
            signal = _add_relu(builder, layer, signal)
        return signal


def _error_after(layer: Affine, magnitude: Floats, error: Floats) -> Floats:
    """How far the original's values may be from the real ones behind this layer."""
    passed_on = (np.abs(layer.weight) + layer.error_slope) @ error
    return np.asarray(layer.error(magnitude) + passed_on * (1.0 + 1e-9))


def _add_relu(builder: Builder, layer: Affine, signal: _Signal) -> _Signal:
    low, high = signal.block.range_of(layer.weight)
    low, high = low + layer.bias, high + layer.bias
    room = _OUTWARDS * (np.abs(low) + np.abs(high))
    low, high = low - room, high + room
    columns = np.full(layer.bias.size, -1, dtype=np.int64)
    for i in range(layer.bias.size):
        if high[i] <= 0.0:
            continue
        used, values, constant = signal.block.expression(layer.weight[i])
        constant += float(layer.bias[i])
        h = int(builder.columns(1, max(low[i], 0.0), high[i])[0])
        columns[i] = h
        row: Ints = np.append(used, h)
        if low[i] >= 0.0:
            builder.row(row, np.append(-values, 1.0), constant, constant)
            continue
        a = int(builder.columns(1, 0.0, 1.0, True)[0])
        builder.row(row, np.append(-values, 1.0), constant)
        builder.row(np.append(row, a), np.append(-values, [1.0, -low[i]]), -np.inf, constant - low[i])
        builder.row([h, a], [1.0, -high[i]], -np.inf, 0.0)
    block = PointBlock(columns, np.zeros(columns.size), np.maximum(low, 0.0), np.maximum(high, 0.0))
    return _Signal(block, _error_after(layer, signal.block.magnitude, signal.error))
