"""Results as JSON with everything needed to run them again."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def environment() -> dict[str, Any]:
    """Commit, versions and machine (never a path or a host name)."""
    command = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, check=False)
    packages = ("elbowroom", "numpy", "scipy", "scikit-learn", "numba", "highspy")
    return {
        "commit": commit.stdout.strip() or "unknown",
        "command": _command(sys.argv[1:]),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {name: version(name) for name in packages},
        "threads": 1,
        "seed": 0,
    }


def _command(arguments: list[str]) -> str:
    """What was asked, without where the answer was put."""
    kept = [a for i, a in enumerate(arguments) if "--out" not in (a, arguments[i - 1] if i else "")]
    return " ".join(["python -m benchmarks", *kept])


def write(name: str, content: dict[str, Any], out: Path | None = None) -> Path:
    path = out or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"environment": environment(), **content}, indent=1, default=_plain) + "\n")
    return path


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    return str(value)
