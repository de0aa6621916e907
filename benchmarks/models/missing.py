"""Tables with gaps, and tables of dummies: what pandas makes of people's data before a model sees it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC

from benchmarks.models.case import Case, Family, Given
from benchmarks.models.fitting import fit, later, one_of_each
from benchmarks.models.plain import forest, logistic, scaled
from benchmarks.models.tables import Table, credit, sensors, titanic, titanic_category
from benchmarks.models.wrappers import tree
from elbowroom import Box

PREFIXES = ("checking_", "purpose_", "housing_")
NUMERIC = ["age", "fare", "sibsp", "parch"]


def cases() -> list[Case]:
    return [*_gaps(), *_passengers(), *_dummies()]


def with_gap(given: Given, column: str, gap: bool) -> Given:
    """The same question about a row in which ``column`` is missing, or about one without any gap."""
    outputs = given.outputs(given.X)
    empty = given.X[column].isna() if gap else ~given.X.isna().any(axis=1)
    where = np.flatnonzero(~given.is_good(outputs) & empty.to_numpy())
    return Given(**{**given.__dict__, "row": int(where[0])})


def _gaps() -> list[Case]:
    family = Family("gaps in numbers")
    hist = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    full = Table(sensors().X.dropna(), sensors().y[sensors().X.notna().all(axis=1)], 1)

    def knows_no_gap() -> Given:
        model = scaled(logistic()).fit(full.X, full.y)
        row = sensors().X[sensors().X["debt"].isna()].iloc[0]
        return Given(model, full.X, row=row)

    def filled(space: dict[str, Any]) -> Given:
        return with_gap(fit(hist, sensors(), space=space), "savings", True)

    return [
        family("HistGradientBoosting, full row", lambda: with_gap(fit(hist, sensors()), "debt", False)),
        family("HistGradientBoosting, row with a gap", lambda: with_gap(fit(hist, sensors()), "debt", True)),
        family("HistGradientBoosting, gap may be filled", lambda: filled({"missing": "may be filled"})),
        family("HistGradientBoosting, Space from dropna()", lambda: with_gap(fit(hist, sensors(), space={"frame": full.X}), "debt", False)),
        family("forest, row with a gap", lambda: with_gap(fit(forest(30), sensors()), "debt", True)),
        family("forest, full row", lambda: with_gap(fit(forest(30), sensors()), "debt", False)),
        family("DecisionTree, row with a gap", lambda: with_gap(fit(tree(6), sensors()), "savings", True)),
        family("ExtraTrees, row with a gap", lambda: with_gap(fit(ExtraTreesClassifier(30, max_depth=7, random_state=0), sensors()), "debt", True)),
        family("SimpleImputer + LogisticRegression, row with a gap", lambda: with_gap(
            fit(make_pipeline(SimpleImputer(), StandardScaler(), logistic()), sensors()), "debt", True)),
        family("SimpleImputer + PCA + LogisticRegression, row with a gap", lambda: with_gap(
            fit(make_pipeline(SimpleImputer(), StandardScaler(), PCA(4), logistic()), sensors()), "debt", True)),
        family("SimpleImputer + SVC(linear), row with a gap", lambda: with_gap(
            fit(make_pipeline(SimpleImputer(), StandardScaler(), SVC(kernel="linear")), sensors()), "debt", True)),
        family("SimpleImputer + KBinsDiscretizer + LogisticRegression, row with a gap", lambda: with_gap(
            fit(make_pipeline(SimpleImputer(), KBinsDiscretizer(), logistic()), sensors()), "debt", True)),
        family("SimpleImputer + KBinsDiscretizer + forest, row with a gap", lambda: with_gap(
            fit(make_pipeline(SimpleImputer(), KBinsDiscretizer(4), forest(20, max_depth=5)), sensors()), "debt", True)),
        family("SimpleImputer(indicator) + forest, row with a gap", lambda: with_gap(
            fit(make_pipeline(SimpleImputer(add_indicator=True), forest(30)), sensors()), "savings", True)),
        family("SimpleImputer(indicator) + LogisticRegression, full row", lambda: with_gap(
            fit(make_pipeline(SimpleImputer(add_indicator=True), StandardScaler(), logistic()), sensors()), "debt", False)),
        family("StandardScaler + HistGradientBoosting, row with a gap", lambda: with_gap(fit(scaled(hist), sensors()), "debt", True)),
        family.refuses("LogisticRegression, row with a gap", knows_no_gap, "debt", "missing|nan|not a finite number", "fill|drop|imputer"),
        family.either("KNNImputer + forest, row with a gap", lambda: with_gap(fit(make_pipeline(KNNImputer(), forest(20)), sensors()), "debt", True), "KNNImputer", "SimpleImputer"),
    ]  # fmt: skip


def _typical(model: Any, *, indicator: bool = False) -> Any:
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=indicator), StandardScaler())
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer((numbers, NUMERIC), (words, ["sex", "embarked", "pclass"]))
    return make_pipeline(columns, model)


def _passengers() -> list[Case]:
    family = Family("Titanic-like")
    hist = HistGradientBoostingClassifier(max_iter=60, random_state=0)
    missing_word = SimpleImputer(strategy="constant", fill_value="missing")
    constant = make_pipeline(
        make_column_transformer(
            (make_pipeline(missing_word, OneHotEncoder()), ["sex", "embarked", "deck"]),
            (SimpleImputer(), NUMERIC),
            remainder="passthrough",
        ),
        forest(40),
    )
    own_category = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["sex", "embarked", "deck"]), (SimpleImputer(), NUMERIC)), logistic()
    )
    ordinal = make_pipeline(
        make_column_transformer((OrdinalEncoder(), ["sex", "embarked", "deck"]), remainder="passthrough"), hist
    )
    return [
        family("imputer, OneHotEncoder, LogisticRegression", later(lambda: _typical(logistic()), titanic)),
        family("the same, row with a missing age", lambda: with_gap(fit(_typical(logistic()), titanic()), "age", True)),
        family("imputer, OneHotEncoder, forest", later(lambda: _typical(forest(40)), titanic)),
        family("imputer with indicator, forest, row with a gap", lambda: with_gap(
            fit(_typical(forest(40), indicator=True), titanic()), "age", True)),
        family("imputer(constant) for words, forest", lambda: fit(constant, titanic())),
        family("OneHotEncoder with missing as a category", lambda: fit(own_category, titanic())),
        family("OrdinalEncoder + HistGradientBoosting, gaps kept", lambda: fit(ordinal, titanic())),
        family("HistGradientBoosting, categories and gaps", lambda: fit(hist, titanic_category())),
        family("HistGradientBoosting, row with a missing age", lambda: with_gap(fit(hist, titanic_category()), "age", True)),
        family("HistGradientBoosting, row with a missing deck", lambda: with_gap(fit(hist, titanic_category()), "deck", True)),
        family("Space with immutable words", lambda: fit(_typical(logistic()), titanic(), space={"immutable": ["sex"]})),
    ]  # fmt: skip


def _dummied(kind: Any) -> Table:
    raw = credit().X[["duration", "amount", "age", "checking", "purpose", "housing"]]
    return Table(pd.get_dummies(raw, dtype=kind), credit().y, "good")


def _dummies() -> list[Case]:
    family = Family("get_dummies")
    numbers = ["duration", "amount", "age"]
    given = {"immutable": numbers}
    check = one_of_each(PREFIXES)
    floats, bools = _dummied(float), _dummied(bool)
    groups = {p[:-1]: [c for c in floats.X.columns if c.startswith(p)] for p in PREFIXES}
    first = Table(
        pd.get_dummies(credit().X[["duration", "amount", "housing", "job"]], drop_first=True), credit().y, "good"
    )
    wrong = {"odd": ["housing_own", "purpose_repairs"]}
    return [
        family("floats, groups found", lambda: fit(forest(40), floats, check=check)),
        family("floats, numbers frozen", lambda: fit(forest(40), floats, space=given, check=check)),
        family("truth values, groups found", lambda: fit(scaled(logistic()), bools, check=check)),
        family("truth values, numbers frozen", lambda: fit(scaled(logistic()), bools, space=given, check=check)),
        family("one_hot declared", lambda: fit(forest(40), floats, space={"one_hot": groups}, check=check)),
        family("any purpose, group found", lambda: fit(scaled(logistic()), floats, room=Box(0.02, categories={"purpose": "any"}), check=check)),
        family("drop_first", lambda: fit(scaled(logistic()), first)),
        family.refuses("one_hot that the data contradict", lambda: fit(forest(20), floats, space={"one_hot": wrong}),
                       "odd", "row|rows", "sum|exactly one|one-hot"),
    ]  # fmt: skip
