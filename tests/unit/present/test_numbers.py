"""Shown numbers lie inside what is certified: read back, they are points of the region."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbowroom.present.numbers import about, above, below, exact, interval, percent, percent_up, round_body
from elbowroom.problem import Body, Shape
from elbowroom.problem.rooms import Walls

finite = st.floats(allow_nan=False, allow_infinity=False)
usual = st.floats(-1e9, 1e9)


def back(text: str) -> float:
    return float(text.replace(",", ""))


@given(finite)
def test_exact_reads_back(value: float) -> None:
    assert back(exact(value)) == value


@given(finite, finite, st.floats(0, 1))
def test_a_shown_interval_lies_inside(a: float, b: float, share: float) -> None:
    low, high = sorted((a, b))
    center = min(max(low * (1 - share) + high * share, low), high)
    shown = interval(low, center, high)
    assert low <= back(shown.low) <= back(shown.center) <= back(shown.high) <= high


@given(usual, st.integers(1, 5))
def test_intervals_of_a_few_ulp_are_not_emptied(low: float, steps: int) -> None:
    high = low
    for _ in range(steps):
        high = float(np.nextafter(high, math.inf))
    shown = interval(low, low, high)
    assert low <= back(shown.low) <= back(shown.high) <= high


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_little_is_lost(low: float, width: float) -> None:
    high = low + width
    shown = interval(low, low, high)
    assert back(shown.high) - back(shown.low) >= 0.97 * (high - low)


def test_few_digits() -> None:
    shown = interval(50_013.278, 52_100.1, 54_287.91)
    assert (shown.low, shown.center, shown.high) == ("50,020", "52,100", "54,280")
    assert interval(3.0, 4.0, 7.0, whole=True).low == "3"
    assert interval(0.1, 0.1, 0.1).center == "0.1"


@given(
    st.lists(st.tuples(usual, st.floats(1e-6, 1e6)), min_size=1, max_size=12),
    st.sampled_from([Shape.BALL, Shape.DIAMOND]),
    st.integers(0, 10**6),
)
def test_a_shown_ball_lies_inside(columns: list[tuple[float, float]], shape: Shape, seed: int) -> None:
    center = np.array([c for c, _ in columns])
    axes = np.array([a for _, a in columns])
    n = center.size
    body = Body.around(center, Walls(shape, axes, axes), center - 0.7 * axes, np.full(n, 1e12), np.zeros(n, bool))
    shown = round_body(body)
    moving = body.round_columns
    if not moving.size:
        return
    middle, reach = body.center.copy(), np.zeros(n)
    for f in moving:
        middle[f], reach[f] = back(shown.centers[f]), back(shown.reaches[f])
        assert body.lower[f] <= back(shown.lows[f]) <= middle[f] <= back(shown.highs[f]) <= body.upper[f]
    rng = np.random.default_rng(seed)
    points = []
    for direction in [*np.eye(n)[moving], *-np.eye(n)[moving], *rng.normal(size=(20, n))]:
        d = np.where(np.isin(np.arange(n), moving), direction, 0.0)
        size = np.linalg.norm(d) if shape is Shape.BALL else np.abs(d).sum()
        points.append(middle + d / size * reach)
    points = np.clip(np.array(points), body.lower, body.upper)
    inside_shown = [_inside(p, middle, reach, moving, shape) for p in points]
    assert body.contains(points[inside_shown]).all()
    assert body.contains(middle[None]).all()


def _inside(point: np.ndarray, middle: np.ndarray, reach: np.ndarray, moving: np.ndarray, shape: Shape) -> bool:
    """Exactly: is the point in the shown set?"""
    parts = [abs(Fraction(float(point[f])) - Fraction(float(middle[f]))) / Fraction(float(reach[f])) for f in moving]
    return sum(p * p if shape is Shape.BALL else p for p in parts) <= 1


def test_a_shown_ball_keeps_most_of_its_size() -> None:
    rng = np.random.default_rng(0)
    for shape in (Shape.BALL, Shape.DIAMOND):
        center, axes = rng.normal(size=300), rng.uniform(0.01, 1, 300)
        body = Body.around(center, Walls(shape, axes, axes), center - 9, center + 9, np.zeros(300, bool))
        shown = round_body(body)
        assert min(back(shown.reaches[f]) / axes[f] for f in range(300)) > 0.97


@given(st.floats(1e-300, 1e300), st.integers(1, 8))
def test_a_lower_bound_is_never_overstated(value: float, digits: int) -> None:
    assert back(below(value, digits)) <= value
    assert back(below(value, digits)) > 0


@given(st.floats(1e-300, 1e300), st.integers(1, 8))
def test_an_upper_bound_is_never_understated(value: float, digits: int) -> None:
    assert value <= back(above(value, digits)) <= value * (1 + 1.001 * 10 ** (1 - digits))


@given(st.floats(1e-12, 1))
def test_a_gap_is_never_understated(share: float) -> None:
    assert Fraction(percent_up(share).removesuffix(" %").replace(",", "")) / 100 >= Fraction(share)


@pytest.mark.parametrize(("value", "text"), [(35.0, "35"), (-0.5, "-0.5"), (1e20, "1e+20"), (1234567.0, "1,234,567")])
def test_plain_numbers(value: float, text: str) -> None:
    assert exact(value) == text


def test_words() -> None:
    assert percent(0.7) == "70 %"
    assert about(1 / 3) == "≈ 0.333333"
    assert about(2.5) == "2.5"


@given(st.floats(-1e9, 1e9), st.floats(0, 1e6), st.floats(0, 1), st.integers(0, 15))
def test_intervals_with_the_decimals_of_the_data_stay_inside(
    low: float, width: float, place: float, decimals: int
) -> None:
    """Inwards whatever the decimals; no more of them than the data has, unless no such number lies inside."""
    high = low + width
    center = min(max(low + place * width, low), high)
    shown = interval(low, center, high, decimals=decimals)
    ends = [Fraction(text.replace(",", "")) for text in (shown.low, shown.center, shown.high)]
    if low < high:
        assert low <= float(ends[0]) and ends[0] <= ends[1] <= ends[2] and float(ends[2]) <= high
    step = Fraction(1, 10**decimals)
    fits = -((-Fraction(low)) // step) * step <= Fraction(high)
    if fits and low < high:
        assert all((end / step).denominator == 1 for end in (ends[0], ends[2]))


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e3)), min_size=2, max_size=4), st.integers(0, 8))
def test_round_bodies_with_the_decimals_of_the_data_stay_inside(
    columns: list[tuple[float, float]], decimals: int
) -> None:
    center, axes = (np.array(values) for values in zip(*columns, strict=True))
    body = Body(center, center - axes, center + axes, Shape.BALL, axes, np.zeros(len(columns), dtype=bool))
    plain, shown = round_body(body), round_body(body, [decimals] * len(columns))
    assert shown.centers == plain.centers and shown.shrink == plain.shrink
    for f in shown.reaches:
        assert 0 < Fraction(shown.reaches[f].replace(",", "")) <= Fraction(plain.reaches[f].replace(",", ""))
        assert Fraction(plain.lows[f].replace(",", "")) <= Fraction(shown.lows[f].replace(",", ""))
        assert Fraction(shown.highs[f].replace(",", "")) <= Fraction(plain.highs[f].replace(",", ""))
