"""What commands say: flat JSON, lines that nobody broke, each file that was written, help without types of flags."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from elbowroom import Region
from elbowroom.present.cli import app
from elbowroom.present.endings import Exit

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"
COMMANDS = ("demo", "explain", "menu", "check", "radius", "frontier", "chance", "schema", "serve", "batch", "audit")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A linear model of a number with two decimals, a whole number and a yes or no, and its table; row 0 is rejected."""
    folder = tmp_path_factory.mktemp("output")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"income": rng.uniform(1, 9, 80).round(2), "children": rng.integers(0, 5, 80), "owner": rng.integers(0, 2, 80)}
    )
    frame.loc[0] = [2.0, 1, 0]
    label = np.where(frame["income"] + frame["owner"] > 5, "approved", "rejected")
    joblib.dump(LogisticRegression(C=10).fit(frame, label), folder / "model.joblib")
    frame.to_csv(folder / "data.csv", index=False)
    return folder


def run(folder: Path, command: str, *words: object) -> str:
    given = [command, folder / "model.joblib", folder / "data.csv", *words, "--trust-pickle"]
    found = CliRunner().invoke(app, [str(word) for word in given])
    assert found.exit_code == 0, found.output
    return found.stdout


def test_flat_json_says_what_the_sentence_says(files: Path, tmp_path: Path) -> None:
    out = tmp_path / "region.json"
    flat = json.loads(run(files, "explain", "--row", 0, "--flat", "--immutable", "owner", "--output", out))
    region = Region.from_json(out)  # the file is the whole answer, whatever is on the screen
    shown = region.rounded or region
    assert (flat["status"], flat["sentence"], flat["target"]) == (region.status.name, region.sentence(), "approved")
    assert (flat["predicted"], flat["distance"], flat["changes"]) == ("rejected", shown.distance, 1)
    assert list(flat["features"]) == ["income", "children", "owner"]
    for line in shown.intervals.itertuples():
        told = flat["features"][line.feature]
        assert (told["now"], told["center"], told["kind"]) == (line.factual, line.center, line.kind)
        assert (told["low"], told["high"]) == (line.low, line.high)
    assert flat["features"]["income"]["kind"] == "has to change" and flat["features"]["income"]["now"] == 2.0
    given = ["explain", files / "model.joblib", files / "data.csv", "--rows", "0:2", "--flat", "--trust-pickle"]
    several = CliRunner().invoke(app, [str(word) for word in given])
    assert several.exit_code == Exit.BAD_INPUT and "--flat" in several.stderr


def test_each_line_of_a_menu_in_json_has_its_sentence(files: Path) -> None:
    lines = json.loads(run(files, "menu", "--row", 0, "--json"))["menu"]
    assert lines and all(
        ("the model predicts 'approved'" in line["sentence"]) == bool(line["what_changes"]) for line in lines
    )


def test_flat_json_without_a_region(files: Path) -> None:
    fixed = [word for name in ("income", "children", "owner") for word in ("--immutable", name)]
    given = ["explain", files / "model.joblib", files / "data.csv", "--row", "0", "--flat", "--trust-pickle", *fixed]
    found = CliRunner().invoke(app, [str(word) for word in given])
    flat = json.loads(found.stdout)
    assert found.exit_code == Exit.NONE_EXISTS and flat["status"] == "NONE_EXISTS" and "distance" not in flat
    assert flat["sentence"].startswith("No region exists") and flat["features"]["income"] == {"now": 2.0}


def test_lines_are_not_broken_in_a_pipe(files: Path) -> None:
    shown = run(files, "explain", "--row", 0, "--radius", "income=0.1", "--radius", "children=1")
    sentence = shown.splitlines()[0]
    assert len(sentence) > 120 and sentence.endswith("the model predicts 'approved'.")
    assert all(line.startswith(("Proven", "A distance", "Certificate")) for line in shown.splitlines()[-3:])


@pytest.mark.parametrize(
    ("command", "words", "names"),
    [
        ("explain", ("--row", 0, "--output", "a.json", "--html", "a.html"), ("a.json", "a.html")),
        ("explain", ("--row", 0, "--proof", "p.json", "--proof-model", "m.json"), ("p.json", "m.json")),
        ("explain", ("--rows", "0:2", "--output", "rows.csv"), ("rows.csv",)),
        ("menu", ("--row", 0, "--html", "menu.html", "--plot", "menu.svg"), ("menu.html", "menu.svg")),
        ("frontier", ("--row", 0, "--radii", "0,0.01", "--plot", "front.svg"), ("front.svg",)),
        ("batch", ("--rows", "0:2", "--out", "b.csv", "--html", "b.html"), ("b.csv", "b.html")),
        ("audit", ("--rows", "0:2", "--out", "t.csv", "--html", "t.html"), ("t.csv", "t.html")),
    ],
)
def test_each_file_that_was_written_is_named(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, words: tuple, names: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run(files, command, *words)
    told = [line.removeprefix("Written: ") for line in said.splitlines() if line.startswith("Written: ")]
    assert sorted(told) == sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    assert "Written" not in run(files, command, *words, "--quiet")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=lambda words: words[0] if words else "")
def test_flags_are_listed_without_a_type(command: tuple[str, ...]) -> None:
    said = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"}).stdout
    assert "--help" in said and "<bool>" not in said and "BOOLEAN" not in said and "list[" not in said


def test_the_guide_lists_every_exit_code() -> None:
    listed = {line.split("|")[1].strip() for line in GUIDE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"}
    assert {str(int(code)) for code in Exit} <= listed
