"""Compiled code: kept on disk where that is possible, made in the process where it is not, and one line about it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.closed import closed_package, copied_package

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


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str], str]:
    """The package with its compiled code, and what it answers."""
    copy, variables = copied_package(tmp_path_factory.mktemp("copied"))
    said, _ = _run(ANSWER, variables)
    assert _run(ANSWER, variables) == (said, [])
    return copy, variables, said


@pytest.mark.parametrize("damage", [b"", b"\x80\x04\x95", b"garbage" * 1000], ids=["empty", "truncated", "garbage"])
def test_a_damaged_cache_of_the_judge_is_mended_with_one_line(
    copied: tuple[Path, dict[str, str], str], damage: bytes
) -> None:
    """The index of one kernel and the data of another."""
    copy, variables, said = copied
    for pattern in ("restrict_leaves-*.nbi", "descend-*.nbc"):
        files = list(copy.glob(f"certify/__pycache__/tree_kernels.{pattern}"))
        assert files
        for file in files:
            file.write_bytes(damage)
    answer, lines = _run(ANSWER, variables)
    assert answer == said and len(lines) == 1 and "damaged" in lines[0] and "tree_kernels" in lines[0]


def test_flipped_bits_in_all_code_end_in_the_same_answer(copied: tuple[Path, dict[str, str], str]) -> None:
    """Machine code with flipped bits would end processes by a signal, or lie."""
    copy, variables, said = copied
    for file in copy.glob("certify/__pycache__/*.nbc"):
        content = bytearray(file.read_bytes())
        for place in (len(content) // 4, len(content) // 2, 3 * len(content) // 4):
            content[place] ^= 16
        file.write_bytes(content)
    answer, lines = _run(ANSWER, variables)
    assert answer == said and len(lines) == 1 and "damaged" in lines[0]
    assert _run(ANSWER, variables) == (said, [])


@pytest.mark.long
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_everything_damaged_ends_in_the_same_answer(tmp_path: Path, ending: str) -> None:
    copy, variables = copied_package(tmp_path)
    said, _ = _run(ANSWER, variables)
    for file in copy.rglob(f"*.{ending}"):
        file.write_bytes(file.read_bytes()[:-7])
    answer, lines = _run(ANSWER, variables)
    assert answer == said and len(lines) == 1 and "damaged" in lines[0]
    assert _run(ANSWER, variables) == (said, [])


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such bits")
def test_a_refused_folder_is_said_where_kernels_are_announced(tmp_path: Path) -> None:
    """With nowhere else to go: one line, with the cure."""
    variables = closed_package(tmp_path)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    script = WHERE + "from elbowroom.kernels.warm import announce\nannounce(expand, 'boxes')\n"
    said, lines = _run(script, {**variables, "NUMBA_CACHE_DIR": str(shared)})
    assert said == "COMPILE_ALWAYS" and len(lines) == 1
    assert "in this process" in lines[0] and f"chmod go-w {shared}" in lines[0] and "NUMBA_CACHE_DIR" in lines[0]
