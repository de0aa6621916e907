"""``check --no-cache``: the same verdicts from kernels that run as plain Python, and not a byte of compiled code."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from elbowroom import Ball, Box, Diamond, Explainer, Feature, Space
from elbowroom.present.cli import app
from tests.support.closed import copied_package

SCRIPT = """
import json, sys
from typer.testing import CliRunner
from elbowroom.present.cli import app
found = []
for words in json.load(open(sys.argv[1])):
    done = CliRunner().invoke(app, words)
    found.append([done.exit_code, done.stdout])
json.dump(found, sys.stdout)
"""
MODELS: dict[str, Any] = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0),
    "network": MLPClassifier((5,), max_iter=300, tol=0.01, random_state=0),
    "linear": LogisticRegression(),
}
ROOMS = {"box": Box(0.1), "ball": Ball(0.1), "diamond": Diamond(0.15)}
REMARK = "judged without compiled code"


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Words for ``check``: every family and shape, each region with the model it was made for and with a retrained one."""
    folder = tmp_path_factory.mktemp("regions")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.3
    space = Space(tuple(Feature(f"x{f}", "numeric", -3.0, 3.0) for f in range(3)))
    words = []
    for family, model in MODELS.items():
        model.fit(X, y)
        explainer = Explainer(model, space)
        files = [folder / f"{family}.joblib", folder / f"{family}-again.joblib"]
        joblib.dump(model, files[0])
        joblib.dump(type(model)(**model.get_params()).fit(X[:150], y[:150]), files[1])
        row = X[np.flatnonzero(~model.predict(X))[0]]
        for shape, room in ROOMS.items():
            region = explainer.explain(row, room=room)
            assert region, (family, shape)
            region.to_json(folder / f"{family}-{shape}.json")
            for file in files:
                words.append(
                    [
                        "check",
                        str(folder / f"{family}-{shape}.json"),
                        str(file),
                        "--trust-pickle",
                        "--any-model",
                        "--json",
                    ]
                )
    return words


def _plain_verdicts(questions: list[list[str]], variables: dict[str, str], folder: Path) -> list[tuple[int, str]]:
    asked = folder / "asked.json"
    asked.write_text(json.dumps([[*words, "--no-cache"] for words in questions]))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(asked)],
        capture_output=True,
        text=True,
        env=variables,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return [(code, text) for code, text in json.loads(done.stdout)]


def _without_seconds(text: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(re.sub(r", [0-9.e+-]+ s\"", '"', text))
    return report


def test_verdicts_are_the_same_and_no_cache_is_read(questions: list[list[str]], tmp_path: Path) -> None:
    """Every file of the cache is a trap: one that is read is deleted, one that is loaded leaves a trace."""
    copy, variables = copied_package(tmp_path)
    trace = tmp_path / "trace"
    trap = pickle.dumps(_Trap(trace))
    traps = [file for ending in ("nbi", "nbc") for file in copy.rglob(f"*.{ending}")]
    for file in traps:
        file.write_bytes(trap)
    found = _plain_verdicts(questions, variables, tmp_path)
    assert len(found) == 30 and {code for code, _ in found} == {0, 5}
    for words, (code, text) in zip(questions, found, strict=True):
        compiled = CliRunner().invoke(app, words)
        mine, theirs = _without_seconds(text), _without_seconds(compiled.stdout)
        assert code == compiled.exit_code, words
        assert sum(REMARK in finding["what"] for finding in mine["findings"]) == 1
        mine["findings"] = [finding for finding in mine["findings"] if REMARK not in finding["what"]]
        assert mine == theirs, words
        assert not any(REMARK in finding["what"] for finding in theirs["findings"])
    assert traps and all(file.read_bytes() == trap for file in traps) and not trace.exists()


def test_a_process_with_compiled_kernels_refuses(questions: list[list[str]]) -> None:
    """This one has loaded them."""
    done = CliRunner().invoke(app, [*questions[0], "--no-cache"])
    assert done.exit_code == 2 and "process of its own" in done.stderr


class _Trap:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)
