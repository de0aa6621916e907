"""The stored results, and what they say about how they were made."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.cells import PAPER_INSTANCES
from benchmarks.record import RESULTS


def read(name: str) -> dict[str, Any] | None:
    """The content of ``results/NAME.json``; None if it was never made."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def instances() -> list[dict[str, Any]]:
    """All instances of the paper's tables that are there."""
    found = [read(name) for name in PAPER_INSTANCES]
    return [record for content in found if content is not None for record in content["instances"]]


def made_by(content: dict[str, Any]) -> str:
    """The line below every table and figure."""
    here = content["environment"]
    versions = here["versions"]
    changed = " with changes" if here["commit"].endswith("+") else ""
    return (
        f"Made by `{here['command']}` at commit {here['commit'][:10]}{changed}; Python {here['python']}, scikit-learn "
        f"{versions['scikit-learn']}, {here['machine']}, one thread per instance."
    )
