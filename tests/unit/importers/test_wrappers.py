"""Wrappers around models that were fitted before, and what parts of an ensemble may be."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from elbowroom.errors import UnsupportedModel
from elbowroom.importers import open_model, read_model
from elbowroom.importers.replay import _certain
from elbowroom.models import LinearModel, TreeEnsemble
from tests.support.importer_cases import table

FRAME, Y = table("cancer")
X = FRAME.to_numpy()
INSIDES = {
    "forest": lambda: RandomForestClassifier(5, max_depth=3, random_state=0),
    "linear": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
}


def _agrees(model: Any) -> Any:
    opened = open_model(model, data=X)
    assert opened.report is not None and opened.report.points > 1_000
    parsed = opened.model
    scores = parsed.scores(X)
    ours = parsed.info.labels_of(scores)
    wrong = np.flatnonzero(np.array(parsed.info.classes)[ours] != model.predict(X))
    # an isotonic step of a linear score stands exactly on a training row: there rounding decides, and nothing is claimed
    assert wrong.size <= 1 and not _certain(parsed, X[wrong], scores[wrong], ours[wrong]).any()
    return parsed


@pytest.mark.parametrize("inside", INSIDES)
def test_models_that_were_fitted_before(inside: str) -> None:
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator
    from sklearn.model_selection import FixedThresholdClassifier

    before = INSIDES[inside]().fit(X, Y)
    assert type(_agrees(frozen(before))) is type(read_model(before))
    _agrees(frozen(frozen(before)))
    _agrees(FixedThresholdClassifier(frozen(before), threshold=0.3).fit(X, Y))
    for method in ("sigmoid", "isotonic"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _agrees(CalibratedClassifierCV(frozen(before), method=method).fit(X, Y))


def test_a_probability_that_is_a_curve_is_calibrated_all_the_same() -> None:
    """A network has no decision scores: its calibrated label is still a step of its own score."""
    from sklearn.neural_network import MLPClassifier

    network = make_pipeline(StandardScaler(), MLPClassifier((4,), max_iter=300, random_state=0))
    for method in ("sigmoid", "isotonic"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _agrees(CalibratedClassifierCV(network, method=method, cv=2, ensemble=False).fit(X, Y))


def test_errors_of_support_vectors_grow_with_their_sizes() -> None:
    """On data a thousand times larger the sum over support vectors loses digits that coef_ knows nothing about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stopped early
        model = SVC(kernel="linear", max_iter=500).fit(1e3 * (X - X.mean(axis=0)) + 1e6, Y)
    parsed = open_model(model, replay=False).model
    assert isinstance(parsed, LinearModel)
    rows = 1e3 * (X - X.mean(axis=0)) + 1e6
    off = np.abs(model.decision_function(rows) - parsed.scores(rows)[:, 0])
    allowed = np.array([2 * parsed.affine.error(np.abs(row))[0] for row in rows])
    plain = np.array([1e-15 * np.abs(parsed.affine.weight[0]) @ np.abs(row) for row in rows])
    assert (off <= allowed).all() and (off > plain).any()


def test_parts_see_their_own_columns() -> None:
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=3), 4, max_features=0.25, random_state=0).fit(X, Y)
    parsed = _agrees(model)
    assert isinstance(parsed, TreeEnsemble)
    for features, root, end in zip(
        model.estimators_features_, parsed.roots, [*parsed.roots[1:], len(parsed.feature)], strict=True
    ):
        used = parsed.feature[root:end]
        assert set(used[used >= 0].tolist()) <= set(features.tolist())


def test_a_logarithm_inside_a_part_is_refused_and_in_front_of_the_ensemble_is_not() -> None:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    log = FunctionTransformer(np.log1p, validate=True)
    inside = VotingClassifier([("a", make_pipeline(log, tree)), ("b", tree)], voting="soft").fit(X, Y)
    with pytest.raises(UnsupportedModel, match=r"VotingClassifier holds a Pipeline with a logarithm.*in front of"):
        read_model(inside)
    _agrees(make_pipeline(log, VotingClassifier([("a", tree), ("b", tree)], voting="soft")).fit(X, Y))
