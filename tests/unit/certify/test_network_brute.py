"""The judge for networks against the enumeration of all activation patterns."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.certify import certify
from elbowroom.models import Affine, Decision, ReluNetwork
from elbowroom.models.margins import network_margins
from elbowroom.problem import Shape, Target
from elbowroom.result import Certificate, Counterexample
from tests.support.hostile import attack
from tests.support.plane import smallest_margin
from tests.support.small_models import body_of, random_network

CLEAR = 1e-9  # margins of less than this may be refused: float64 cannot tell


def _case(seed: int):
    rng = np.random.default_rng(seed)
    kind = seed // 3 % 4  # plain, whole column, free group, rivals
    n = {0: 2, 1: 3, 2: 5, 3: 2}[kind]
    hidden = [(3,), (5,), (6,), (2, 3), (3, 3), (2, 2)][int(rng.integers(6))]
    decision, n_classes = (Decision.ARGMAX, 3) if kind == 3 else (Decision.POSITIVE, 2)
    model = random_network(rng, (n, *hidden), n_classes, decision)
    whole, free = np.zeros(n, bool), ()
    center = rng.normal(size=n)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    if kind == 1:
        whole[2], center[2] = True, np.round(center[2])
    if kind == 2:
        members = np.arange(2, 5)
        whole[members], center[members] = True, np.eye(3)[rng.integers(3)]
        low[members], high[members], free = 0.0, 1.0, (members,)
    if rng.random() < 0.4:
        low[:2], high[:2] = center[:2] - rng.uniform(0, 0.5, 2), center[:2] + rng.uniform(0, 0.5, 2)
    shape = list(Shape)[seed % 3]
    radius = rng.uniform(0.05, 1.0) * (1.0 if kind != 1 else 2.0)
    body = body_of(center, shape, np.full(n, radius), low, high, whole, free)
    label = int(model.info.labels_of(model.scores(center[None]))[0])
    # Move the boundary of the class to just before or just behind the worst point of the region.
    truth, _ = smallest_margin(network_margins(model, label).layers, body)
    wanted = float(rng.choice([-1.0, 1.0]) * 10 ** rng.uniform(-8, -1))
    shift = np.zeros(n_classes if kind == 3 else 1)
    shift[label if kind == 3 else 0] = (wanted - truth) * (1.0 if kind == 3 or label == 1 else -1.0)
    last = model.layers[-1]
    return ReluNetwork(model.info, (*model.layers[:-1], Affine.exact(last.weight, last.bias + shift))), body, label


@pytest.mark.parametrize("block", range(8))
def test_verdict_equals_enumeration(block: int) -> None:
    good = bad = 0
    for seed in range(block * 48, block * 48 + 48):
        model, body, label = _case(seed)
        truth, where = smallest_margin(network_margins(model, label).layers, body)
        verdict = certify(model, Target(label), body, 20.0)
        if truth > CLEAR:
            good += 1
            assert isinstance(verdict, Certificate), (seed, truth, verdict)
            assert 0.0 <= verdict.margin <= truth
            if good % 8 == 0:
                attack(lambda X, m=model: m.info.labels_of(m.scores(X)), body, label)
        elif truth < -CLEAR:
            bad += 1
            assert isinstance(verdict, Counterexample), (seed, truth, where, verdict)
            assert body.contains(verdict.point)[0] and verdict.margin < 0.0
            if verdict.margin < -CLEAR:
                assert model.info.labels_of(model.scores(verdict.point[None]))[0] != label
                assert verdict.label != label
        else:
            assert not verdict
    assert good >= 10 and bad >= 5
