"""The picture and the words of a frontier: what is drawn is what is known."""

from __future__ import annotations

import math
from dataclasses import replace
from io import StringIO
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from elbowroom import AtMost, InputError
from elbowroom.present.display import picture_format
from elbowroom.present.frontier import FrontierDisplay
from elbowroom.present.frontier_words import as_json, radii_from_text, sentence, show
from elbowroom.present.outputs import Kind
from elbowroom.present.screen import Screen
from elbowroom.present.sink import Sink
from elbowroom.problem import Box
from elbowroom.result import Breakpoint, Frontier, Status
from tests.support.answers import make_no_region, make_region

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def frontier() -> Frontier:
    """Proven, with a gap, nothing found, proven not to exist; one jump, and one into nothing."""
    optimal = make_region(room=Box(0.01))
    open_gap = make_region(room=Box(0.02), status=Status.CERTIFIED, gap=0.25)
    answers = [optimal, open_gap, make_no_region(Status.UNKNOWN, 0.5), make_no_region()]
    d = optimal.distance
    jumps = [
        Breakpoint(0.015, math.nextafter(0.015, 1), d, d + 0.5, 0.5),
        Breakpoint(0.03, math.nextafter(0.03, 1), d + 1, math.inf, math.inf),
    ]
    return Frontier.of([0.01, 0.02, 0.03, 0.04], answers, "in units of the scales", jumps, True, 0.1)


def test_the_plot_shows_every_kind_of_answer() -> None:
    ax = frontier().plot().ax
    labels = ax.get_legend_handles_labels()[1]
    assert labels == [
        "proven to lie in here",
        "closest region (proven)",
        "certified region (a closer one may exist)",
        "jump (proven)",
        "no region exists (proven)",
        "not found in time; at least this far",
    ]
    assert ax.get_xlabel() == "radius of the room (in units of the scales)"
    assert ax.get_ylabel() == "distance from the factual (l1)"
    assert ax.get_ylim()[0] == 0.0


def test_rules_are_said_with_the_frontier() -> None:
    ruled = frontier()
    ruled.answers = tuple(replace(answer, rules=(AtMost(1),)) for answer in ruled.answers)
    assert ruled.plot().ax.get_title("left") == "What more room costs, if at most one feature changes"
    assert frontier().plot().ax.get_title("left") == "What more room costs"
    assert sentence(ruled).endswith("All this is about regions in which at most one feature changes.")
    assert "All this" not in sentence(frontier())
    assert as_json(ruled)["rules"] == [{"rule": "AtMost", "changes": 1}] and as_json(frontier())["rules"] == []


def test_the_line_is_broken_at_a_jump() -> None:
    ax = frontier().plot().ax
    (line,) = (line for line in ax.lines if np.isnan(np.asarray(line.get_ydata(), dtype=float)).any())
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    gap = int(np.flatnonzero(np.isnan(y))[0])
    assert x[gap] == 0.015 and y[gap + 1] > y[gap - 1]


def test_it_draws_on_given_axes_and_keeps_them() -> None:
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    display = FrontierDisplay.from_frontier(frontier())
    assert display.plot(ax) is display and display.ax is ax


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_it_is_drawn_for_a_file_and_marked(kind: str) -> None:
    content, again = (
        FrontierDisplay.from_frontier(frontier()).picture(picture_format(Path(f"front.{kind.upper()}"))) for _ in "12"
    )
    assert content == again
    assert len(content) > 1000 and Kind.PICTURE.is_own(content[:4096], content[-4096:])


def test_other_names_than_those_of_pictures_are_refused() -> None:
    for name in ("front.doc", "front", "png"):
        with pytest.raises(InputError, match=name):
            picture_format(Path(name))


def test_the_sentence_says_jumps_ends_and_gaps() -> None:
    text = sentence(frontier())
    assert "no region of radius 0.04 or more exists" in text
    assert "At radius 0.015 the distance jumps" in text and "Beyond radius 0.03 no region exists" in text
    assert "No other jump of 0.1 or more" in text and "For 1 radius nothing was found in time" in text
    unfinished = frontier()
    unfinished.breakpoints_complete = False
    assert "Time ran out before every jump was found" in sentence(unfinished)


def test_quiet_is_the_sentence_alone() -> None:
    def printed(quiet: bool) -> str:
        shown = StringIO()
        show(Screen(Sink(shown), width=100), frontier(), quiet)
        return shown.getvalue()

    assert "none exists" in printed(False) and "proven closest" in printed(False)
    assert "proven closest" not in printed(True)


def test_json_holds_everything() -> None:
    written = as_json(frontier())
    assert [p["status"] for p in written["points"]] == ["OPTIMAL", "CERTIFIED", "UNKNOWN", "NONE_EXISTS"]
    assert written["points"][0]["center"]["salary"] == frontier().answers[0].center["salary"]
    assert written["points"][3]["lower_bound"] == "inf" and written["points"][2]["distance"] is None
    assert written["breakpoints"][1]["distance_beyond"] == "inf" and written["breakpoints_complete"] is True


def test_radii_in_words() -> None:
    assert radii_from_text("0.01,0.5") == [0.01, 0.5]
    assert radii_from_text("0:0.2:3") == pytest.approx([0.0, 0.1, 0.2])
    for text in ("a", "0.1,,0.2", "0:1", "0:1:1", "0:1:x", "0:x:3", "", "0:inf:3", "nan"):
        with pytest.raises(InputError, match="--radii"):
            radii_from_text(text)
