"""Lemma 1: the stand-in h~ (tau in good leaves, tau minus the smallest slack in bad ones) is Lipschitz with constant
max ||a||, and agrees with h about the class except on the boundaries of leaves."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.models import ObliqueEnsemble
from tests.support.oblique_models import random_oblique

TAU = 0.5


def _stand_in(model: ObliqueEnsemble, good: np.ndarray, x: np.ndarray) -> tuple[float, bool, float]:
    """h~(x), whether x is in a good leaf, and the smallest slack of x in its leaf."""
    leaves = model.leaves
    slack = model.threshold - model.weight @ x
    sign = np.where(leaves.goes_left, 1.0, -1.0)
    along = sign * slack[leaves.path_node]
    inside = np.ones(len(leaves.value), dtype=bool)
    inside[leaves.path_leaf[np.where(leaves.goes_left, along < 0, along <= 0)]] = False
    (leaf,) = np.flatnonzero(inside)
    smallest = float(along[leaves.path_leaf == leaf].min(initial=np.inf))
    return (TAU if good[leaf] else TAU - smallest), bool(good[leaf]), smallest


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10_000), axis_aligned=st.booleans(), reach=st.floats(1e-6, 3.0))
def test_lemma_1(seed: int, axis_aligned: bool, reach: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    model = random_oblique(rng, n, 1, 3, axis_aligned=axis_aligned)
    if len(model.leaves.value) == 1:
        return
    good = model.leaves.value[:, 1] > model.leaves.value[:, 0]
    steepest = float(np.linalg.norm(model.weight, axis=1).max())
    x = rng.normal(size=n)
    y = x + reach * rng.normal(size=n)
    at_x, good_x, slack_x = _stand_in(model, good, x)
    at_y, good_y, slack_y = _stand_in(model, good, y)
    assert abs(at_x - at_y) <= steepest * float(np.linalg.norm(x - y)) * (1 + 1e-9) + 1e-12
    for value, is_good, slack in ((at_x, good_x, slack_x), (at_y, good_y, slack_y)):
        assert value <= TAU
        assert not is_good or value >= TAU  # {h >= tau} lies in {h~ >= tau}
        if slack > 1e-12:  # in the interior of a leaf both agree
            assert (value >= TAU) == is_good
