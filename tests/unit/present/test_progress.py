"""The bar appears only for slow searches on a terminal, and leaves nothing behind otherwise."""

from __future__ import annotations

import io
import math
import sys
import time

import pytest
from sklearn.linear_model import LogisticRegression

from elbowroom import Box, Explainer
from elbowroom.batch import BatchProgress
from elbowroom.errors import InputError
from elbowroom.present import progress
from elbowroom.present.progress import SearchProgress, batch_progress, search_progress
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


class Stream(io.StringIO):
    encoding = "utf-8"

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def _shown(monkeypatch: pytest.MonkeyPatch, stream: Stream, notebook: bool, wanted: bool = True) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("elbowroom.present.progress.in_notebook", lambda: notebook)
    with batch_progress(wanted) as shown:
        if shown is not None:
            shown(BatchProgress(3, 10, {"OPTIMAL": 2, "ERROR": 1}, 2.0))
            shown(BatchProgress(10, 10, {"OPTIMAL": 6, "CERTIFIED": 2, "NONE_EXISTS": 1, "ERROR": 1}, 5.0))
    return stream.getvalue()


def test_a_batch_shows_counts_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    line = _shown(monkeypatch, Stream(False), notebook=True)
    assert "3 of 10 rows  2 certified  2 proven  1 with errors  1.5 per second  0:00:05 left" in line
    assert line.endswith("\n") and "\r10 of 10 rows  8 certified  7 proven" in line
    monkeypatch.setenv("TERM", "xterm")
    assert "10 of 10 rows" in _shown(monkeypatch, Stream(True), notebook=False)
    assert _shown(monkeypatch, Stream(False), notebook=False) == ""
    assert _shown(monkeypatch, Stream(True), notebook=True, wanted=False) == ""


@pytest.mark.parametrize("notebook", [True, False])
def test_a_search_tells_both_bounds_where_someone_looks(monkeypatch: pytest.MonkeyPatch, notebook: bool) -> None:
    monkeypatch.setattr(progress, "QUICK", 0.0)
    monkeypatch.setattr(progress, "in_notebook", lambda: notebook)
    monkeypatch.setenv("TERM", "xterm")
    stream = Stream(terminal=not notebook)
    monkeypatch.setattr(sys, "stderr", stream)
    with search_progress(True, 60.0) as told:
        assert told is not None
        told(Step(0.01, 0.125, math.inf))
        told(STEP)
        told(Step(0.6, 0.5, 1.5))  # too soon after the last one: shown when the search ends
        time.sleep(0.3 * (not notebook))
    shown = stream.getvalue()
    assert "best distance 1.5, lower bound 0.5" in shown
    assert not notebook or shown.split("\r")[1:] == [
        "best distance 1.5, lower bound 0.25  0.5 of 60 s",
        "best distance 1.5, lower bound 0.5  0.6 of 60 s \n",
    ]


def test_explain_takes_true_and_is_silent_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    explainer, said = Explainer(model), []
    for notebook in (True, False):
        stream = Stream(False)
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(progress, "in_notebook", lambda notebook=notebook: notebook)
        assert explainer.explain([0.0], room=Box(0.1), on_progress=True)
        assert explainer.explain([0.0], room=Box(0.1), on_progress=False)
        said.append(stream.getvalue())
    assert said[0].startswith("\rbest distance ") and said[0].count("\n") == 1 and said[1] == ""
    with pytest.raises(InputError, match="True"):
        explainer.explain([0.0], on_progress="yes")
