"""``check`` as a user meets it: the model file, files without a region, labels of every kind, and what OPTIMAL means."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from typer.testing import CliRunner

from elbowroom import Region, Status
from elbowroom.present.cli import app


def run(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A model, its table, and the region of a refused row."""
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(100, 2)), columns=["a", "b"])
    y = np.where(X["a"] + 0.3 * X["b"] > 0.6, "yes", "no")
    joblib.dump(LogisticRegression().fit(X, y), tmp_path / "model.joblib")
    joblib.dump(LogisticRegression(C=9.0).fit(X, y), tmp_path / "other.joblib")
    X[y == "no"].to_csv(tmp_path / "x.csv", index=False)
    ran = run(*asked(tmp_path), "--radius", "0.03", "--output", tmp_path / "region.json")
    assert ran.exit_code == 0, ran.output
    return tmp_path


def asked(folder: Path) -> tuple[object, ...]:
    return ("explain", folder / "model.joblib", folder / "x.csv", "--row", "0", "--target", "yes", "--trust-pickle")


def test_the_model_file_is_compared(files: Path) -> None:
    """The same model, saved again in another way: the fingerprint decides, the other file is mentioned."""
    digest = hashlib.sha256((files / "model.joblib").read_bytes()).hexdigest()
    region = Region.from_json(files / "region.json")
    assert region.origin is not None and region.origin.model_file == digest
    result = run("check", files / "region.json", files / "model.joblib", "--trust-pickle")
    assert f"✓ the model file is the one that was read: SHA-256 {digest[:12]}" in result.stdout
    joblib.dump(joblib.load(files / "model.joblib"), files / "again.joblib", compress=3)
    result = run("check", files / "region.json", files / "again.joblib", "--trust-pickle")
    assert result.exit_code == 0 and "✓ the model is the certified one" in result.stdout
    assert "not checked: that this is the file that the model was read from; it is not" in result.stdout
    wide = run(*asked(files), "--radius", "0.03", "--widen", "--json")
    assert json.loads(wide.stdout)["origin"]["model_file"] == digest


def test_a_file_without_a_region_has_its_own_exit_code(files: Path) -> None:
    assert run(*asked(files), "--radius", "0.9", "--output", files / "none.json").exit_code == 3
    result = run("check", files / "none.json", files / "model.joblib", "--trust-pickle")
    assert result.exit_code == 6 and "Not checked: the claim itself." in result.stdout
    result = run("check", files / "none.json", files / "other.joblib", "--trust-pickle")
    assert result.exit_code == 5 and "a different model" in result.stdout


def test_many_columns_are_shown_as_a_table(tmp_path: Path) -> None:
    """A sentence about many columns refers to a table, so that the table must stand beside it."""
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(100, 8)), columns=list("abcdefgh"))
    y = np.where(X.sum(axis=1) > 4.0, "yes", "no")
    joblib.dump(LogisticRegression().fit(X, y), tmp_path / "model.joblib")
    X[y == "no"].to_csv(tmp_path / "x.csv", index=False)
    assert run(*asked(tmp_path), "--radius", "0.01", "--output", tmp_path / "r").exit_code == 0
    shown = run("check", tmp_path / "r", tmp_path / "model.joblib", "--trust-pickle").stdout
    assert "Proven: If " in shown and "the ranges of the table" in shown
    assert all(
        any(line.split()[:1] == [n] or line.split()[1:2] == [n] for line in shown.splitlines()) for n in "abcdefgh"
    )


@pytest.mark.parametrize("kind", ["S3", "datetime64[D]", "datetime64[us]", "timedelta64[s]"])
def test_labels_of_every_plain_kind_are_written_and_checked(tmp_path: Path, kind: str) -> None:
    X = np.random.default_rng(0).uniform(size=(80, 2))
    two = {"S3": [b"no", b"yes"], "timedelta64[s]": [1, 2]}.get(kind, ["2024-02-28", "2024-02-29"])
    labels = np.array(two).astype(kind)
    joblib.dump(
        RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, labels[(X[:, 0] > 0.5) * 1]), tmp_path / "m"
    )
    pd.DataFrame(X).to_csv(tmp_path / "x.csv", index=False)
    ran = run("explain", tmp_path / "m", tmp_path / "x.csv", "--row", "0", "--trust-pickle", "--output", tmp_path / "r")
    assert ran.exit_code == 0, ran.output
    region = Region.from_json(tmp_path / "r")
    assert {region.predicted, region.target.label} == set(labels.tolist())
    checked = run("check", tmp_path / "r", tmp_path / "m", "--trust-pickle")
    assert checked.exit_code == 0 and "column names are the file's own, the model has none" in checked.stdout


def test_dates_that_no_file_can_hold_are_refused_before_the_search(tmp_path: Path) -> None:
    X = np.random.default_rng(0).uniform(size=(80, 2))
    dates = np.array(["2024-02-28", "2024-02-29"], dtype="datetime64[ns]")
    joblib.dump(RandomForestClassifier(3, max_depth=2).fit(X, dates[(X[:, 0] > 0.5) * 1]), tmp_path / "m")
    pd.DataFrame(X).to_csv(tmp_path / "x.csv", index=False)
    ran = run("explain", tmp_path / "m", tmp_path / "x.csv", "--row", "0", "--trust-pickle")
    assert ran.exit_code == 2 and "datetime64[us]" in ran.stderr


def test_a_search_with_a_tolerance_says_closest_within(tmp_path: Path) -> None:
    X = np.random.default_rng(0).uniform(size=(200, 2))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.6, "yes", "no")
    joblib.dump(MLPClassifier((6,), solver="lbfgs", random_state=0).fit(X, y), tmp_path / "m")
    pd.DataFrame(X).to_csv(tmp_path / "x.csv", index=False)
    words = ("--row", int(np.argmax(y == "no")), "--trust-pickle", "--radius", "0.03", "--output", tmp_path / "r")
    ran = run("explain", tmp_path / "m", tmp_path / "x.csv", *words, "--distance", "l2")
    region = Region.from_json(tmp_path / "r")
    assert region.status is Status.OPTIMAL and region.gap > 1e-9  # otherwise another row is needed here
    assert "Closest within 0.01 %" in ran.stdout and "Proven closest" not in ran.stdout
    checked = run("check", tmp_path / "r", tmp_path / "m", "--trust-pickle").stdout
    assert "not checked: that no region is closer by more than 0.01 %" in checked
