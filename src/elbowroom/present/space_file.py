"""A file that says what columns mean: one table of TOML per column, with what the data cannot know.

[amount]
unit = "EUR"
lower = 500
upper = 20000
direction = "decreasing"
weight = 2.0

[home]
immutable = true
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from elbowroom.disk import read_whole
from elbowroom.errors import InputError
from elbowroom.problem import Space
from elbowroom.visible import listed

OF_NUMBERS: Final = ("unit", "lower", "upper", "weight", "scale", "immutable", "direction", "decimals")
OF_CATEGORIES: Final = ("weight", "immutable")
MOST_BYTES: Final = 10_000_000


def with_space_file(space: Space, path: Path | None) -> Space:
    """The space with what the file declares; a line that fits no column is an error that names it."""
    if path is None:
        return space
    declared = read_space_file(path)
    raw = {column.name: column for column in space.raw}
    features, groups = list(space.features), list(space.groups)
    for name, said in declared.items():
        if name not in raw:
            raise InputError(f"{path}, [{name}]: there is no such column; the columns are {listed(raw)}")
        column = raw[name]
        known = OF_NUMBERS if column.group is None else OF_CATEGORIES
        for key in said:
            if key not in known:
                raise InputError(
                    f"{path}, [{name}] {key}: {'' if column.group is None else 'a column of categories '}takes {listed(known)}"
                )
        try:
            if column.group is None:
                features[column.start] = replace(features[column.start], **said)
                continue
            for f in range(column.start, column.stop):
                features[f] = replace(features[f], immutable=said.get("immutable", features[f].immutable))
            place = groups.index(column.group)
            groups[place] = replace(column.group, weight=said.get("weight", column.group.weight))
        except InputError as error:
            raise InputError(f"{path}, [{name}]: {error}") from error
    return replace(space, features=tuple(features), groups=tuple(groups))


def read_space_file(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """By column: what is declared."""
    try:
        text = read_whole(path, MOST_BYTES).decode("utf-8")
        declared = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: this is not TOML: {error}") from None
    for name, said in declared.items():
        if not isinstance(said, dict):
            raise InputError(f"{path}: {name!r} stands outside a table; begin each column with a line [column]")
    return declared
