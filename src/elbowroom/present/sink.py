"""The last yard of every output: a stream that takes any character and never fails.

Encodings: what the stream's encoding does not know is written in plain characters (``->`` for an arrow, ``<=``) or as an
escape. Failures: where nobody reads any more (a closed pipe) or nothing fits (a full disk), the rest is dropped and the
first failure is remembered, so that the work goes on and the exit code still says what came of it.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Final, TextIO

from elbowroom.visible import visible, visible_lines

PLAIN: Final = {
    "✓": "ok",
    "✗": "no",
    "·": "-",
    "•": "-",
    "→": "->",
    "±": "+-",
    "≈": "~",
    "≤": "<=",
    "≥": ">=",
    "−": "-",
    "–": "-",
    "—": "-",
    "×": "x",
    "…": "...",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "\N{NO-BREAK SPACE}": " ",
    "\N{NARROW NO-BREAK SPACE}": " ",
}
READABLE: Final = "elbowroom.readable"


def _readable(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN.get(c) or _escape(c) for c in error.object[error.start : error.end]), error.end


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


codecs.register_error(READABLE, _readable)


def readable(text: str, encoding: str) -> str:
    """The text with nothing in it that the encoding does not know."""
    return text.encode(encoding, READABLE).decode(encoding)


class Sink(io.TextIOBase):
    """A stream around another one, or around nothing where a program was started without it."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.failure: OSError | None = None
        self.used = False  # has anything been said?

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self._stream, "encoding", None) or "utf-8"

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        try:
            return self._stream is not None and self._stream.isatty()
        except ValueError:  # it was closed
            return False

    def fileno(self) -> int:
        if self._stream is None:
            raise io.UnsupportedOperation("fileno")
        return self._stream.fileno()

    def write(self, text: str) -> int:
        self.used = self.used or bool(text)
        if self._stream is not None:
            try:
                self._stream.write(readable(text, self.encoding))
            except (OSError, ValueError) as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        if self._stream is not None:
            try:
                self._stream.flush()
            except (OSError, ValueError) as error:
                self._give_up(error)

    def line(self, text: str) -> None:
        """One line of words, safe to show."""
        self.write(visible(text) + "\n")
        self.flush()

    def lines(self, text: str) -> None:
        self.write(visible_lines(text) + "\n")
        self.flush()

    @property
    def lost(self) -> OSError | None:
        """Why the output is incomplete, unless its reader left of its own accord."""
        return None if isinstance(self.failure, BrokenPipeError) else self.failure

    def _give_up(self, error: OSError | ValueError) -> None:
        """Write nothing more. What the stream still holds goes nowhere, or it would fail again when the program ends."""
        stream, self._stream = self._stream, None
        if isinstance(error, OSError):
            self.failure = self.failure or error
        try:
            place = stream.fileno()  # type: ignore[union-attr]
            nowhere = os.open(os.devnull, os.O_WRONLY)
        except (OSError, ValueError):  # not a file at all, or a closed one
            return
        try:
            os.dup2(nowhere, place)
        finally:
            os.close(nowhere)


def take_over() -> tuple[Sink, Sink]:
    """Put a sink around both streams of this program; whoever prints from now on prints into them."""
    out, err = Sink(sys.stdout), Sink(sys.stderr)
    sys.stdout, sys.stderr = out, err
    return out, err


def sink_of(stream: TextIO | None) -> Sink:
    """The stream itself if it is a sink already."""
    return stream if isinstance(stream, Sink) else Sink(stream)


def stdout() -> Sink:
    """Looked up for each use, so that redirections are seen."""
    return sink_of(sys.stdout)


def stderr() -> Sink:
    return sink_of(sys.stderr)
