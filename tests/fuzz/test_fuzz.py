"""Some hundred tries of every kind: always the same ones, and a few that nobody has tried before.

`make fuzz` does 20,000. A failure names the command that repeats it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.kinds import KINDS

ALWAYS, NEW = 200, 50


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_hostile_gets_through(kind: str) -> None:
    """In a process of its own: the forks of this one, with all that tests have loaded, would be slow."""
    words = ["--kind", kind, "--seed", "14", "--tries", str(ALWAYS), "--new", str(NEW), "--jobs", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *words],
        capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{ALWAYS + NEW} tries" in done.stdout
