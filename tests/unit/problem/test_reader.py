"""A checked walk through JSON: every value is what it should be, or the error says where it is not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.problem.reader import Reader, number_out


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def reader(value: Any) -> Reader:
    return Reader.parse(json.dumps({"top": {"list": [value]}}), "file.json").at("top").at("list").items()[0]


@pytest.mark.parametrize(
    ("value", "read", "found"),
    [
        ("word", Reader.text, "word"),
        (True, Reader.truth, True),
        (7, Reader.whole, 7),
        (7, Reader.number, 7.0),
        (0.1, Reader.number, 0.1),
        ("inf", lambda r: r.number(infinite=True), math.inf),
        ("-inf", lambda r: r.number(infinite=True), -math.inf),
        ("blue", lambda r: r.choice(Colour), Colour.BLUE),
        ("RED", lambda r: r.name_of(Colour, [Colour.RED]), Colour.RED),
        (3, lambda r: r.whole(1, 5), 3),
        ({"a": 1}, lambda r: r.maybe("a").whole(), 1),
        ({"a": 1}, lambda r: r.maybe("b"), None),
        ({"a": None}, lambda r: r.maybe("a"), None),
        ("09af" * 16, Reader.digest, "09af" * 16),
        ("00ff", lambda r: r.parsed(bytes.fromhex, bytes.hex, "digits"), b"\x00\xff"),
    ],
)
def test_what_should_be_there_is_read(value: Any, read: Callable[[Reader], Any], found: Any) -> None:
    assert read(reader(value)) == found


@pytest.mark.parametrize(
    ("value", "read", "words"),
    [
        (3, Reader.text, "text, not 3"),
        (1, Reader.truth, "true or false, not 1"),
        (True, Reader.whole, "a whole number, not True"),
        (1.0, Reader.whole, "a whole number, not 1.0"),
        (9, lambda r: r.whole(1, 5), "between 1 and 5, not 9"),
        (0, lambda r: r.whole(1, 5), "between 1 and 5, not 0"),
        (True, Reader.number, "a number, not True"),
        ("wide", Reader.number, "a number, not 'wide'"),
        ("inf", Reader.number, "a finite number, not 'inf'"),
        (10**400, Reader.number, "range of float64"),
        ("RED", lambda r: r.choice(Colour), "one of"),
        ("BLUE", lambda r: r.name_of(Colour, [Colour.RED]), "one of"),
        (3, Reader.mapping, "an object, not int"),
        (3, Reader.items, "a list, not int"),
        ([1, 2], lambda r: r.items(3), "a list of 3 entries, not 2"),
        ([1, "x"], lambda r: r.floats(2), r"top\.list\[0\]\[1\] should be a number"),
        ({"a": 1}, lambda r: r.at("b"), r"top\.list\[0\]\.b is missing"),
        ("09AF" * 16, Reader.digest, "64 digits 0 to 9 and a to f"),
        ("0" * 65, Reader.digest, "64 digits"),
        ("0" * 63 + "\n", Reader.digest, "64 digits"),
        ("0g", lambda r: r.parsed(bytes.fromhex, bytes.hex, "digits"), "should be digits, not '0g'"),
        ("00 FF", lambda r: r.parsed(bytes.fromhex, bytes.hex, "digits"), "written as '00ff', not '00 FF'"),
    ],
)
def test_a_surprise_names_file_place_and_what_should_stand_there(
    value: Any, read: Callable[[Reader], Any], words: str
) -> None:
    with pytest.raises(InputError, match=words) as raised:
        read(reader(value))
    assert str(raised.value).startswith("file.json: top.list[0]")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ("[1, 2]", "the document should be an object"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": Infinity}', "Infinity is not JSON"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "not valid JSON"),
    ],
)
def test_documents_that_are_none(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Reader.parse(text, "file.json")


def test_numbers_come_back_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    values = [*(rng.normal(size=50) * 10.0 ** rng.integers(-300, 300, 50)), 0.1, -0.0, 5e-324, math.inf, -math.inf]
    text = json.dumps({"values": [number_out(float(v)) for v in values]}, allow_nan=False)
    found = [item.number(infinite=True) for item in Reader.parse(text, "here").at("values").items(len(values))]
    assert [v.hex() for v in found] == [float(v).hex() for v in values]
    with pytest.raises(InputError, match="nan"):
        number_out(math.nan)


def test_long_values_are_cut_short_in_messages() -> None:
    with pytest.raises(InputError) as raised:
        reader("x" * 10_000).whole()
    assert len(str(raised.value)) < 200


def test_a_key_that_nobody_asked_for_is_named() -> None:
    text = '{"a": {"b": [{"c": 1}, {"c": 2, "d": 3}]}, "a.b": 4}'
    top = Reader.parse(text, "file.json")
    for entry in top.at("a").at("b").items():
        entry.at("c")
    with pytest.raises(InputError, match=r"file\.json: a\.b is not a field"):
        top.finish()
    top.at("a.b")
    with pytest.raises(InputError, match=r"a\.b\[1\]\.d is not a field"):
        top.finish()
    top.at("a").at("b").items()[1].at("d")
    top.finish()
