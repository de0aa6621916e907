"""Pipelines with encoders, imputers and curves: read through to raw columns, replayed, and answered exactly."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Explainer, InputError, Space, Status, UnsupportedModel
from elbowroom.importers import open_model
from elbowroom.models import TreeEnsemble
from elbowroom.numerics import next_down, next_up

rng = np.random.default_rng(1)
N = 240
FRAME = pd.DataFrame(
    {
        "age": rng.integers(18, 70, N),
        "income": rng.lognormal(10, 0.6, N),
        "housing": rng.choice(["own", "rent", "free"], N, p=[0.5, 0.3, 0.2]),
        "grade": pd.Categorical(rng.choice(list("ABCDE"), N), categories=list("EDCBA")),
        "rooms": rng.choice([1, 2, 3, 5], N),
    }
)
SCORE = np.log(FRAME.income) + (FRAME.housing == "own") * 0.7 - FRAME.grade.cat.codes * 0.2 + rng.normal(0, 0.3, N)
Y = np.where(SCORE > SCORE.median(), "yes", "no")
TEXT, NUMBERS = ["housing", "grade", "rooms"], ["age", "income"]


def table_of(encoder: Any, numbers: Any = "passthrough") -> ColumnTransformer:
    return ColumnTransformer([("text", encoder, TEXT), ("numbers", numbers, NUMBERS)])


FRONTS: dict[str, Any] = {
    "one-hot": lambda: table_of(OneHotEncoder(), StandardScaler()),
    "one-hot, first dropped": lambda: table_of(OneHotEncoder(drop="first"), StandardScaler()),
    "one-hot, binary dropped": lambda: table_of(OneHotEncoder(drop="if_binary")),
    "one-hot, rare ones together": lambda: table_of(
        OneHotEncoder(min_frequency=50, handle_unknown="infrequent_if_exist"), StandardScaler()
    ),
    "one-hot, unknown ignored": lambda: table_of(OneHotEncoder(handle_unknown="ignore", sparse_output=False)),
    "one-hot, then scaled": lambda: make_pipeline(table_of(OneHotEncoder()), StandardScaler(with_mean=False)),
    "ordinal": lambda: table_of(OrdinalEncoder(), StandardScaler()),
    "target": lambda: table_of(TargetEncoder(cv=3), StandardScaler()),
    "imputed": lambda: table_of(
        make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
        make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
    ),
    "selected": lambda: make_pipeline(table_of(OneHotEncoder()), VarianceThreshold(), SelectKBest(k=6)),
    "union": lambda: make_pipeline(
        table_of(OrdinalEncoder()), FeatureUnion([("s", StandardScaler()), ("p", "passthrough")])
    ),
}
CURVES: dict[str, Any] = {
    "logarithm": lambda: table_of(OneHotEncoder(), FunctionTransformer(np.log1p)),
    "power": lambda: table_of(OneHotEncoder(), PowerTransformer()),
    "quantiles": lambda: table_of(OneHotEncoder(), QuantileTransformer(n_quantiles=40)),
    "bins": lambda: table_of(OrdinalEncoder(), KBinsDiscretizer(5, encode="ordinal")),
    "root, then scaled": lambda: table_of(
        OrdinalEncoder(), make_pipeline(FunctionTransformer(np.sqrt), StandardScaler())
    ),
}
BINS: dict[str, Any] = {
    "bins, 0/1 columns": lambda: table_of(OneHotEncoder(), KBinsDiscretizer(5, encode="onehot")),
    "bins, then scaled": lambda: make_pipeline(
        table_of(OrdinalEncoder(), KBinsDiscretizer(4, encode="onehot-dense")), StandardScaler()
    ),
}
MODELS: dict[str, Any] = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=15, max_depth=3, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=300),
    "network": lambda: MLPClassifier((6,), max_iter=250, random_state=1),
}


def fitted(front: Any, model: Any, frame: pd.DataFrame = FRAME) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(front, model).fit(frame, Y)


def space() -> Space:
    return Space.from_frame(FRAME, one_hot=None)


def rows_on_cuts(model: Any, pipeline: Any, size: int) -> pd.DataFrame:
    """Raw rows of every combination, numbers on cuts and their neighbours."""
    source = np.random.default_rng(7)
    frame = FRAME.sample(size, replace=True, random_state=0).reset_index(drop=True)
    frame["housing"] = source.choice(["own", "rent", "free"], size)
    frame["grade"] = pd.Categorical(source.choice(list("ABCDE"), size), categories=list("EDCBA"))
    frame["rooms"] = source.choice([1, 2, 3, 5], size)
    frame["age"] = frame["age"].astype(float)
    if isinstance(model, TreeEnsemble):
        for name in NUMBERS:
            cuts = model.cuts[model.info.names.index(name)]
            if cuts.size:
                at = source.random(size) < 0.7
                cut = source.choice(cuts, size)
                near = np.choose(
                    source.integers(4, size=size), [cut, next_up(cut), next_down(cut), cut.astype(np.float32)]
                )
                frame.loc[at, name] = near[at]
    return frame


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("front", [*FRONTS, *CURVES, *BINS])
def test_the_copy_equals_the_original_on_raw_rows(front: str, model: str) -> None:
    made = {**FRONTS, **CURVES, **BINS}[front]
    pipeline = fitted(made(), MODELS[model]())
    if (front in CURVES and model in ("logistic", "network")) or (front in BINS and model == "network"):
        with pytest.raises(UnsupportedModel, match="bends column"):
            open_model(pipeline, data=FRAME)
        return
    opened = open_model(pipeline, data=FRAME)
    rows = rows_on_cuts(opened.model, pipeline, 2_000)
    inner = opened.original.inputs.inner(rows)
    assert len(inner) == len(rows)
    ours = np.array(opened.model.info.classes)[opened.model.info.labels_of(opened.model.scores(inner))]
    theirs = pipeline.predict(rows)
    assert (ours != theirs).sum() == 0
    assert np.array_equal(opened.predict(inner), theirs)


def test_components_fold_into_linear_models_and_networks() -> None:
    front = table_of(OneHotEncoder(), make_pipeline(StandardScaler(), PCA(2, whiten=True)))
    for model in ("logistic", "network"):
        pipeline = fitted(front, MODELS[model]())
        opened = open_model(pipeline, data=FRAME)
        inner = opened.original.inputs.inner(FRAME)
        ours = np.array(opened.model.info.classes)[opened.model.info.labels_of(opened.model.scores(inner))]
        assert (ours != pipeline.predict(FRAME)).sum() == 0


def closest_by_brute_force(pipeline: Any, explainer: Explainer, row: pd.Series) -> float:
    """Room 0: all categories, and in every cell of every number the value closest to the row's own."""
    model, where = explainer.model, explainer.space
    assert isinstance(model, TreeEnsemble)
    choices: list[list[Any]] = []
    for name in FRAME.columns:
        group = next((g for g in where.groups if g.name == name), None)
        if group is not None:
            assert group.labels is not None
            choices.append(list(group.labels))
            continue
        f = where.position[name]
        low, high, now = where.lower[f], where.upper[f], float(row[name])
        ends = [low, *[c for c in model.cuts[f] if low <= c <= high], high]
        whole = bool(where.whole_center[f])
        values = [now]
        for cut in ends:
            values += [np.floor(cut) if whole else cut, np.floor(cut) + 1 if whole else float(next_up(cut))]
        choices.append([v for v in values if low <= v <= high])
    candidates = pd.DataFrame(list(itertools.product(*choices)), columns=FRAME.columns)
    wanted = candidates[pipeline.predict(candidates) == "yes"]
    now = where.row(row)
    inner = where.inner(wanted)
    distance = np.abs(inner - now) / where.scale
    total = distance[:, where.group_of < 0].sum(axis=1)
    for g, members in zip(where.groups, where.members, strict=True):
        total = total + g.weight * (distance[:, members].sum(axis=1) > 0)
    return float(total.min()) if len(total) else np.inf


@pytest.mark.parametrize("front", ["one-hot, rare ones together", "ordinal", "target", "one-hot, first dropped"])
@pytest.mark.parametrize("i", [0, 3, 5])
def test_the_closest_point_in_raw_columns_is_the_one_of_brute_force(front: str, i: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = fitted(FRONTS[front](), DecisionTreeClassifier(max_depth=4, random_state=0))
        explainer = Explainer(pipeline, space())
    row = FRAME[pipeline.predict(FRAME) == "no"].iloc[i]
    region = explainer.explain(row, Box(0))
    assert region.status is Status.OPTIMAL
    assert region.distance == pytest.approx(closest_by_brute_force(pipeline, explainer, row), abs=1e-9)
    assert (pipeline.predict(explainer.space.table(region.body.center[None])) == "yes").all()


@pytest.mark.parametrize("front", BINS)
@pytest.mark.parametrize("model", ["tree", "logistic"])
def test_bins_become_cuts_and_scorecards_become_trees(front: str, model: str) -> None:
    pipeline = fitted(BINS[front](), MODELS[model]())
    explainer = Explainer(pipeline, space())
    assert isinstance(explainer.model, TreeEnsemble)
    rejected = FRAME[pipeline.predict(FRAME) == "no"]
    for i in (0, 4):
        region = explainer.explain(rejected.iloc[i], Box(0))
        assert region.status is Status.OPTIMAL
        truth = closest_by_brute_force(pipeline, explainer, rejected.iloc[i])
        assert region.distance == pytest.approx(truth, abs=1e-9)
        wide = explainer.explain(rejected.iloc[i], Box(0.02))
        assert not wide or (pipeline.predict(wide.sample(2_000)) == "yes").all()


def test_bins_beside_plain_numbers_are_refused_for_linear_models() -> None:
    front = ColumnTransformer([("b", KBinsDiscretizer(4, encode="onehot"), ["age"]), ("n", "passthrough", ["income"])])
    pipeline = fitted(front, LogisticRegression(max_iter=50), FRAME[["age", "income"]])
    with pytest.raises(UnsupportedModel, match=r"others count as they are \(income\).*bin all numbers"):
        open_model(pipeline)


@pytest.mark.parametrize("front", ["one-hot", "ordinal", "target", "imputed"])
@pytest.mark.parametrize("model", ["tree", "boosting", "logistic", "network"])
def test_regions_hold_for_every_category_that_they_name(front: str, model: str) -> None:
    pipeline = fitted(FRONTS[front](), MODELS[model]())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = Explainer(pipeline, space())
    row = FRAME[pipeline.predict(FRAME) == "no"].iloc[0]
    for room in (Box(0.03), Box(0.01, categories={"housing": "any"}), Box(0.01, categories={"grade": ["B", "C"]})):
        region = explainer.explain(row, room, time_limit=20)
        if not region:
            assert region.status is Status.NONE_EXISTS
            continue
        sample = explainer.space.table(region.body.sample(3_000, seed=1))
        assert (pipeline.predict(sample) == "yes").all()
        if room.categories == {"grade": ["B", "C"]}:
            assert set(sample["grade"]) == {"B", "C"}
        if room.categories == {"housing": "any"}:
            assert set(sample["housing"]) == {"own", "rent", "free"}


def test_rows_that_lack_numbers_are_answered_by_models_that_fill_them() -> None:
    holes = FRAME.astype({"age": float})
    holes.loc[::7, "income"] = np.nan
    holes.loc[3::11, "age"] = np.nan
    for model in ("boosting", "logistic", "network"):
        pipeline = fitted(FRONTS["imputed"](), MODELS[model](), holes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            explainer = Explainer(pipeline, Space.from_frame(holes, one_hot=None))
        lacking = holes[holes.income.isna() & (pipeline.predict(holes) == "no")]
        if not len(lacking):
            continue
        region = explainer.explain(lacking.iloc[0], Box(0.02), time_limit=20)
        if region:
            sample = explainer.space.table(region.body.sample(2_000))
            sample["income"] = np.nan
            assert (pipeline.predict(sample) == "yes").all()
        assert explainer.explain(lacking.iloc[0].fillna(20_000.0), Box(0.02), time_limit=20) is not None


def test_rows_that_lack_numbers_are_refused_by_models_that_do_not() -> None:
    pipeline = fitted(FRONTS["one-hot"](), MODELS["logistic"]())
    explainer = Explainer(pipeline, space())
    row = FRAME.iloc[0].copy()
    row["income"] = np.nan
    with pytest.raises(InputError, match=r"column 'income'.*missing.*imputer"):
        explainer.explain(row, Box(0.02))


def test_no_answer_goes_where_a_logarithm_has_no_value() -> None:
    front = ColumnTransformer([("log", FunctionTransformer(np.log), ["income"]), ("age", "passthrough", ["age"])])
    pipeline = fitted(front, MODELS["tree"](), FRAME[["age", "income"]])
    explainer = Explainer(pipeline)
    low = explainer.space.lower[explainer.space.position["income"]]
    assert low == 5e-324  # the smallest number that has one


def test_functions_of_ones_own_are_refused_with_those_that_work() -> None:
    pipeline = fitted(table_of(OneHotEncoder(), FunctionTransformer(np.square)), MODELS["tree"]())
    with pytest.raises(UnsupportedModel, match=r"arbitrary code.*np\.log1p"):
        open_model(pipeline)


def test_a_forest_behind_native_categories_of_numbers() -> None:
    """A column that the model takes for a number may be declared a category: the numbers are its labels."""
    frame = FRAME[["age", "income", "rooms"]]
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(frame, Y)
    explainer = Explainer(forest, Space.from_frame(frame, categorical=["rooms"]))
    row = frame[forest.predict(frame) == "no"].iloc[0]
    region = explainer.explain(row, Box(0.01, categories={"rooms": "any"}))
    assert region
    sample = explainer.space.table(region.body.sample(2_000))
    assert set(sample["rooms"]) == {1, 2, 3, 5}
    assert (forest.predict(sample) == "yes").all()
