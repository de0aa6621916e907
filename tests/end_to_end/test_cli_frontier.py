"""``elbowroom frontier``: outputs, files, exit codes, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from elbowroom import Box, Explainer, Space
from elbowroom.explainer import method
from elbowroom.present.cli import app
from elbowroom.search.contract import Ending
from tests.support.referee import StubEngine

runner = CliRunner()


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("frontier")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"salary": rng.uniform(10, 90, 300), "debt": rng.uniform(0, 50, 300)})
    label = np.where(frame["salary"] - frame["debt"] > 20, "yes", "no")
    joblib.dump(DecisionTreeClassifier(max_depth=4, random_state=0).fit(frame, label), folder / "tree.joblib")
    frame.to_csv(folder / "data.csv", index=False)
    return folder


def run(folder: Path, *words: object):
    row = rejected(folder)
    fixed = ("frontier", folder / "tree.joblib", folder / "data.csv", "--row", row, "--trust-pickle")
    return runner.invoke(app, [str(word) for word in (*fixed, *words)])


def rejected(folder: Path) -> int:
    frame = pd.read_csv(folder / "data.csv")
    return int(np.flatnonzero(joblib.load(folder / "tree.joblib").predict(frame) == "no")[0])


def test_a_table_a_picture_and_the_same_answers_as_explain(files: Path, tmp_path: Path) -> None:
    result = run(files, "--radii", "0.01,0.03", "--breakpoints", "--plot", tmp_path / "front.png")
    assert result.exit_code == 0, result.output
    assert "proven closest" in result.stdout and (tmp_path / "front.png").stat().st_size > 1000
    written = json.loads(run(files, "--radii", "0.03,0.01", "--json").stdout)
    frame = pd.read_csv(files / "data.csv")
    explainer = Explainer(joblib.load(files / "tree.joblib"), Space.from_frame(frame))
    for point in written["points"]:
        fresh = explainer.explain(frame.iloc[rejected(files)], Box(point["radius"]))
        assert point["distance"] == fresh.distance and point["status"] == "OPTIMAL"


def test_quiet_is_one_paragraph(files: Path) -> None:
    result = run(files, "--radii", "0:0.05:3", "--quiet")
    assert result.exit_code == 0 and result.stderr == "" and "proven closest" not in result.stdout


def test_none_exists_is_exit_three_and_some_region_is_zero(files: Path) -> None:
    fixed = ("--immutable", "salary", "--immutable", "debt")
    assert run(files, "--radii", "0.01,0.02", *fixed).exit_code == 3
    assert run(files, "--radii", "0.01,0.9").exit_code == 0


def test_unknown_is_exit_four_and_interrupted_130(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(method, "engine_for", lambda _: StubEngine(lambda: Ending("stub", 0.1, "the stub gives up")))
    assert run(files, "--radii", "0.01,0.02").exit_code == 4

    def interrupted() -> Ending:
        raise KeyboardInterrupt

    monkeypatch.setattr(method, "engine_for", lambda _: StubEngine(interrupted))
    assert run(files, "--radii", "0.01,0.02").exit_code == 130


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--radii", "0.01,x"), "'x' is not a finite number"),
        (("--radii", "-0.1,0.2"), "radii[0]"),
        (("--radii", "0.1,0.1"), "twice"),
        (("--radii", "0.1", "--breakpoints", "--smallest-jump", "0"), "smallest_jump"),
        (("--radii", "0.1", "--plot", "picture.doc"), "picture.doc"),
    ],
)
def test_mistakes_are_one_line_and_exit_two(files: Path, words, message: str) -> None:
    result = run(files, *words)
    assert result.exit_code == 2 and message in result.stderr and "Traceback" not in result.output
