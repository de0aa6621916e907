"""One-hot groups among the columns of a table: declared by name or by prefix, or found by themselves.

Columns of 0 and 1 that share the beginning of their names, up to a mark such as "_", and of which exactly one is 1 in
every row, are the categories of one variable: moved one by one, they would say that two of them hold at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.parsing import is_list, unknown
from elbowroom.visible import listed

SEPARATORS: Final = ("_", "=", ".", ":", " ", "/", "-")  # between the name of a one-hot group and its category
AUTO: Final = "auto"
FEWEST_ROWS: Final = 20  # fewer may add up to one by chance
FOUND: Final = "found: one-hot"
CURE: Final = (
    "give a mapping from group to its columns, for example {'housing': ['housing_own', 'housing_rent']}, a list of "
    'prefixes, "auto" or None'
)


def declared_groups(one_hot: object, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The groups that a user names: a mapping to columns, or a list of prefixes."""
    if one_hot is None or (isinstance(one_hot, str) and one_hot == AUTO):
        return {}
    if isinstance(one_hot, Mapping):
        for name, members in one_hot.items():
            if not is_list(members):
                raise InputError(f"one_hot[{name!r}]={members!r}: {CURE}")
        return {str(name): tuple(map(str, members)) for name, members in one_hot.items()}
    if not is_list(one_hot):
        raise InputError(f"one_hot={one_hot!r}: {CURE}")
    return {str(prefix): _starting_with(str(prefix), names) for prefix in one_hot}  # type: ignore[attr-defined]


def _starting_with(prefix: str, names: Sequence[str]) -> tuple[str, ...]:
    members = tuple(name for name in names if name.startswith(tuple(prefix + mark for mark in SEPARATORS)))
    if not members:
        starts = sorted({start for name in names for start in _prefixes(name)})
        hint = unknown(prefix, starts).partition("; ")[2] if starts else f"the columns are {listed(names)}"
        raise InputError(f"one_hot: no column starts with {prefix + '_'!r} or the like; {hint}")
    return members


def _prefixes(name: str) -> list[str]:
    return [name[:i] for i in range(1, len(name) - 1) if name[i] in SEPARATORS]


def check_groups(groups: Mapping[str, tuple[str, ...]], columns: Mapping[str, Floats], index: pd.Index[Any]) -> None:
    """Declared groups must be one-hot in the data as well. What is wrong with their names, the space will say."""
    everyone = [member for members in groups.values() for member in members]
    for group, members in groups.items():
        values = [columns[member] for member in members if member in columns and everyone.count(member) == 1]
        if len(values) < max(len(members), 2):
            continue
        total = np.sum(values, axis=0)
        wrong = np.flatnonzero(~(total == 1.0))
        if wrong.size:
            i = wrong[0]
            raise InputError(
                f"one-hot group {group!r}, row {index[i]!r}: its columns {listed(members)} add up to {total[i]:g}, not to 1"
                f" ({wrong.size} of {len(total)} rows); take the group out, or mend the data"
            )


def found_groups(columns: Mapping[str, Floats], taken: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Groups of 0/1 columns that share a prefix and add up to one in every row; larger ones come first."""
    zero_one = {name: v for name, v in columns.items() if v.size >= FEWEST_ROWS and bool(((v == 0) | (v == 1)).all())}
    families: dict[tuple[str, str], list[str]] = {}
    for name in zero_one:
        for prefix in _prefixes(name):
            families.setdefault((prefix, name[len(prefix)]), []).append(name)
    found: dict[str, tuple[str, ...]] = {}
    used: set[str] = set()
    for (prefix, _), members in sorted(families.items(), key=lambda family: (-len(family[1]), family[0])):
        if len(members) < 2 or used & set(members) or prefix in taken or prefix in found:
            continue
        if (np.sum([zero_one[member] for member in members], axis=0) == 1.0).all():
            found[prefix] = tuple(members)
            used |= set(members)
    order = list(columns)
    return dict(sorted(found.items(), key=lambda group: order.index(group[1][0])))
