"""Many rows through compiled code: the same leaves as few rows through numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elbowroom.models import trees
from tests.support.small_models import random_trees


@pytest.mark.parametrize("with_missing", [False, True])
def test_same_leaves(with_missing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    cuts = [rng.choice([*rng.normal(size=6), np.inf, -np.inf], 9) for _ in range(4)]
    model = random_trees(rng, n_features=4, n_trees=9, depth=6, cuts=cuts, exact=False)
    X = rng.choice(np.concatenate([*cuts, rng.normal(size=5)]), (300, 4))
    if with_missing:
        model = replace(model, missing_left=rng.random(len(model.feature)) < 0.5, may_miss=np.ones(4, np.bool_))
        X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    few = model.apply(X)
    monkeypatch.setattr(trees, "MANY", 0)
    assert np.array_equal(model.apply(X), few)
    assert np.array_equal(model.apply(np.asfortranarray(X)), few)
