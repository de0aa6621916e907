"""Compiled code: kept on disk where that is possible, made in the process where it is not, and one line about it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.closed import closed_package

WHERE = """
from elbowroom.kernels.kernel import readiness
from elbowroom.search.trees.boxes.expand import expand
import elbowroom.certify.trees
print(readiness(expand).name)
"""
ANSWER = """
import numpy as np
from sklearn.tree import DecisionTreeClassifier
from elbowroom import Box, Explainer
X = np.arange(20.0)[:, None]
model = DecisionTreeClassifier(max_depth=1).fit(X, X[:, 0] > 9)
region = Explainer(model).explain(X[0], room=Box(0.25))
print(region.status.name, region.distance, region.certificate.margin > 0)
"""


def _run(script: str, variables: dict[str, str]) -> tuple[str, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=variables, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), [line for line in done.stderr.splitlines() if line.strip()]


def test_the_package_loads_where_nothing_can_be_written(tmp_path: Path) -> None:
    assert _run(WHERE, closed_package(tmp_path)) == ("COMPILE_ALWAYS", [])


def test_an_empty_cache_is_noticed(tmp_path: Path) -> None:
    assert _run(WHERE, {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}) == ("COMPILE_ONCE", [])


@pytest.mark.long
def test_answers_without_a_cache(tmp_path: Path) -> None:
    said, lines = _run(ANSWER, closed_package(tmp_path))
    assert said.startswith("OPTIMAL 9.75") and said.endswith("True")
    assert len(lines) == 1 and "in this process" in lines[0] and "NUMBA_CACHE_DIR" in lines[0]


@pytest.mark.long
def test_the_first_process_compiles_and_says_so_and_the_second_does_not(tmp_path: Path) -> None:
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said, lines = _run(ANSWER, variables)
    assert said.startswith("OPTIMAL 9.75") and len(lines) == 1 and "once per installation" in lines[0]
    kept = sorted(tmp_path.rglob("*.nbc"))
    assert kept
    assert _run(ANSWER, variables) == (said, [])
    assert sorted(tmp_path.rglob("*.nbc")) == kept
