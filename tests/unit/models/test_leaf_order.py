"""Leaves without boxes: the same leaves in the same order as those with boxes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.small_models import random_trees


@pytest.mark.parametrize("seed", range(20))
def test_same_leaves_in_the_same_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cuts = [rng.choice([*rng.normal(size=4), np.inf, -np.inf], 5) for _ in range(3)]  # many sides that no float reaches
    model = random_trees(rng, n_features=3, n_trees=7, depth=5, cuts=cuts, exact=False)
    boxes, order = model.leaves, model.leaf_order
    assert np.array_equal(order.offsets, boxes.offsets)
    assert np.array_equal(order.value, boxes.value)
    assert np.array_equal(order.place[order.node], np.arange(len(order.node)))
    points = rng.normal(size=(200, 3))
    reached = order.place[model.apply(points)]
    assert (reached >= 0).all()
    inside = (boxes.lower[reached] < points[:, None]) & (points[:, None] <= boxes.upper[reached])
    assert inside.all()
