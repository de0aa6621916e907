"""Universal Binary JSON: what is written is read again, and no bytes make the reader fail in another way than in words."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest

from elbowroom.errors import InputError
from elbowroom.importers.ubj import decode, encode
from tests.support.documents import spoiled_bytes

DOCUMENT = {
    "texts": ["", "a", "日本"],
    "numbers": [0, -1, 2**40, 0.5, float("inf")],
    "nested": {"empty": {}, "none": []},
    "arrays": {kind: np.array([0, 1, 100], kind) for kind in ("i1", "u1", "i2", "i4", "i8", "f4", "f8")},
}


def same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def test_what_is_written_is_read_again() -> None:
    assert same(decode(encode(DOCUMENT)), DOCUMENT)
    changed = {**DOCUMENT, "texts": ["", "b", "日本"]}
    assert not same(decode(encode(changed)), DOCUMENT)


def test_all_markers_are_read() -> None:
    assert decode(b"[TFZi\xffU\xffI\x80\x00CxSU\x01y]") == [True, False, None, -1, 255, -32768, "x", "y"]
    assert decode(b"{$U#U\x02U\x01a\x05U\x01b\x06") == {"a": 5, "b": 6}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "does not fit"),
        (b"{", "does not fit"),
        (b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff", "does not fit"),
        (b"[$l#l\xff\xff\xff\xff", "length is -1"),
        (b"[$T#L\x00\x00\x00\xff\xff\xff\xff\xff", "no kind of items"),  # a billion times "true" in a few bytes
        (b"[$U]", "without their number"),
        (b"[#d\x00\x00\x00\x00", "where a length should be"),
        (b"{U\x01aTU\x01aF}", "twice"),
        (b"SU\x01\xff", "UTF-8"),
        (b"[Q]", "no marker"),
        (b"[]x", "follow the end"),
        (b"[" * 100_000, "deep"),
    ],
)
def test_damage_is_told_in_words(data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        decode(data)


def test_no_damage_gets_through_or_takes_much_memory() -> None:
    data, refused = encode(DOCUMENT), 0
    tracemalloc.start()
    for number in range(3_000):
        try:
            decode(spoiled_bytes(data, random.Random(number))[0])
        except InputError:
            refused += 1
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert refused > 1_500
    assert most < 20_000_000
