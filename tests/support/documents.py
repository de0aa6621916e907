"""Changes of JSON documents: single values, the structure, and the bytes they are written with."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator
from typing import Any

from tests.support.hostile_text import hostile_text

Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where the single values and the empty lists are."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
        if not value:
            yield path
    else:
        yield path


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where anything is, except the document itself."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*path, key)
        yield from places(inner, (*path, key))


def at(document: Any, path: Path) -> Any:
    for key in path:
        document = document[key]
    return document


def put(document: Any, path: Path, value: Any) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


def changed(value: Any) -> Any:
    """The smallest change of a value that keeps its type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return math.nextafter(value, math.inf)
        case str():
            return value + "x"
        case list():
            return [[0]]
        case None:
            return 0.5
    raise AssertionError(value)


def canonical(document: Any) -> str:
    """Equal for equal documents: the order of keys, white space and the sign of 0.0 do not count, all else does."""
    return json.dumps(_unsigned(document), sort_keys=True)


def _unsigned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unsigned(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_unsigned(inner) for inner in value]
    return value + 0.0 if isinstance(value, float) else value


# ---- random changes --------------------------------------------------------------------------------------------------
def other_value(value: Any, rng: random.Random) -> Any:
    """A value of the same type that a forger might write."""
    match value:
        case bool():
            return not value
        case int():
            return value + rng.choice((-1, 1, 7, -1000, 10**9))
        case float():
            some = [value * 2, value / 3, -value, value + 1, 0.0, 1e308, -1e308, 5e-324, "inf", "-inf"]
            some += [math.nextafter(value, math.inf), math.nextafter(value, -math.inf), value * 0.9999]
            chosen = rng.choice(some)
            return chosen if isinstance(chosen, str) or math.isfinite(chosen) else 0.5
        case str():
            return rng.choice((value + "x", value[:-1], value.upper(), "", "trusted by NIST", hostile_text(rng)))
        case None:
            return rng.choice((0.5, 1, "x", True, [], {"type": "str", "value": "x"}))
    return copy.deepcopy(value)


def odd_value(rng: random.Random) -> Any:
    """A value of any type, as no writer of ours would write it."""
    match rng.randrange(10):
        case 0:
            return hostile_text(rng)
        case 1:
            return {hostile_text(rng): hostile_text(rng)}
        case 2:
            return [hostile_text(rng) for _ in range(rng.randrange(4))]
        case 3:
            return nested(rng.choice((3, 50, 2000, 100_000)) if rng.random() < 0.3 else 5, rng)
        case 4:
            return rng.choice((10**30, -(10**400), 2**63, 2**64, 1e308, -0.0, 5e-324))
        case 5:
            return rng.choice((math.nan, math.inf, -math.inf))
        case 6:
            return rng.choice((None, True, False, "", [], {}))
        case 7:
            return [0.5] * rng.choice((1, 100, 5000))
    return rng.choice((0, 1, -1, 0.5, "0.5", "inf", "nan", "1"))


def nested(depth: int, rng: random.Random) -> Any:
    """Lists in lists (or objects in objects), without recursion."""
    value: Any = 0
    as_list = rng.random() < 0.5
    for _ in range(min(depth, 900)):  # deeper ones are written as text by `spoiled_text`
        value = [value] if as_list else {"a": value}
    return value


def restructured(document: Any, rng: random.Random) -> tuple[Any, str]:
    """A copy with one change of its structure, and what was changed."""
    made = copy.deepcopy(document)
    path = rng.choice(list(places(made)))
    holder, key = at(made, path[:-1]), path[-1]
    what = ".".join(map(str, path))
    match rng.randrange(6):
        case 0:
            del holder[key]
            return made, f"without {what}"
        case 1 if isinstance(holder, dict):
            holder[hostile_text(rng)] = odd_value(rng)
            return made, f"one more key beside {what}"
        case 2 if isinstance(holder, list):
            holder.insert(int(key), odd_value(rng))
            return made, f"one more entry at {what}"
        case 3 if isinstance(holder, dict):
            holder[hostile_text(rng)] = holder.pop(key)
            return made, f"{what} renamed"
        case 4:
            other = rng.choice(list(places(made)))
            value = copy.deepcopy(at(made, other))
            put(made, path, value)
            return made, f"{what} is a copy of {'.'.join(map(str, other))}"
    holder[key] = odd_value(rng)
    return made, f"{what} is something else"


def spoiled_bytes(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """The bytes with a few changes, as a bad disk, a careless editor or a fuzzer makes them."""
    raw = bytearray(data)
    match rng.randrange(9):
        case 0:
            for _ in range(rng.randrange(1, 4)):
                raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
            return bytes(raw), "bits flipped"
        case 1:
            end = rng.randrange(len(raw))
            return bytes(raw[:end]), f"cut at byte {end}"
        case 2:
            start = rng.randrange(len(raw))
            del raw[start : start + rng.choice((1, 2, 20, 400))]
            return bytes(raw), f"bytes missing at {start}"
        case 3:
            start = rng.randrange(len(raw))
            piece = raw[start : start + rng.choice((1, 10, 300))]
            raw[start:start] = piece
            return bytes(raw), f"bytes doubled at {start}"
        case 4:
            start = rng.randrange(len(raw))
            raw[start:start] = rng.randbytes(rng.choice((1, 4, 50)))
            return bytes(raw), f"noise at {start}"
        case 5:
            first = rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\x80\x04", b"\n\n ", b"//\n", b"{"))
            return first + data, f"{first!r} before the rest"
        case 6:
            codec = rng.choice(("utf-16", "utf-32", "utf-7", "cp037"))
            return data.decode("utf-8", "replace").encode(codec, "replace"), f"written in {codec}"
        case 7:
            start = rng.randrange(len(raw))
            raw[start] = rng.choice(b'{}[]",:\\-0eE.')
            return bytes(raw), f"another sign at {start}"
    size = rng.choice((10, 2_000, 100_000))
    start = data.find(b":", rng.randrange(len(raw))) + 1
    return data[:start] + rng.choice((b"[", b'{"a":')) * size + data[start:], f"{size} brackets at {start}"
