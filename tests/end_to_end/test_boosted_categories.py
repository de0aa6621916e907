"""From a raw table through LightGBM and histogram boosting to regions, which the library's own predict attacks."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from elbowroom import Box, Explainer, InputError, Region, Space, Status
from elbowroom.importers.lightgbm_text import LightGBMFile
from elbowroom.models import TreeEnsemble
from tests.support.hostile import attack
from tests.support.importer_cases import one_thread
from tests.support.programs import run_program

__all__ = ["one_thread"]
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning"),
    pytest.mark.usefixtures("one_thread"),
]


@cache
def _applicants(rows: int = 600) -> tuple[pd.DataFrame, np.ndarray]:
    """Names with blanks, numbers with holes, text, codes; a category (77) that only two rows hold."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "monthly income": np.round(rng.normal(50, 20, rows), 1),
            "purpose": pd.Categorical(rng.choice(["car", "house", "radio", "study", "boat"], rows)),
            "age": rng.integers(18, 80, rows),
            "branch code": rng.choice([10, 20, 25, 30, 42], rows),
        }
    )
    frame.loc[frame.index % 9 == 0, "monthly income"] = np.nan
    frame.loc[frame.index % 13 == 0, "purpose"] = np.nan
    frame.loc[[5, 6], "branch code"] = 77
    score = frame["monthly income"].fillna(20) / 20 + frame["purpose"].isin(["car", "radio"]) * 1.5
    score = score - frame["branch code"].isin([20, 42]) * 1.5 + frame["age"] / 40
    return frame, np.where(score > 4, "good", "bad")


def _lightgbm(**more: Any) -> Any:
    lightgbm = pytest.importorskip("lightgbm")
    tame = {"min_data_per_group": 2, "cat_smooth": 1, "max_cat_to_onehot": 1, "min_child_samples": 5, "verbose": -1}
    return lightgbm.LGBMClassifier(n_estimators=12, num_leaves=8, n_jobs=1, **{**tame, **more})


def _histogram(**more: Any) -> Any:
    return HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=8, min_samples_leaf=5, random_state=0, **more)


@cache
def _model(name: str) -> Any:
    frame, y = _applicants()
    encode = ColumnTransformer([("one hot", OneHotEncoder(), ["purpose"])], remainder="passthrough")
    order = ColumnTransformer([("codes", OrdinalEncoder(), ["purpose"])], remainder="passthrough")
    kinds = ["purpose", "branch code"]
    match name:
        case "LightGBM":
            return _lightgbm().fit(frame, y)
        case "LightGBM, codes":
            return _lightgbm().fit(frame, y, categorical_feature=["purpose", "branch code"])
        case "LightGBM, zeros missing":
            return _lightgbm(zero_as_missing=True).fit(frame.assign(age=frame["age"] - 40), y)
        case "LightGBM behind an encoder":
            return make_pipeline(encode, _lightgbm()).fit(frame, y)
        case "LightGBM by codes behind an encoder":
            return make_pipeline(order, _lightgbm(categorical_feature=[0])).fit(frame, y)
        case "histogram":
            return _histogram(categorical_features="from_dtype").fit(frame, y)
        case "histogram, codes":
            return _histogram(categorical_features=kinds).fit(frame, y)
        case "forest":
            return RandomForestClassifier(8, max_depth=5, random_state=0).fit(frame.drop(columns="purpose"), y)
    raise AssertionError(name)


NAMES = ("LightGBM", "LightGBM, codes", "LightGBM, zeros missing", "LightGBM behind an encoder",
         "LightGBM by codes behind an encoder", "histogram", "histogram, codes", "forest")  # fmt: skip


def _table(name: str) -> pd.DataFrame:
    frame = _applicants()[0]
    if name == "forest":
        return frame.drop(columns="purpose")
    return frame.assign(age=frame["age"] - 40) if "zeros" in name else frame


@pytest.mark.parametrize("name", NAMES)
def test_regions_hold_for_the_original_on_raw_tables(name: str) -> None:
    model, frame = _model(name), _table(name)
    try:
        labels = model.predict(frame)
    except ValueError:
        pytest.skip("this release of scikit-learn takes no missing numbers here")
    explainer = Explainer(model, frame)
    space, parsed = explainer.space, explainer.model
    assert isinstance(parsed, TreeEnsemble)
    bad = np.flatnonzero(labels == "bad")
    lacking = [i for i in bad if pd.isna(frame["monthly income"].iloc[i])][:3]
    unsaid = [i for i in bad if "purpose" in frame and pd.isna(frame["purpose"].iloc[i])][:2]
    whole = [i for i in bad if frame.iloc[i].notna().all()][:4]
    asked_about = [
        (i, Box(0.02) if turn % 2 else Box({"age": 2})) for turn, i in enumerate([*whole, *lacking, *unsaid])
    ]
    if "purpose" in frame:
        asked_about.append((whole[0], Box(0, categories={"purpose": ["car", "radio"]})))
    found = 0
    for i, room in asked_about:
        answer = explainer.explain(frame.iloc[i], room, time_limit=3 if room.categories else 20)
        assert answer.status in (Status.OPTIMAL, Status.NONE_EXISTS) or room.categories
        if not isinstance(answer, Region):
            continue
        found += 1
        missing = space.without_missing(space.row(frame.iloc[i], allow_missing=True))[1]
        asked = explainer.for_missing(missing)

        def predict(rows: np.ndarray, asked: Explainer = asked) -> np.ndarray:
            table = asked.space.table(rows)  # the user's own table: his names, his words
            table[list(missing)] = np.nan  # noqa: B023
            return np.asarray(model.predict(table[list(frame.columns)]))

        attack(predict, answer.body, "good", asked.model.cuts)  # type: ignore[union-attr]
        attack(asked.predict, answer.body, "good", asked.model.cuts)  # type: ignore[union-attr]
    assert found >= 3


def test_a_category_that_training_dropped_can_be_asked_about() -> None:
    model, frame = _model("LightGBM, codes"), _applicants()[0]
    explainer = Explainer(model, frame)
    row = frame.iloc[5]
    assert row["branch code"] == 77 and explainer.predict(frame.iloc[[5]])[0] == model.predict(frame.iloc[[5]])[0]
    answer = explainer.explain(row, Box(0), target="good" if explainer.predict(frame.iloc[[5]])[0] == "bad" else "bad")
    assert answer.status in (Status.OPTIMAL, Status.NONE_EXISTS)
    with pytest.raises(InputError, match="purpose"):
        explainer.explain({**row, "purpose": "yacht"})


def test_a_table_in_another_order_is_read_by_name() -> None:
    pytest.importorskip("lightgbm")
    model, frame = _model("LightGBM, codes"), _applicants()[0]
    turned = frame[["branch code", "age", "purpose", "monthly income"]]
    explainer, other = Explainer(model, frame), Explainer(model, turned)
    assert np.array_equal(explainer.predict(frame), model.predict(frame))
    assert np.array_equal(other.predict(turned), model.predict(frame))


def test_a_text_file_on_the_command_line(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    model, frame = _model("LightGBM"), _applicants()[0]
    path, table = tmp_path / "model.txt", tmp_path / "table.csv"
    model.booster_.save_model(path)
    frame.to_csv(table, index=False)
    row = int(np.flatnonzero((model.predict(frame) == "bad") & frame.notna().all(axis=1))[0])
    ran = run_program(["explain", path, table, "--row", row, "--json", "--radius", "0.02"])
    assert ran.code == 0, ran.err
    region = Region.from_json(ran.out)
    assert json.loads(ran.out)["kind"] == "region"
    explainer = Explainer(LightGBMFile(path), region.space)

    def predict(rows: np.ndarray) -> np.ndarray:
        told = region.space.table(rows)
        return np.asarray(model.predict(told.assign(purpose=pd.Categorical(told["purpose"]))) == "good", dtype=np.int64)

    assert isinstance(explainer.model, TreeEnsemble)
    attack(predict, region.body, 1, explainer.model.cuts)


def test_a_space_keeps_its_own_words() -> None:
    pytest.importorskip("lightgbm")
    model, frame = _model("LightGBM"), _applicants()[0]
    explainer = Explainer(model, Space.from_frame(frame, immutable=["monthly income"]))
    assert explainer.space.columns == tuple(frame.columns)
    row = frame[(model.predict(frame) == "bad") & frame.notna().all(axis=1)].iloc[0]
    answer = explainer.explain(row, Box(0))
    if isinstance(answer, Region):
        assert "purpose" in str(answer) or "age" in str(answer)
    with pytest.raises(InputError, match="monthly_income"):
        Explainer(model, Space.from_frame(frame.rename(columns={"monthly income": "income"})))
