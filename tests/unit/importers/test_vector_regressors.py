"""Support vector regressors with a linear kernel: the sum over support vectors is the value, with its own large rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, NuSVR

from elbowroom import Box, Explainer, Target, UnsupportedModel
from elbowroom.importers import open_model
from elbowroom.models import LinearModel

X, Y = load_diabetes(return_X_y=True, as_frame=True)
X = X.iloc[:, :5]


@pytest.mark.parametrize(
    "model",
    [
        SVR(kernel="linear", C=100.0),
        NuSVR(kernel="linear", C=100.0),
        make_pipeline(StandardScaler(), SVR(kernel="linear")),
    ],
)
def test_values_and_regions(model: Any) -> None:
    model.fit(X, Y)
    opened = open_model(model)
    assert isinstance(opened.model, LinearModel)
    theirs, affine = model.predict(X), opened.model.affine
    allowed = 2 * np.array([affine.error(np.abs(row))[0] for row in X.to_numpy()])
    assert (np.abs(opened.model.scores(X.to_numpy())[:, 0] - theirs) <= allowed).all()
    assert allowed.max() < 1e-6
    least = float(np.quantile(theirs, 0.7))
    region = Explainer(model, X).explain(X.iloc[int(np.argmin(theirs))], Box(0.01), target=Target(at_least=least))
    assert region
    assert (model.predict(region.sample(3_000)) >= least).all()


def test_curved_kernels_are_refused_with_the_cure() -> None:
    with pytest.raises(UnsupportedModel, match=r"kernel='rbf'.*HistGradientBoostingRegressor"):
        open_model(SVR().fit(X, Y))
