"""The bar appears only for slow searches on a terminal, and leaves nothing behind otherwise."""

from __future__ import annotations

import io
import math
import time

import pytest
from rich.console import Console

from elbowroom.present import progress
from elbowroom.present.progress import SearchProgress
from elbowroom.result import Step

STEP = Step(0.5, 0.25, 1.5)


def search(console: Console, seconds: float, enabled: bool = True) -> str:
    with SearchProgress(60.0, console, enabled) as report:
        report(Step(0.0, 0.0, math.inf))
        report(STEP)
        time.sleep(seconds)
    return console.file.getvalue()


def test_quick_searches_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUICK", 30.0)
    assert search(Console(file=io.StringIO(), force_terminal=True, width=100), 0.0) == ""


def test_slow_searches_show_both_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUICK", 0.01)
    shown = search(Console(file=io.StringIO(), force_terminal=True, width=100), 0.5)
    assert "best distance 1.5" in shown and "lower bound 0.25" in shown


@pytest.mark.parametrize(("terminal", "enabled"), [(False, True), (True, False)])
def test_nothing_in_a_pipe_or_when_quiet(monkeypatch: pytest.MonkeyPatch, terminal: bool, enabled: bool) -> None:
    monkeypatch.setattr(progress, "QUICK", 0.01)
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100)
    assert search(console, 0.1, enabled) == ""
