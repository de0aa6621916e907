"""Which categories a room takes: all of a one-hot group, or those that are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from elbowroom.errors import InputError
from elbowroom.problem.features import Group
from elbowroom.problem.labels import Category, is_missing, position_of, similar
from elbowroom.problem.one_hot import SEPARATORS
from elbowroom.problem.parsing import is_sequence
from elbowroom.problem.space import Space
from elbowroom.visible import listed

Freedom: TypeAlias = "Mapping[str, str | Sequence[Category]]"  # "any", "fixed", or the categories that the room takes
CURE: Final = 'use "any", "fixed" or a list of categories'


def checked_freedom(categories: object) -> Freedom | None:
    """An own copy; what it says is checked against a space."""
    if not isinstance(categories, Mapping):
        return categories  # type: ignore[return-value]  # refused by `freed`
    return {str(name): tuple(how) if is_sequence(how) else how for name, how in categories.items()}


def freed(categories: Freedom | None, space: Space) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The groups that are free inside the room, and the columns of their categories that it does not take."""
    if categories is not None and not isinstance(categories, Mapping):
        raise InputError(f"categories={categories!r}: give a mapping from one-hot group or column to {CURE[4:]}")
    names = [g.name for g in space.groups]
    free: list[int] = []
    banned: list[int] = []
    for name, how in (categories or {}).items():
        if name not in names:
            known = (
                "holds numbers, which have a radius"
                if name in space.columns
                else f"is unknown; there are {listed(names)}"
            )
            raise InputError(f"categories: the column or one-hot group {name!r} {known}")
        g = names.index(name)
        if isinstance(how, tuple):
            taken = {member_of(space.groups[g], value, f"categories[{name!r}]") for value in how}
            if not taken:
                raise InputError(f"categories[{name!r}] names no category; {CURE}")
            banned += [int(f) for i, f in enumerate(space.members[g]) if i not in taken]
        elif how not in ("any", "fixed"):
            raise InputError(f"categories[{name!r}] = {how!r} is unknown; {CURE}")
        if how != "fixed":
            free.append(g)
    return tuple(sorted(free)), tuple(sorted(banned))


def member_of(group: Group, value: object, what: str) -> int:
    """Which member of a group a category is."""
    if is_missing(value):
        raise InputError(f"{what}: a value never turns missing inside a room; leave {value!r} out")
    if group.labels is not None:
        place = position_of(value, group.labels)
        if place < 0:
            raise InputError(f"{what}: {value!r} is not one of its categories; {similar(value, group.labels)}")
        return place
    spellings = [str(value), *(f"{group.name}{mark}{value}" for mark in SEPARATORS)]
    for i, member in enumerate(group.members):
        if member in spellings:
            return i
    raise InputError(f"{what}: {value!r} is not one of its columns {listed(group.members)}")
