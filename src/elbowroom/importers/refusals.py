"""What cannot be read exactly: why, and what to use instead, family by family.

A class is recognised by its package and name, or by the kind of estimator that it declares itself to be; nothing of the
object is called. Every message names the class.
"""

from __future__ import annotations

import inspect
import os
from typing import Any, Final

READABLE: Final = (
    "Readable are linear models, trees, forests, gradient boosting and ReLU networks, each alone, behind a Pipeline, in a "
    "search such as GridSearchCV, and in the ensembles whose label is a sum of their parts' (see docs/how-it-works.md)"
)
_SMOOTH = "use LogisticRegression, RandomForestClassifier or HistGradientBoostingClassifier"

_NEIGHBOURS = ("its label is a vote among stored rows, one piece of space for every set of neighbours", _SMOOTH)
_BAYES = (
    "its scores are sums of logarithms and squares of the columns, whose boundary is curved",
    "use LogisticRegression or LinearDiscriminantAnalysis, which share the idea with straight boundaries",
)
_PROCESS = ("its score is a smooth function of the distances to all training rows", _SMOOTH)
_DUMMY = ("it does not look at the columns, so no change of a row changes its label", _SMOOTH)
_QUADRATIC = ("its scores are quadratic in the columns", "use LinearDiscriminantAnalysis, whose scores are linear")
_SEVERAL = ("it predicts several labels per row", "explain one of the models in its estimators_ at a time")
_PAIRS = (
    "it adds confidences of pairs of classes, squeezed by x / (3 (|x| + 1)), to their votes",
    "use OneVsRestClassifier, or a model that takes several classes by itself",
)
_CODES = ("its label is the nearest row of a code book of scores", "use OneVsRestClassifier instead")
_EASY = (
    "it averages probabilities of AdaBoost models, each a logistic function of a sum",
    "use BalancedRandomForestClassifier or BalancedBaggingClassifier",
)

# (package, class) -> (why, cure)
REFUSED: Final[dict[tuple[str, str], tuple[str, str]]] = {
    **{("sklearn", name): _NEIGHBOURS for name in ("KNeighborsClassifier", "RadiusNeighborsClassifier")},
    ("sklearn", "NearestCentroid"): (
        "its label is the nearest centroid, by a distance",
        "use LinearDiscriminantAnalysis, whose boundaries between centroids are straight",
    ),
    **{("sklearn", name): _BAYES for name in ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB")},
    ("sklearn", "CategoricalNB"): _BAYES,
    ("sklearn", "GaussianProcessClassifier"): _PROCESS,
    **{("sklearn", name): _PROCESS for name in ("LabelPropagation", "LabelSpreading")},
    ("sklearn", "DummyClassifier"): _DUMMY,
    ("sklearn", "QuadraticDiscriminantAnalysis"): _QUADRATIC,
    **{("sklearn", name): _SEVERAL for name in ("MultiOutputClassifier", "ClassifierChain")},
    ("sklearn", "OneVsOneClassifier"): _PAIRS,
    ("sklearn", "OutputCodeClassifier"): _CODES,
    ("imblearn", "EasyEnsembleClassifier"): _EASY,
}

# Kinds that scikit-learn and its relatives declare by a mixin; the first that fits counts.
_KINDS: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "OutlierMixin",
        "it tells outliers from usual rows, by depths or distances",
        "explain a classifier that was fitted on its labels, such as DecisionTreeClassifier",
    ),
    (
        "ClusterMixin",
        "it groups rows and predicts no classes that were learned from labels",
        "explain a classifier that was fitted on the clusters, such as DecisionTreeClassifier",
    ),
)

# Top-level packages of models that no reader knows: how they get in.
_PACKAGES: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("keras", "tensorflow", "jax", "flax", "mxnet", "paddle"),
        "export a network of dense and ReLU layers to ONNX and load the file with onnx, or rebuild it as torch.nn.Sequential",
    ),
    "statsmodels": "fit LogisticRegression(penalty=None), which has the same coefficients",
    "pyspark": "export the model to ONNX, or fit it with scikit-learn or XGBoost",
    "h2o": "export the trees, or fit the model with scikit-learn, XGBoost or LightGBM",
    "cuml": "convert the model with its as_sklearn()",
    "autogluon": "fit one of its inner models alone, with LightGBM, XGBoost or CatBoost",
    "interpret": "fit HistGradientBoostingClassifier(interaction_cst='no_interactions') instead",
}


def refusal(model: object) -> str:
    """Why this object is not read, and what to give instead."""
    return _no_model(model) or _by_class(model) or _by_kind(model) or _unknown(model)


def _named(model: object) -> str:
    return f"{type(model).__module__}.{type(model).__qualname__}"


def _no_model(model: object) -> str | None:
    """Things that are no fitted models at all, by what they are."""
    kind = type(model).__name__
    if isinstance(model, str | bytes | os.PathLike):
        return (
            f"{model!r} is a {kind}, not a model; load the file first (joblib.load, skops.io.load, Booster.load_model) and give "
            "the object, or use the command line, which takes paths"
        )
    if inspect.ismethod(model):
        owner = type(model.__self__).__name__
        return (
            f"{owner}.{model.__name__} is a {kind}; give the {owner} object itself: its inside is read, not its answers"
        )
    if inspect.isroutine(model) or kind == "partial":
        return (
            f"{getattr(model, '__name__', 'this')} is a {kind}; a promise about all points needs the inside of a model, which "
            "a function does not show: give the fitted object that it calls"
        )
    if isinstance(model, dict | list | tuple | set):
        inside = _found_inside(model)
        place = (
            f"; it holds a {type(inside).__name__}: give that"
            if inside is not None
            else "; give the fitted model itself"
        )
        return f"this is a {kind}, not a model{place}"
    if kind in ("ndarray", "DataFrame", "Series"):
        return f"this is a {kind}: numbers and no model; give the fitted model first, and data as data="
    if model is None or isinstance(model, int | float | complex):
        return f"{model!r} is a {kind}, not a model; give a fitted object. {READABLE}"
    return None


def _found_inside(model: Any) -> object | None:
    values = model.values() if isinstance(model, dict) else model
    return next((value for value in values if hasattr(type(value), "predict")), None)


def _by_class(model: object) -> str | None:
    for cls in type(model).__mro__:
        package = cls.__module__.partition(".")[0]
        if (package, cls.__name__) in REFUSED:
            why, cure = REFUSED[package, cls.__name__]
            return f"{_named(model)} cannot be read exactly: {why}; {cure}"
        if package in _PACKAGES:
            return f"{_named(model)} cannot be read: no reader knows {package}; {_PACKAGES[package]}"
    return None


def _by_kind(model: object) -> str | None:
    bases = {cls.__name__ for cls in type(model).__mro__}
    for mixin, why, cure in _KINDS:
        if mixin in bases:
            return f"{_named(model)} cannot be read: {why}; {cure}"
    if "RegressorMixin" in bases:
        return _regressor(model)
    if not hasattr(type(model), "predict") and hasattr(type(model), "transform"):
        return (
            f"{_named(model)} transforms rows and predicts nothing; put it in front of a classifier: "
            "make_pipeline(transformer, classifier)"
        )
    return None


def _regressor(model: object) -> str:
    """A regressor that no reader takes."""
    return (
        f"{_named(model)} predicts numbers by a rule that cannot be read exactly; use a linear model, a tree, a forest or "
        "gradient boosting, or a classifier of 'above the limit or not' such as LogisticRegression"
    )


def _unknown(model: object) -> str:
    return f"{_named(model)} cannot be read exactly: no reader knows this class. {READABLE}"
