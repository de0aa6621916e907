"""Balls and diamonds beside boxes on whole columns: a room smaller than one step has a single value there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from elbowroom import Ball, Box, Diamond, Explainer, Feature, Region, Space, Status
from tests.support.hostile import attack


@pytest.mark.parametrize("room", [Ball, Diamond])
@pytest.mark.parametrize("seed", [40, 41, 42, 43])
def test_the_bound_stays_below_the_box_that_contains_the_room(room: type[Ball] | type[Diamond], seed: int) -> None:
    """A box contains the ball of its radius, so its answer is an upper bound (seed 40: parts of a step once counted as
    moves of the adversary, and the bound rose above a certified answer)."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [rng.integers(0, 4, 80), rng.normal(size=80), rng.integers(0, 3, 80), rng.normal(size=80)]
    ).astype(float)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.3 * rng.normal(size=80) > 1.5).astype(int)
    model = RandomForestClassifier(7, max_depth=4, random_state=seed).fit(X, y)
    space = Space(
        (Feature("a", "integer", 0, 3), Feature("b", "numeric"), Feature("c", "integer", 0, 2), Feature("d", "numeric"))
    )
    answer = Explainer(model, space).explain(X[0], room=room(0.0125))
    box = Explainer(model, space).explain(X[0], room=Box(0.0125))
    assert isinstance(answer, Region)
    assert isinstance(box, Region)
    assert answer.status is Status.OPTIMAL
    assert answer.lower_bound <= box.distance
    assert answer.distance <= box.distance * (1.0 + 1e-4)
    attack(model.predict, answer.body, answer.target.label, Explainer(model, space).model.cuts)
