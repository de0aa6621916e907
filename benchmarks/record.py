"""Results as JSON with everything needed to run them again."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def environment() -> dict[str, Any]:
    """Commit, versions and machine (never a path or a host name)."""
    packages = ("elbowroom", "numpy", "scipy", "scikit-learn", "numba", "highspy")
    return {
        "commit": commit(),
        "command": _command(sys.argv[1:]),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {processor()}, {os.cpu_count()} cores",
        "versions": {name: found for name in packages if (found := _version(name))},
        "threads": 1,
        "seed": 0,
    }


def _version(name: str) -> str | None:
    """None for the product itself where it runs from its checkout."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def commit() -> str:
    """The commit of the checkout; a plus sign says that files of the product were changed since."""
    folder = Path(__file__).parent
    found = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=folder, check=False)
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", "../src"], capture_output=True, text=True, cwd=folder, check=False
    )
    return (found.stdout.strip() or "unknown") + ("+" if changed.stdout.strip() else "")


def processor() -> str:
    """The name of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown processor"


def _command(arguments: list[str]) -> str:
    """What was asked, without where the answer was put."""
    kept = [a for i, a in enumerate(arguments) if "--out" not in (a, arguments[i - 1] if i else "")]
    return " ".join(["python -m benchmarks", *kept])


def write(name: str, content: dict[str, Any], out: Path | None = None, here: dict[str, Any] | None = None) -> Path:
    """``results/NAME.json``: the environment, then the content; every entry of a list on a line of its own."""
    path = out or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [
        f"{json.dumps(key)}: {_block(value)}"
        for key, value in {"environment": here or environment(), **content}.items()
    ]
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    return path


def _block(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(line(entry) for entry in value) + "\n]"
    return line(value)


def line(value: Any) -> str:
    """One JSON value on one line; JSON knows no infinity, so that it is written as null."""
    return json.dumps(_plain(value), separators=(",", ":"), allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
