"""Several models on the command line: explain and check."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from elbowroom.present.cli import app


def test_explain_and_check_with_further_models(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    y = (X.a + X.b > 0).astype(int)
    models = [DecisionTreeClassifier(max_depth=3, random_state=s).fit(X[s::2], y[s::2]) for s in (0, 1)]
    files = [str(tmp_path / f"{i}.joblib") for i in (0, 1)]
    for model, file in zip(models, files, strict=True):
        joblib.dump(model, file)
    X.to_csv(tmp_path / "data.csv", index=False)
    row = int(np.flatnonzero((models[0].predict(X) == 0) & (models[1].predict(X) == 0))[0])
    out = str(tmp_path / "answer.json")
    run = CliRunner().invoke
    asked = ["explain", files[0], str(tmp_path / "data.csv"), "--row", str(row), "--output", out, "--trust-pickle"]
    found = run(app, [*asked, "--also", files[1]])
    assert found.exit_code == 0 and "each of the 2 models predicts 1" in found.output.replace("\n", " ")
    assert len(json.loads(Path(out).read_text())["origin"]["members"]) == 2
    assert run(app, ["check", out, files[0], "--also", files[1], "--trust-pickle"]).exit_code == 0
    swapped = run(app, ["check", out, files[1], "--also", files[0], "--trust-pickle"])
    assert swapped.exit_code == 5 and "different model" in swapped.output.replace("\n", " ")
    alone = run(app, ["check", out, files[0], "--trust-pickle"])
    assert alone.exit_code == 2 and "--also" in alone.output
    many = run(app, ["explain", files[0], str(tmp_path / "data.csv"), "--rows", "0:2", "--also", files[1]])
    assert many.exit_code == 2 and "--also" in many.output
