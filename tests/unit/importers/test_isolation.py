"""Isolation forests: the parsed copy says what predict says, also one float beside every cut and beside every tie."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

from elbowroom import UnsupportedModel, read_model
from elbowroom.importers.sklearn_isolation import average_path_length
from elbowroom.models import TreeEnsemble


@pytest.mark.parametrize("options", [{}, {"contamination": 0.2}, {"max_features": 2, "max_samples": 20}], ids=str)
def test_the_copy_says_what_the_forest_says(options: dict[str, float]) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 3)), rng.integers(0, 3, 300)])
    forest = IsolationForest(n_estimators=20, random_state=1, **options).fit(X)  # type: ignore[arg-type]
    model = read_model(forest, data=X)
    assert isinstance(model, TreeEnsemble) and model.info.classes == (-1, 1)
    rows = np.concatenate([X, X.astype(np.float32) + 1e-7, 3 * rng.normal(size=(500, 4))])
    ours = np.array(model.info.says(model.scores(rows)))
    sums = model.scores(rows)[:, 0]
    sure = np.abs(sums) > 1e-9
    assert (ours == forest.predict(rows))[sure].all()
    # the sum itself: score_samples = -2 ** (-(sum + need) / D)
    total = len(forest.estimators_) * average_path_length([forest._max_samples])[0]
    need = -float(model.base[0])
    assert np.allclose(-(2.0 ** (-(sums + need) / total)), forest.score_samples(rows), rtol=1e-12, atol=0)


def test_path_lengths_are_those_of_the_library() -> None:
    from sklearn.ensemble._iforest import _average_path_length

    n = np.arange(1, 500)
    assert np.array_equal(average_path_length(n), _average_path_length(n))


def test_a_forest_that_says_the_same_of_all_rows_is_refused() -> None:
    with pytest.raises(UnsupportedModel, match="the same of all"):
        read_model(IsolationForest(n_estimators=3, max_samples=1, random_state=0).fit(np.zeros((5, 1))))
