"""``elbowroom menu``, ``explain --prefer-few`` and ``--on``: outputs, files, exit codes, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from typer.testing import CliRunner

from elbowroom import Box, Explainer, Region, Space
from elbowroom.present.cli import app

runner = CliRunner()


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("menu")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.uniform(0, 1, 400) for name in ("income", "debt, total", "age")})
    label = np.where(frame["income"] + 0.7 * (1 - frame["debt, total"]) + 0.4 * frame["age"] > 1.2, "yes", "no")
    model = GradientBoostingClassifier(n_estimators=15, max_depth=2, random_state=0).fit(frame, label)
    joblib.dump(model, folder / "model.joblib")
    frame.to_csv(folder / "data.csv", index=False)
    return folder


def with_menu(folder: Path) -> int:
    """A row whose menu has two entries."""
    frame = pd.read_csv(folder / "data.csv")
    model = joblib.load(folder / "model.joblib")
    explainer = Explainer(model, Space.from_frame(frame, scale="range"))
    for row in np.flatnonzero(model.predict(frame) == "no"):
        if len(explainer.menu(frame.iloc[row], Box(0.02))) >= 2:
            return int(row)
    raise AssertionError("no such row")


def run(folder: Path, command: str, *words: object):
    fixed = (command, folder / "model.joblib", folder / "data.csv", "--row", with_menu(folder), "--trust-pickle")
    return runner.invoke(app, [str(word) for word in (*fixed, "--radius", "0.02", *words)])


def test_lines_a_picture_and_json(files: Path, tmp_path: Path) -> None:
    result = run(files, "menu", "--plot", tmp_path / "menu.png", "--html", tmp_path / "menu.html")
    assert result.exit_code == 0, result.output
    assert "the closest of all" in " ".join(result.stdout.split())
    assert (tmp_path / "menu.png").stat().st_size > 1000
    assert (tmp_path / "menu.html").read_text(encoding="utf-8").count('role="tabpanel"') >= 2
    written = json.loads(run(files, "menu", "--json").stdout)["menu"]
    found = [entry for entry in written if entry["distance"] is not None]
    assert [entry["changes"] for entry in written] == sorted(entry["changes"] for entry in written)
    assert len(found) >= 2 and all(entry["status"] == "OPTIMAL" for entry in found)
    assert all(len(entry["what_changes"]) == entry["changes"] for entry in found)


def test_fewer_changes_on_the_command_line(files: Path, tmp_path: Path) -> None:
    closest = json.loads(run(files, "explain", "--json").stdout)
    result = run(files, "explain", "--prefer-few", "5", "--output", tmp_path / "few.json")
    assert result.exit_code == 0, result.output
    assert "Few changes were preferred" in result.stdout
    few = Region.from_json(tmp_path / "few.json")
    assert few.few is not None and few.closest_distance == closest["distance"] <= few.distance
    checked = runner.invoke(app, ["check", str(tmp_path / "few.json"), str(files / "model.joblib"), "--trust-pickle"])
    assert checked.exit_code == 0, checked.output
    assert "the closest answer of all is at" in " ".join(checked.stdout.split())


def test_room_on_what_changes(files: Path, tmp_path: Path) -> None:
    result = run(files, "explain", "--on", "changed", "--output", tmp_path / "on.json")
    assert result.exit_code == 0, result.output
    region = Region.from_json(tmp_path / "on.json")
    assert np.array_equal(region.body.lower < region.body.upper, region.body.center != region.factual_values)
    checked = runner.invoke(app, ["check", str(tmp_path / "on.json"), str(files / "model.joblib"), "--trust-pickle"])
    assert checked.exit_code == 0, checked.output
    refused = run(files, "explain", "--on", "kept", "--room", "ball")
    assert refused.exit_code == 2 and "only boxes" in refused.stderr


def test_a_negative_share_is_refused(files: Path) -> None:
    assert run(files, "explain", "--prefer-few", "-1").exit_code == 2
