"""Ladders of ends: they rise, find their rungs, and end exactly where cells and limits end."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from elbowroom.numerics import inner_interval, next_value
from elbowroom.search.ladders import EveryFloat, EveryWhole, Listed, cell_ends, horizon, widths_within


@pytest.mark.parametrize("ladder", [Listed(np.array([0.5, 1.0, 4.0])), EveryFloat(0.0, 3.0), EveryWhole(0.3, 7.0)])
def test_ladders_rise_and_find_their_rungs(ladder) -> None:
    rungs = sorted({0, 1, 2, ladder.last // 2, ladder.last - 1, ladder.last} & set(range(3)) | {ladder.last})
    for lower, higher in pairwise(rungs):
        assert ladder.end(lower) < ladder.end(higher)
    for rung in rungs:
        assert ladder.upto(ladder.end(rung)) == rung
        assert ladder.upto(np.nextafter(ladder.end(rung), -np.inf)) <= max(rung - 1, 0)
    assert ladder.upto(1e9) == ladder.last


@pytest.mark.parametrize("seed", range(20))
def test_a_width_is_the_last_that_does_not_pass_its_end(seed: int) -> None:
    rng = np.random.default_rng(seed)
    center = rng.normal(size=50) * 10.0 ** rng.integers(-9, 16, 50)
    ends = np.maximum(rng.normal(size=50) * 10.0 ** rng.integers(-9, 16, 50), center)
    widths = widths_within(center, ends)
    for width, within in ((widths, True), (np.nextafter(widths, np.inf), False)):
        _, high = inner_interval(center, np.zeros(50), width)
        assert ((high <= ends) == within).all()


def test_cells_end_at_cuts_or_just_above_them() -> None:
    cuts = np.array([0.5, 2.0, 7.9])
    above = np.nextafter(cuts, np.inf)
    assert cell_ends(cuts, 1, 0.5, np.inf, whole=False).tolist() == [2.0, 7.9]
    assert cell_ends(cuts, 1, 0.4, 7.9, whole=False).tolist() == [0.5, 2.0]
    assert cell_ends(cuts, -1, -7.9, np.inf, whole=False).tolist() == [-above[1], -above[0]]
    assert cell_ends(cuts, -1, -above[2], -above[0], whole=False).tolist() == [-above[1]]


def test_whole_cells_end_at_whole_numbers() -> None:
    cuts = np.array([0.5, 2.0, 2.5, 7.9])
    assert cell_ends(cuts, 1, 1.0, np.inf, whole=True).tolist() == [2.0, 7.0]
    assert cell_ends(cuts, 1, 1.0, 7.0, whole=True).tolist() == [2.0]
    assert cell_ends(cuts, -1, -5.0, np.inf, whole=True).tolist() == [-3.0, -1.0]


def test_horizons_are_finite() -> None:
    assert horizon(5.0, 1e300, whole=False) < 2.0**121
    assert horizon(0.0, 10.5, whole=True) == 10.0
    assert horizon(1e300, 1.0, whole=False) == 0.0


def test_every_float_is_a_rung() -> None:
    ladder = EveryFloat(1.0, 1.0 + 2.0**-50)
    assert ladder.last == 4
    assert [ladder.end(k) for k in range(5)] == [1.0 + k * 2.0**-52 for k in range(5)]
    assert ladder.upto(0.5) == 0
    around = EveryFloat(-(2.0**-1074), 2.0**-1074)  # zero has one place, whatever its sign
    assert [around.end(k) for k in range(around.last + 1)] == [-(2.0**-1074), 0.0, 2.0**-1074]


def test_whole_rungs_begin_where_the_side_is() -> None:
    ladder = EveryWhole(0.3, 4.9)
    assert [ladder.end(k) for k in range(ladder.last + 1)] == [0.3, 1.0, 2.0, 3.0, 4.0]
    assert [ladder.upto(w) for w in (0.0, 0.9, 1.0, 3.5, 99.0)] == [0, 0, 1, 3, 4]


def test_the_next_value_is_the_next_float_or_the_next_whole_number() -> None:
    assert next_value(1.5, whole=False) == np.nextafter(1.5, np.inf)
    assert next_value(np.array([1.5, 2.0, -0.5]), whole=True).tolist() == [2.0, 3.0, 0.0]
    huge = 2.0**53
    assert next_value(huge, whole=True) == np.nextafter(huge, np.inf)  # adding 1 would change nothing
