"""Text that came from outside, made safe to show: in a terminal, a notebook, a page or a picture.

A name in a file can hold anything: sequences that clear a terminal, marks that turn the reading direction, characters
without width, line breaks. Shown raw, it could write "Valid" over what a program said. Here each such character becomes
the escape by which Python writes it (``\\x1b``, ``\\u202e``, ``\\n``); every other character stays as it is, so that
escaping twice changes nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

# Letters and marks by their category that nevertheless leave no trace on a screen.
UNSEEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
NOT_PLAIN: Final = re.compile(r"[^ -~]")  # everything but the printable characters of ASCII
SPACE: Final = "Zs"  # spaces of some width; Python calls all but the plain one unprintable
RUN_OF_SPACES: Final = re.compile(r"\s{4,}")  # enough of them push what follows onto a line of its own
MOST_LISTED: Final = 12
MOST_NAME: Final = 200
MOST_MESSAGE: Final = 1200
LONG_WORD: Final = re.compile(rf"\S{{{MOST_NAME + 1},}}")


def is_harmless(character: str) -> bool:
    """Does it show itself, and change nothing about how others are shown?"""
    return (character.isprintable() and character not in UNSEEN) or unicodedata.category(character) == SPACE


def visible(text: str) -> str:
    """One line: control characters, ESC, direction and zero-width marks, line breaks and lone surrogates as escapes."""
    return NOT_PLAIN.sub(lambda found: found[0] if is_harmless(found[0]) else _escape(found[0]), text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def visible_lines(text: str) -> str:
    """The same for a text of our own that has several lines; breaks in the names it holds must be escaped before."""
    return "\n".join(map(visible, text.split("\n")))


def visible_json(text: str, ascii_only: bool = False) -> str:
    """The same for a JSON document, in JSON's own escapes, so that it reads back equal; ``ascii_only`` for encodings that
    know nothing else."""

    def escape(found: re.Match[str]) -> str:
        c = found[0]
        return c if c == "\n" or (not ascii_only and is_harmless(c)) else _unit_escapes(c)

    return NOT_PLAIN.sub(escape, text)


def _unit_escapes(character: str) -> str:
    """As UTF-16 code units, which is how JSON counts."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def named(thing: object, most: int = MOST_NAME) -> str:
    """A name, a label or a unit: visible, not too long, and without spaces enough to fill a line."""
    return brief(_without_runs(visible(str(thing))), most)


def message(text: str) -> str:
    """A message that quotes what came from outside: one line, visible, no part of it endless."""
    return brief(LONG_WORD.sub(lambda word: brief(word[0]), _without_runs(visible(text))), MOST_MESSAGE)


def _without_runs(text: str) -> str:
    return RUN_OF_SPACES.sub(lambda run: f" ({len(run[0])} spaces) ", text)


def brief(text: str, most: int = MOST_NAME) -> str:
    """The text, or its beginning and its end with the length of what was left out."""
    if len(text) <= most:
        return text
    tail = most // 3
    head = most - tail
    return f"{text[:head]}... ({len(text) - most:,} characters more) ...{text[-tail:]}"


def listed(things: Iterable[object], most: int = MOST_LISTED) -> str:
    """Names as a list for a message: the first dozen, and how many more there are."""
    everything = list(things)
    shown = ", ".join(brief(repr(thing)) for thing in everything[:most])
    left = len(everything) - most
    return f"[{shown}]" + (f" and {left:,} more" if left > 0 else "")
