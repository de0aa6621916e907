"""A small portfolio: raw columns, a boosted model, and the rows it rejects."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from elbowroom import Explainer


@cache
def portfolio(trees: int = 20) -> tuple[Explainer, pd.DataFrame]:
    """An explainer, and the rejected rows with an index of their own."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(200, 3)).round(3), columns=["income", "debt", "age"])
    X["purpose"] = rng.choice(["car", "house", "radio"], 200)
    y = (X["income"] - X["debt"] * X["age"] + (X["purpose"] == "house") > 0.4).map({True: "yes", False: "no"})
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["purpose"]), remainder="passthrough"),
        GradientBoostingClassifier(n_estimators=trees, max_depth=3, random_state=0),
    ).fit(X, y)
    rejected = X[model.predict(X) == "no"].copy()
    rejected.index = [f"case {i}" for i in rejected.index]
    return Explainer(model, X), rejected


def without_times(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns="seconds")
