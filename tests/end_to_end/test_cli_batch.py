"""Whole tables on the command line: ``batch``, ``audit``, ``explain --rows`` and ``check --store``."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from typer.testing import CliRunner

from elbowroom import Box, Explainer
from elbowroom.batch import BatchResult
from elbowroom.batch.store import Store
from elbowroom.present.cli import app


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("batch")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)).round(3), columns=["income", "debt", "age"])
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, X["income"] - X["debt"] > 0)
    joblib.dump(model, folder / "model.joblib")
    X.assign(sex=rng.choice(["f", "m"], 120)).to_csv(folder / "data.csv", index=False)
    return folder


def run(folder: Path, command: str, *words: object) -> tuple[int, str]:
    given = [command, folder / "model.joblib", folder / "data.csv", *words, "--label", "sex", "--trust-pickle"]
    found = CliRunner().invoke(app, [str(word) for word in given])
    return found.exit_code, found.output


def check(folder: Path, store: Path, *words: str) -> tuple[int, str]:
    given = ["check", "--store", str(store), str(folder / "model.joblib"), "--trust-pickle", *words]
    found = CliRunner().invoke(app, given)
    return found.exit_code, found.output


def test_a_batch_its_files_and_going_on(files: Path, tmp_path: Path) -> None:
    store, out, html = tmp_path / "runs.db", tmp_path / "answers.parquet", tmp_path / "overview.html"
    words = ("--rows", "0:8", "--radius", "0.02", "--target", "True", "--store", store, "--out", out, "--html", html)
    for _ in range(2):  # the second time it goes on with a finished batch, and writes the same files again
        code, said = run(files, "batch", *words)
        assert code == 0, said
    X = pd.read_csv(files / "data.csv").drop(columns="sex")
    explainer = Explainer(joblib.load(files / "model.joblib"), X)
    table = pd.read_parquet(out)
    assert table["distance"].tolist() == [explainer.explain(X.iloc[[i]], Box(0.02), True).distance for i in range(8)]
    assert 'href="#row-7"' in html.read_text()
    code, said = run(files, "batch", *words[:2], "--radius", "0.03", "--target", "True", "--store", store)
    assert code == 2 and "its room differs" in said
    code, said = run(files, "batch", *words, "--no-resume")
    assert code == 2 and "--no-resume" in said
    code, said = run(files, "batch", "--rows", "0:3", "--store", files / "data.csv")
    assert code == 2 and "not a store" in said


def test_the_end_of_the_time_is_not_the_end_of_the_rows(files: Path) -> None:
    code, said = run(files, "batch", "--rows", "0:3", "--total-limit", "0")
    assert code == 4 and "The time for all rows is over" in said


def test_explain_takes_several_rows(files: Path, tmp_path: Path) -> None:
    code, said = run(files, "explain", "--rows", "2,5", "--radius", "0.02", "--output", tmp_path / "a.csv")
    assert code == 0 and "row 2: The model said" in said and "row 5: The model said" in said
    assert pd.read_csv(tmp_path / "a.csv")["index"].tolist() == [2, 5]
    assert run(files, "explain", "--rows", "0:2", "--widen")[0] == 2
    assert run(files, "explain")[0] == 2
    assert run(files, "explain", "--rows", "0:2", "--row", "1")[0] == 2


def test_an_audit(files: Path, tmp_path: Path) -> None:
    out, html = tmp_path / "audit.csv", tmp_path / "audit.html"
    words = ("--rows", "0:12", "--target", "True", "--groups", "sex", "--radii", "0,0.05", "--sigma", "0.02")
    for _ in range(2):
        code, said = run(files, "audit", *words, "--out", out, "--html", html)
        assert code == 0, said
    assert "What more room costs" in said and "Slips" in said
    table = pd.read_csv(out, index_col=0)
    assert table.loc["f", "rows"] + table.loc["m", "rows"] == table.loc["all", "rows"] == 12
    assert "What more room costs" in html.read_text()


def test_every_answer_is_proven_again(files: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    assert run(files, "batch", "--rows", "0:5", "--radius", "0.02", "--store", store)[0] == 0
    code, said = check(files, store)
    assert code == 0 and "5 answers hold, 0 are refuted" in said
    none = tmp_path / "none.db"
    wide = ("--radius", "income=50", "--radius", "debt=50")
    assert run(files, "batch", "--rows", "0:2", *wide, "--store", none)[0] == 0
    assert set(BatchResult.from_store(none).frame["status"]) == {"NONE_EXISTS"}
    code, said = check(files, none)
    assert code == 0 and "2 answers hold" in said
    assert check(files, store, "--json")[0] == 2
    assert CliRunner().invoke(app, ["check", str(store)]).exit_code == 2


def test_rows_that_lack_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    X.iloc[::3, 0] = np.nan
    joblib.dump(
        HistGradientBoostingClassifier(max_iter=10).fit(X, X["b"] + X["a"].fillna(0) > 0), tmp_path / "model.joblib"
    )
    X.to_csv(tmp_path / "data.csv", index=False)
    words = [
        "batch",
        tmp_path / "model.joblib",
        tmp_path / "data.csv",
        "--rows",
        "0:6",
        "--store",
        tmp_path / "runs.db",
    ]
    assert CliRunner().invoke(app, [*map(str, words), "--trust-pickle"]).exit_code == 0
    code, said = check(tmp_path, tmp_path / "runs.db")
    assert code == 0 and "6 answers hold" in said, said


def test_answers_that_changed_places_are_refuted(files: Path, tmp_path: Path) -> None:
    """Sealed anew, so that only their meaning can tell."""
    path = tmp_path / "runs.db"
    assert run(files, "batch", "--rows", "0:3", "--radius", "0.02", "--store", path)[0] == 0
    with Store(path) as store:
        first, second = store.records([0, 1])
    assert first is not None and second is not None
    with sqlite3.connect(path) as connection:
        connection.execute("delete from answers where position = 0")
    connection.close()
    with Store(path) as store:
        store.keep([replace(second, position=0)])
    code, said = check(files, path)
    assert code == 5 and "about another row" in said and "2 answers hold, 1 are refuted" in said


@pytest.mark.parametrize("command", ["batch", "explain"])
def test_a_space_file_counts_for_every_row(files: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "space.toml").write_text("[income]\nimmutable = true\n")
    out = tmp_path / "answers.csv"
    code, said = run(
        files, command, "--rows", "0:6", "--space", tmp_path / "space.toml", "--radius", "0", "--target", "True",
        "--out" if command == "batch" else "--output", out,
    )  # fmt: skip
    assert code == 0, said
    table, rows = pd.read_csv(out), pd.read_csv(files / "data.csv").head(6)
    found = table["distance"].notna()
    assert found.any() and table.loc[found, "income__center"].tolist() == rows.loc[found, "income"].tolist()
