"""Model files of other libraries on the command line: read without running anything, answered, checked again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

from elbowroom.present.cli import app

rng = np.random.default_rng(5)
N = 200
FRAME = pd.DataFrame(
    {
        "age": rng.integers(18, 70, N),
        "income": rng.lognormal(10, 0.5, N).round(2),
        "housing": rng.choice(["own", "rent", "free"], N),
    }
)
Y = (np.log(FRAME.income) + 0.5 * (FRAME.housing == "own") + rng.normal(0, 0.2, N) > 10.2).astype(int)
CATEGORIES = FRAME.assign(housing=FRAME.housing.astype("category"))


def xgboost_file(path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    xgboost.XGBClassifier(n_estimators=8, max_depth=3, enable_categorical=True).fit(CATEGORIES, Y).save_model(path)


def lightgbm_file(path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=8, min_child_samples=5, verbose=-1).fit(CATEGORIES, Y)
    model.booster_.save_model(path)


def catboost_file(path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(
        iterations=8, depth=3, one_hot_max_size=10, cat_features=["housing"], verbose=0, allow_writing_files=False
    ).fit(FRAME, Y)
    form = path.suffix.removeprefix(".")
    model.save_model(str(path), format=form, pool=catboost.Pool(FRAME, Y, cat_features=["housing"]))


def onnx_file(path: Path) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    numbers = FRAME[["age", "income"]].to_numpy(dtype=np.float32)
    model = LogisticRegression().fit(numbers / numbers.max(axis=0), Y)
    made = skl2onnx.to_onnx(model, numbers[:1], options={"zipmap": False})
    path.write_bytes(made.SerializeToString())


def skops_file(path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    front = ColumnTransformer([("h", OneHotEncoder(), ["housing"]), ("n", StandardScaler(), ["age", "income"])])
    skops.dump(make_pipeline(front, LogisticRegression()).fit(FRAME, Y), path)


FILES: dict[str, Callable[[Path], None]] = {
    "model.json": xgboost_file,
    "model.ubj": xgboost_file,
    "model.txt": lightgbm_file,
    "model.cbm": catboost_file,
    "other.json": catboost_file,
    "model.onnx": onnx_file,
    "model.skops": skops_file,
}


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.mark.parametrize("name", FILES)
def test_a_model_file_is_explained_and_checked(name: str, tmp_path: Path) -> None:
    model, train, rows, region = (tmp_path / n for n in (name, "train.csv", "rows.csv", "region.json"))
    FILES[name](model)
    columns = ["age", "income"] if name == "model.onnx" else list(FRAME.columns)
    frame = FRAME[columns]
    if name == "model.onnx":
        frame = frame / frame.max()
    frame.assign(label=Y).to_csv(train, index=False)
    frame.iloc[[3]].to_csv(rows, index=False)
    found = run(
        "explain", model, rows, "--row", 0, "--reference", train, "--label", "label", "--radius", 0.01, "--output", region,
        "--quiet",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    checked = run("check", region, model)
    assert checked.exit_code == 0, checked.output
    assert "Valid: at every point" in checked.output


def test_a_file_of_torch_is_refused_with_the_cure(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path, rows = tmp_path / "model.pt", tmp_path / "rows.csv"
    torch.save(torch.nn.Linear(2, 1).state_dict(), path)
    FRAME[["age", "income"]].to_csv(rows, index=False)
    found = run("explain", path, rows, "--row", 0)
    assert found.exit_code == 2
    assert "torch.onnx.export" in found.output


def test_an_unknown_file_names_the_formats(tmp_path: Path) -> None:
    path, rows = tmp_path / "model.bin", tmp_path / "rows.csv"
    path.write_bytes(b"\x00\x01nothing")
    FRAME.to_csv(rows, index=False)
    found = run("explain", path, rows, "--row", 0)
    assert found.exit_code == 2
    assert "LightGBM (.txt)" in found.output


def test_categories_of_the_reference_are_those_that_a_row_may_have(tmp_path: Path) -> None:
    model, train, rows = (tmp_path / n for n in ("model.skops", "train.csv", "rows.csv"))
    skops_file(model)
    FRAME.to_csv(train, index=False)
    FRAME.iloc[[0]].assign(housing="castle").to_csv(rows, index=False)
    found = run("explain", model, rows, "--row", 0, "--reference", train)
    assert found.exit_code == 2
    assert "castle" in found.output and "housing" in found.output
