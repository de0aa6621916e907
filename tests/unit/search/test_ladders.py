"""Ladders of widths: they rise, find their rungs, and end exactly where cells and limits end."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from elbowroom.numerics import inner_interval, next_value
from elbowroom.search.ladders import EveryFloat, EveryWhole, Listed, cell_widths, horizon, width_to


@pytest.mark.parametrize("ladder", [Listed(np.array([0.5, 1.0, 4.0])), EveryFloat(0.0, 3.0), EveryWhole(0.3, 7.0)])
def test_ladders_rise_and_find_their_rungs(ladder) -> None:
    rungs = sorted({0, 1, 2, ladder.last // 2, ladder.last - 1, ladder.last} & set(range(3)) | {ladder.last})
    for lower, higher in pairwise(rungs):
        assert ladder.width(lower) < ladder.width(higher)
    for rung in rungs:
        assert ladder.upto(ladder.width(rung)) == rung
        assert ladder.upto(np.nextafter(ladder.width(rung), -np.inf)) <= max(rung - 1, 0)
    assert ladder.upto(1e9) == ladder.last


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("seed", range(20))
def test_a_cell_width_is_the_last_that_stays_in_the_cell(seed: int, sign: int) -> None:
    rng = np.random.default_rng(seed)
    cuts = np.unique(rng.normal(size=8) * 10.0 ** rng.integers(-6, 7))
    center = float(rng.normal() * 10.0 ** rng.integers(-6, 9))
    widths = cell_widths(cuts, sign, sign * center, sign * center, np.inf, whole=False)
    at = np.full(widths.size, center)
    for width, stays in ((widths, True), (np.nextafter(widths, np.inf), False)):
        low, high = inner_interval(at, width, width)
        ends = np.sort(cuts[cuts > center]) if sign > 0 else np.sort(cuts[np.nextafter(cuts, np.inf) < center])[::-1]
        assert ends.size == widths.size
        inside = high <= ends if sign > 0 else low > ends
        assert (inside == stays).all()


def test_whole_cells_end_at_whole_numbers() -> None:
    cuts = np.array([0.5, 2.0, 2.5, 7.9])
    assert cell_widths(cuts, 1, 1.0, 1.0, np.inf, whole=True).tolist() == [1.0, 6.0]
    assert cell_widths(cuts, 1, 1.0, 1.0, 7.0, whole=True).tolist() == [1.0]
    assert cell_widths(cuts, -1, -5.0, -5.0, np.inf, whole=True).tolist() == [2.0, 4.0]


def test_limits_are_reached_and_horizons_are_finite() -> None:
    for center, limit in ((0.1, 0.3), (1e6, 1e6 + 0.7), (-1e16, 1e-3)):
        _, high = inner_interval(np.array([center]), np.zeros(1), np.array([width_to(center, limit)]))
        assert high[0] >= limit
    assert horizon(5.0, 1e300, whole=False) < 2.0**121
    assert horizon(0.0, 10.5, whole=True) == 10.0
    assert horizon(1e300, 1.0, whole=False) == 0.0


def test_every_float_is_a_rung() -> None:
    ladder = EveryFloat(1.0, 1.0 + 2.0**-50)
    assert ladder.last == 4
    assert [ladder.width(k) for k in range(5)] == [1.0 + k * 2.0**-52 for k in range(5)]
    assert ladder.upto(0.5) == 0
    around = EveryFloat(-(2.0**-1074), 2.0**-1074)  # zero has one place, whatever its sign
    assert [around.width(k) for k in range(around.last + 1)] == [-(2.0**-1074), 0.0, 2.0**-1074]


def test_whole_rungs_begin_where_the_side_is() -> None:
    ladder = EveryWhole(0.3, 4.9)
    assert [ladder.width(k) for k in range(ladder.last + 1)] == [0.3, 1.0, 2.0, 3.0, 4.0]
    assert [ladder.upto(w) for w in (0.0, 0.9, 1.0, 3.5, 99.0)] == [0, 0, 1, 3, 4]


def test_the_next_value_is_the_next_float_or_the_next_whole_number() -> None:
    assert next_value(1.5, whole=False) == np.nextafter(1.5, np.inf)
    assert next_value(np.array([1.5, 2.0, -0.5]), whole=True).tolist() == [2.0, 3.0, 0.0]
    huge = 2.0**53
    assert next_value(huge, whole=True) == np.nextafter(huge, np.inf)  # adding 1 would change nothing
