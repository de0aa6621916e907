"""Copies of the package: one whose compiled code can be damaged, one next to which nothing can be written."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import elbowroom


def copied_package(folder: Path) -> tuple[Path, dict[str, str]]:
    """Copy the package with its compiled code, and return the copy and the environment for a process that shall use it."""
    copy = folder / "copied" / "elbowroom"
    shutil.copytree(Path(elbowroom.__file__).parent, copy)
    variables = {**os.environ, "PYTHONPATH": str(copy.parent)}
    variables.pop("NUMBA_CACHE_DIR", None)
    return copy, variables


def closed_package(folder: Path) -> dict[str, str]:
    """Copy the package below ``folder`` and return the environment for a process that shall use it.

    Where numba would make a folder there is a file already; that stops everybody, administrators included.
    """
    source = Path(elbowroom.__file__).parent
    copy = folder / "closed" / "elbowroom"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for place in (copy, *(p for p in copy.rglob("*") if p.is_dir())):
        (place / "__pycache__").write_text("in the way")
    blocked = folder / "blocked"
    blocked.write_text("in the way")
    below = str(blocked / "cache")
    return {
        **os.environ,
        "PYTHONPATH": str(copy.parent),
        "NUMBA_CACHE_DIR": below,
        "XDG_CACHE_HOME": below,
        "HOME": str(blocked),
        "LOCALAPPDATA": below,
    }
