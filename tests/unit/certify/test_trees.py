"""What the judge of trees remembers about a model lives as long as the model, and is little."""

from __future__ import annotations

import gc
import weakref

import numpy as np

from elbowroom.certify import trees
from elbowroom.certify.judge import certify
from elbowroom.models.tiny import two_stumps
from elbowroom.problem import Shape, Target
from tests.support.small_models import body_of


def test_a_judged_model_is_not_kept_alive() -> None:
    model = two_stumps()
    certify(model, Target(0), body_of(np.zeros(2), Shape.BOX, 0.1))
    assert model in trees._REMEMBERED
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_only_the_last_targets_are_remembered() -> None:
    model, body = two_stumps(), body_of(np.zeros(2), Shape.BOX, 0.1)
    for k in range(20):
        certify(model, Target(0, 0.5 + k / 100), body)
    assert len(trees._REMEMBERED[model]) == trees._MOST_TARGETS
    verdicts = [bool(certify(model, Target(0, tau), body)) for tau in (0.5, 0.6, 0.99)]
    assert verdicts == [bool(certify(two_stumps(), Target(0, tau), body)) for tau in (0.5, 0.6, 0.99)]
