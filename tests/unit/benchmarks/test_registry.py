"""Every command names functions that exist and options that they take."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks import registry
from benchmarks.registry import COMMANDS, OPTIONS, Command

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_is_complete(command: Command) -> None:
    takes = inspect.signature(registry._function(command.function)).parameters
    for entry in command.options.split():
        name, _, alias = entry.partition("=")
        assert name in OPTIONS
        assert (alias or name) in takes
    if command.summary:
        assert callable(registry._function(command.summary))


def test_help_lists_every_command_without_loading_any() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    for command in COMMANDS:
        assert command.name in done.stdout


def test_names_differ() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


def test_options_are_passed_by_name_and_results_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def work(problems: int = 7) -> list[dict[str, float]]:
        asked.append(problems)
        return [{"value": 1.5}, {"value": float("inf")}]

    module = SimpleNamespace(work=work, summary=lambda records: {"count": len(records)})
    monkeypatch.setattr(registry, "import_module", lambda name: module)
    monkeypatch.setattr(registry, "COMMANDS", [Command("try", "a try", "x:work", "rows=problems", "x:summary")])
    out = tmp_path / "try.json"
    registry.main(["try", "--rows", "3", "--out", str(out)])
    registry.main(["try", "--out", str(out)])
    assert asked == [3, 7]
    content = json.loads(out.read_text())
    assert content["summary"] == {"count": 2}
    assert content["instances"] == [{"value": 1.5}, {"value": None}]
    assert set(content["environment"]) >= {"commit", "command", "versions", "machine", "seed"}
    assert str(tmp_path) not in out.read_text()
