"""One door to the terminal: nothing that is shown acts, any encoding works, and no stream can fail a command."""

from __future__ import annotations

import errno
import io
import json
import re
from pathlib import Path
from unittest.mock import patch

import pytest

from elbowroom.present.screen import Column, Screen, Styled
from elbowroom.present.sink import PLAIN, Sink, readable
from tests.unit.test_visible import EVIL, acts

SPOOF = "\x1b[2J\x1b[H\x1b[32mValid\x1b[8m \x9b2J \u202e[red]dilaV[/red] [link=http://example.org]x[/link] :smiley:"
FULL = Path("/dev/full")
STYLES = re.compile(r"\x1b\[[0-9;]*m")  # what rich itself adds on a terminal


def show_all(screen: Screen, text: str) -> None:
    screen.line(text)
    screen.line(Styled(text, "bold red"), text, style="dim", wrap=False)
    screen.lines(f"{text}\nsecond line")
    screen.table([Column(text), Column("n", "right")], [[text, Styled(text, "cyan")]])
    screen.json({text: [text]})
    screen.json(json.dumps({text: text}, ensure_ascii=False))


@pytest.mark.parametrize("text", [SPOOF, EVIL, EVIL[::-1]], ids=["spoof", "all", "backwards"])
@pytest.mark.parametrize("terminal", [False, True])
def test_nothing_that_is_shown_acts(text: str, terminal: bool) -> None:
    stream = io.StringIO()
    show_all(Screen(Sink(stream), width=4000, terminal=terminal), text)
    shown = stream.getvalue()
    assert acts(STYLES.sub("", shown)) == {"\n"}
    assert not any(code in shown for code in ("\x1b[32m", "\x1b[8m", "\x1b[2J", "\x1b]8"))
    assert text is not SPOOF or shown.count("[red]dilaV[/red] [link=http://example.org]x[/link] :smiley:") >= 8


def test_words_on_the_bar_do_not_act() -> None:
    stream = io.StringIO()
    bar = Screen(Sink(stream), width=500, terminal=True).bar(10.0)
    bar.start()
    bar.update(SPOOF, 5.0)
    bar.stop()
    assert "[red]dilaV[/red]" in stream.getvalue() and "\\x1b[2J" in stream.getvalue()
    assert not any(code in stream.getvalue() for code in ("\x1b[2J", "\x1b[8m", "\u202e", "\x9b"))


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "cp437", "shift_jis", "utf-8", "utf-16"])
def test_any_encoding_works(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    text = f"✓ {''.join(PLAIN)} 年 é \ud800 🙂"
    show_all(Screen(Sink(stream), width=4000), text)
    shown = raw.getvalue().decode(encoding)
    assert "Traceback" not in shown and shown.count("second line") == 1
    documents = re.findall(r"^\{.*?^\}", shown, re.MULTILINE | re.DOTALL)
    assert any(json.loads(document).get(text) == text for document in [*documents, shown.splitlines()[-1]])


def test_replacements_are_readable_and_have_the_widths_that_are_counted() -> None:
    assert readable("✓ → ≤ ± — x ≈ é", "ascii") == "ok -> <= +- - x ~ \\xe9"
    assert readable("✓ é ± —", "cp1252") == "ok é ± —"
    raw = io.BytesIO()
    screen = Screen(Sink(io.TextIOWrapper(raw, encoding="ascii")), width=80)
    screen.table([Column("a"), Column("b")], [["1 ± 2", "x"], ["1234567", "x"]])
    lines = raw.getvalue().decode().splitlines()
    assert lines[1].index("x") == lines[2].index("x") and "1 +- 2" in lines[1]


class Failing(io.StringIO):
    def __init__(self, error: Exception, when: str) -> None:
        super().__init__()
        self.error, self.when, self.calls = error, when, 0

    def write(self, text: str) -> int:
        self.calls += 1
        if self.when == "write":
            raise self.error
        return super().write(text)

    def flush(self) -> None:
        if self.when == "flush":
            raise self.error


@pytest.mark.parametrize("when", ["write", "flush"])
@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (OSError(errno.ENOSPC, "full"), True),
        (BrokenPipeError(errno.EPIPE, "gone"), False),
        (ValueError("closed"), False),
    ],
)
def test_a_stream_that_fails_goes_silent_and_is_remembered(error: Exception, lost: bool, when: str) -> None:
    stream = Failing(error, when)
    sink = Sink(stream)
    screen = Screen(sink)
    for _ in range(3):
        screen.line("words")
        screen.json({})
    assert stream.calls == 1 and (sink.lost is error) is lost


def test_a_program_without_streams_still_works() -> None:
    sink = Sink(None)
    Screen(sink).line("words")
    sink.line("words")
    assert sink.lost is None and not sink.isatty()
    with pytest.raises(io.UnsupportedOperation):
        sink.fileno()


@pytest.mark.skipif(not FULL.exists(), reason="the device that is always full")
def test_what_a_full_device_did_not_take_is_not_tried_again() -> None:
    with FULL.open("w", encoding="utf-8") as stream:
        sink = Sink(stream)
        sink.line("words")
        assert sink.lost is not None and sink.lost.errno == errno.ENOSPC
        stream.flush()  # as Python does at the end of a program: now it goes nowhere, and nothing is raised


def test_a_stream_that_fails_leaves_no_open_file() -> None:
    """Thousands of commands in one process would run out of them."""

    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise ValueError("I/O operation on closed file")

    opened: list[int] = []
    with patch("os.open", side_effect=lambda *given: opened.append(1)):
        Sink(Closed()).line("words")
    assert not opened
