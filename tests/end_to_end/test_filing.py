"""Answers for the files, from the command line: attested, signed, verified."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from elbowroom.present.cli import app
from tests.unit.test_signature import write_keys

RUN = CliRunner()


def run(*arguments: object) -> tuple[int, str]:
    found = RUN.invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    return found.exit_code, found.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filing")
    X = pd.DataFrame(np.random.default_rng(0).uniform(0.0, 1.0, (200, 2)), columns=["income", "age"])
    joblib.dump(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, X.income > 0.5), folder / "m.joblib")
    X.assign(income=X.income[::-1].to_numpy()).to_csv(folder / "x.csv", index=False)
    write_keys(folder)
    write_keys(folder, "other")
    asked = "explain", folder / "m.joblib", folder / "x.csv", "--row", "0", "--trust-pickle"
    files = "--output", folder / "r.json", "--html", folder / "r.html", "--proof", folder / "p.json"
    about = "--case", "17/2031", "--purpose", "appeal", "--sign", folder / "key.pem"
    code, said = run(*asked, *files, "--proof-model", folder / "pm.json", *about)
    assert code == 0, said
    assert "Attested: case 17/2031; purpose appeal" in " ".join(said.split())
    assert (folder / "key.pem").read_text().splitlines()[1] not in said
    return folder


def check(folder: Path, key: str, *more: str) -> tuple[int, str]:
    code, said = run("check", folder / "r.json", folder / "m.joblib", "--trust-pickle", "--verify", folder / key, *more)
    return code, " ".join(said.split())


def test_everything_written_is_signed_and_says_the_same(folder: Path) -> None:
    code, said = check(folder, "key.pub.pem")
    assert code == 0, said
    assert "the file is signed, as it is, by the holder of the public key" in said
    assert "case 17/2031; purpose appeal" in said
    assert "the word of whoever signed" in said
    for name in ("r.json", "r.html", "p.json", "pm.json"):
        assert (folder / f"{name}.sig").stat().st_size == 64
    filed = json.loads((folder / "r.json").read_text())
    proof = json.loads((folder / "p.json").read_text())
    assert proof["attestation"]["answer"] == filed["checksum"]
    assert proof["attestation"]["model_file"] == filed["origin"]["model_file"]
    assert filed["attestation"]["model"] == "m.joblib"
    assert "highspy" in filed["origin"]["versions"]
    secret = (folder / "key.pem").read_text().splitlines()[1]
    assert all(secret.encode() not in path.read_bytes() for path in folder.iterdir() if path.name != "key.pem")


def test_another_key_or_a_changed_file_ends_with_5(folder: Path, tmp_path: Path) -> None:
    code, said = check(folder, "other.pub.pem")
    assert code == 5
    assert "Not signed" in said
    original = (folder / "r.json").read_bytes()
    try:
        (folder / "r.json").write_bytes(original.replace(b"17/2031", b"18/2031"))
        assert check(folder, "key.pub.pem")[0] == 5
        (folder / "r.json").write_bytes((folder / "p.json").read_bytes())
        assert check(folder, "key.pub.pem")[0] == 5
    finally:
        (folder / "r.json").write_bytes(original)
    assert check(folder, "key.pem")[0] == 2
    assert run("check", folder / "r.json", folder / "m.joblib", "--trust-pickle")[0] == 0
    assert (
        json.loads(
            run(
                "check",
                folder / "r.json",
                folder / "m.joblib",
                "--trust-pickle",
                "--json",
                "--verify",
                folder / "other.pub.pem",
            )[1]
        )["outcome"]
        == "refuted"
    )


def test_the_key_is_never_an_output_and_signing_needs_a_file(folder: Path) -> None:
    asked = (
        "explain",
        folder / "m.joblib",
        folder / "x.csv",
        "--row",
        "0",
        "--trust-pickle",
        "--sign",
        folder / "key.pem",
    )
    before = (folder / "key.pem").read_bytes()
    code, said = run(*asked, "--output", folder / "key.pem", "--force")
    assert (code, (folder / "key.pem").read_bytes()) == (2, before), said
    (folder / "a.json.sig").symlink_to(folder / "key.pem")
    assert run(*asked, "--output", folder / "a.json", "--force")[0] == 2
    assert (folder / "key.pem").read_bytes() == before
    code, said = run(*asked)
    assert code == 2
    assert "--output" in said
    assert run(*asked, "--rows", "0-2", "--output", folder / "rows.csv")[0] == 2
    (folder / "kept.json.sig").write_text("my notes")
    assert run(*asked, "--output", folder / "kept.json")[0] == 2
    assert (folder / "kept.json.sig").read_text() == "my notes"


def test_the_same_question_gives_the_same_file_unless_it_is_filed(folder: Path) -> None:
    asked = "explain", folder / "m.joblib", folder / "x.csv", "--row", "0", "--trust-pickle", "--output"
    assert run(*asked, folder / "one.json")[0] == 0
    document = json.loads((folder / "one.json").read_text())
    assert "attestation" not in document
