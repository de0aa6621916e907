"""Nonnegative least squares against all active sets."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from elbowroom.search.linear.nonnegative import nonnegative_least_squares


def brute(E, f):
    """The smallest residual over all column subsets whose least-squares solution is nonnegative."""
    n = E.shape[1]
    best = float(np.linalg.norm(f))
    for subset in chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1)):
        x = np.linalg.lstsq(E[:, subset], f, rcond=None)[0]
        if (x >= -1e-12).all():
            best = min(best, float(np.linalg.norm(E[:, subset] @ x - f)))
    return best


@pytest.mark.parametrize("seed", range(80))
def test_no_active_set_does_better(seed):
    rng = np.random.default_rng(seed)
    E = rng.normal(size=(int(rng.integers(1, 7)), int(rng.integers(1, 7))))
    if seed % 3 == 0:
        E[:, -1] = E[:, 0]  # the same row twice
    if seed % 4 == 0:
        E = np.round(E)
    f = rng.normal(size=len(E))
    x = nonnegative_least_squares(E, f)
    assert x is not None and (x >= 0).all()
    assert np.linalg.norm(E @ x - f) == pytest.approx(brute(E, f), rel=1e-10, abs=1e-12)


def test_known_by_hand():
    """Free solution (-1, 3): negative. With the first held at 0 the second is 2.25 / 1.25 = 1.8."""
    E, f = np.array([[1.0, 1.0], [1.0, 0.5]]), np.array([2.0, 0.5])
    assert nonnegative_least_squares(E, f) == pytest.approx([0.0, 1.8])
    assert np.linalg.norm(E @ [0.0, 1.8] - f) == pytest.approx(brute(E, f))


def test_nothing_to_choose_from():
    assert nonnegative_least_squares(np.zeros((3, 0)), np.ones(3)).shape == (0,)
    assert nonnegative_least_squares(np.zeros((2, 2)), np.ones(2)).tolist() == [0.0, 0.0]
