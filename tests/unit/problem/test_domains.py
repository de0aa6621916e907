"""The values that a column may take: the nearest one on either side, exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.problem.domains import Domain, Grid, Values, merged


def domain(*ranges: tuple[float, float], grid: Grid | None = None) -> Domain:
    return Domain(0, ranges, grid, "Rule (words)")


@pytest.mark.parametrize("step", [0.1, 0.3, 1.0, 7.0, 100.0, 1e-7])
def test_a_grid_holds_the_decimals_that_people_write(step: float) -> None:
    grid, rng = Grid(0.0, step), np.random.default_rng(0)
    for k in range(-40, 41):
        value = float(f"{k * step:.10g}")
        assert grid.at_or_below(value) == value == grid.at_or_above(value)
    for x in rng.normal(0.0, 30.0 * step, 200):
        below, above = grid.at_or_below(float(x)), grid.at_or_above(float(x))
        assert below <= x <= above and above - below <= step * (1 + 1e-9)


def test_points_ranges_and_a_grid_together() -> None:
    some = domain((0.25, 0.25), (4.0, 5.5), grid=Grid(0.0, 2.0))
    assert [some.at_or_above(x) for x in (-0.5, 0.1, 0.3, 3.0, 4.7, 5.6)] == [0.0, 0.25, 2.0, 4.0, 4.7, 6.0]
    assert [some.at_or_below(x) for x in (0.2, 0.3, 3.9, 5.7, 7.0)] == [0.0, 0.25, 2.0, 5.5, 6.0]
    assert domain((1.0, 2.0)).at_or_below(0.5) == -math.inf and domain((1.0, 2.0)).at_or_above(2.5) == math.inf


def test_what_all_domains_of_a_column_hold() -> None:
    both = Values((domain(grid=Grid(0.0, 4.0)), domain(grid=Grid(0.0, 6.0))))
    assert both.at_or_above(1.0) == 12.0 and both.at_or_below(11.0) == 0.0
    assert both.at_or_above(1.0, most=11.0) == math.inf and both.holds(24.0) and not both.holds(8.0)
    whole = Values((domain((0.5, 2.5)),), whole=True)
    assert whole.at_or_above(-3.0) == 1.0 and whole.at_or_below(9.0) == 2.0
    never = Values((domain(grid=Grid(0.0, 1.0)), domain(grid=Grid(0.5, 1.0))))
    with pytest.raises(InputError, match="choose steps that meet"):
        never.at_or_above(0.0)


def test_rooms_inside_a_domain() -> None:
    some = domain((0.0, 1.0), (3.0, 3.0), grid=Grid(0.0, 5.0))
    assert some.covers(0.2, 0.9, False) and some.covers(5.0, 5.0, False) and not some.covers(0.9, 1.1, False)
    whole = Domain(0, merged([(1.0, 1.0), (2.0, 2.0), (4.0, 4.0)], True), None, "")
    assert whole.covers(1.0, 2.0, True) and not whole.covers(2.0, 4.0, True)
    assert merged([(2.5, 2.6), (0.0, 1.0), (1.0, 2.0)], False) == ((0.0, 2.0), (2.5, 2.6))
