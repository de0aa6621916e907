"""What came from outside is shown as what it is, and never acts."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbowroom import InputError, SolverMissing
from elbowroom.visible import MOST_MESSAGE, brief, is_harmless, listed, named, visible, visible_json, visible_lines

DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u115f\u3164\u2800\U000e0041"
BREAKS = "\n\r\v\f\x85\u2028\u2029"
EVIL = "".join(map(chr, [*range(32), *range(127, 160)])) + DIRECTIONS + ZERO_WIDTH + BREAKS + "\udfff\ud800"
ANYTHING = st.text(st.characters(), max_size=60)  # lone surrogates as well


def acts(text: str) -> set[str]:
    """Characters that do something to a screen, counted in another way than the package does."""
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


@pytest.mark.parametrize("character", sorted(set(EVIL)), ids=lambda c: f"{ord(c):04x}")
def test_what_acts_becomes_an_escape(character: str) -> None:
    shown = visible(f"a{character}b")
    assert shown.isascii() and shown.isprintable()
    assert shown.startswith("a\\") and shown.endswith("b") and len(shown) > 3


def test_no_character_that_acts_is_left_out() -> None:
    for c in map(chr, range(sys.maxunicode + 1)):
        assert not (is_harmless(c) and acts(c)), hex(ord(c))


@pytest.mark.parametrize(
    "text", ["salary", "Größe in m²", "年收入", "доход ≤ 5 €", "naïve\u00a0user", "a\\x1bb", "[red]", "🙂"]
)
def test_ordinary_text_stays(text: str) -> None:
    assert visible(text) == text == visible_lines(text)
    assert json.loads(visible_json(json.dumps(text, ensure_ascii=False))) == text


@given(ANYTHING)
def test_twice_is_once(text: str) -> None:
    assert visible(visible(text)) == visible(text) and not acts(visible(text))


@given(st.dictionaries(ANYTHING, ANYTHING), st.booleans())
def test_documents_read_back_equal(document: dict[str, str], ascii_only: bool) -> None:
    shown = visible_json(json.dumps(document, ensure_ascii=False, indent=1), ascii_only)
    assert json.loads(shown) == document and acts(shown) <= {"\n"} and (shown.isascii() or not ascii_only)
    shown.encode("utf-8")


@given(ANYTHING)
def test_errors_are_one_line_that_does_not_act(text: str) -> None:
    for kind in (InputError, SolverMissing):
        assert not acts(str(kind(f"{text}: what to do")))
    assert InputError(text).args == (text,)  # programs get it as it was


def test_long_things_are_cut_and_both_ends_stay() -> None:
    error = str(InputError(f"row 3: {'x' * 100_000} is not a number; give another"))
    assert error.startswith("row 3: xxx") and error.endswith("is not a number; give another") and len(error) < 400
    assert "99,800 characters more" in error
    assert len(str(InputError("many words " * 10_000))) < MOST_MESSAGE + 60
    assert brief("x" * 200) == "x" * 200


def test_names_cannot_fill_a_line_with_spaces() -> None:
    assert named("x" + " " * 70 + "Valid") == "x (70 spaces) Valid"
    assert named("x" + "\u3000" * 70 + "Valid") == "x (70 spaces) Valid"
    assert "     " not in str(InputError("a" + " " * 500 + "Valid"))


def test_lists_are_cut_at_a_dozen() -> None:
    assert listed(["a", 1]) == "['a', 1]" and listed([]) == "[]"
    assert listed(range(12)).endswith("11]") and listed(range(1_000_000)).endswith("11] and 999,988 more")
    assert len(listed(["x" * 10_000] * 12)) < 4000
