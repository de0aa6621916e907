"""ReLU networks: the usual mixed-integer encoding, with bounds propagated from the bounds of the point.

h = max(z, 0), l <= z <= u:  l >= 0: h = z;  u <= 0: h = 0;  else  h >= z,  h >= 0,  h <= z - l (1 - a),  h <= u a,  a in {0, 1}.

The master has one copy of the network per scenario, over everything the centre may reach; the adversary one copy over
the room, which is small, so that most of its neurons are decided.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from elbowroom.models import Affine, ReluNetwork
from elbowroom.models.margins import network_margins
from elbowroom.numerics import EPS, Floats, Ints
from elbowroom.problem import Body, RecourseProblem
from elbowroom.search.adversarial.center import add_center
from elbowroom.search.adversarial.encode_linear import asked, deficit_scale
from elbowroom.search.adversarial.limits import DESCENT_STEPS, ERROR_ROUNDING, NEURON_ROUNDING
from elbowroom.search.adversarial.master import Master, Stance
from elbowroom.search.adversarial.nowhere import (
    Alternative,
    Disjunction,
    Form,
    combined,
    contradictory,
    necessary_conditions,
    scenario_point,
)
from elbowroom.search.adversarial.point_block import PointBlock, add_point
from elbowroom.search.adversarial.room_block import add_room, into_body, lowest_along
from elbowroom.search.adversarial.scenario import Scenario
from elbowroom.search.program import Builder
from elbowroom.search.solvers.protocol import Chain
from elbowroom.search.solvers.tolerances import EPSILONS


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
        margins = network_margins(problem.model, problem.target_index, problem.target.need)
        self.layers, self.slack = margins.layers, margins.slack
        self.scale = deficit_scale(self._margin(problem.factual[None])[0])
        self.extra = EPSILONS.first_extra

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

    def nowhere(self, scenarios: list[Scenario], seconds_left: Callable[[], float]) -> bool:
        """Every neuron is on (its value passes) or off (its value is not positive) in every scenario."""
        if (self.layers[0].error_slope < EPS * np.abs(self.layers[0].weight)).any():
            return False
        conditions = necessary_conditions(self.problem)
        for number, scenario in enumerate(scenarios):
            signal = scenario_point(conditions, self.problem, scenario)
            for layer in self.layers[:-1]:
                after = []
                for row, bias in zip(layer.weight, layer.bias, strict=True):
                    value = combined(row, signal, float(bias))
                    column = conditions.column(0.0)
                    after.append(Form.column(column))
                    same = after[-1].plus(value, Fraction(-1))
                    on = Alternative((value, same, same.negative()))
                    off = Alternative((value.negative(), after[-1].negative()))
                    conditions.disjunctions.append(Disjunction((on, off), number))
                signal = after
            rows = zip(self.layers[-1].weight, self.layers[-1].bias, strict=True)
            conditions.forms += [combined(row, signal, float(bias)) for row, bias in rows]
        return contradictory(conditions, seconds_left)

    def harden(self, scenario: int | None, point: Floats) -> bool:
        del scenario, point
        self.extra *= EPSILONS.extra_step
        return self.extra <= EPSILONS.most_extra

    def attack(self, center: Floats, solver: Chain, seconds_left: Callable[[], float]) -> list[Floats]:
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

            def lowest(x: Floats, y: Ints = y, rival: int = rival) -> Floats | None:
                point = into_body(body, x[y])
                return None if point is None else self._lowered(body, rival, point)

            def bad(x: Floats) -> bool:
                point = lowest(x)
                return point is not None and bool(self.spare(point[None])[0] < 0)

            answer = solver.solve(builder.program(), seconds_left(), enough=bad)
            point = lowest(answer.x) if answer.usable and answer.x is not None else None
            found += [] if point is None else [point]  # the lowest only: every scenario is another copy of the network
        return found

    def _lowered(self, body: Body, rival: int, point: Floats) -> Floats:
        """From a point of the room to a local minimum of the margin: with its pattern of active neurons held fixed the
        margin is affine, and its lowest point in the room is known; as long as that one is lower, it is the next point."""
        value = float(self._margin(point[None])[0, rival])
        for _ in range(DESCENT_STEPS):
            candidate = into_body(body, lowest_along(body, self._slope(point, rival), point))
            if candidate is None or not (lower := float(self._margin(candidate[None])[0, rival])) < value:
                break
            point, value = candidate, lower
        return point

    def _slope(self, point: Floats, rival: int) -> Floats:
        hidden, slope = point, np.eye(point.size)
        for layer in self.layers[:-1]:
            raw = layer(hidden[None])[0]
            slope = np.where(raw > 0.0, 1.0, 0.0)[:, None] * (layer.weight @ slope)
            hidden = np.maximum(raw, 0.0)
        return np.asarray(self.layers[-1].weight[rival] @ slope)

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
        return block.master(builder, self.problem)

    def _hidden(self, builder: Builder, signal: _Signal) -> _Signal:
        for layer in self.layers[:-1]:
            signal = _add_relu(builder, layer, signal)
        return signal


def _error_after(layer: Affine, magnitude: Floats, error: Floats) -> Floats:
    """How far the original's values may be from the real ones behind this layer."""
    passed_on = (np.abs(layer.weight) + layer.error_slope) @ error
    return np.asarray(layer.error(magnitude) + passed_on * (1.0 + ERROR_ROUNDING))


def _add_relu(builder: Builder, layer: Affine, signal: _Signal) -> _Signal:
    low, high = signal.block.range_of(layer.weight)
    low, high = low + layer.bias, high + layer.bias
    room = NEURON_ROUNDING * (np.abs(low) + np.abs(high))
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
