"""Linear models: every scenario is one row per rival, the adversary one linear program per rival."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from elbowroom.models import LinearModel
from elbowroom.models.margins import linear_margins
from elbowroom.numerics import EPS, Floats
from elbowroom.problem import RecourseProblem
from elbowroom.search.adversarial.center import add_center
from elbowroom.search.adversarial.limits import LEAST_MARGIN
from elbowroom.search.adversarial.master import Master, Stance
from elbowroom.search.adversarial.nowhere import combined, contradictory, necessary_conditions, scenario_point
from elbowroom.search.adversarial.point_block import add_point
from elbowroom.search.adversarial.room_block import add_room, into_body, lowest_along
from elbowroom.search.adversarial.scenario import Scenario
from elbowroom.search.program import Builder
from elbowroom.search.solvers.protocol import Chain
from elbowroom.search.solvers.tolerances import EPSILONS


class LinearFamily:
    """margin(p) = W p + b must be at least the evaluation error and the slack."""

    needs_reach = True

    def __init__(self, problem: RecourseProblem) -> None:
        assert isinstance(problem.model, LinearModel)
        self.problem = problem
        margins = linear_margins(problem.model, problem.target_index, problem.target.need)
        self.affine, self.slack = margins.affine, margins.slack
        self.scale = deficit_scale(self.affine(problem.factual[None])[0])
        self.extra = EPSILONS.first_extra

    @property
    def hopeless(self) -> str:
        constant = (self.affine.weight == 0.0).all(axis=1) & (self.affine.error_slope == 0.0).all(axis=1)
        lost = constant & (self.affine.bias < -2.0 * (self.affine.error_constant + self.slack))
        return "the score against one rival is constant and too small" if lost.any() else ""

    def spare(self, points: Floats) -> Floats:
        margin = self.affine(points)
        needed = np.array([self.affine.error(np.abs(p)) for p in points]) + self.slack
        return np.asarray((margin - needed).min(axis=1))

    def deepened(self, center: Floats, point: Floats) -> Floats:
        del center
        return point

    def nowhere(self, scenarios: list[Scenario], seconds_left: Callable[[], float]) -> bool:
        if (self.affine.error_slope < EPS * np.abs(self.affine.weight)).any():
            return False
        conditions = necessary_conditions(self.problem)
        for scenario in scenarios:
            point = scenario_point(conditions, self.problem, scenario)
            rows = zip(self.affine.weight, self.affine.bias, strict=True)
            conditions.forms += [combined(row, point, float(bias)) for row, bias in rows]
        return contradictory(conditions, seconds_left)

    def harden(self, scenario: int | None, point: Floats) -> bool:
        del scenario, point
        self.extra *= EPSILONS.extra_step
        return self.extra <= EPSILONS.most_extra

    def attack(self, center: Floats, solver: Chain, seconds_left: Callable[[], float]) -> list[Floats]:
        """The lowest point of the room for every rival: by the dual norm if that shows a bad one, otherwise by a
        program."""
        body = self.problem.body(center)
        found = []
        for row in self.affine.weight:
            direct = into_body(body, lowest_along(body, row, center))
            if direct is not None and self.spare(direct[None])[0] < 0:
                found.append(direct)
                continue
            builder = Builder()
            y = add_room(builder, body)
            builder.cost[0] = row
            answer = solver.solve(builder.program(), seconds_left())
            if answer.usable and answer.x is not None:
                point = into_body(body, answer.x[y])
                if point is not None:
                    found.append(point)
        return found

    def master(self, scenarios: list[Scenario], stance: Stance, reach: float) -> Master:
        builder = Builder()
        block = add_center(builder, self.problem, reach, stance)
        for scenario in scenarios:
            point = add_point(builder, self.problem, scenario, block)
            needed = asked(self.affine.error(point.magnitude), self.slack, self.extra * self.scale, stance)
            for row, bias, least in zip(self.affine.weight, self.affine.bias, needed, strict=True):
                columns, values, constant = point.expression(row)
                builder.row(columns, values, float(least) - float(bias) - constant)
        return block.master(builder, self.problem)


def deficit_scale(margin: Floats) -> Floats:
    """What counts as a unit of margin: the factual's own, or the largest among the rivals where it is almost none."""
    size = np.abs(margin)
    return np.maximum(size, LEAST_MARGIN * float(size.max(initial=0.0)))


def asked(error: Floats, slack: Floats, extra: Floats, stance: Stance) -> Floats:
    """A candidate must hold with something to spare; a proof grants whatever rounding could have granted, twice."""
    if stance is Stance.ASK:
        return np.asarray(error + slack + extra)
    return np.asarray(-2.0 * (error + slack))
