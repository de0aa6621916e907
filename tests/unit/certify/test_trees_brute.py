"""The judge for trees against the enumeration of all cells."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.certify import certify
from elbowroom.models import Decision
from elbowroom.problem import Shape, Target
from elbowroom.result import Certificate, Counterexample
from tests.support.hostile import attack
from tests.support.small_models import body_of, every_cell, random_trees


def _case(seed: int):
    """A random ensemble and region: numeric and whole columns, a free group, rivals, all shapes, exact ties."""
    rng = np.random.default_rng(seed)
    grid = np.arange(-8, 9) / 4
    free_group = rng.random() < 0.4
    n_single = int(rng.integers(1, 4))
    n = n_single + (3 if free_group else 0)
    whole = np.zeros(n, bool)
    whole[:n_single] = rng.random(n_single) < 0.3
    cuts = [rng.choice(grid, 6) if rng.random() < 0.7 else rng.uniform(-2, 2, 6) for _ in range(n)]
    members = np.arange(n_single, n)
    whole[members] = True
    for f in members:
        cuts[f] = np.array([0.5, 0.0, -0.5, 1.0]) if rng.random() < 0.3 else np.array([0.5])
    multi = rng.random() < 0.3
    decision = Decision.ARGMAX if multi else rng.choice([Decision.POSITIVE, Decision.NONNEGATIVE])
    n_classes = int(rng.integers(2, 5)) if multi else 2
    model = random_trees(
        rng,
        n,
        int(rng.integers(1, 7)),
        int(rng.integers(1, 4)),
        cuts,
        n_classes,
        decision,
        base=rng.integers(-4, 9) / 4,
    )
    center = np.where(
        whole, np.round(rng.uniform(-2, 2, n)), rng.choice(grid, n) if rng.random() < 0.5 else rng.uniform(-2, 2, n)
    )
    free: tuple[np.ndarray, ...] = ()
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    if free_group:
        center[members] = np.eye(3)[rng.integers(3)]
        low[members], high[members] = 0.0, 1.0
        if rng.random() < 0.2:
            high[members[0]] = center[members[0]]
        free = (members,)
    shape = list(Shape)[seed % 3]
    radius = rng.choice([0.0, 0.25, 0.5, 1.0, 1.25, 1.7], n) if rng.random() < 0.5 else np.full(n, rng.uniform(0.1, 2))
    if shape is not Shape.BOX:
        radius = np.maximum(radius, 0.25)
    if rng.random() < 0.3:
        low[:n_single] = np.minimum(center[:n_single], np.ceil(4 * (center - 0.3)[:n_single]) / 4)
        low = np.where(whole, np.ceil(low), low)
    body = body_of(center, shape, radius, low, high, whole, free)
    return model, body


@pytest.mark.parametrize("block", range(10))
def test_verdict_equals_enumeration(block: int) -> None:
    good = bad = 0
    for seed in range(block * 150, block * 150 + 150):
        model, body = _case(seed)
        points = every_cell(model, body)
        labels = model.info.labels_of(model.scores(points))
        for target in range(len(model.info.classes)):
            verdict = certify(model, Target(target), body)
            if (labels == target).all():
                good += 1
                assert isinstance(verdict, Certificate), seed
                assert verdict.margin >= 0 and verdict.fingerprint == model.fingerprint and verdict.body is body
                if good % 20 == 0:
                    attack(lambda X, m=model: m.info.labels_of(m.scores(X)), body, target, cuts=model.cuts)
            else:
                bad += 1
                assert isinstance(verdict, Counterexample), seed
                assert body.contains(verdict.point)[0] and verdict.margin < 0
                assert model.info.labels_of(model.scores(verdict.point[None]))[0] != target
                assert verdict.label == model.info.classes[model.info.labels_of(model.scores(verdict.point[None]))[0]]
    assert good > 15 and bad > 15
