"""Exact multipliers: what is returned cancels in fractions, what cannot be cancelled is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from elbowroom.search.rational import cancelling


def test_the_combination_vanishes_exactly() -> None:
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(200):
        table = [[Fraction(float(v)) for v in row] for row in rng.normal(size=(2, 5))]
        near = [Fraction(float(v)) for v in rng.uniform(0, 1, 5)]
        y = cancelling([list(row) for row in table], near, range(5))
        if y is not None:
            found += 1
            assert min(y) >= 0
            assert all(sum(a * b for a, b in zip(row, y, strict=True)) == 0 for row in table)
            assert y[2:] == near[2:]  # only pivots absorb the correction
    assert found > 10


def test_rows_of_one_sign_cannot_be_cancelled() -> None:
    one = Fraction(1)
    assert cancelling([[one, one]], [one, one], range(2)) is None
