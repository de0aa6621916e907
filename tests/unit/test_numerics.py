"""Floating point without guessing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbowroom.numerics import (
    EPS,
    WHOLE_SPACING,
    from_ordinal,
    gamma,
    inner_interval,
    last_float_where,
    next_up,
    next_value,
    ordinal,
    products_are_exact,
    smallest_quantum,
    sums_are_exact,
    two_sum,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
moderate = st.floats(min_value=-1e12, max_value=1e12)


@given(finite)
def test_ordinal_is_inverted(x: float) -> None:
    assert from_ordinal(ordinal(x)) == x


@given(finite, finite)
def test_ordinal_keeps_the_order(x: float, y: float) -> None:
    assert (int(ordinal(x)) < int(ordinal(y))) == (x < y)


@given(st.floats(min_value=-1e300, max_value=1e300))
def test_neighbours_differ_by_one(x: float) -> None:
    assert int(ordinal(next_up(x))) == int(ordinal(x)) + 1


@given(st.lists(st.floats(min_value=-1e30, max_value=1e30), min_size=1, max_size=8))
def test_float32_cuts_are_exact_half_lines(thresholds: list[float]) -> None:
    cut = np.array(thresholds)
    limit = float(np.finfo(np.float32).max)
    edge = last_float_where(lambda x: x.astype(np.float32) <= cut, len(cut), -limit, limit)
    assert (edge.astype(np.float32) <= cut).all()
    assert (next_up(edge).astype(np.float32) > cut).all()


@given(st.floats(allow_nan=False), st.lists(st.floats(), min_size=1, max_size=6))
def test_a_guess_changes_the_effort_and_not_the_edge(edge: float, guesses: list[float]) -> None:
    near = np.array(guesses)
    found = last_float_where(lambda x: x <= edge, near.size, near=near)
    assert np.array_equal(found, last_float_where(lambda x: x <= edge, near.size))


def test_a_good_guess_saves_questions() -> None:
    asked = []

    def holds(x: np.ndarray) -> np.ndarray:
        asked.append(x)
        return np.asarray(x <= np.array([1.25, -3e-8]))

    edges = last_float_where(holds, 2, near=np.array([next_up(1.25), -3e-8]))
    assert edges.tolist() == [1.25, -3e-8] and len(asked) < 10


def test_half_lines_without_an_edge() -> None:
    everywhere = last_float_where(lambda x: np.ones(x.shape, dtype=bool), 1)
    nowhere = last_float_where(lambda x: np.zeros(x.shape, dtype=bool), 1)
    assert everywhere == np.inf
    assert nowhere == -np.inf


@given(moderate, st.floats(min_value=0, max_value=1e12), st.floats(min_value=0, max_value=1e12))
def test_inner_interval_is_the_set_of_floats_of_the_real_interval(center: float, down: float, up: float) -> None:
    low, high = (float(v[0]) for v in inner_interval(np.array([center]), np.array([down]), np.array([up])))
    exact_low, exact_high = Fraction(center) - Fraction(down), Fraction(center) + Fraction(up)
    assert Fraction(low) >= exact_low > Fraction(float(np.nextafter(low, -np.inf)))
    assert Fraction(high) <= exact_high < Fraction(float(np.nextafter(high, np.inf)))


def test_gamma_covers_sums_in_any_order() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        terms = rng.normal(size=50) * 10.0 ** rng.integers(-8, 8, 50)
        exact = sum(map(Fraction, terms))
        shuffled = float(np.cumsum(rng.permutation(terms))[-1])
        assert abs(Fraction(shuffled) - exact) <= Fraction(gamma(50)) * sum(abs(Fraction(t)) for t in terms)


def test_gamma_refuses_a_meaningless_bound() -> None:
    with pytest.raises(ValueError, match="is meaningless"):
        gamma(int(1 / EPS))


def test_exact_sums() -> None:
    assert sums_are_exact(np.array([0.0, 1.0, 0.5]), 1000)
    assert products_are_exact(0.5, np.array([0.1, 1 / 3]))
    assert products_are_exact(0.75, np.array([3.0, 0.0]))
    assert products_are_exact(0.0, np.array([0.1]))
    assert not products_are_exact(0.1, np.array([3.0]))
    assert products_are_exact(0.1, np.array([0.0, 2.0, -0.25]))
    assert not sums_are_exact(np.array([0.1, 0.7]), 10)
    assert smallest_quantum(np.array([0.75, 6.0])) == 0.25
    assert smallest_quantum(np.array([0.0])) == 0.0


def test_the_next_value_of_a_column() -> None:
    """The next float; in a whole column the next whole number, which far out is the next float."""
    values = np.array([-(2.0**60), -3.0, -0.0, 2.5, 7.0, WHOLE_SPACING, 2.0**60])
    assert (next_value(values, False) == np.nextafter(values, np.inf)).all()
    whole = next_value(values, True)
    assert whole[1:5].tolist() == [-2.0, 1.0, 3.0, 8.0]
    assert (whole == np.floor(whole)).all() and (whole > values).all()
    assert (whole[[0, -1]] == np.nextafter(values[[0, -1]], np.inf)).all()


def test_two_sum_is_exact() -> None:
    rng = np.random.default_rng(8)
    a, b = (rng.normal(size=500) * 10.0 ** rng.integers(-20, 20, 500) for _ in range(2))
    for x, y, s, e in zip(a, b, *two_sum(a, b), strict=True):
        assert s == x + y and Fraction(x) + Fraction(y) == Fraction(s) + Fraction(e)
