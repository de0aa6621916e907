"""Which class is read by which function. A new library is one file and its lines here.

Every module named here offers ``columns(model) -> Columns`` and the reading functions, each of the form
``read(model, preprocessing) -> Model``; containers such as pipelines are unfolded first. A module is imported only when
one of its models is read.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.recognise import find_known, key_of, refuse_overrides
from elbowroom.importers.refusals import REFUSED, refusal
from elbowroom.models.base import Model
from elbowroom.problem.labels import Category

Known: TypeAlias = Mapping[str, tuple[Category, ...]]  # categories of raw columns, by name


@dataclass(frozen=True)
class Entry:
    """Where a class is read: a module of this package and the function in it. What subclasses ``may`` replace is read, too."""

    module: str
    function: str
    may: frozenset[str] = frozenset()

    def _attribute(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(importlib.import_module(f"elbowroom.importers.{self.module}"), name)
        return found

    def read(self, model: object, preprocessing: Preprocessing) -> Model:
        parsed: Model = self._attribute(self.function)(model, preprocessing)
        return parsed

    def unfold(self, model: object, preprocessing: Preprocessing) -> tuple[object, Preprocessing]:
        inner, longer = self._attribute(self.function)(model, preprocessing)
        return inner, longer

    def columns(self, model: object, known: Known) -> Columns:
        """What the model takes; ``known`` are the categories that the caller's table holds, for libraries that do not
        keep their own."""
        ask = self._attribute("columns")
        found: Columns = ask(model, known) if "known" in inspect.signature(ask).parameters else ask(model)
        return found

    def codes(self, model: object) -> Mapping[int, Mapping[Category, float]]:
        """The library's own codes of categories, column by column, where they are not the positions."""
        ask = self._optional("codes")
        return {} if ask is None else ask(model)

    def categorical(self, model: object) -> tuple[int, ...]:
        """Positions of columns that the model takes for categories, where a table cannot tell: they may be whole numbers."""
        ask = self._optional("categorical")
        return () if ask is None else ask(model)

    @property
    def predict(self) -> Callable[[Any, Any], Any] | None:
        """How to ask a model without a ``predict`` of its own for labels."""
        return self._optional("predict")

    @property
    def raw_scores(self) -> Callable[[Any, Any], Any] | None:
        """How to ask a model for scores that are comparable with those of the parsed copy."""
        return self._optional("raw_scores")

    def _optional(self, name: str) -> Callable[..., Any] | None:
        module = importlib.import_module(f"elbowroom.importers.{self.module}")
        found: Callable[..., Any] | None = getattr(module, name, None)
        return found


_LINEAR = Entry("sklearn_linear", "read_linear")
_FOREST = Entry("sklearn_trees", "read_forest")
_TREE = Entry("sklearn_trees", "read_tree")
_LINEAR_VALUES = Entry("sklearn_regression", "read_linear")
_GENERALIZED = Entry("sklearn_regression", "read_generalized")
# Torch modules have a forward each; the importer refuses every other way to change what a call computes.
_TORCH = Entry(
    "torch_network",
    "read_module",
    frozenset({"forward", "extra_repr", "reset_parameters", "_get_name", "_version", "__constants__", "__setstate__"})
    | {"_load_from_state_dict", "_save_to_state_dict", "train", "eval", "__dir__", "__len__"},
)
_WRAPPER = Entry("sklearn_search", "unfold_wrapper")
_KERAS = Entry("keras_network", "read_model", frozenset({"build", "quantize"}))  # which keras wraps on every object

READERS: dict[tuple[str, str], Entry] = {
    ("sklearn", "LogisticRegression"): Entry("sklearn_linear", "read_logistic"),
    ("sklearn", "LogisticRegressionCV"): Entry("sklearn_linear", "read_logistic"),
    ("sklearn", "SGDClassifier"): Entry("sklearn_linear", "read_stochastic_gradient"),
    ("sklearn", "LinearDiscriminantAnalysis"): Entry("sklearn_linear", "read_discriminant"),
    ("sklearn", "LinearSVC"): _LINEAR,
    ("sklearn", "RidgeClassifier"): Entry("sklearn_linear", "read_ridge"),
    ("sklearn", "RidgeClassifierCV"): Entry("sklearn_linear", "read_ridge"),
    ("sklearn", "Perceptron"): _LINEAR,
    ("sklearn", "PassiveAggressiveClassifier"): _LINEAR,
    ("sklearn", "DecisionTreeClassifier"): _TREE,
    ("sklearn", "ExtraTreeClassifier"): _TREE,
    ("sklearn", "RandomForestClassifier"): _FOREST,
    ("sklearn", "ExtraTreesClassifier"): _FOREST,
    ("sklearn", "IsolationForest"): Entry("sklearn_isolation", "read_isolation"),
    ("sklearn", "GradientBoostingClassifier"): Entry("sklearn_boosting", "read_gradient_boosting"),
    ("sklearn", "HistGradientBoostingClassifier"): Entry("sklearn_histogram", "read_histogram_boosting"),
    ("sklearn", "MLPClassifier"): Entry("sklearn_network", "read_network"),
    ("xgboost", "XGBClassifier"): Entry("xgboost_models", "read_classifier"),
    ("xgboost", "XGBRFClassifier"): Entry("xgboost_models", "read_classifier"),
    ("xgboost", "XGBRegressor"): Entry("xgboost_models", "read_regressor"),
    ("xgboost", "XGBRFRegressor"): Entry("xgboost_models", "read_regressor"),
    ("xgboost", "Booster"): Entry("xgboost_models", "read_booster"),
    ("elbowroom", "XGBoostFile"): Entry("xgboost_files", "read_file"),
    ("sklearn", "SVC"): Entry("sklearn_vectors", "read_vectors"),
    ("sklearn", "NuSVC"): Entry("sklearn_vectors", "read_vectors"),
    ("sklearn", "SVR"): Entry("sklearn_vectors", "read_vector_regressor"),
    ("sklearn", "NuSVR"): Entry("sklearn_vectors", "read_vector_regressor"),
    ("sklearn", "FixedThresholdClassifier"): Entry("sklearn_thresholds", "read_fixed_threshold"),
    ("sklearn", "TunedThresholdClassifierCV"): Entry("sklearn_thresholds", "read_tuned_threshold"),
    ("sklearn", "OneVsRestClassifier"): Entry("sklearn_one_vs_rest", "read_one_vs_rest"),
    ("sklearn", "BaggingClassifier"): Entry("sklearn_bagging", "read_bagging"),
    ("sklearn", "AdaBoostClassifier"): Entry("sklearn_adaboost", "read_adaboost"),
    ("sklearn", "VotingClassifier"): Entry("sklearn_voting", "read_voting"),
    ("sklearn", "CalibratedClassifierCV"): Entry("sklearn_calibrated", "read_calibrated"),
    ("sklearn", "StackingClassifier"): Entry("sklearn_stacking", "read_stacking"),
    ("imblearn", "BalancedRandomForestClassifier"): _FOREST,
    ("imblearn", "BalancedBaggingClassifier"): Entry("sklearn_bagging", "read_bagging"),
    ("imblearn", "RUSBoostClassifier"): Entry("sklearn_adaboost", "read_adaboost"),
    ("obliquetree", "Classifier"): Entry("obliquetree_trees", "read_classifier"),
    ("sklearn", "LinearRegression"): _LINEAR_VALUES,
    ("sklearn", "Ridge"): _LINEAR_VALUES,
    ("sklearn", "RidgeCV"): _LINEAR_VALUES,
    ("sklearn", "Lasso"): _LINEAR_VALUES,
    ("sklearn", "LassoCV"): _LINEAR_VALUES,
    ("sklearn", "ElasticNet"): _LINEAR_VALUES,
    ("sklearn", "ElasticNetCV"): _LINEAR_VALUES,
    ("sklearn", "Lars"): _LINEAR_VALUES,
    ("sklearn", "SGDRegressor"): _LINEAR_VALUES,
    ("sklearn", "PassiveAggressiveRegressor"): _LINEAR_VALUES,
    ("sklearn", "LinearSVR"): _LINEAR_VALUES,
    ("sklearn", "HuberRegressor"): _LINEAR_VALUES,
    ("sklearn", "TheilSenRegressor"): _LINEAR_VALUES,
    ("sklearn", "QuantileRegressor"): _LINEAR_VALUES,
    ("sklearn", "BayesianRidge"): _LINEAR_VALUES,
    ("sklearn", "ARDRegression"): _LINEAR_VALUES,
    ("sklearn", "OrthogonalMatchingPursuit"): _LINEAR_VALUES,
    ("sklearn", "PoissonRegressor"): _GENERALIZED,
    ("sklearn", "GammaRegressor"): _GENERALIZED,
    ("sklearn", "TweedieRegressor"): _GENERALIZED,
    ("sklearn", "DecisionTreeRegressor"): Entry("sklearn_regression", "read_tree"),
    ("sklearn", "ExtraTreeRegressor"): Entry("sklearn_regression", "read_tree"),
    ("sklearn", "RandomForestRegressor"): Entry("sklearn_regression", "read_forest"),
    ("sklearn", "ExtraTreesRegressor"): Entry("sklearn_regression", "read_forest"),
    ("sklearn", "GradientBoostingRegressor"): Entry("sklearn_regression", "read_gradient_boosting"),
    ("sklearn", "HistGradientBoostingRegressor"): Entry("sklearn_histogram", "read_histogram_regressor"),
    ("sklearn", "MLPRegressor"): Entry("sklearn_regression", "read_network"),
    ("sklearn", "BaggingRegressor"): Entry("sklearn_value_ensembles", "read_bagging"),
    ("sklearn", "VotingRegressor"): Entry("sklearn_value_ensembles", "read_voting"),
    ("sklearn", "StackingRegressor"): Entry("sklearn_value_ensembles", "read_stacking"),
    ("sklearn", "TransformedTargetRegressor"): Entry("sklearn_transformed", "read_transformed"),
    ("lightgbm", "LGBMClassifier"): Entry("lightgbm_trees", "read_classifier"),
    ("lightgbm", "LGBMRegressor"): Entry("lightgbm_trees", "read_regressor"),
    ("lightgbm", "Booster"): Entry("lightgbm_trees", "read_booster"),
    ("elbowroom", "LightGBMFile"): Entry("lightgbm_trees", "read_booster"),
    ("catboost", "CatBoostClassifier"): Entry("catboost_trees", "read_classifier"),
    ("catboost", "CatBoost"): Entry("catboost_trees", "read_classifier"),
    ("catboost", "CatBoostRegressor"): Entry("catboost_regression", "read_regressor"),
    ("elbowroom", "CatBoostFile"): Entry("catboost_file", "read_file"),
    ("torch", "Sequential"): _TORCH,
    ("torch", "Module"): _TORCH,
    ("keras", "Sequential"): _KERAS,
    ("keras", "Functional"): _KERAS,
    ("keras", "Model"): _KERAS,
    ("onnx", "ModelProto"): Entry("onnx_model", "read_onnx"),
    ("onnxruntime", "InferenceSession"): Entry("onnx_model", "read_onnx"),
    ("elbowroom", "OnnxFile"): Entry("onnx_model", "read_onnx"),
}

# Containers: ``unfold(model, preprocessing) -> (inner model, longer preprocessing)``.
UNFOLDERS: dict[tuple[str, str], Entry] = {
    ("sklearn", "Pipeline"): Entry("sklearn_pipeline", "unfold_pipeline"),
    ("imblearn", "Pipeline"): Entry("sklearn_pipeline", "unfold_pipeline"),
    ("sklearn", "GridSearchCV"): _WRAPPER,
    ("sklearn", "RandomizedSearchCV"): _WRAPPER,
    ("sklearn", "HalvingGridSearchCV"): _WRAPPER,
    ("sklearn", "HalvingRandomSearchCV"): _WRAPPER,
    ("sklearn", "FrozenEstimator"): _WRAPPER,
    ("sklearn", "SelfTrainingClassifier"): _WRAPPER,
    ("sklearn", "RFE"): Entry("sklearn_search", "unfold_elimination"),
    ("sklearn", "RFECV"): Entry("sklearn_search", "unfold_elimination"),
}


def supported_models() -> tuple[str, ...]:
    """Names of all classes that can be read."""
    return tuple(name for _, name in (*READERS, *UNFOLDERS))


def reader_of(model: object) -> Entry:
    """The reader of a model, by its class or the known class it inherits from without overriding anything."""
    known = find_known(model, READERS.keys() | REFUSED.keys())
    if known is None or key_of(known) in REFUSED:
        raise UnsupportedModel(refusal(model))
    entry = READERS[key_of(known)]
    refuse_overrides(model, known, entry.may)
    return entry


def unfolder_of(model: object) -> Entry | None:
    """The unfolder of a container, or None if the object is not a container."""
    known = find_known(model, UNFOLDERS)
    if known is None:
        return None
    refuse_overrides(model, known)
    return UNFOLDERS[key_of(known)]


def entry_of(model: object) -> Entry:
    """Who is asked first: the unfolder of a container, else the reader of a model."""
    return unfolder_of(model) or reader_of(model)


def columns_of(model: object, known: Known) -> Columns:
    """What the outermost original expects as input."""
    return entry_of(model).columns(model, known)


def categorical_of(model: object) -> tuple[int, ...]:
    """Positions of raw columns that the outermost original takes for categories although they may look like numbers."""
    return entry_of(model).categorical(model)


def unfold(model: object, preprocessing: Preprocessing) -> tuple[object, Preprocessing]:
    """The model at the heart of all containers, with everything in front of it."""
    while (container := unfolder_of(model)) is not None:
        model, preprocessing = container.unfold(model, preprocessing)
    return model, preprocessing
