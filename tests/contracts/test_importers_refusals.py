"""What cannot be read exactly is refused by name, with a reason and a cure."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from elbowroom.errors import ElbowroomError, InputError, UnsupportedModel
from elbowroom.importers import read_model
from tests.support.importer_cases import MODELS, fitted, one_thread, table
from tests.support.wrapper_cases import WRAPPERS

__all__ = ["one_thread"]
pytestmark = pytest.mark.usefixtures("one_thread")

FRAME, Y = table("cancer")
X = FRAME.to_numpy()


def _fit(model: Any) -> Any:
    return fitted(model, X, Y)


@pytest.mark.parametrize(
    ("model", "cure"),
    [
        (SVC(), 'kernel="linear"'),
        (KNeighborsClassifier(), "LogisticRegression"),
        (CalibratedClassifierCV(LogisticRegression(), cv=2), "ensemble=False"),
        (VotingClassifier([("a", LogisticRegression())], voting="soft"), 'voting="hard"'),
        (VotingClassifier([("a", RandomForestClassifier(3))]), 'voting="soft"'),
        (VotingClassifier([("a", KNeighborsClassifier())]), "LogisticRegression"),
        (StackingClassifier([("a", LogisticRegression())], cv=2), "decision_function"),
        (StackingClassifier([("a", DecisionTreeClassifier())], cv=2, passthrough=True), "passthrough=False"),
        (
            StackingClassifier([("a", DecisionTreeClassifier())], DecisionTreeClassifier(), cv=2),
            "linear final_estimator",
        ),
        (BaggingClassifier(LogisticRegression(), n_estimators=2), "LinearSVC"),
        (AdaBoostClassifier(RandomForestClassifier(3), n_estimators=2, random_state=0), "single trees"),
        (OneVsRestClassifier(SVC()), 'kernel="linear"'),
        (DummyClassifier(), "LogisticRegression"),
        (SVR(), "HistGradientBoostingRegressor"),
        (KNeighborsRegressor(2), "gradient boosting"),
        (StandardScaler(), "make_pipeline"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_other_classes_are_refused_by_name_with_a_cure(model: Any, cure: str) -> None:
    with pytest.raises(UnsupportedModel, match=type(model).__name__) as refusal:
        read_model(_fit(model))
    assert cure in str(refusal.value)
    if hasattr(model, "predict"):
        with pytest.raises(UnsupportedModel, match=type(model).__name__):
            read_model(_fit(make_pipeline(StandardScaler(), model)))


@pytest.mark.parametrize("thing", [None, 3, "model.joblib", object(), lambda x: x, {"a": 1}])
def test_things_that_are_no_models_are_refused(thing: object) -> None:
    with pytest.raises(UnsupportedModel, match=type(thing).__name__):
        read_model(thing)


def test_a_class_instead_of_an_object() -> None:
    with pytest.raises(InputError, match="LogisticRegression is a class"):
        read_model(LogisticRegression)


def test_a_search_without_a_model_says_how_to_keep_one() -> None:
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=2, refit=False).fit(X, Y)
    with pytest.raises(UnsupportedModel, match="refit=True"):
        read_model(search)
    with pytest.raises(InputError, match="GridSearchCV is not fitted; call fit first"):
        read_model(GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1]}))


@pytest.mark.parametrize("kind", WRAPPERS)
def test_unfitted_wrappers(kind: str) -> None:
    with pytest.raises(InputError, match="is not fitted; call fit first"):
        read_model(WRAPPERS[kind]())


@pytest.mark.parametrize("kind", MODELS)
def test_unfitted_models(kind: str) -> None:
    name = type(MODELS[kind]()).__name__
    with pytest.raises(InputError, match=f"{name} is not fitted; call fit first"):
        read_model(MODELS[kind]())
    with pytest.raises(InputError, match="StandardScaler is not fitted; call fit first"):
        read_model(make_pipeline(StandardScaler(), MODELS[kind]()))
    with pytest.raises(InputError, match=f"{name} is not fitted; call fit first"):
        read_model(make_pipeline(StandardScaler().fit(X), MODELS[kind]()))


@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_smooth_networks_are_refused_by_activation(activation: str) -> None:
    with pytest.raises(UnsupportedModel, match=f"activation='{activation}'"):
        read_model(_fit(MLPClassifier((3,), activation=activation, max_iter=5)))


def test_subclasses_with_their_own_predictions_are_refused() -> None:
    class Stubborn(LogisticRegression):
        def predict(self, X: Any) -> Any:
            return np.zeros(len(X), dtype=int)

    class Shifted(RandomForestClassifier):
        def _validate_X_predict(self, X: Any) -> Any:  # noqa: N802 - the original's name
            return super()._validate_X_predict(X + 1)

    class Mixed(LogisticRegression.__mro__[1]):  # type: ignore[misc] # the linear mixin
        def decision_function(self, X: Any) -> Any:
            return -super().decision_function(X)

    class Sneaky(LogisticRegression, Mixed):
        pass

    class Magic(DecisionTreeClassifier):
        def __getattribute__(self, name: str) -> Any:
            return super().__getattribute__(name)

    for kind, part in ((Stubborn, "predict"), (Shifted, "_validate_X_predict"), (Magic, "__getattribute__")):
        with pytest.raises(UnsupportedModel, match=f"{kind.__name__}.* with its own '{part}'"):
            read_model(_fit(kind()))
    with pytest.raises(UnsupportedModel, match=r"Sneaky.* with its own 'decision_function'"):
        read_model(_fit(Sneaky()))


def test_a_subclass_that_predicts_the_same_is_read() -> None:
    class Documented(LogisticRegression):
        """The same with a better fit."""

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            return super().fit(X, y, sample_weight)

        def summary(self) -> str:
            return "coefficients"

    assert "Documented" in read_model(_fit(Documented(max_iter=200))).info.source


def test_predict_replaced_on_the_object_is_refused() -> None:
    model = _fit(DecisionTreeClassifier())
    model.predict = lambda X: np.zeros(len(X))
    with pytest.raises(UnsupportedModel, match="own 'predict'"):
        read_model(model)


def test_several_outputs_are_refused() -> None:
    many = np.column_stack([Y, 1 - Y])
    for model in (
        DecisionTreeClassifier(),
        RandomForestClassifier(2),
        RidgeClassifier(),
        MLPClassifier((2,), max_iter=3),
    ):
        with pytest.raises(UnsupportedModel, match=f"{type(model).__name__} predicts several outputs"):
            read_model(fitted(model, X, many))


@pytest.mark.parametrize(
    "kind", ["logistic", "ridge", "network", "gradient boosting", "histogram boosting", "decision tree"]
)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(kind: str, bad: float) -> None:
    model = _fit(MODELS[kind]())
    if kind == "network":
        model.coefs_[1][0, 0] = bad
        place = r"coefs_\[1\]\[0, 0\]"
    elif kind == "decision tree":
        model.tree_.value[0] = bad
        place = r"tree_.value"
    elif kind == "gradient boosting":
        model.estimators_[2, 0].tree_.value[1] = bad
        place = r"tree_.value\[1, 0, 0\]"
    elif kind == "histogram boosting":
        model._baseline_prediction = np.array([[bad]])
        place = "_baseline_prediction"
    else:
        model.coef_ = np.array(model.coef_)
        model.coef_.reshape(-1)[3] = bad
        place = "coef_"
    with pytest.raises(UnsupportedModel, match=place):
        read_model(model)


def test_boosting_that_starts_from_another_model() -> None:
    with pytest.raises(UnsupportedModel, match="init=LogisticRegression"):
        read_model(_fit(GradientBoostingClassifier(n_estimators=2, init=LogisticRegression(max_iter=50))))
    with pytest.raises(UnsupportedModel, match="stratified"):
        read_model(_fit(GradientBoostingClassifier(n_estimators=2, init=DummyClassifier(strategy="stratified"))))


class _OwnScaler(StandardScaler):
    def transform(self, X: Any, copy: Any = None) -> Any:
        return np.square(super().transform(X, copy))


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (MinMaxScaler(clip=True), r"MinMaxScaler\(clip=True\)"),
        (PolynomialFeatures(), "PolynomialFeatures"),
        (Normalizer(), "Normalizer"),
        (FeatureUnion([("a", Normalizer())]), "Normalizer"),
        (FunctionTransformer(np.abs), "FunctionTransformer"),
        (_OwnScaler(), "_OwnScaler.* with its own 'transform'"),
        (ColumnTransformer([("a", PolynomialFeatures(), [0, 1])]), "PolynomialFeatures"),
        (make_pipeline(StandardScaler(), Normalizer()), "Normalizer"),
        (ColumnTransformer([("a", StandardScaler(), [0])], transformer_weights={"a": 2.0}), "transformer_weights"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_other_steps_are_refused_by_name(step: Any, words: str) -> None:
    for model in (DecisionTreeClassifier(max_depth=2), LogisticRegression()):
        with pytest.raises(UnsupportedModel, match=words):
            read_model(_fit(make_pipeline(step, model)))


def test_a_clipping_scaler_by_largest_value_is_refused() -> None:
    try:
        scaler = MaxAbsScaler(clip=True)
    except TypeError:
        pytest.skip("this scikit-learn has no MaxAbsScaler(clip=...)")
    with pytest.raises(UnsupportedModel, match=r"MaxAbsScaler\(clip=True\)"):
        read_model(_fit(make_pipeline(scaler, LogisticRegression())))


def test_pipelines_without_a_classifier_are_refused() -> None:
    with pytest.raises(UnsupportedModel, match="classifier"):
        read_model(_fit(make_pipeline(StandardScaler(), "passthrough")))
    with pytest.raises(UnsupportedModel, match="StandardScaler"):
        read_model(_fit(make_pipeline(StandardScaler())))


def test_scalers_that_turn_or_flatten_the_axis_are_refused() -> None:
    for value in (-1.0, 0.0, np.nan, 1e-200):
        model = _fit(make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)))
        model[0].scale_[2] = value
        with pytest.raises(UnsupportedModel, match=r"StandardScaler.scale_\[2\]"):
            read_model(model)


def test_names_of_the_wrong_number_or_order() -> None:
    model = _fit(DecisionTreeClassifier(max_depth=2))
    with pytest.raises(InputError, match="3 names for a model with 8 columns"):
        read_model(model, ["a", "b", "c"])
    with pytest.raises(InputError, match="one name per column"):
        read_model(model, "abcdefgh")
    named = fitted(DecisionTreeClassifier(max_depth=2), FRAME, Y)
    with pytest.raises(InputError, match=f"column 0: the given name {FRAME.columns[7]!r}"):
        read_model(named, list(FRAME.columns[::-1]))


def test_data_of_the_wrong_shape() -> None:
    model = fitted(DecisionTreeClassifier(max_depth=2), FRAME, Y)
    with pytest.raises(InputError, match="data has 5 columns, the model has 8"):
        read_model(model, data=X[:, :5])
    with pytest.raises(InputError, match="data lacks the columns"):
        read_model(model, data=FRAME.iloc[:, :5])
    with pytest.raises(InputError, match="table of numbers"):
        read_model(model, data=[["a"] * 8])


@pytest.mark.parametrize("part", ["n_features_in_", "coef_", "coefs_", "intercepts_", "tree_"])
def test_objects_whose_parts_do_not_fit_together_are_refused(part: str) -> None:
    """As a damaged file leaves them: the error of whatever fails first says little, so ours says what it means."""
    match part:
        case "n_features_in_" | "coef_":
            model = _fit(LogisticRegression())
            model.__dict__[part] = 3 if part == "n_features_in_" else model.coef_[:, :3]
        case "coefs_" | "intercepts_":
            model = _fit(MLPClassifier((4,), max_iter=5))
            model.__dict__[part] = model.__dict__[part][:1]
        case _:
            model = _fit(DecisionTreeClassifier(max_depth=2))
            state = model.tree_.__getstate__()
            state["nodes"]["feature"][0] = 1 << 24
            model.tree_.__setstate__(state)
    with pytest.raises(ElbowroomError, match=r"do not fit together|own predict refuses|the model sees"):
        read_model(model)


def test_no_warning_reaches_the_user() -> None:
    model = fitted(Pipeline([("scale", StandardScaler()), ("tree", RandomForestClassifier(3))]), FRAME, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_model(model)
        read_model(model, data=FRAME)
