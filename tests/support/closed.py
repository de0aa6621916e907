"""A copy of the package next to which nothing can be written: compiled code finds no place to stay."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import elbowroom


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
