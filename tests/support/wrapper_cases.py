"""Small fitted ensembles of parts and wrappers of every kind that can be read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import sklearn
import sklearn.model_selection as selection
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - makes the halving searches importable
from sklearn.feature_selection import RFE, RFECV
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from tests.support.importer_cases import fitted, preprocessing, relabelled, table

try:
    from imblearn.ensemble import BalancedBaggingClassifier, BalancedRandomForestClassifier, RUSBoostClassifier
    from imblearn.over_sampling import RandomOverSampler
    from imblearn.pipeline import make_pipeline as sampling_pipeline
except ImportError:
    RandomOverSampler = None

Make = Callable[[], Any]
# Releases before 1.6 add up logarithms unless told otherwise; later ones only know SAMME.
SAMME: dict[str, Any] = {"algorithm": "SAMME"} if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 6) else {}


def tree(depth: int | None = 4) -> Any:
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def forest(size: int = 9, depth: int | None = 4) -> Any:
    return RandomForestClassifier(size, max_depth=depth, random_state=0)


def linear() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression())


def svm() -> Any:
    return make_pipeline(StandardScaler(), LinearSVC(random_state=0))


# Sums over trees: labels are compared on every row.
OF_TREES: dict[str, Make] = {
    "grid search": lambda: GridSearchCV(tree(), {"max_depth": [2, 3]}, cv=2),
    "random search": lambda: RandomizedSearchCV(tree(), {"max_depth": [2, 3]}, n_iter=2, cv=2, random_state=0),
    "halving search": lambda: selection.HalvingGridSearchCV(tree(), {"max_depth": [2, 3]}, cv=2, random_state=0),
    "elimination": lambda: RFE(forest(5), n_features_to_select=3),
    "elimination, searched": lambda: RFECV(tree(), cv=2, min_features_to_select=2),
    "self training": lambda: SelfTrainingClassifier(tree()),
    "bagging": lambda: BaggingClassifier(tree(), 7, max_features=0.5, random_state=0),
    "bagging, threads": lambda: BaggingClassifier(tree(), 7, random_state=0, n_jobs=2),
    "bagging of forests": lambda: BaggingClassifier(forest(3), 3, random_state=0),
    "bagging of pipelines": lambda: BaggingClassifier(
        make_pipeline(StandardScaler(), tree()), 3, max_features=0.6, random_state=0
    ),
    "adaboost": lambda: AdaBoostClassifier(tree(2), n_estimators=9, random_state=0, **SAMME),
    "soft voting": lambda: VotingClassifier([("a", tree()), ("b", forest()), ("c", tree(2))], voting="soft"),
    "soft voting, weighed": lambda: VotingClassifier(
        [("a", tree()), ("b", make_pipeline(MinMaxScaler(), tree(3)))], voting="soft", weights=[2, 1]
    ),
    "soft voting, nested": lambda: VotingClassifier(
        [("a", VotingClassifier([("b", tree(2)), ("c", forest(4))], voting="soft")), ("d", forest(3))],
        voting="soft",
        weights=[0.3, 0.7],
    ),
    "hard voting": lambda: VotingClassifier(
        [("a", tree()), ("b", tree(2)), ("c", make_pipeline(MinMaxScaler(), tree(1)))]
    ),
    "hard voting, weighed": lambda: VotingClassifier(
        [("a", tree()), ("b", tree(2)), ("c", tree(1))], weights=[1, 2, 1]
    ),
    "one vs rest of trees": lambda: OneVsRestClassifier(tree(3)),
    "one vs rest of forests": lambda: OneVsRestClassifier(forest(5, 3)),
    "one vs rest of boosting": lambda: OneVsRestClassifier(GradientBoostingClassifier(n_estimators=4, random_state=0)),
    "one vs rest of histograms": lambda: OneVsRestClassifier(
        HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5, random_state=0)
    ),
    "calibrated trees": lambda: CalibratedClassifierCV(tree(), cv=3),
    "calibrated trees, isotonic": lambda: CalibratedClassifierCV(tree(), cv=3, method="isotonic"),
    "calibrated forest": lambda: CalibratedClassifierCV(forest(), cv=2, ensemble=False),
    "calibrated boosting": lambda: CalibratedClassifierCV(
        GradientBoostingClassifier(n_estimators=5, random_state=0), cv=2, ensemble=False
    ),
    "stacked trees": lambda: StackingClassifier([("a", tree()), ("b", forest())], cv=2),
}
# Hyperplanes: rows within rounding of one are left open.
OF_PLANES: dict[str, Make] = {
    "svc": lambda: SVC(kernel="linear"),
    "nu svc": lambda: NuSVC(kernel="linear", nu=0.2),
    "one vs rest": lambda: OneVsRestClassifier(linear()),
    "bagging of linear": lambda: BaggingClassifier(svm(), 5, max_features=0.7, random_state=0),
    "adaboost of linear": lambda: AdaBoostClassifier(
        LogisticRegression(max_iter=50), n_estimators=3, random_state=0, **SAMME
    ),
    "hard voting of linear": lambda: VotingClassifier([("a", linear()), ("b", svm()), ("c", RidgeClassifier())]),
    "hard voting, mixed": lambda: VotingClassifier([("a", linear()), ("b", tree(2)), ("c", RidgeClassifier())]),
    "stacked linear": lambda: StackingClassifier([("a", svm()), ("b", RidgeClassifier())], cv=2, passthrough=True),
}
# Two classes alone.
BINARY_OF_TREES: dict[str, Make] = {
    "calibrated forest, isotonic": lambda: CalibratedClassifierCV(forest(), cv=2, ensemble=False, method="isotonic"),
}
BINARY_OF_PLANES: dict[str, Make] = {
    "calibrated linear": lambda: CalibratedClassifierCV(svm(), cv=2, ensemble=False),
    "calibrated linear, isotonic": lambda: CalibratedClassifierCV(svm(), cv=2, ensemble=False, method="isotonic"),
}
if hasattr(selection, "FixedThresholdClassifier"):
    Fixed = selection.FixedThresholdClassifier
    BINARY_OF_TREES |= {
        "threshold, exact forest": lambda: Fixed(forest(10, None), threshold=0.7),
        "threshold, forest": lambda: Fixed(forest(10, 3), threshold=0.3),
        "threshold, tree": lambda: Fixed(tree(3), threshold=0.25),
        "threshold, boosting": lambda: Fixed(GradientBoostingClassifier(n_estimators=9, random_state=0), threshold=0.6),
        "threshold, histograms": lambda: Fixed(
            HistGradientBoostingClassifier(max_iter=5), threshold=0.1, response_method="decision_function"
        ),
        "threshold, first class": lambda: Fixed(forest(10, None), threshold=0.3, pos_label="approved"),
        "threshold, first class, histograms": lambda: Fixed(
            HistGradientBoostingClassifier(max_iter=5), threshold=0.6, pos_label="approved"
        ),
        "tuned threshold": lambda: selection.TunedThresholdClassifierCV(forest(), cv=2),
    }
    BINARY_OF_PLANES |= {
        "threshold, logistic": lambda: Fixed(linear(), threshold=0.8),
        "threshold, score": lambda: Fixed(svm(), threshold=-0.4),
        "threshold, first class, score": lambda: Fixed(svm(), threshold=0.3, pos_label="approved"),
        "hard voting with thresholds": lambda: VotingClassifier(
            [("a", Fixed(linear(), threshold=0.7, pos_label=0)), ("b", Fixed(tree(3), threshold=0.2)), ("c", svm())]
        ),
    }
try:
    CalibratedClassifierCV(tree(), method="temperature").fit(np.eye(20)[:, :2], np.arange(20) % 2)
except ValueError:
    pass
else:
    OF_TREES["calibrated forest, temperature"] = lambda: CalibratedClassifierCV(
        forest(), cv=2, ensemble=False, method="temperature"
    )
    OF_TREES["calibrated trees, temperature"] = lambda: CalibratedClassifierCV(tree(), cv=3, method="temperature")
    OF_PLANES["calibrated linear, temperature"] = lambda: CalibratedClassifierCV(
        linear(), cv=2, ensemble=False, method="temperature"
    )
if RandomOverSampler is not None:
    OF_TREES |= {
        "sampling pipeline": lambda: sampling_pipeline(StandardScaler(), RandomOverSampler(random_state=0), forest()),
        "balanced forest": lambda: BalancedRandomForestClassifier(9, max_depth=4, random_state=0),
        "balanced bagging": lambda: BalancedBaggingClassifier(tree(), n_estimators=5, random_state=0),
        "undersampled boosting": lambda: RUSBoostClassifier(n_estimators=5, random_state=0, **SAMME),
    }
WRAPPERS = {**OF_TREES, **OF_PLANES, **BINARY_OF_TREES, **BINARY_OF_PLANES}
TREES = {**OF_TREES, **BINARY_OF_TREES}
CASES = [(kind, "cancer") for kind in WRAPPERS] + [(kind, "iris") for kind in (*OF_TREES, *OF_PLANES)]


@cache
def fitted_wrapper(kind: str, data: str, piped: bool) -> tuple[Any, pd.DataFrame]:
    """One fitted wrapper and its training rows; no test may change it."""
    frame, y = table(data)
    model, labels = WRAPPERS[kind](), "1/2" if kind == "self training" else "strings"  # which takes no text
    if piped:
        model = Pipeline([("columns", preprocessing(frame)), ("model", model)])
        return fitted(model, frame, relabelled(y, labels)), frame
    return fitted(model, frame.to_numpy(), relabelled(y, labels)), frame


__all__ = ["CASES", "TREES", "WRAPPERS", "fitted_wrapper", "forest", "linear", "svm", "tree"]
