"""Pipelines as people build them: words behind PCA, gaps filled before bins and components, columns that a part drops.

Every region is attacked through the pipeline's own predict on raw rows, with the gaps of the row that was asked about.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Explainer, Region, Target, UnsupportedModel
from elbowroom.importers import open_model, read_model
from tests.support.hostile import attack

rng = np.random.default_rng(3)
N = 200
FULL = pd.DataFrame(
    {
        "age": rng.uniform(18.0, 70.0, N),
        "income": rng.lognormal(3, 0.6, N),
        "housing": rng.choice(["own", "rent", "free"], N, p=[0.5, 0.3, 0.2]),
        "note": rng.choice(["x", "y"], N),
    }
)
SCORE = np.log(FULL.income) + (FULL.housing == "own") * 0.7 + FULL.age / 60 + rng.normal(0, 0.2, N)
Y = np.where(SCORE > SCORE.median(), "yes", "no")
HOLES = FULL.assign(income=FULL.income.where(np.arange(N) % 6 > 0), age=FULL.age.where(np.arange(N) % 11 > 0))
NUMBERS = ["age", "income"]


def _filled(*steps: Any) -> Any:
    return make_pipeline(SimpleImputer(), *steps)


def _words(numbers: Any, encoder: Any = None) -> ColumnTransformer:
    return ColumnTransformer([("w", encoder or OneHotEncoder(), ["housing"]), ("n", numbers, NUMBERS)])


def _logistic() -> LogisticRegression:
    return LogisticRegression(max_iter=300)


def _tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=4, random_state=0)


PIPELINES: dict[str, Callable[[], Any]] = {
    "components of words": lambda: make_pipeline(
        _words(_filled(StandardScaler()), OneHotEncoder(sparse_output=False)), PCA(3), _logistic()
    ),
    "components of sparse words, network": lambda: make_pipeline(
        _words(_filled(StandardScaler())), TruncatedSVD(3, random_state=0), MLPClassifier((5,), max_iter=200, random_state=0)
    ),
    "components of words, scaled, vectors": lambda: make_pipeline(
        _words(_filled(), OneHotEncoder(sparse_output=False, drop="first")), StandardScaler(), PCA(2), SVC(kernel="linear")
    ),
    "components beside words": lambda: make_pipeline(_words(_filled(StandardScaler(), PCA(1))), _logistic()),
    "components and numbers": lambda: make_pipeline(
        ColumnTransformer([("n", SimpleImputer(add_indicator=True), NUMBERS)]),
        FeatureUnion([("p", PCA(2)), ("s", StandardScaler())]),
        _logistic(),
    ),
    "support vectors": lambda: make_pipeline(_words(_filled(StandardScaler())), SVC(kernel="linear")),
    "support vectors, sparse rows": lambda: make_pipeline(
        ColumnTransformer([("w", OneHotEncoder(), ["housing"]), ("n", _filled(StandardScaler()), NUMBERS)], sparse_threshold=1.0),
        SVC(kernel="linear"),
    ),
    "bins, tree": lambda: make_pipeline(_words(_filled(KBinsDiscretizer(4))), _tree()),
    "bins, forest": lambda: make_pipeline(
        _words(_filled(KBinsDiscretizer(5, encode="onehot-dense"))), RandomForestClassifier(5, max_depth=4, random_state=0)
    ),
    "bins, scorecard": lambda: make_pipeline(_words(_filled(KBinsDiscretizer(4))), _logistic()),
}  # fmt: skip


def _quietly(model: Any, frame: pd.DataFrame, y: Any = Y) -> tuple[Any, Explainer]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, y)
        return model, Explainer(model, frame)


def _attacked(model: Any, explainer: Explainer, region: Region, wanted: Any, judge: Any = None) -> int:
    def predict(rows: np.ndarray) -> Any:
        table = explainer.space.table(rows)
        table[list(region.missing)] = np.nan
        told = model.predict(table)
        return told if judge is None else judge(told)

    return attack(predict, region.body, wanted, getattr(explainer.model, "cuts", None))


@pytest.mark.parametrize("name", PIPELINES)
def test_rows_with_and_without_gaps_are_answered_through_all_steps(name: str) -> None:
    model, explainer = _quietly(PIPELINES[name](), HOLES)
    rejected = HOLES[model.predict(HOLES) == "no"]
    gaps = rejected.income.isna() & rejected.age.notna()
    for row, missing in ((rejected.dropna().iloc[0], ()), (rejected[gaps].iloc[0], ("income",))):
        region = explainer.explain(row, Box(0.01))
        assert isinstance(region, Region) and tuple(region.missing) == missing
        assert _attacked(model, explainer, region, "yes") > 20


def test_slanted_splits_over_words_are_answered() -> None:
    front = _words(StandardScaler(), OneHotEncoder(sparse_output=False))
    model, explainer = _quietly(make_pipeline(front, PCA(3), DecisionTreeClassifier(max_depth=3, random_state=0)), FULL)
    region = explainer.explain(FULL[model.predict(FULL) == "no"].iloc[0], Box(0.005))
    assert isinstance(region, Region)
    assert _attacked(model, explainer, region, "yes") > 20


def test_components_of_components_are_refused_by_name() -> None:
    model = make_pipeline(StandardScaler(), PCA(2), PCA(1), _logistic()).fit(FULL[NUMBERS], Y)
    with pytest.raises(UnsupportedModel, match="PCA mixes columns that a step before it has bent or mixed"):
        open_model(model)


def test_an_imputer_of_none_is_refused_and_one_of_any_gap_is_read() -> None:
    """Tables hold None or NaN for a missing word; an imputer that knows one of them alone would be handed the other."""
    words = FULL[["age"]].assign(housing=FULL.housing.astype(object).where(np.arange(N) % 5 > 0, None))

    def pipeline(marker: Any) -> Any:
        filled = make_pipeline(SimpleImputer(missing_values=marker, strategy="most_frequent"), OneHotEncoder())
        return make_pipeline(ColumnTransformer([("w", filled, ["housing"]), ("n", "passthrough", ["age"])]), _tree())

    with pytest.raises(
        UnsupportedModel, match=r"missing_values=None\) fills None and leaves NaN.*missing_values=pd.NA"
    ):
        open_model(pipeline(None).fit(words, Y))
    model, explainer = _quietly(pipeline(pd.NA), words)
    lacking = words[words.housing.isna() & (model.predict(words) == "no")].iloc[0]
    region = explainer.explain(lacking, Box(0.01))
    assert isinstance(region, Region)
    assert _attacked(model, explainer, region, "yes") > 5


DROPPING: dict[str, Callable[[], Any]] = {
    "calibrated": lambda: CalibratedClassifierCV(make_pipeline(_words(StandardScaler()), _logistic()), ensemble=False, cv=2),
    "voting": lambda: VotingClassifier(
        [
            ("a", make_pipeline(_words("passthrough"), _tree())),
            ("b", make_pipeline(ColumnTransformer([("w", OrdinalEncoder(), ["housing"]), ("n", "passthrough", ["age"])]), _tree())),
        ],
        voting="soft",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DROPPING)
def test_words_that_a_part_drops_are_nobody_s_business(name: str) -> None:
    """The column ``note`` holds words, and the pipeline inside the wrapper does not look at them."""
    model, explainer = _quietly(DROPPING[name](), FULL)
    region = explainer.explain(FULL[model.predict(FULL) == "no"].iloc[0], Box(0.01))
    assert isinstance(region, Region)
    assert _attacked(model, explainer, region, "yes") > 20


def test_a_regressor_inside_drops_words() -> None:
    inner = make_pipeline(_words(StandardScaler()), Ridge())
    model, explainer = _quietly(
        TransformedTargetRegressor(inner, func=np.log, inverse_func=np.exp), FULL, np.exp(SCORE)
    )
    least = float(np.quantile(model.predict(FULL), 0.7))
    row = FULL[model.predict(FULL) < least].iloc[0]
    region = explainer.explain(row, Box(0.01), target=Target(at_least=least))
    assert isinstance(region, Region)
    assert _attacked(model, explainer, region, True, lambda told: told >= least) > 20


@pytest.mark.parametrize("model", [RandomForestClassifier(5, random_state=0), LogisticRegression()])
def test_two_ways_to_bin_one_column_are_refused_by_name(model: Any) -> None:
    x = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 2)), columns=["age", "debt"])
    bins = FeatureUnion([(str(k), KBinsDiscretizer(k, encode="onehot-dense")) for k in (4, 7)])
    fitted = make_pipeline(bins, model).fit(x, x["age"] > 0)
    with pytest.raises(UnsupportedModel, match=r"is binned in two different ways at once.*use one KBinsDiscretizer"):
        read_model(fitted)
