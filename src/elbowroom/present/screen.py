"""Everything that is shown on a terminal. Nothing else in this package prints, and nothing else knows rich.

Whatever comes in is text, never markup, and is escaped here once more (`elbowroom.visible`), so that no name, label, key
of a file or message can move the cursor, hide what was said or pretend to be part of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Final, Literal, cast

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from elbowroom.present import sink
from elbowroom.present.sink import Sink, readable
from elbowroom.visible import visible, visible_json

EVERY: Final = 0.2  # seconds between two states of a line in a notebook
UNWRAPPED: Final = 1_000_000  # characters in a line of a file or a pipe: programs count lines, and readers wrap


@dataclass(frozen=True)
class Styled:
    """Words with the style they are shown in."""

    words: str
    style: str = ""


@dataclass(frozen=True)
class Column:
    """The head of a column, and the side to which its cells are flushed."""

    head: str
    side: Literal["left", "right"] = "left"


class Screen:
    """A place to show things: a terminal, or a file or pipe in its stead."""

    def __init__(self, stream: Sink, width: int | None = None, terminal: bool | None = None) -> None:
        self._stream = stream
        self._console = Console(
            file=cast("IO[str]", stream),
            highlight=False,
            markup=False,
            emoji=False,
            width=width,
            force_terminal=terminal,
        )
        if width is None and not self._console.is_terminal:
            self._console.width = UNWRAPPED

    @property
    def is_terminal(self) -> bool:
        return self._console.is_terminal

    def line(self, *parts: str | Styled, style: str = "", wrap: bool = True) -> None:
        """One paragraph. Without ``wrap`` it is one line, however long."""
        text = Text(style=style)
        for part in parts:
            text.append_text(self._text(part))
        self._console.print(text, soft_wrap=not wrap)

    def lines(self, text: str) -> None:
        """Several lines of our own; breaks inside the names they hold are escaped already."""
        for line in text.split("\n"):
            self.line(line)

    def blank(self) -> None:
        self._console.print()

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str | Styled]]) -> None:
        shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for column in columns:
            shown.add_column(self._text(column.head), justify=column.side, overflow="fold")
        for row in rows:
            shown.add_row(*map(self._text, row))
        self._console.print(shown)

    def json(self, document: Any) -> None:
        """A document, or the text of one, and nothing else: in JSON's own escapes, for programs as well as for eyes."""
        text = document if isinstance(document, str) else json.dumps(document, indent=1, ensure_ascii=False)
        unicode = self._stream.encoding.lower().startswith("utf")
        self._stream.write(visible_json(text, ascii_only=not unicode) + "\n")
        self._stream.flush()

    def bar(self, seconds: float) -> Bar:
        return Bar(self, seconds)

    def counter(self, what: str, enabled: bool = True) -> Counter:
        return Counter(self, what, enabled and self.is_terminal)

    def _text(self, part: str | Styled) -> Text:
        styled = part if isinstance(part, Styled) else Styled(part)
        return Text(self.plain(styled.words), styled.style)

    def plain(self, text: str) -> str:
        """As it can be shown here: escaped, and without characters that the encoding lacks (before widths are counted)."""
        return readable(visible(text), self._stream.encoding)


class Bar:
    """A bar that runs over a time limit, and a few words beside it."""

    def __init__(self, screen: Screen, seconds: float) -> None:
        self._screen, self._seconds = screen, seconds
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn(f"of {seconds:g} s", markup=False),
            console=screen._console,
            transient=True,
        )
        self._task: TaskID = self._progress.add_task("searching", total=seconds)

    def update(self, words: str, seconds: float) -> None:
        self._progress.update(self._task, description=self._screen.plain(words), completed=min(seconds, self._seconds))

    def start(self) -> None:
        self._progress.start()

    def stop(self) -> None:
        self._progress.stop()


class Counter:
    """A bar over a number of things, with their rate and the time that is left; hand it to ``on_progress``."""

    def __init__(self, screen: Screen, what: str, enabled: bool) -> None:
        self._enabled = enabled
        self._progress = Progress(
            BarColumn(bar_width=24),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + what, markup=False),
            TextColumn("{task.description}", markup=False),
            console=screen._console,
            transient=True,
        )
        self._task: TaskID = self._progress.add_task("", total=1)

    def __enter__(self) -> Counter:
        if self._enabled:
            self._progress.start()
        return self

    def __call__(self, step: Any) -> None:
        self._progress.update(self._task, total=step.total, completed=step.done, description=pace(step))

    def __exit__(self, *_: object) -> None:
        if self._enabled:
            self._progress.stop()


class NotebookLine:
    """One line that is written over itself, for notebooks, whose output is no terminal."""

    def __init__(self, stream: Sink, words: Callable[[Any], str]) -> None:
        self._stream, self._words, self._said, self._length = stream, words, 0.0, 0
        self._latest: Any = None  # a step that was not shown

    def __enter__(self) -> NotebookLine:
        return self

    def __call__(self, step: Any) -> None:
        self._latest = step
        if step.seconds - self._said >= EVERY:
            self._show()

    def _show(self) -> None:
        self._said = self._latest.seconds
        text = readable(visible(self._words(self._latest)), self._stream.encoding)
        self._stream.write("\r" + text.ljust(self._length))
        self._stream.flush()
        self._length, self._latest = len(text), None

    def __exit__(self, *_: object) -> None:
        if self._latest is not None:
            self._show()
        if self._length:
            self._stream.write("\n")
            self._stream.flush()


def counted(step: Any, what: str) -> str:
    """A batch in a line: 3 of 10 rows, and its pace."""
    return f"{step.done:,} of {step.total:,} {what}  {pace(step)}"


def pace(step: Any) -> str:
    """What came of the rows so far, how fast they are, and how long the others will take."""
    told = [f"{count:,} {words}" for words, count in _told(step.counts).items() if count]
    if step.rate:
        told.append(f"{step.rate:,.1f} per second")
        if step.done < step.total:
            told.append(f"{_clock(step.seconds_left)} left")
    return "  ".join(told)


def _told(counts: Mapping[str, int]) -> dict[str, int]:
    regions = counts.get("OPTIMAL", 0) + counts.get("CERTIFIED", 0)
    proven = counts.get("OPTIMAL", 0) + counts.get("NONE_EXISTS", 0)
    return {"certified": regions, "proven": proven, "with errors": counts.get("ERROR", 0)}


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(min(seconds, 359_999.0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


def stdout() -> Screen:
    """Made for each command, so that redirections are seen."""
    return Screen(sink.stdout())


def stderr() -> Screen:
    return Screen(sink.stderr())
