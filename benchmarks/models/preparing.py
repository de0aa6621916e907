"""Pipelines on tables of numbers: scalers, column transformers, selections, projections, monotone and other maps."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from benchmarks.models.case import Case, Family
from benchmarks.models.fitting import fit
from benchmarks.models.plain import forest, logistic
from benchmarks.models.tables import bundled, loans

MONEY = ["income", "debt", "savings"]


def piped(*steps: Any, data: Any = loans, **given: Any) -> Any:
    return lambda: fit(make_pipeline(*steps), data(), **given)


def boosting(trees: int = 60) -> GradientBoostingClassifier:
    return GradientBoostingClassifier(n_estimators=trees, random_state=0)


def cases() -> list[Case]:
    return [*_scalers(), *_selections(), *_monotone(), *_others()]


def _scalers() -> list[Case]:
    family = Family("scalers")
    by_name = ColumnTransformer([("money", StandardScaler(), MONEY), ("age", MinMaxScaler(), ["age"])])
    by_kind = ColumnTransformer([("broken", RobustScaler(), make_column_selector(dtype_include=float))], remainder="passthrough")  # fmt: skip
    dropped = ColumnTransformer([("money", StandardScaler(), MONEY), ("age", "drop", ["age"])], remainder="passthrough")
    named = Pipeline([("scale", StandardScaler()), ("model", forest(40))]).set_output(transform="pandas")
    nested = Pipeline([("prepare", Pipeline([("a", RobustScaler()), ("b", "passthrough")])), ("model", logistic())])
    return [
        family("StandardScaler + LogisticRegression", piped(StandardScaler(), logistic())),
        family("MinMaxScaler + LinearSVC", piped(MinMaxScaler(), LinearSVC(random_state=0))),
        family.either(
            "MinMaxScaler(clip) + forest", piped(MinMaxScaler(clip=True), forest(40)), "MinMaxScaler", "clip=False"
        ),
        family("RobustScaler + forest", piped(RobustScaler(), forest(40))),
        family("MaxAbsScaler + boosting", piped(MaxAbsScaler(), boosting())),
        family("ColumnTransformer by name", piped(by_name, logistic())),
        family("ColumnTransformer with a selector, passthrough", piped(by_kind, logistic())),
        family("ColumnTransformer, drop", piped(dropped, forest(40))),
        family('set_output("pandas")', lambda: fit(named, loans())),
        family("pipeline in a pipeline", lambda: fit(nested, loans())),
        family("SimpleImputer + scaler on full data", piped(SimpleImputer(), StandardScaler(), logistic())),
        family("SimpleImputer + forest on full data", piped(SimpleImputer(strategy="median"), forest(40))),
    ]


def _selections() -> list[Case]:
    family = Family("selections and projections")
    union = FeatureUnion([("scaled", StandardScaler()), ("main", PCA(2))])
    cancer = {"data": lambda: bundled("cancer")}
    trees_behind = ("PCA", "linear|logistic|without|in front|oblique|before")
    net = MLPClassifier((12,), random_state=0, max_iter=150)
    return [
        family("PCA + LogisticRegression", piped(StandardScaler(), PCA(3), logistic())),
        family("PCA(whiten) + MLP", piped(StandardScaler(), PCA(4, whiten=True), net)),
        family("PCA, 30 columns", piped(StandardScaler(), PCA(0.95), logistic(), **cancer)),
        family.either("PCA + forest", piped(StandardScaler(), PCA(3), forest(10, max_depth=4)), *trees_behind),
        family("TruncatedSVD + LogisticRegression", piped(StandardScaler(), TruncatedSVD(3, random_state=0), logistic())),
        family("SelectKBest + LogisticRegression", piped(StandardScaler(), SelectKBest(k=4), logistic())),
        family("SelectKBest + forest", piped(SelectKBest(k=4), forest(40))),
        family("SelectPercentile + boosting", piped(SelectPercentile(percentile=50), boosting())),
        family("VarianceThreshold + boosting", piped(VarianceThreshold(1.0), boosting())),
        family("SelectFromModel + LogisticRegression", piped(StandardScaler(), SelectFromModel(LogisticRegression()), logistic())),
        family("RFE + LogisticRegression", piped(StandardScaler(), RFE(LogisticRegression(), n_features_to_select=3), logistic())),
        family("FeatureUnion(StandardScaler, PCA) + LogisticRegression", piped(union, logistic())),
    ]  # fmt: skip


def _monotone() -> list[Case]:
    family = Family("monotone maps")
    logs = ColumnTransformer([("money", FunctionTransformer(np.log1p), MONEY)], remainder="passthrough")
    linear = "forest|tree|boost"
    return [
        family("log1p + forest", piped(FunctionTransformer(np.log1p), forest(40))),
        family("log1p of some columns + boosting", piped(logs, boosting())),
        family("sqrt + boosting", piped(FunctionTransformer(np.sqrt), boosting())),
        family("PowerTransformer + forest", piped(PowerTransformer(), forest(40))),
        family("QuantileTransformer + forest", piped(QuantileTransformer(n_quantiles=100), forest(40))),
        family("QuantileTransformer(normal) + boosting", piped(QuantileTransformer(n_quantiles=50, output_distribution="normal"), boosting())),
        family("KBinsDiscretizer(ordinal) + forest", piped(KBinsDiscretizer(encode="ordinal"), forest(40))),
        family("KBinsDiscretizer(onehot) + forest", piped(KBinsDiscretizer(encode="onehot-dense"), forest(40))),
        family.either("KBinsDiscretizer(onehot) + LogisticRegression", piped(KBinsDiscretizer(), logistic()), "KBinsDiscretizer", linear),
        family.either("log1p + LogisticRegression", piped(FunctionTransformer(np.log1p), logistic()), "log1p|FunctionTransformer", linear),
        family.either("PowerTransformer + LogisticRegression", piped(PowerTransformer(), logistic()), "PowerTransformer", linear),
        family.either("QuantileTransformer + LogisticRegression", piped(QuantileTransformer(n_quantiles=50), logistic()), "QuantileTransformer", linear),
        family.either("Binarizer + LogisticRegression", piped(Binarizer(threshold=100.0), logistic()), "Binarizer", f"{linear}|KBins"),
    ]  # fmt: skip


class Ratio(BaseEstimator, TransformerMixin):
    """A step that someone wrote himself."""

    def fit(self, X: Any, y: Any = None) -> Ratio:
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        return np.column_stack([np.asarray(X, dtype=float), np.asarray(X)[:, 2] / np.asarray(X)[:, 1]])


def _halved(X: Any) -> Any:
    return X / 2


def _others() -> list[Case]:
    family = Family("other maps")
    cure = "before|beforehand|columns of the table|without|instead|in front|leave"
    return [
        family.refuses("PolynomialFeatures", piped(StandardScaler(), PolynomialFeatures(), logistic()), "PolynomialFeatures", cure),
        family.refuses("SplineTransformer", piped(SplineTransformer(), logistic()), "SplineTransformer", cure),
        family.refuses("Normalizer", piped(Normalizer(), logistic()), "Normalizer", cure),
        family.refuses("FunctionTransformer of one's own", piped(FunctionTransformer(_halved), logistic()), "_halved|FunctionTransformer", f"functions that can|{cure}"),
        family.refuses("a step of one's own", piped(Ratio(), forest(20)), "Ratio", cure),
        family.either("KNNImputer on full data", piped(KNNImputer(), forest(20)), "KNNImputer", "SimpleImputer"),
    ]  # fmt: skip
