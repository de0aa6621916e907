"""Originals that decide by rounded probabilities: scores closer to the threshold than their error guarantee nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.models import Decision, Link, ModelInfo, TreeEnsemble
from elbowroom.models.margins import tree_margins
from elbowroom.numerics import EPS


def _stump(low: float, high: float, error: float) -> TreeEnsemble:
    info = ModelInfo(("x",), (0, 1), Decision.POSITIVE, Link.LOGISTIC, "stump", error)
    return TreeEnsemble(
        info,
        roots=np.array([0]),
        feature=np.array([0, -1, -1]),
        cut=np.zeros(3),
        left=np.array([1, -1, -1]),
        right=np.array([2, -1, -1]),
        value=np.array([[0.0], [low], [high]]),
        base=np.zeros(1),
    )


def test_a_tiny_score_of_one_tree_is_not_good_enough() -> None:
    stump = _stump(-1.0, EPS / 4, 16 * EPS)  # expit(EPS / 4) is one half
    margins = tree_margins(stump, 1)
    assert not (margins.base + margins.value >= margins.slack).any()
    exact = tree_margins(replace(stump, info=replace(stump.info, evaluation_error=0.0)), 1)
    assert (exact.base + exact.value >= exact.slack).sum() == 1


def test_an_ordinary_score_of_one_tree_is() -> None:
    margins = tree_margins(_stump(-1.0, 1e-6, 16 * EPS), 1)
    assert (margins.base + margins.value >= margins.slack).sum() == 1
