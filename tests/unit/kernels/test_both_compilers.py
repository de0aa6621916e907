"""The lean compiler, numba's ordinary one and plain Python: every kernel, on real calls, the same to the bit."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.replay import differences

PATIENCE = 1500  # seconds: numba's ordinary way takes a minute of computing, the first time


def _run(folder: Path, *words: str | Path, **variables: str) -> Any:
    """What a process of its own finds. Compiled code of the ordinary compiler is kept between runs of the tests."""
    out = folder / "results"
    what, *rest = map(str, words)
    command = [sys.executable, "-m", "tests.support.replay", what, str(out), *rest]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **variables}, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return pickle.loads(out.read_bytes())


@pytest.fixture(scope="module")
def ordinary(request: pytest.FixtureRequest) -> str:
    return str(request.config.cache.mkdir("ordinary-kernels"))


@pytest.mark.timeout(PATIENCE)
def test_every_kernel_computes_the_same_however_it_is_compiled(tmp_path: Path, ordinary: str) -> None:
    """Returned numbers and all arrays that a kernel was given, changed or not."""
    recorded = _run(tmp_path, "record")
    calls, plain, never = recorded
    assert never == set() and len(calls) >= 18 and all(calls.values())
    kept = tmp_path / "calls"
    kept.write_bytes(pickle.dumps(recorded))
    lean = _run(tmp_path, "repeat", kept)
    assert list(differences(lean, plain)) == []
    usual = _run(tmp_path, "repeat", kept, "--ordinary", NUMBA_CACHE_DIR=ordinary)
    assert list(differences(lean, usual)) == []
    assert sum(map(len, usual.values())) >= 100


@pytest.mark.long
@pytest.mark.timeout(2 * PATIENCE)
def test_golden_questions_are_answered_the_same_however_kernels_are_compiled(tmp_path: Path, ordinary: str) -> None:
    """Status, bounds, centres and the numbers of nodes."""
    lean = _run(tmp_path, "answers")
    usual = _run(tmp_path, "answers", "--ordinary", NUMBA_CACHE_DIR=ordinary)
    assert len(lean) > 100 and [name for name in lean if lean[name] != usual[name]] == []
