"""CatBoost behind steps that move and rename its columns of words: regions in raw words, attacked through the pipeline."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from elbowroom import Box, Explainer, Region

pytest.importorskip("catboost")


@pytest.mark.parametrize("renamed", [False, True], ids=["same names", "renamed"])
def test_words_that_arrive_unchanged(renamed: bool) -> None:
    from catboost import CatBoostClassifier

    rng = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame(
        {"income": rng.normal(50, 20, n), "age": rng.normal(40, 10, n), "purpose": rng.choice(["car", "tv", "home"], n)}
    )
    y = np.where(X.income / 20 + (X.purpose == "car") + rng.normal(0, 0.2, n) > 2.6, "good", "bad")
    steps = ColumnTransformer(
        [("words", "passthrough", ["purpose"]), ("numbers", StandardScaler(), ["income", "age"])],
        verbose_feature_names_out=renamed,
    ).set_output(transform="pandas")
    column = "words__purpose" if renamed else "purpose"
    classifier = CatBoostClassifier(
        iterations=8, depth=3, cat_features=[column], one_hot_max_size=10, verbose=0, allow_writing_files=False
    )
    model = make_pipeline(steps, classifier).fit(X, y)
    explainer = Explainer(model, X)
    assert [group.name for group in explainer.space.groups] == ["purpose"]
    row = X[np.ravel(model.predict(X)) == "bad"].iloc[0]
    for room in (Box(0.01), Box(0.0, categories={"purpose": "any"})):
        region = explainer.explain(row, room=room, time_limit=20)
        assert isinstance(region, Region), region
        assert (np.ravel(model.predict(region.sample(300))) == "good").all()
