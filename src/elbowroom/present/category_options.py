"""``--categories purpose=any`` and ``--categories grade=B,C``: which categories a room takes, in words of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from elbowroom.errors import InputError
from elbowroom.problem import Room, Space
from elbowroom.problem.features import Group
from elbowroom.problem.freedom import freed
from elbowroom.problem.labels import Category
from elbowroom.visible import listed


def with_categories(room: Room, texts: Sequence[str], space: Space) -> Room:
    """The room with these categories inside. A name may be repeated: a category that holds a comma stands alone."""
    asked: dict[str, list[Category] | str] = {}
    for text in texts:
        group, words = _split(text, space)
        before = asked.get(group.name)
        if words in ("any", "fixed") and _label(group, words) is None:
            if before is not None:
                raise InputError(f"--categories {text!r}: {group.name!r} is given twice")
            asked[group.name] = words
            continue
        if isinstance(before, str):
            raise InputError(f"--categories {text!r}: {group.name!r} is given twice")
        asked[group.name] = [*(before or []), *_labels(group, words)]
    if not asked:
        return room
    freed(
        {name: tuple(how) if isinstance(how, list) else how for name, how in asked.items()}, space
    )  # says what is wrong
    return replace(room, categories=asked)  # type: ignore[type-var]  # every room is a dataclass


def _split(text: str, space: Space) -> tuple[Group, str]:
    """NAME=words; names of columns may hold the sign themselves."""
    for group in sorted(space.groups, key=lambda g: -len(g.name)):
        if text.startswith(f"{group.name}="):
            return group, text[len(group.name) + 1 :]
    names = [group.name for group in space.groups]
    have = f"columns of categories are {listed(names)}" if names else "this table has no column of categories"
    raise InputError(f"--categories {text!r}: write NAME=any, or NAME=CATEGORY,CATEGORY; {have}")


def _labels(group: Group, words: str) -> list[Category]:
    whole = _label(group, words)
    if whole is not None:
        return [whole]
    parts = [part.strip() for part in words.split(",") if part.strip()]
    if not parts:
        raise InputError(f"--categories {group.name}=: name at least one category, or write {group.name}=any")
    return [part if (label := _label(group, part)) is None else label for part in parts]


def _label(group: Group, word: str) -> Category:
    """The category that reads like this; None if there is none."""
    return next((label for label in group.labels or () if label is not None and str(label) == word), None)
