"""``--space FILE``: what columns mean, said once, for every command."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from typer.testing import CliRunner

from elbowroom import InputError, Region, Space
from elbowroom.present.cli import app
from elbowroom.present.space_file import with_space_file
from tests.support.hostile import attack

DECLARED = """
[salary]
unit = "EUR"
upper = 6000
weight = 3.0

["debt, total"]
unit = "EUR"
direction = "decreasing"

[home]
immutable = true
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("space")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "salary": rng.uniform(1000.0, 9000.0, 300).round(),
            "debt, total": rng.uniform(0.0, 4000.0, 300).round(),
            "home": rng.choice(["own", "rent"], 300),
        }
    )
    label = np.where(frame["salary"] - 2.0 * frame["debt, total"] > 1000.0, "yes", "no")
    encoder = make_column_transformer((OneHotEncoder(), ["home"]), remainder="passthrough")
    model = make_pipeline(encoder, RandomForestClassifier(8, max_depth=4, random_state=0)).fit(frame, label)
    joblib.dump(model, folder / "model.joblib")
    frame.to_csv(folder / "data.csv", index=False)
    (folder / "space.toml").write_text(DECLARED, encoding="utf-8")
    low = np.flatnonzero((model.predict(frame) == "no") & (frame["salary"] < 5000))[0]
    (folder / "row").write_text(str(int(low)))
    return folder


def run(files: Path, command: str, *words: object):
    fixed = (
        command,
        files / "model.joblib",
        files / "data.csv",
        "--row",
        (files / "row").read_text(),
        "--trust-pickle",
    )
    return CliRunner().invoke(app, [str(word) for word in (*fixed, *words)])


def test_units_bounds_and_directions(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "region.json"
    ran = run(files, "explain", "--radius", "2%", "--space", files / "space.toml", "--output", out)
    assert ran.exit_code == 0, ran.output
    assert "EUR" in ran.stdout
    region = Region.from_json(out)
    model = joblib.load(files / "model.joblib")
    attack(lambda X: model.predict(region.space.table(X)), region.body, "yes")
    assert region.upper["salary"] <= 6000.0 and region.lower["home"] == region.upper["home"] == region.factual["home"]
    assert region.upper["debt, total"] <= region.factual["debt, total"]
    assert region.space.features[region.space.position["salary"]].weight == 3.0
    for command, more in (("radius", ()), ("menu", ("--radius", "0.02")), ("frontier", ("--radii", "0.01"))):
        assert run(files, command, *more, "--space", files / "space.toml").exit_code == 0, command


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[salry]\nunit = 'EUR'", "no such column"),
        ("[salary]\ncolour = 'red'", "takes"),
        ("[home]\nlower = 1", "a column of categories takes"),
        ("[salary]\nlower = 'a'", r"\[salary\]"),
        ("[salary]\nlower = 9e9", r"\[salary\]"),
        ("salary = 3", "outside a table"),
        ("[salary", "not TOML"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "space.toml"
    file.write_text(text, encoding="utf-8")
    frame = pd.DataFrame({"salary": [1.5, 2.0, 3.0], "home": ["own", "rent", "own"]})
    with pytest.raises(InputError, match=words):
        with_space_file(Space.from_frame(frame), file)


def test_weights_of_categories(tmp_path: Path) -> None:
    file = tmp_path / "space.toml"
    file.write_text("[home]\nweight = 5.0", encoding="utf-8")
    frame = pd.DataFrame({"salary": [1.5, 2.0, 3.0], "home": ["own", "rent", "own"]})
    assert with_space_file(Space.from_frame(frame), file).groups[0].weight == 5.0
    assert with_space_file(Space.from_frame(frame), None).groups[0].weight != 5.0
