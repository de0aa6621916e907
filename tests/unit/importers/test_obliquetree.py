"""The package obliquetree: read, replayed, explained."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom import Box, Explainer, InputError, ObliqueEnsemble, UnsupportedModel, read_model
from elbowroom.importers import open_model
from tests.support.hostile import attack

obliquetree = pytest.importorskip("obliquetree", reason="pip install 'elbowroom[oblique]'")


def _data(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(400, 4))
    score = X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=400)
    return X, np.digitize(score, [0.0, 1.0][: n_classes - 1])


def _fitted(n_classes: int, **options: object) -> tuple[object, np.ndarray]:
    X, y = _data(n_classes)
    model = obliquetree.Classifier(max_depth=3, random_state=0, n_pair=2, **options)
    model.fit(X, y)
    return model, X


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("use_oblique", [True, False])
def test_the_copy_equals_the_original(n_classes: int, use_oblique: bool) -> None:
    model, X = _fitted(n_classes, use_oblique=use_oblique)
    opened = open_model(model, data=X)
    assert isinstance(opened.model, ObliqueEnsemble)
    assert opened.report is not None
    assert opened.report.points > 5000
    rows = np.random.default_rng(1).normal(size=(5000, 4)) * 2
    np.testing.assert_allclose(opened.model.scores(rows), model.predict_proba(rows), atol=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_region_from_the_front_door(n_classes: int) -> None:
    model, X = _fitted(n_classes)
    explainer = Explainer(model)
    row = X[np.flatnonzero(model.predict(X) == 0)[0]]
    region = explainer.explain(row, room=Box(0.1), target=1, time_limit=20.0)
    assert region
    assert region.gap <= 1e-4
    attack(model.predict, region.body, 1)


def test_refusals() -> None:
    with pytest.raises(InputError, match="not fitted"):
        read_model(obliquetree.Classifier())
    X, y = _data(2)
    X[:, 3] = np.round(X[:, 3]) ** 2
    model = obliquetree.Classifier(max_depth=3, categories=[3])
    model.fit(X, y)
    with pytest.raises(UnsupportedModel, match="categories"):
        read_model(model)
