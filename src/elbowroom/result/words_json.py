"""What an answer says beyond its question and its certificate, as JSON: the names of classes, and the kind of each
feature. Kinds follow from the rest of a file, so that others than these are refused."""

from __future__ import annotations

from typing import Any

from elbowroom.problem.class_names import NO_NAMES, ClassNames
from elbowroom.problem.reader import Reader
from elbowroom.result.question_json import label_in, label_out
from elbowroom.result.region import Region


def names_out(names: ClassNames) -> dict[str, Any]:
    """Absent where no class has a name, as in files before there were any."""
    if not names:
        return {}
    return {"labels": [{"label": label_out(label, "class"), "name": name} for label, name in names.pairs]}


def names_in(top: Reader) -> ClassNames:
    if "labels" not in top.mapping():
        return NO_NAMES
    entry = top.at("labels")
    pairs = tuple((label_in(item.at("label")), item.at("name").text()) for item in entry.items())
    kinds = {(type(label), label) for label, _ in pairs}
    if not pairs or len(kinds) < len(pairs) or len({name for _, name in pairs}) < len(pairs):
        raise entry.wrong("classes with their names, each class and each name once")
    if any(label is None or not name.strip() for label, name in pairs):
        raise entry.wrong("classes with their names, none of them empty")
    return ClassNames(pairs)


def kinds_out(region: Region) -> dict[str, str]:
    """What the region asks of each column: has to change, must stay within, does not matter."""
    asked = region.standings.by_table(region.space)
    return {column: standing.value for column, standing in zip(region.space.columns, asked, strict=True)}


def kinds_in(top: Reader) -> dict[str, str] | None:
    """None for files before there were any."""
    if "kinds" not in top.mapping():
        return None
    entry = top.at("kinds")
    return {name: entry.at(name).text() for name in entry.mapping()}


def check_kinds(top: Reader, region: Region, found: dict[str, str] | None) -> None:
    derived = kinds_out(region)
    if found is None or found == derived:
        return
    name = next(name for name in (*derived, *found) if found.get(name) != derived.get(name))
    raise top.at("kinds").wrong(
        f"what follows from factual and body: {name!r} {derived.get(name)!r}, not {found.get(name)!r}"
    )
