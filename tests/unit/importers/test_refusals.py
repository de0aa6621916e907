"""Refusals: every family says why it is not read and what to use instead, and names the object's class."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import (
    cluster,
    covariance,
    discriminant_analysis,
    gaussian_process,
    multiclass,
    multioutput,
    naive_bayes,
    neighbors,
    neural_network,
    svm,
)
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from elbowroom.errors import ElbowroomError, InputError, UnsupportedModel
from elbowroom.importers import read_model
from elbowroom.importers.refusals import READABLE, refusal
from tests.support.importer_cases import fitted, table

FRAME, Y = table("iris")
X = FRAME.to_numpy()[:, :4] + 0.0

FAMILIES: dict[str, tuple[Any, str, str]] = {
    "nearest neighbours": (neighbors.KNeighborsClassifier(3), "vote among stored rows", "HistGradientBoostingClassifier"),
    "radius neighbours": (neighbors.RadiusNeighborsClassifier(3.0), "vote among stored rows", "LogisticRegression"),
    "centroids": (neighbors.NearestCentroid(), "nearest centroid", "LinearDiscriminantAnalysis"),
    "bayes": (naive_bayes.GaussianNB(), "curved", "LinearDiscriminantAnalysis"),
    "bayes of counts": (naive_bayes.MultinomialNB(), "logarithms", "LogisticRegression"),
    "gaussian process": (
        gaussian_process.GaussianProcessClassifier(max_iter_predict=2, optimizer=None), "smooth function", "RandomForest",
    ),
    "dummy": (DummyClassifier(), "does not look at the columns", "LogisticRegression"),
    "quadratic": (
        discriminant_analysis.QuadraticDiscriminantAnalysis(reg_param=0.1), "quadratic", "LinearDiscriminantAnalysis",
    ),
    "curved kernel": (svm.SVC(), "kernel='rbf'", 'kernel="linear"'),
    "polynomial kernel": (svm.NuSVC(kernel="poly", nu=0.1), "kernel='poly'", "HistGradientBoostingClassifier"),
    "smooth network": (neural_network.MLPClassifier((3,), activation="tanh", max_iter=5), "activation='tanh'", "'relu'"),
    "outliers": (neighbors.LocalOutlierFactor(novelty=True), "outliers", "DecisionTreeClassifier"),
    "envelope": (covariance.EllipticEnvelope(), "outliers", "fitted on its labels"),
    "clusters": (cluster.KMeans(3, n_init=1), "groups rows", "fitted on the clusters"),
    "pairs": (multiclass.OneVsOneClassifier(LogisticRegression()), "pairs of classes", "OneVsRestClassifier"),
    "codes": (multiclass.OutputCodeClassifier(LogisticRegression(), random_state=0), "code book", "OneVsRestClassifier"),
    "values by neighbours": (neighbors.KNeighborsRegressor(3), "predicts numbers", "gradient boosting"),
    "transformer": (StandardScaler(), "predicts nothing", "make_pipeline"),
}  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_refused_with_a_reason_and_a_cure(family: str) -> None:
    model, why, cure = FAMILIES[family]
    rows = X[:, :4] - X.min() if "counts" in family else X
    with pytest.raises(UnsupportedModel) as error:
        read_model(fitted(model, rows, Y))
    message = str(error.value)
    assert type(model).__name__ in message and why in message and cure in message
    assert len(message) < 400


def test_several_labels_per_row() -> None:
    model = multioutput.MultiOutputClassifier(LogisticRegression()).fit(X, np.column_stack([Y, Y]))
    with pytest.raises(UnsupportedModel, match=r"MultiOutputClassifier.*several labels.*estimators_"):
        read_model(model)


class _Unknown:
    def predict(self, X: Any) -> Any:
        return X


class _Elsewhere:
    __module__ = "keras.models"

    def predict(self, X: Any) -> Any:
        return X


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        ("model.joblib", ("str", "load the file", "command line")),
        (pathlib.Path("model.json"), ("PosixPath", "load the file", "command line")),
        (b"model", ("bytes", "load the file")),
        (lambda x: x, ("function", "fitted object")),
        (functools.partial(max, 1), ("partial", "fitted object")),
        (DecisionTreeClassifier().predict, ("DecisionTreeClassifier.predict is a method", "object itself")),
        ({"model": DecisionTreeClassifier()}, ("dict", "holds a DecisionTreeClassifier")),
        ([1, 2], ("list", "fitted model itself")),
        (FRAME, ("DataFrame", "data=")),
        (np.zeros(3), ("ndarray", "data=")),
        (pd.Series([1.0]), ("Series", "data=")),
        (None, ("None", "fitted object")),
        (3.5, ("float", "fitted object")),
        (_Unknown(), ("_Unknown", "no reader knows this class", READABLE)),
        (_Elsewhere(), ("keras.models._Elsewhere", "ONNX")),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, tuple) else "",
)
def test_things_that_are_no_models_say_what_to_give(thing: object, words: tuple[str, ...]) -> None:
    with pytest.raises(ElbowroomError) as error:
        read_model(thing)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_a_class_is_told_to_be_fitted() -> None:
    with pytest.raises(InputError, match="DecisionTreeClassifier is a class"):
        read_model(DecisionTreeClassifier)


def test_nothing_of_an_unknown_object_is_called() -> None:
    class Trap:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} was asked for")

    assert "Trap" in refusal(Trap())


def test_outliers_and_boosted_ensembles_of_imbalanced_learn() -> None:
    ensembles = pytest.importorskip("imblearn.ensemble")
    model = ensembles.EasyEnsembleClassifier(n_estimators=2, random_state=0).fit(X, Y)
    with pytest.raises(UnsupportedModel, match=r"EasyEnsembleClassifier.*AdaBoost.*BalancedRandomForestClassifier"):
        read_model(model)
