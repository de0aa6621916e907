"""Histogram boosting with categories and missing values of every kind that can be read."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder


@cache
def credit_table(rows: int = 700) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Numbers with holes, text, categories in an odd order, codes and truth values; two and three classes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": rng.normal(50, 20, rows),
            "purpose": pd.Categorical(
                rng.choice(["car", "house", "radio", "study"], rows), ["study", "radio", "house", "car"]
            ),
            "age": rng.integers(18, 80, rows).astype(float),
            "grade": rng.choice([30, 10, 20, 25], rows),
            "owner": rng.choice([True, False], rows),
        }
    )
    frame.loc[frame.index % 9 == 0, "income"] = np.nan
    frame.loc[frame.index % 11 == 0, "purpose"] = np.nan
    score = (
        frame["income"].fillna(20) / 20
        + frame["purpose"].isin(["car", "radio"]) * 2
        - frame["grade"].isin([20, 30]) * 1.5
    )
    score = score + frame["owner"] + rng.normal(size=rows) * 0.2
    return frame, np.where(score > 3, "good", "bad"), np.digitize(score, [2, 4])


def boosted(**more: Any) -> Any:
    return HistGradientBoostingClassifier(max_iter=12, min_samples_leaf=5, random_state=0, **more)


def array() -> np.ndarray:
    """Categories as numbers that are no positions: 10, 20, 25, 30, and a column with holes."""
    frame, _, _ = credit_table()
    return np.column_stack([frame["income"], frame["grade"], frame["age"]]).astype(float)


def models() -> dict[str, tuple[Any, Any]]:
    frame, y, y3 = credit_table()
    text = frame["purpose"].astype(object).fillna("other")
    numbers = frame.drop(columns="owner").assign(purpose=text)  # truth values would make the encoder's output objects
    mask = [False, True, False, True, True]
    first = ColumnTransformer([("codes", OrdinalEncoder(), ["purpose"])], remainder="passthrough")
    return {
        "from_dtype": (boosted(categorical_features="from_dtype").fit(frame, y), frame),
        "mask": (boosted(categorical_features=mask).fit(frame, y), frame),
        "indices": (boosted(categorical_features=[1, 3]).fit(frame, y), frame),
        "names, three classes": (boosted(categorical_features=["grade", "purpose"]).fit(frame, y3), frame),
        "array": (boosted(categorical_features=[1]).fit(array(), y), array()),
        "numbers only": (boosted().fit(array(), y), array()),
        "behind an encoder": (make_pipeline(first, boosted(categorical_features=[0])).fit(numbers, y), numbers),
    }


@cache
def cases() -> dict[str, tuple[Any, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return models()
