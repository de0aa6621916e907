"""Texts that an attacker would choose for names, labels, units and values, and what of them may never reach a reader.

A terminal obeys escape sequences, a reader is misled by marks that turn the direction of writing, a page obeys tags, and
a program that prints what it was given line by line can be made to print somebody else's lines.
"""

from __future__ import annotations

import random
import re
import unicodedata
from typing import Final

CLAIM: Final = "Valid: at every point of the region the model predicts 'approved'."
TERMINAL: Final = (
    "\x1b[2J\x1b[H\x1b[32m" + CLAIM + "\x1b[8m",
    "\x1b[1A\x1b[2K" + CLAIM,
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1bc",
    "\x9b2J\x9b8m",
    "\x1b[8m",
    "\r" + CLAIM,
    "rejected" + "\b" * 8 + "approved",
    "\x00",
    "a\x00b",
    "\x07",
    "\x0e\x0f",
    "\x7f\x7f",
)
DIRECTIONS: Final = (
    "\u202edevorppa\u202c",
    "\u2066\u2067\u2069",
    "\u200e\u200f\u061c",
    "user\u202e \u2066// not approved\u2069 \u2066",
)
LINES: Final = tuple(
    f"x{end}{CLAIM}{end}" for end in ("\n", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1c")
)
MARKUP: Final = (
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</textarea></pre><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    '" onfocus=alert(1) autofocus x="',
    "<!--",
    "-->",
    "]]>",
    "<![CDATA[",
    "&lt;script&gt;",
    "&#x3c;script&#62;",
    "javascript:alert(1)",
    "<a href=//evil.example>x</a>",
    "<base href=https://evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<iframe srcdoc='<b>'>",
    "{{ 7 * 7 }}",
    "{% raw %}{{ config }}",
    "[bold red]x[/bold red]",
    "[/]",
    "[link=https://evil.example]x[/link]",
    ":smile:",
    "$\\frac{1}$",
    "$x",
    "$$",
    "\\",
    "%s%n{0}{x!r}",
    "=cmd|'/C calc'!A0",
    "@SUM(A1)",
    "`id`$(id)",
    "../../etc/passwd",
)
ODD: Final = (
    "",
    " ",
    "\t",
    "\ud800",
    "\udfff\ud800",
    "\U000e0041\U000e0042",
    "\ufeff",
    "\ufffe\uffff",
    "e\u0301\u0301\u0301",
    "\u200b\u200d\u2060",
    "\u0645\u0631\u062d\u0628\u0627",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "ﷺ",
    "true",
    "null",
    "NaN",
    "-0",
    "1e999",
    "None",
    "__class__",
    "x0",
    "housing_own",
)
ALL: Final = TERMINAL + DIRECTIONS + LINES + MARKUP + ODD

UNSAFE: Final = frozenset(
    ("Cc", "Cf", "Cs", "Zl", "Zp")
)  # controls, marks of direction or without width, surrogates, breaks
COLOURS: Final = re.compile(
    r"\x1b\[(?:0|1|2|3[1-6]|9[0-7])(?:;(?:1|2|3[1-6]|9[0-7]))*m"
)  # what rich writes for our styles


def hostile_text(rng: random.Random) -> str:
    """One payload, several in a row, one inside ordinary words, or one that is very long."""
    text = rng.choice(ALL)
    match rng.randrange(8):
        case 0:
            return text + rng.choice(ALL)
        case 1:
            return f"net {text} income"
        case 2:
            first, last = rng.choice(((0, 0xFF), (0x2000, 0x20FF), (0xD800, 0xDFFF), (0, 0x10FFFF)))
            return "".join(chr(rng.randint(first, last)) for _ in range(rng.randrange(1, 12)))
        case 3 if rng.random() < 0.2:
            return (text or "long ") * rng.choice((50, 500))
    return text


def unsafe_characters(text: str, colours: bool = False) -> list[str]:
    """The characters of an output that a terminal obeys or that mislead a reader; a line feed and, with ``colours``, the
    colours of the program itself are none."""
    plain = COLOURS.sub("", text) if colours else text
    return [character for character in plain if character != "\n" and unicodedata.category(character) in UNSAFE]


def lines_of(text: str) -> list[str]:
    """The lines as any terminal or viewer might break them."""
    return text.splitlines()
