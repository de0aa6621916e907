"""Multipliers that cancel open columns: exactly, near the solver's, or not at all."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from elbowroom.search.linear.farkas import exact_multiplier
from elbowroom.search.linear.limits import MOST_OPEN


def remainder(raw: np.ndarray, multiplier: np.ndarray) -> list[Fraction]:
    return [
        sum((Fraction(float(r)) * Fraction(float(m)) for r, m in zip(column, multiplier, strict=True)), Fraction(0))
        for column in raw.T
    ]


def test_what_nearly_cancels_is_made_to_cancel_exactly() -> None:
    """0.1 y0 - 0.2 y1 = 0 leaves a remainder at the solver's multiplier; y0 = 2 y1 leaves none."""
    raw = np.array([[0.1, -0.3], [-0.2, 0.6]])
    rough = np.array([2.0 + 1e-9, 1.0])
    assert any(remainder(raw, rough))
    exact = exact_multiplier(raw, rough)
    assert exact is not None
    assert exact.tolist() == [2.0, 1.0]
    assert not any(remainder(raw, exact))


def test_rows_without_weight_stay_without() -> None:
    raw = np.array([[1.0], [5.0], [-1.0]])
    exact = exact_multiplier(raw, np.array([1.0, 1e-20, 1.0 - 1e-10]))
    assert exact is not None
    assert exact[1] == 0.0
    assert exact[0] == exact[2] > 0.0


def test_nothing_is_claimed_where_nothing_cancels() -> None:
    assert exact_multiplier(np.array([[1.0], [2.0]]), np.array([1.0, 1.0])) is None  # one sign only
    assert exact_multiplier(np.array([[1.0], [-1.0]]), np.zeros(2)) is None  # no weights at all
    assert exact_multiplier(np.array([[1.0, 1.0], [-1.0, 1.0]]), np.ones(2)) is None  # the columns want different ones
    wide = np.vstack([np.ones(MOST_OPEN + 1), -np.ones(MOST_OPEN + 1)])
    assert exact_multiplier(wide, np.ones(2)) is None  # too many to be worth it
    assert exact_multiplier(wide[:, :MOST_OPEN], np.ones(2)) is not None
