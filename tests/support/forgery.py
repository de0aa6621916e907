"""Files as a forger would make them: any field changed, then the seal and the checksum computed anew. Both are plain
SHA-256, so that anyone can. Written without the code that reads files."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np


def leaves(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """Paths to everything that is not an object or a filled list."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield path


def at(document: Any, path: tuple) -> Any:
    for key in path:
        document = document[key]
    return document


def forged(document: dict[str, Any], *changes: tuple[tuple, Any]) -> dict[str, Any]:
    """A copy with other values at some paths, sealed and summed again."""
    copied = copy.deepcopy(document)
    for path, value in changes:
        at(copied, path[:-1])[path[-1]] = value
    return resealed(copied)


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    if "certificate" in document:
        with suppress(TypeError, ValueError, KeyError):  # so malformed that it cannot be sealed
            document["certificate"]["seal"] = seal_of(document["certificate"])
    document.pop("checksum", None)
    plain = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    document["checksum"] = hashlib.sha256(plain.encode()).hexdigest()
    return document


PLAIN: dict[str, Callable[[Any], object]] = {
    **dict.fromkeys(("bool", "int", "str"), lambda value: value),
    "float": float,
    "bytes": bytes.fromhex,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "timedelta": lambda value: timedelta(microseconds=value),
}


def seal_of(c: dict[str, Any]) -> str:
    """What `Certificate.seal` computes."""
    body, target = c["body"], c["target"]
    if "at_least" in target:
        ends = tuple(None if target[end] is None else float(target[end]) for end in ("at_least", "at_most"))
        label, need = None, ("values", *ends)
    else:
        label, need = PLAIN[target["label"]["type"]](target["label"]["value"]), target["probability"]
    assumptions = tuple(c["assumptions"])
    claims = (c["fingerprint"], repr(label), need, c["method"], float(c["margin"]))
    digest = hashlib.sha256(repr((*claims, assumptions, body["shape"])).encode())
    for name in ("center", "lower", "upper", "axes"):
        digest.update(np.array(body[name], dtype=np.float64).tobytes())
    digest.update(np.array(body["whole"], dtype=np.bool_).tobytes())
    for members in body["free_groups"]:
        digest.update(np.array(members, dtype=np.int64).tobytes())
    return digest.hexdigest()


WORDS = {
    "OPTIMAL": ["CERTIFIED"],
    "CERTIFIED": ["OPTIMAL"],
    "NONE_EXISTS": ["UNKNOWN"],
    "UNKNOWN": ["NONE_EXISTS"],
    "l1": ["l2", "linf"],
    "box": ["ball"],
    "ball": ["diamond"],
    "numeric": ["integer"],
    "any": ["increasing", "decreasing"],
    "yes": ["no", "maybe"],
    "no": ["yes", "maybe"],
    "str": ["int", "bytes"],
    "inf": [1.0, -1.0],
    "-inf": [-1e9],
}


def other_values(value: Any, key: object = None) -> list[Any]:
    """Values that a forger might write instead."""
    match value:
        case bool():
            return [not value, None]
        case int():
            return [value + 1, value + 1000, -1, float(value) + 0.5]
        case float():
            return [value * 1.5 + 0.01, value * 0.5 - 0.01, -1e308, 1e9, math.nextafter(value, math.inf), "inf"]
        case str() if len(value) == 64:
            return ["0" * 64, value.upper() + "F", "\x1b[8m\x1b[2J\x1b[H" + value[12:], ""]
        case str():
            return [*WORDS.get(value, []), value + ", approved by the bank", "", None]
        case None:
            return [0.5, "x", {"type": "str", "value": "yes"}]
        case list():
            return [[0], ["x"], [[0, 1]]]
        case dict():
            return [{"x": "y"}]
    raise AssertionError((value, key))
