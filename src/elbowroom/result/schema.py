"""Answers as JSON: exact, versioned, and refused if anything in them was changed.

Every float is written with its shortest decimal that reads back as the same float64 (infinities as "inf" and "-inf"),
labels carry their type, and two checks cover the whole document: ``seal`` is the certificate's own hash of what it
claims, ``checksum`` a hash of the entire document. They notice changes; they are not a signature. What a file claims is
proven again only by asking the judge, with the model available.

Version 2 keeps the rules of the question as ``rules``, a list, and how the answer came about as ``origin``. Version 1 did
neither: its files are read with ``rules_known=False`` and without an origin, and written again as version 2 with both
null, because what is lost stays lost. `json_schema` is the published description of version 2; a key that it does not
know is refused here as well.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from elbowroom.disk import MEGABYTE, MissingFile, read_whole
from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.body import Body
from elbowroom.problem.distances import Distance, Metric
from elbowroom.problem.further import Key
from elbowroom.problem.kinds import Missing
from elbowroom.problem.reader import Reader, number_out
from elbowroom.problem.rules import Rule, conditions_of, rules_in, rules_out
from elbowroom.problem.shapes import Shape
from elbowroom.problem.space import Space
from elbowroom.problem.target import Target
from elbowroom.result.attestation import attestation_in, attestation_out
from elbowroom.result.certificate import Certificate
from elbowroom.result.few import few_in, few_out
from elbowroom.result.kept_json import ROUNDED_KEPT, bounds_out, keeps_in, kept_in, promise_out
from elbowroom.result.no_region import NoRegion
from elbowroom.result.origin import Origin, check_bounds, check_no_bounds, origin_in, origin_out
from elbowroom.result.question_json import (
    floats_out,
    label_in,
    label_out,
    room_in,
    room_out,
    space_in,
    space_out,
    target_in,
    target_out,
)
from elbowroom.result.region import Region
from elbowroom.result.status import Status
from elbowroom.result.trace_json import trace_in, trace_out
from elbowroom.result.words_json import check_kinds, kinds_in, kinds_out, names_in, names_out
from elbowroom.visible import brief, visible_json

VERSION: Final = 2
READABLE: Final = (1, 2)
MOST_BYTES: Final = 16 * MEGABYTE  # of a file: that of 10,000 features has about 4
BLANK: Final = " \t\r\n\ufeff"  # before the document; some editors begin a file with a mark of its encoding
HALVES: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")  # of one character, each kept as one of its own
KIND_OF: Final = {Region: "region", NoRegion: "no region"}


def write_answer(answer: Region | NoRegion, timings: bool = True, *, compact: bool = False) -> str:
    """The document as text. Without ``timings`` all seconds are 0 and the trace is empty (when a step is published depends
    on seconds), so that equal answers give equal texts. ``compact``: the same document on one line, made in a third of the
    time."""
    document: dict[str, Any] = {
        "format": "elbowroom",
        "schema": VERSION,
        "kind": KIND_OF[type(answer)],
        "status": answer.status.name,
        "target": target_out(answer.target),
        "room": room_out(answer.room),
        "rules": rules_out(answer.rules) if answer.rules_known else None,
        "distance_norm": answer.metric.value,
        "lower_bound": number_out(answer.lower_bound),
        "method": answer.method,
        "seconds": number_out(answer.seconds if timings else 0.0),
        "space": space_out(answer.space),
        "factual": floats_out(answer.factual_values),
        **({"missing": list(answer.missing)} if answer.missing else {}),
        "predicted": label_out(answer.predicted, "predicted"),
        **names_out(answer.labels),
        "source": answer.source,
        "origin": origin_out(answer.origin),
        **({} if answer.attestation is None else {"attestation": attestation_out(answer.attestation)}),
        "trace": trace_out(answer.trace) if timings else [],
    }
    document |= promise_out(answer.keeps, answer.kept if isinstance(answer, Region) else None)
    if isinstance(answer, Region):
        document |= {
            "distance": number_out(answer.distance),
            "certificate": _certificate_out(answer.certificate, timings),
            "kinds": kinds_out(answer),
        }
        if answer.filled:
            document["filled"] = list(answer.filled)
        if answer.few is not None:
            document["few"] = few_out(answer.few)
        if answer.rounding is not None:
            document["rounded"] = _certificate_out(answer.rounding, timings)
            document |= bounds_out(ROUNDED_KEPT, answer.rounding_kept)
    else:
        document["reason"] = answer.reason
    document["checksum"] = _checksum(document)
    text = json.dumps(document, indent=None if compact else 1, ensure_ascii=False, allow_nan=False)
    if halves := HALVES.search(text):
        place = text[text.rfind("\n", 0, halves.start()) + 1 : halves.end()].strip()
        raise InputError(
            f"{brief(place)}: two halves of a character (surrogates) stand side by side, and whoever reads JSON joins them; "
            "write the name or label with the whole character"
        )
    return visible_json(text)


def read_answer(text_or_path: str | Path) -> Region | NoRegion:
    """A `Region` or `NoRegion` from JSON text or from a file. Raises `InputError` for anything that is not intact."""
    return _answer_in(*_load(text_or_path))


def answer_of(content: bytes, path: Path) -> Region | NoRegion:
    """The same from the bytes that were read from ``path`` already."""
    return _answer_in(_decoded(content, shown := brief(str(path))), shown)


def _answer_in(text: str, where: str) -> Region | NoRegion:
    top = Reader.parse(text, where)
    if top.maybe("format") is None or top.at("format").text() != "elbowroom":
        raise InputError(f'{where}: this is not an elbowroom file; its "format" should say "elbowroom"')
    version = top.at("schema").whole()
    if version not in READABLE:
        raise InputError(
            f"{where}: schema version {version} cannot be read; this release reads versions 1 and 2. "
            "Read the file with the release that wrote it, or write it again"
        )
    match top.at("kind").text():
        case "region":
            answer: Region | NoRegion = _region_in(top, where)
        case "no region":
            answer = _no_region_in(top)
        case other:
            raise top.at("kind").wrong(f'"region" or "no region", not {other!r}')
    kinds = kinds_in(top)
    document = {key: value for key, value in top.mapping().items() if key != "checksum"}
    if top.at("checksum").text() != _checksum(document):
        raise InputError(f"{where}: the checksum does not match; the file was changed after it was written")
    top.finish()
    if isinstance(answer, Region):
        check_bounds(top, answer.status, answer.distance, answer.lower_bound, answer.origin)
        check_kinds(top, answer, kinds)
    else:
        check_no_bounds(top, answer.status, answer.lower_bound)
    return answer


def _load(text_or_path: str | Path) -> tuple[str, str]:
    if not isinstance(text_or_path, (str, Path)):
        raise InputError(f"from_json takes JSON text or a path, not {type(text_or_path).__name__}")
    if isinstance(text_or_path, str) and text_or_path.lstrip(BLANK)[:1] in ("{", "["):
        if len(text_or_path) > MOST_BYTES:
            raise InputError(
                f"JSON text of {len(text_or_path):,} characters; at most {MOST_BYTES // MEGABYTE} MB are read"
            )
        return text_or_path.lstrip(BLANK), "JSON text"
    shown = brief(str(text_or_path))
    try:
        return _decoded(read_whole(text_or_path, MOST_BYTES), shown), shown
    except MissingFile:
        raise InputError(f"{shown!r} is neither JSON text nor an existing file") from None


def _decoded(content: bytes, shown: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{shown}: this is not a text file, so it is not an elbowroom answer") from None


def _checksum(document: Mapping[str, Any]) -> str:
    plain = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()


# ---- region and no region -------------------------------------------------------------------------------------------
def _region_in(top: Reader, where: str) -> Region:
    space = space_in(top.at("space"))
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
    target = target_in(top.at("target"))
    if repr(target) != repr(certificate.target):
        raise top.at("target").wrong("the target of the certificate")
    rules, rules_known = _rules_in(top, space, factual)
    claimed = tuple(each.key for each in conditions_of(rules, space, factual).further)
    if certificate.further != claimed:
        raise top.at("certificate").wrong("one that was given for the trees of all rules, and for no others")
    missing = _missing_in(top, space, factual)
    for f in (space.position[name] for name in missing):
        if not certificate.body.lower[f] == certificate.body.upper[f] == 0.0:
            raise top.at("missing").wrong(f"columns that stay as they are; {space.names[f]!r} does not")
    origin = _origin_in(top)
    if origin is not None and origin.fingerprint != certificate.fingerprint:
        raise top.at("origin").at("fingerprint").wrong("the fingerprint of the certificate")
    rounding = _certificate_in(top.at("rounded"), size, where) if "rounded" in top.mapping() else None
    if rounding is not None and (
        rounding.fingerprint != certificate.fingerprint or repr(rounding.target) != repr(certificate.target)
    ):
        raise top.at("rounded").wrong("about the model and the target of the certificate")
    return Region(
        status=top.at("status").name_of(Status, (Status.OPTIMAL, Status.CERTIFIED)),
        space=space,
        factual_values=factual,
        predicted=label_in(top.at("predicted")),
        target=target,
        room=room_in(top.at("room")),
        metric=metric,
        distance=distance,
        lower_bound=top.at("lower_bound").number(),
        certificate=certificate,
        method=top.at("method").text(),
        seconds=top.at("seconds").number(),
        source=top.at("source").text(),
        trace=trace_in(top),
        rules=rules,
        rules_known=rules_known,
        origin=origin,
        missing=missing,
        filled=_filled_in(top, space, factual, missing),
        labels=names_in(top),
        few=few_in(top.at("few"), distance) if "few" in top.mapping() else None,
        rounding=rounding,
        attestation=attestation_in(top),
        keeps=(keeps := keeps_in(top)),
        kept=kept_in(top, keeps),
        rounding_kept=kept_in(top, keeps if rounding is not None else None, ROUNDED_KEPT),
    )


def _no_region_in(top: Reader) -> NoRegion:
    space = space_in(top.at("space"))
    factual = top.at("factual").floats(len(space.names))
    rules, rules_known = _rules_in(top, space, factual)
    origin = _origin_in(top)
    kept = origin is not None  # files without an origin did not keep these two either
    return NoRegion(
        status=top.at("status").name_of(Status, (Status.NONE_EXISTS, Status.UNKNOWN)),
        reason=top.at("reason").text(),
        space=space,
        factual_values=factual,
        target=target_in(top.at("target")),
        room=room_in(top.at("room")),
        metric=top.at("distance_norm").choice(Distance),
        lower_bound=top.at("lower_bound").number(infinite=True),
        method=top.at("method").text(),
        seconds=top.at("seconds").number(),
        trace=trace_in(top),
        rules=rules,
        rules_known=rules_known,
        predicted=label_in(top.at("predicted")) if kept or "predicted" in top.mapping() else None,
        source=top.at("source").text() if kept or "source" in top.mapping() else "",
        origin=origin,
        missing=_missing_in(top, space, factual),
        labels=names_in(top),
        attestation=attestation_in(top),
        keeps=keeps_in(top),
    )


def _missing_in(top: Reader, space: Space, factual: Floats) -> tuple[str, ...]:
    """The columns of numbers that the row lacks: each once, and 0 in the factual."""
    if "missing" not in top.mapping():
        return ()
    entry = top.at("missing")
    names = tuple(item.text() for item in entry.items())
    places = [space.position.get(name, -1) for name in names]
    if len(set(names)) < len(names) or not all(f >= 0 and space.group_of[f] < 0 and factual[f] == 0.0 for f in places):
        raise entry.wrong("names of columns of numbers, each once, that are 0 in the factual")
    return names


def _filled_in(top: Reader, space: Space, factual: Floats, missing: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of numbers that the region fills in: each once, allowed to, and typical in the factual."""
    if "filled" not in top.mapping():
        return ()
    entry = top.at("filled")
    names = tuple(item.text() for item in entry.items())
    features = {f.name: f for f in space.features if f.missing is Missing.FILL and f.name not in missing}
    typical = {name: feature.typical for name, feature in features.items() if space.group_of[space.position[name]] < 0}
    if len(set(names)) < len(names) or any(
        typical.get(name) is None or factual[space.position[name]] != typical[name] for name in names
    ):
        raise entry.wrong("names of columns of numbers that may be filled, each once, and typical in the factual")
    return names


def _origin_in(top: Reader) -> Origin | None:
    return None if top.at("schema").whole() == 1 else origin_in(top.maybe("origin"))


def _rules_in(top: Reader, space: Space, factual: Floats) -> tuple[tuple[Rule, ...], bool]:
    """The rules of the question, and whether the file knows them."""
    if top.at("schema").whole() == 1 or top.at("rules").value is None:
        return (), False
    return rules_in(top.at("rules"), space, factual), True


# ---- the certificate ------------------------------------------------------------------------------------------------
def _certificate_out(c: Certificate, timings: bool) -> dict[str, Any]:
    body = c.body
    return {
        "fingerprint": c.fingerprint,
        "target": target_out(c.target),
        "method": c.method,
        "margin": number_out(c.margin),
        "seconds": number_out(c.seconds if timings else 0.0),
        "assumptions": list(c.assumptions),
        "body": {
            "shape": body.shape.value,
            "center": floats_out(body.center),
            "lower": floats_out(body.lower),
            "upper": floats_out(body.upper),
            "axes": floats_out(body.axes),
            "whole": [bool(w) for w in body.whole],
            "free_groups": [[int(f) for f in members] for members in body.free_groups],
        },
        "seal": c.seal,
        **({"further": [_further_out(key) for key in c.further]} if c.further else {}),
        **({"keepers": list(c.keepers)} if c.keepers else {}),
    }


def _further_out(key: Key) -> dict[str, Any]:
    fingerprint, outcome, everywhere = key
    return {"fingerprint": fingerprint, "target": target_out(outcome), "everywhere": everywhere}


def _further_in(entry: Reader) -> Key:
    return entry.at("fingerprint").digest(), target_in(entry.at("target")), entry.at("everywhere").truth()


def _keepers_in(entry: Reader, target: Target) -> tuple[int, ...]:
    """Which of several models keep the region, where some of them are enough."""
    if target.count is None:
        return ()
    keepers = tuple(place.whole(0, len(target.each) - 1) for place in entry.at("keepers").items())
    if list(keepers) != sorted(set(keepers)) or not target.is_enough(keepers):
        raise entry.at("keepers").wrong(f"rising positions of at least {target.count} models")
    return keepers


def _certificate_in(entry: Reader, size: int, where: str) -> Certificate:
    shape, target = entry.at("body"), target_in(entry.at("target"))
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
        entry.at("fingerprint").digest(),
        target,
        body,
        entry.at("method").text(),
        entry.at("margin").number(infinite=True),
        entry.at("seconds").number(),
        tuple(a.text() for a in entry.at("assumptions").items()),
        tuple(map(_further_in, entry.at("further").items())) if "further" in entry.mapping() else (),
        _keepers_in(entry, target),
    )
    if entry.at("seal").text() != certificate.seal:
        raise InputError(
            f"{where}: the seal of the certificate does not match what the certificate says; "
            "the file was changed after the judge wrote it, so nothing in it is proven"
        )
    return certificate
