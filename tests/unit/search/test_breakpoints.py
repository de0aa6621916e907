"""Jumps of a nondecreasing distance, where it is known by hand: all are found, none is made up, and time is told."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from elbowroom import Explainer, Region
from elbowroom.problem import Ball, Box, RecourseProblem, Space
from elbowroom.result.frontier import Breakpoint
from elbowroom.search.breakpoints import _end_of_cells, _merged, cell_support, find_jumps
from elbowroom.search.contract import Clock
from elbowroom.search.frontier import Front, Known, Point
from tests.support.small_questions import hard_question


@dataclass(frozen=True, eq=False)
class Told(Point):
    """A radius whose bounds are given: nothing was searched."""

    bounds: tuple[float, float] = (0.0, 0.0)

    @property
    def distance(self) -> float:
        return self.bounds[1]

    @property
    def lower_bound(self) -> float:
        return self.bounds[0]


class Stairs:
    """A distance that rises with slope 1 and jumps at given radii; ``blur`` is how far both bounds stay from it."""

    def __init__(self, jumps: dict[float, float], blur: float = 0.0) -> None:
        self.jumps, self.blur, self.asked = jumps, blur, 0

    def at(self, radius: float) -> float:
        return radius + sum(size for place, size in self.jumps.items() if radius > place)

    def __call__(self, radius: float, known: Known, seconds: float) -> Point:
        self.asked += 1
        truth = self.at(radius)
        answer = _Silent()
        return Told(radius, answer, 0.0, (max(truth - self.blur, 0.0), truth + self.blur))  # type: ignore[arg-type]


class _Silent:
    method = "by hand"


def front_of(stairs: Stairs, radii: list[float], seconds: float = 60.0) -> Front:
    front = Front(stairs, Clock(seconds))
    for radius in radii:
        front.at(radius)
    return front


def test_every_jump_is_found_between_neighbouring_floats() -> None:
    stairs = Stairs({0.3: 1.0, 0.7: 0.25, 0.71: 0.5})
    jumps = find_jumps(front_of(stairs, [0.0, 0.5, 1.0]), 0.2)
    assert jumps.complete
    assert [jump.radius for jump in jumps.found] == [0.3, 0.7, 0.71]
    assert [jump.jump for jump in jumps.found] == pytest.approx([1.0, 0.25, 0.5])
    for jump in jumps.found:
        assert jump.beyond == np.nextafter(jump.radius, np.inf)
        assert jump.distance == stairs.at(jump.radius)


def test_small_jumps_and_slopes_are_none() -> None:
    jumps = find_jumps(front_of(Stairs({0.3: 0.1}), [0.0, 1.0]), 0.2)
    assert jumps.found == () and jumps.complete
    assert find_jumps(front_of(Stairs({}), [0.0, 100.0]), 0.2).found == ()


def test_where_the_bounds_stay_apart_nothing_is_claimed() -> None:
    """With bounds 0.4 apart a jump of 0.35 can be neither shown nor excluded, one of 2 is shown with what is proven of it."""
    unclear = find_jumps(front_of(Stairs({0.3: 0.3}, blur=0.2), [0.0, 1.0], seconds=0.1), 0.35)
    assert unclear.found == () and not unclear.complete
    clear = find_jumps(front_of(Stairs({0.3: 2.0}, blur=0.2), [0.0, 1.0]), 0.5)
    assert [jump.jump for jump in clear.found] == pytest.approx([1.6])


def test_no_region_beyond_a_radius_is_a_jump_without_end() -> None:
    (jump,) = find_jumps(front_of(Stairs({0.3: math.inf}), [0.0, 1.0]), 0.2).found
    assert (jump.radius, jump.jump) == (0.3, math.inf)


def test_without_time_the_list_is_not_complete() -> None:
    stairs = Stairs({0.3: 1.0})
    front = front_of(stairs, [0.0, 1.0], seconds=0.0)
    jumps = find_jumps(front, 0.2)
    assert not jumps.complete and jumps.found == ()
    assert stairs.asked == 2


def test_steps_of_one_jump_are_put_together() -> None:
    steps = [Breakpoint(0.5, 0.5 + 1e-16, 1.0, 1.2, 0.2), Breakpoint(0.3, 0.3 + 1e-16, 0.5, 0.6, 0.1)]
    steps.append(Breakpoint(0.5 + 1e-16, 0.5 + 2e-16, 1.2, 1.5, 0.3))
    (one,) = _merged(steps, 1e-15, 0.2)
    assert (one.radius, one.distance, one.distance_beyond) == (0.5, 1.0, 1.5)
    assert one.jump == pytest.approx(0.5)
    assert [j.radius for j in _merged(steps, 0.0, 0.05)] == [0.3, 0.5]  # they touch even then


@pytest.mark.parametrize(
    ("room", "limits", "size"),
    [  # cuts at 0, 1 and 3; a room of radius r takes r below and 2 r above
        ((0.2, 0.5), (-9.0, 9.0), 1.0 / 3.0),  # between 0 and 1
        ((0.5, 2.0), (-9.0, 9.0), 1.0),  # across the cut at 1: between 0 and 3
        ((4.0, 5.0), (-9.0, 9.0), 6.0),  # beyond the last cut: the upper limit clips the room
        ((-2.0, -1.0), (-9.0, 9.0), 4.5),  # before the first one: the lower limit does
        ((4.0, 5.0), (-math.inf, math.inf), math.inf),
        ((0.2, 0.5), (0.1, 0.9), math.inf),  # no cut within the limits
    ],
)
def test_where_the_cells_under_a_room_end(room: tuple[float, float], limits: tuple[float, float], size: float) -> None:
    end, blur = _end_of_cells(np.array([0.0, 1.0, 3.0]), *room, *limits, 1.0, 2.0)
    assert end == pytest.approx(size)
    assert 0.0 <= blur <= 1e-13


def test_the_support_encloses_the_radius_at_which_the_cells_end() -> None:
    """One tree, x <= 1 | 1 < x <= 3 | x > 3 with the middle wanted: a box of radius 1 fits, a larger one does not."""
    from elbowroom.models import TreeEnsemble
    from tests.support.small_models import info

    ints = [np.array(a) for a in ([0], [0, -1, 0, -1, -1], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1])]
    cut, value = np.array([1.0, 0.0, 3.0, 0.0, 0.0]), np.array([[0.0], [-1.0], [0.0], [1.0], [-1.0]])
    model = TreeEnsemble(info(1), ints[0], ints[1], cut, ints[2], ints[3], value, np.zeros(1))
    space = Space.plain(("x0",))
    region = Explainer(model, space).explain([0.0], Box(0.5), target=1)
    assert isinstance(region, Region)
    problem = RecourseProblem.ask(model, space, [0.0], Box(1.0), 1)
    support = cell_support(problem, Box(1.0).walls(space))
    assert support is not None
    around = support(region)
    assert around is not None
    assert around[0] < 1.0 < around[1]
    assert around[1] - around[0] < 1e-13


def test_only_boxes_on_trees_have_cells() -> None:
    problem = hard_question(0)
    assert cell_support(problem, Ball(1.0).walls(problem.space)) is None
    assert cell_support(problem, Box(1.0).walls(problem.space)) is not None
