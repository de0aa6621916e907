"""What cannot be read or asked: the answer must name what was given and say what to do instead."""

from __future__ import annotations

from typing import Any

import pandas as pd
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.models.case import Case, Family, Given
from benchmarks.models.fitting import encoded, fit, later
from benchmarks.models.plain import forest, logistic, scaled
from benchmarks.models.tables import bundled, credit, loans
from elbowroom import Box, Target

INSTEAD = "tree|forest|boost|logistic"


def cases() -> list[Case]:
    return [*_models(), *_things(), *_questions(), *_traps()]


def _models() -> list[Case]:
    family = Family("models that are refused")
    few = slice(0, 80)
    two = pd.DataFrame({"a": loans().y, "b": 1 - loans().y})
    table = loans()
    process = GaussianProcessClassifier(random_state=0)
    return [
        family.refuses("KNeighborsClassifier", later(KNeighborsClassifier, loans), "KNeighborsClassifier", INSTEAD),
        family.refuses("GaussianNB", later(GaussianNB, loans), "GaussianNB", INSTEAD),
        family.refuses("SVC(rbf)", later(lambda: scaled(SVC()), loans), "SVC", "rbf", 'linear|LinearSVC|' + INSTEAD),
        family.refuses("SVC(poly)", later(lambda: scaled(SVC(kernel="poly")), loans), "SVC", "poly", 'linear|' + INSTEAD),
        family.refuses("GaussianProcessClassifier", lambda: Given(process.fit(table.X[few], table.y[few]), table.X), "GaussianProcessClassifier", INSTEAD),
        family.refuses("QuadraticDiscriminantAnalysis", later(QuadraticDiscriminantAnalysis, loans), "QuadraticDiscriminantAnalysis", f"LinearDiscriminantAnalysis|{INSTEAD}"),
        family.either("DummyClassifier", lambda: fit(DummyClassifier(), loans(), good=lambda told: told == 7), "DummyClassifier|one class|always"),
        family.refuses("LocalOutlierFactor", lambda: Given(LocalOutlierFactor(novelty=True).fit(table.X), table.X), "LocalOutlierFactor", "classifier|regressor"),
        family.refuses("KMeans", lambda: Given(KMeans(3, n_init=1, random_state=0).fit(table.X), table.X), "KMeans", "classifier|regressor"),
        family.refuses("MultiOutputClassifier", lambda: Given(MultiOutputClassifier(LogisticRegression(max_iter=2000)).fit(table.X, two), table.X), "MultiOutputClassifier|output", "one|estimators_"),
        family.refuses("forest with two outputs", lambda: Given(forest(10).fit(table.X, two), table.X), "output", "one|each"),
        family.refuses("not fitted", lambda: Given(LogisticRegression(), table.X, row=0), "LogisticRegression", "fit"),
        family.refuses("pipeline not fitted", lambda: Given(make_pipeline(StandardScaler(), logistic()), table.X, row=0), "fit"),
        family.refuses("a subclass with its own predict", _subclass, "Careful", "predict"),
    ]  # fmt: skip


def _subclass() -> Given:
    class Careful(LogisticRegression):
        def predict(self, X: Any) -> Any:
            return (self.predict_proba(X)[:, 1] > 0.9).astype(int)

    return fit(Careful(max_iter=2000), loans())


def _things() -> list[Case]:
    family = Family("things that are no models")
    X = loans().X
    model = logistic().fit(X, loans().y)
    plain = "LogisticRegression"
    return [
        family.refuses("a path", lambda: Given("model.joblib", X, row=0), "model.joblib|path|text", "load"),
        family.refuses("a path of XGBoost", lambda: Given("model.json", X, row=0), "model.json|path|text", "load"),
        family.refuses(
            "a dict", lambda: Given({"model": model}, X, row=0), "dict", "fitted|model itself|the model|give that"
        ),
        family.refuses(
            "a list of models", lambda: Given([model, model], X, row=0), "list", "fitted|one model|the model|give that"
        ),
        family.refuses(
            "a lambda", lambda: Given(lambda rows: rows, X, row=0), "function|lambda", "fitted|object|the model"
        ),
        family.refuses(
            "model.predict",
            lambda: Given(model.predict, X, row=0),
            "predict",
            "the model itself|object|without .predict|instead",
        ),
        family.refuses("a class", lambda: Given(LogisticRegression, X, row=0), plain, "fit|object|instance"),
        family.refuses("None", lambda: Given(None, X, row=0), "None", "fitted|model"),
        family.refuses(
            "model and table swapped",
            lambda: Given(X, model, row=X.iloc[0]),
            "model comes first|DataFrame",
            "Explainer(model, X)|model",
        ),
        family.refuses(
            "an array of coefficients", lambda: Given(model.coef_, X, row=0), "ndarray|array", "fitted|model"
        ),
    ]


def _questions() -> list[Case]:
    family = Family("questions that cannot be asked")
    first = loans().X.iloc[0]
    unseen = credit().X.iloc[0].copy()
    unseen["housing"] = "castle"
    renamed = first.rename({"income": "incom"})
    dated = loans().X.assign(since=pd.Timestamp("2020-01-01"))
    far = loans().X.copy()
    far.loc[3, "income"] = float("inf")
    return [
        family.refuses("3 classes, no target", lambda: fit(forest(20), bundled("iris"), row=0), "classes", "target="),
        family.refuses("unknown target", lambda: fit(forest(20), loans(), target="approved"), "approved", "classes are|0, 1"),
        family.refuses('"1" for 1', lambda: fit(forest(20), loans(), target="1"), "'1'", "0, 1"),
        family.refuses("at_least for a classifier", lambda: fit(forest(20), loans(), target=Target(at_least=1.0)), "at_least", "class|label|probability"),
        family.refuses("unseen category", lambda: fit(encoded(logistic()), credit(), row=unseen), "castle", "housing", "rent"),
        family.refuses("a column misspelt", lambda: fit(forest(20), loans(), row=renamed), "income", "incom"),
        family.refuses("a Space that lacks a column", lambda: fit(forest(20), loans(), space={"frame": loans().X.drop(columns="debt")}), "debt"),
        family.refuses("a room for an unknown column", lambda: fit(forest(20), loans(), room=Box({"incme": 5})), "incme", "income"),
        family.refuses("a room for an unknown category", lambda: fit(encoded(logistic()), credit(), room=Box(0.02, categories={"housing": ["castle"]})), "castle", "rent|own"),
        family.refuses("a date in the table", lambda: fit(forest(20), loans(), space={"frame": dated}), "since", "days|number|drop|leave"),
        family.refuses("inf in the table", lambda: fit(forest(20), loans(), space={"frame": far}), "income", "inf", "row"),
    ]  # fmt: skip


def _traps() -> list[Case]:
    family = Family("traps")
    small = {"frame": loans().X.iloc[:8]}
    whole = loans().X.astype(float)
    return [
        family.traps("Box(5)", lambda: fit(logistic(), loans(), room=Box(5)), "range|wide", "room|Box"),
        family.traps("Explainer(model) on unscaled data", lambda: fit(forest(30), loans(), space="none"), "scale|space", "Space.from_frame|Explainer(model, X)"),
        family.traps("bounds from 8 rows", lambda: fit(forest(30), loans(), space=small), "8 rows|few", "rows"),
        family.traps("whole numbers as floats", lambda: fit(forest(30), loans(), space={"frame": whole}), "whole", "integer|whole"),
    ]  # fmt: skip
