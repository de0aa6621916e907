"""Answers as JSON: exact, versioned, and refused if anything in them was changed.

Every float is written with its shortest decimal that reads back as the same float64 (infinities as "inf" and "-inf"),
labels carry their type, and two checks stand over the whole: ``seal`` is the certificate's own hash of what it claims,
``checksum`` a hash of the entire document. They notice changes; they are no signature. What a file claims is proven
again only by asking the judge, with the model at hand.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.problem.body import Body
from elbowroom.problem.distances import Distance, Metric
from elbowroom.problem.rooms import Ball, Box, Diamond, Radius, Room, Shape
from elbowroom.problem.space import Direction, Feature, Group, Kind, Space
from elbowroom.problem.target import Target
from elbowroom.result.certificate import Certificate
from elbowroom.result.reader import Reader, number_out
from elbowroom.result.region import NoRegion, Region
from elbowroom.result.status import Status, Step

VERSION: Final = 1
KIND_OF: Final = {Region: "region", NoRegion: "no region"}
ROOMS: Final[dict[str, type[Box] | type[Ball] | type[Diamond]]] = {"box": Box, "ball": Ball, "diamond": Diamond}
LABELS: Final[dict[str, type[bool] | type[int] | type[float] | type[str]]] = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
}


def write_answer(answer: Region | NoRegion, timings: bool = True) -> str:
    """The document as text. Without ``timings`` all seconds are 0, so that equal answers give equal texts."""
    document: dict[str, Any] = {
        "format": "elbowroom",
        "schema": VERSION,
        "kind": KIND_OF[type(answer)],
        "status": answer.status.name,
        "target": _target_out(answer.target),
        "room": _room_out(answer.room),
        "distance_norm": answer.metric.value,
        "lower_bound": number_out(answer.lower_bound),
        "method": answer.method,
        "seconds": number_out(answer.seconds if timings else 0.0),
        "space": _space_out(answer.space),
        "factual": _floats_out(answer.factual_values),
        "trace": [_step_out(step, timings) for step in answer.trace],
    }
    if isinstance(answer, Region):
        document |= {
            "distance": number_out(answer.distance),
            "predicted": _label_out(answer.predicted, "predicted"),
            "source": answer.source,
            "certificate": _certificate_out(answer.certificate, timings),
        }
    else:
        document["reason"] = answer.reason
    document["checksum"] = _checksum(document)
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)


def save(text: str, path: str | Path) -> None:
    """Write a text file; a folder that does not exist is a mistake of the caller, not a traceback."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def read_answer(text_or_path: str | Path) -> Region | NoRegion:
    """A `Region` or `NoRegion` from JSON text or from a file. Raises `InputError` for anything that is not intact."""
    text, where = _load(text_or_path)
    top = Reader.parse(text, where)
    if top.optional("format") is None or top.at("format").text() != "elbowroom":
        raise InputError(f'{where}: this is not an elbowroom file; its "format" should say "elbowroom"')
    version = top.at("schema").whole()
    if version != VERSION:
        raise InputError(
            f"{where}: schema version {version} cannot be read; this release reads version {VERSION}. "
            "Read the file with the release that wrote it, or write it again"
        )
    match top.at("kind").text():
        case "region":
            answer: Region | NoRegion = _region_in(top, where)
        case "no region":
            answer = _no_region_in(top)
        case other:
            raise top.at("kind").wrong(f'"region" or "no region", not {other!r}')
    document = {key: value for key, value in top.mapping().items() if key != "checksum"}
    if top.at("checksum").text() != _checksum(document):
        raise InputError(f"{where}: the checksum does not match; the file was changed after it was written")
    return answer


def _load(text_or_path: str | Path) -> tuple[str, str]:
    if isinstance(text_or_path, str) and text_or_path.lstrip()[:1] in ("{", "["):
        return text_or_path, "JSON text"
    if not isinstance(text_or_path, (str, Path)):
        raise InputError(f"from_json takes JSON text or a path, not {type(text_or_path).__name__}")
    shown = str(text_or_path)[:200]
    try:
        return Path(text_or_path).read_text(encoding="utf-8"), shown
    except FileNotFoundError:
        raise InputError(f"{shown!r} is neither JSON text nor an existing file") from None
    except UnicodeDecodeError:
        raise InputError(f"{shown}: this is not a text file, so it is not an elbowroom answer") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {shown!r}: {error}") from None


def _checksum(document: Mapping[str, Any]) -> str:
    plain = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()


# ---- region and no region -------------------------------------------------------------------------------------------
def _region_in(top: Reader, where: str) -> Region:
    space = _space_in(top.at("space"))
    size = len(space.names)
    factual = top.at("factual").floats(size)
    certificate = _certificate_in(top.at("certificate"), size, where)
    metric = top.at("distance_norm").choice(Distance)
    distance = top.at("distance").number()
    measured = Metric.of(space, metric)(factual, certificate.body.center)
    if not math.isclose(distance, measured, rel_tol=1e-12, abs_tol=1e-300):
        raise top.at("distance").wrong(
            f"{measured!r}, the distance between its factual and its centre, not {distance!r}"
        )
    target = _target_in(top.at("target"))
    if repr(target) != repr(certificate.target):
        raise top.at("target").wrong("the target of the certificate")
    status = top.at("status").name_of(Status, (Status.OPTIMAL, Status.CERTIFIED))
    return Region(
        status,
        space,
        factual,
        _label_in(top.at("predicted")),
        target,
        _room_in(top.at("room")),
        metric,
        distance,
        top.at("lower_bound").number(),
        certificate,
        top.at("method").text(),
        top.at("seconds").number(),
        top.at("source").text(),
        _trace_in(top),
    )


def _no_region_in(top: Reader) -> NoRegion:
    space = _space_in(top.at("space"))
    return NoRegion(
        top.at("status").name_of(Status, (Status.NONE_EXISTS, Status.UNKNOWN)),
        top.at("reason").text(),
        space,
        top.at("factual").floats(len(space.names)),
        _target_in(top.at("target")),
        _room_in(top.at("room")),
        top.at("distance_norm").choice(Distance),
        top.at("lower_bound").number(infinite=True),
        top.at("method").text(),
        top.at("seconds").number(),
        _trace_in(top),
    )


def _step_out(step: Step, timings: bool) -> dict[str, Any]:
    return {
        "seconds": number_out(step.seconds if timings else 0.0),
        "lower_bound": number_out(step.lower_bound),
        "best_distance": number_out(step.best_distance),
        "certified_radius": None if step.certified_radius is None else number_out(step.certified_radius),
        "note": step.note,
    }


def _trace_in(top: Reader) -> tuple[Step, ...]:
    steps = []
    for entry in top.at("trace").items():
        radius = entry.at("certified_radius")
        steps.append(
            Step(
                entry.at("seconds").number(),
                entry.at("lower_bound").number(infinite=True),
                entry.at("best_distance").number(infinite=True),
                None if radius.value is None else radius.number(infinite=True),
                entry.at("note").text(),
            )
        )
    return tuple(steps)


# ---- the certificate ------------------------------------------------------------------------------------------------
def _certificate_out(c: Certificate, timings: bool) -> dict[str, Any]:
    body = c.body
    return {
        "fingerprint": c.fingerprint,
        "target": _target_out(c.target),
        "method": c.method,
        "margin": number_out(c.margin),
        "seconds": number_out(c.seconds if timings else 0.0),
        "assumptions": list(c.assumptions),
        "body": {
            "shape": body.shape.value,
            "center": _floats_out(body.center),
            "lower": _floats_out(body.lower),
            "upper": _floats_out(body.upper),
            "axes": _floats_out(body.axes),
            "whole": [bool(w) for w in body.whole],
            "free_groups": [[int(f) for f in members] for members in body.free_groups],
        },
        "seal": c.seal,
    }


def _certificate_in(entry: Reader, size: int, where: str) -> Certificate:
    shape = entry.at("body")
    body = Body(
        shape.at("center").floats(size),
        shape.at("lower").floats(size),
        shape.at("upper").floats(size),
        shape.at("shape").choice(Shape),
        shape.at("axes").floats(size),
        np.array([flag.truth() for flag in shape.at("whole").items(size)], dtype=np.bool_),
        tuple(
            np.array([f.whole(0, size - 1) for f in members.items()], dtype=np.int64)
            for members in shape.at("free_groups").items()
        ),
    )
    certificate = Certificate(
        entry.at("fingerprint").text(),
        _target_in(entry.at("target")),
        body,
        entry.at("method").text(),
        entry.at("margin").number(infinite=True),
        entry.at("seconds").number(),
        tuple(a.text() for a in entry.at("assumptions").items()),
    )
    if entry.at("seal").text() != certificate.seal:
        raise InputError(
            f"{where}: the seal of the certificate does not match what the certificate says; "
            "the file was changed after the judge wrote it, so nothing in it is proven"
        )
    return certificate


# ---- the question ---------------------------------------------------------------------------------------------------
def _label_out(label: object, what: str) -> dict[str, Any] | None:
    if label is None:
        return None
    if isinstance(label, np.generic):
        label = label.item()
    for name, kind in LABELS.items():
        if type(label) is kind:
            return {"type": name, "value": number_out(label) if isinstance(label, float) else label}
    raise InputError(f"{what} {label!r}: only text, numbers and truth values can be written as JSON labels")


def _label_in(entry: Reader) -> Any:
    if entry.value is None:
        return None
    match entry.at("type").text():
        case "bool":
            return entry.at("value").truth()
        case "int":
            return entry.at("value").whole()
        case "float":
            return entry.at("value").number(infinite=True)
        case "str":
            return entry.at("value").text()
        case other:
            raise entry.at("type").wrong(f"one of {list(LABELS)}, not {other!r}")


def _target_out(target: Target) -> dict[str, Any]:
    return {"label": _label_out(target.label, "target"), "probability": target.probability}


def _target_in(entry: Reader) -> Target:
    probability = entry.at("probability")
    return Target(_label_in(entry.at("label")), None if probability.value is None else probability.number())


def _room_out(room: Room) -> dict[str, Any]:
    for name, kind in ROOMS.items():
        if type(room) is kind:
            fields = {"shape": name, "radius": _radius_out(room.radius)}
            if isinstance(room, Box):
                fields |= {"low": _radius_out(room.low), "high": _radius_out(room.high)}
            return fields | {"categories": None if room.categories is None else dict(room.categories)}
    raise InputError(f"a room of type {type(room).__name__} has no JSON form; the known ones are {list(ROOMS)}")


def _radius_out(radius: Radius | None) -> object:
    if isinstance(radius, Mapping):
        return {name: number_out(width) for name, width in radius.items()}
    if isinstance(radius, (tuple, list, np.ndarray)):
        return [number_out(width) for width in radius]
    return radius if radius is None else number_out(float(radius))  # type: ignore[arg-type]


def _room_in(entry: Reader) -> Room:
    name = entry.at("shape").text()
    categories = entry.at("categories")
    free = None if categories.value is None else {k: categories.at(k).text() for k in categories.mapping()}
    if name == "box":
        radius, low, high = (_radius_in(entry.at(key)) for key in ("radius", "low", "high"))
        return Box(radius, low, high, free)
    if name in ROOMS:
        size = _radius_in(entry.at("radius"))
        if size is None:
            raise entry.at("radius").wrong("a number, a list or a mapping")
        return Ball(size, free) if name == "ball" else Diamond(size, free)
    raise entry.at("shape").wrong(f"one of {list(ROOMS)}, not {name!r}")


def _radius_in(entry: Reader) -> Radius | None:
    if entry.value is None:
        return None
    if isinstance(entry.value, dict):
        return {name: entry.at(name).number() for name in entry.mapping()}
    if isinstance(entry.value, list):
        return tuple(item.number() for item in entry.items())
    return entry.number()


def _space_out(space: Space) -> dict[str, Any]:
    features = [
        {
            "name": f.name,
            "kind": Kind(f.kind).value,
            "lower": number_out(f.lower),
            "upper": number_out(f.upper),
            "immutable": f.immutable,
            "direction": Direction(f.direction).value,
            "scale": number_out(f.scale),
            "weight": number_out(f.weight),
            "unit": f.unit,
        }
        for f in space.features
    ]
    groups = [{"name": g.name, "members": list(g.members), "weight": number_out(g.weight)} for g in space.groups]
    return {"features": features, "groups": groups}


def _space_in(entry: Reader) -> Space:
    features = tuple(
        Feature(
            f.at("name").text(),
            f.at("kind").choice(Kind),
            f.at("lower").number(infinite=True),
            f.at("upper").number(infinite=True),
            f.at("immutable").truth(),
            f.at("direction").choice(Direction),
            f.at("scale").number(),
            f.at("weight").number(),
            None if f.at("unit").value is None else f.at("unit").text(),
        )
        for f in entry.at("features").items()
    )
    groups = tuple(
        Group(g.at("name").text(), tuple(m.text() for m in g.at("members").items()), g.at("weight").number())
        for g in entry.at("groups").items()
    )
    return Space(features, groups)


def _floats_out(values: np.ndarray[Any, Any]) -> list[float | str]:
    return [number_out(float(v)) for v in values]
