"""Proofs from the command line to the checker, in files."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from typer.testing import CliRunner

from elbowroom.present.cli import app
from elbowroom.proof.validity import NotWritten
from elbowroom_checker.__main__ import main

runner = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("proofs")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(150, 3)), columns=["age", "salary", "debt"])
    label = np.where(X["salary"] > X["debt"], "yes", "no")
    joblib.dump(RandomForestClassifier(6, max_depth=3, random_state=0).fit(X, label), made / "model.joblib")
    joblib.dump(MLPClassifier((3,), max_iter=20, random_state=0).fit(X, label), made / "network.joblib")
    X.to_csv(made / "data.csv", index=False)
    return made


def asked(folder: Path, model: str, *more: str) -> tuple[int, str]:
    result = runner.invoke(
        app, ["explain", str(folder / model), str(folder / "data.csv"), "--row", "0", "--trust-pickle", *more]
    )
    return result.exit_code, result.output


def test_a_proof_is_written_and_confirmed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof, model = folder / "proof.json", folder / "model.json"
    code, output = asked(folder, "model.joblib", "--proof", str(proof), "--proof-model", str(model))
    assert code == 0, output
    assert "Not in the proof" not in output
    assert main([str(proof), str(model)]) == 0
    said = capsys.readouterr().out
    assert "VALID: " in said and "NOT CLOSER: " in said and "'salary'" in said
    code, output = asked(folder, "model.joblib", "--proof", str(proof), "--proof-model", str(model))  # its own files
    assert code == 0, output
    model.write_text(model.read_text().replace('"divisor":6.0', '"divisor":7.0'))
    assert main([str(proof), str(model)]) == 5
    assert "about another model file" in capsys.readouterr().out


def test_files_of_others_are_not_replaced(folder: Path) -> None:
    code, output = asked(folder, "model.joblib", "--proof", str(folder / "data.csv"))
    assert code == 2 and "would be lost" in output
    (folder / "letter.json").write_text("{}")
    code, output = asked(folder, "model.joblib", "--proof", str(folder / "letter.json"))
    assert code == 2 and "is not a proof written by elbowroom" in output


def test_what_cannot_be_proven_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_hard(*_: object) -> None:
        raise NotWritten("there are too many centres")

    monkeypatch.setattr("elbowroom.proof.prover.network_centers_document", too_hard)
    code, output = asked(folder, "network.joblib", "--proof", str(folder / "network.json"))
    assert "Not in the proof: optimality: there are too many centres" in " ".join(output.split()), code
    assert (folder / "network.json").exists()
