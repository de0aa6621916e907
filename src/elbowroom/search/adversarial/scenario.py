"""Scenarios: one shift of the room, applied to any centre.

A scenario with shift s sends the centre x to `shifted_point` p(x): x + s rounded towards x and clipped to the bounds; a
free one-hot group takes the scenario's category. Rounding and clipping only ever move the point towards x, so p(x) lies
in body(x) for *every* admissible x: a centre whose room is good has a good point in every scenario. This is what makes
the master a relaxation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from elbowroom.numerics import Floats, inner_interval
from elbowroom.problem import RecourseProblem
from elbowroom.problem.shapes import is_round, spent_exactly


@dataclass(frozen=True, eq=False)
class Scenario:
    """``shift`` in raw units; ``category`` maps a free group to the member column that is 1 (missing: the centre's)."""

    shift: Floats
    category: Mapping[int, int] = field(default_factory=dict)

    def same_as(self, other: Scenario) -> bool:
        return np.array_equal(self.shift, other.shift) and dict(self.category) == dict(other.category)


def zero_shift(problem: RecourseProblem) -> Scenario:
    """The scenario of the centre itself."""
    return Scenario(np.zeros(problem.factual.size))


def shifted_point(problem: RecourseProblem, scenario: Scenario, center: Floats) -> Floats:
    """The float point of body(center) that the scenario leads to."""
    shift = scenario.shift
    low, high = inner_interval(center, np.maximum(-shift, 0.0), np.maximum(shift, 0.0))
    point = np.clip(np.where(shift >= 0, high, low), problem.lower, problem.upper)
    for group, member in scenario.category.items():
        point[problem.space.members[group]] = 0.0
        point[member] = 1.0
    return point + 0.0


def scenario_of(problem: RecourseProblem, center: Floats, point: Floats) -> Scenario:
    """The scenario that leads from the centre to the point (or as near to it as floats inside the room allow)."""
    walls = problem.walls
    shift = np.where(problem.space.group_of >= 0, 0.0, point - center)
    shift = np.clip(shift, -walls.down, walls.up)
    if not is_round(walls.shape):  # at a limit the longest shift lands at the same place, and also for other centres
        shift = np.where((shift < 0) & (point == problem.lower), -walls.down, shift)
        shift = np.where((shift > 0) & (point == problem.upper), walls.up, shift)
    shift = np.where(problem.space.whole_room, np.trunc(shift), shift)
    category = {}
    for g in walls.free_groups:
        members = problem.space.members[g]
        category[g] = int(members[np.argmax(point[members])])
    full = _not_short(problem, center, point, Scenario(shift, category))
    if inside(problem, full.shift):
        return full
    for shrink in (0.0, 2.0**-52, 2.0**-50, 2.0**-46, 2.0**-40, 2.0**-30):
        candidate = np.where(problem.space.whole_room, shift, shift * (1.0 - shrink))
        if inside(problem, candidate):
            return Scenario(candidate, category)
    return Scenario(np.zeros(shift.size), category)


def _not_short(problem: RecourseProblem, center: Floats, point: Floats, scenario: Scenario) -> Scenario:
    """The rounded difference may lead one float short of the point: then the next longer shift, if the walls allow."""
    short = (
        (shifted_point(problem, scenario, center) != point) & (problem.space.group_of < 0) & ~problem.space.whole_room
    )
    longer = np.nextafter(scenario.shift, np.where(scenario.shift >= 0, np.inf, -np.inf))
    longer = np.clip(longer, -problem.walls.down, problem.walls.up)
    return Scenario(np.where(short, longer, scenario.shift), scenario.category)


def inside(problem: RecourseProblem, shift: Floats) -> bool:
    """True if the shift belongs to the room, exactly."""
    walls = problem.walls
    if ((shift < -walls.down) | (shift > walls.up)).any():
        return False
    if not is_round(walls.shape):
        return True
    moved = np.flatnonzero(shift)
    parts = [abs(Fraction(float(shift[f]))) / Fraction(float(walls.up[f])) for f in moved]
    return spent_exactly(walls.shape, parts) <= 1


def stretched(scenario: Scenario, problem: RecourseProblem, factor: float) -> Scenario:
    """A slightly longer shift: what is asked of a candidate, so that it holds with something to spare."""
    longer = np.where(problem.space.whole_room, scenario.shift, scenario.shift * factor)
    return Scenario(longer, scenario.category)
