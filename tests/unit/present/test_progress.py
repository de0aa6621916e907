"""The bar appears only for slow searches on a terminal, and leaves nothing behind otherwise."""

from __future__ import annotations

import io
import math
import time

import pytest

from elbowroom.present import progress
from elbowroom.present.progress import SearchProgress
from elbowroom.present.screen import Screen
from elbowroom.present.sink import Sink
from elbowroom.result import Step

STEP = Step(0.5, 0.25, 1.5)


def search(terminal: bool, seconds: float, enabled: bool = True) -> str:
    shown = io.StringIO()
    with SearchProgress(60.0, Screen(Sink(shown), width=100, terminal=terminal), enabled) as report:
        report(Step(0.0, 0.0, math.inf))
        report(STEP)
        time.sleep(seconds)
    return shown.getvalue()


def test_quick_searches_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUICK", 30.0)
    assert search(True, 0.0) == ""


def test_slow_searches_show_both_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUICK", 0.01)
    shown = search(True, 0.5)
    assert "best distance 1.5" in shown and "lower bound 0.25" in shown


@pytest.mark.parametrize(("terminal", "enabled"), [(False, True), (True, False)])
def test_nothing_in_a_pipe_or_when_quiet(monkeypatch: pytest.MonkeyPatch, terminal: bool, enabled: bool) -> None:
    monkeypatch.setattr(progress, "QUICK", 0.01)
    assert search(terminal, 0.1, enabled) == ""
