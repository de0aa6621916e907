"""Rules that hold in all rows of a table, offered in words.

* Order: a <= b in every row, where a and b are numbers of one kind: their ranges overlap, so that the order is no matter
  of course, and their sizes are alike, so that comparing them may mean something. What follows from two others by
  transitivity is left out.
* Implications between categories and yes-or-no columns: wherever one value occurs (often enough), another column has
  one value only, which it does not have everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, overload

import numpy as np
import pandas as pd

from elbowroom.errors import InputError
from elbowroom.numerics import Bools, Floats
from elbowroom.problem.kinds import Kind
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.combinations import Implies
from elbowroom.problem.rules.linear import LinearRule
from elbowroom.problem.space import Space

LEAST_ROWS: Final = 30  # fewer rows show nothing
LEAST_SHARE: Final = 0.02  # of the rows: how often a value must occur before it implies anything
ALIKE: Final = 10.0  # medians that differ by more are of different kinds
RARE_BY_CHANCE: Final = 1e-3  # an implication that chance alone would show this often is none


@dataclass(frozen=True)
class Suggestion:
    """A rule that every row obeys, why it may mean something, and how many rows say so."""

    rule: Rule
    reason: str
    rows: int

    @property
    def words(self) -> str:
        return f"{self.rule.words} ({self.reason})"


class Suggestions(Sequence[Suggestion]):
    """What was found, the most telling first."""

    def __init__(self, found: Sequence[Suggestion]) -> None:
        self._found = tuple(found)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """For ``explain(..., rules=...)``."""
        return tuple(suggestion.rule for suggestion in self._found)

    @overload
    def __getitem__(self, index: int) -> Suggestion: ...
    @overload
    def __getitem__(self, index: slice) -> Suggestions: ...
    def __getitem__(self, index: int | slice) -> Suggestion | Suggestions:
        return Suggestions(self._found[index]) if isinstance(index, slice) else self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self._found)

    def __repr__(self) -> str:
        if not self._found:
            return "No rule holds in all rows and seems to mean something."
        lines = [f"{number}. {suggestion.words}" for number, suggestion in enumerate(self._found, 1)]
        return "\n".join(["Rules that hold in all rows (none is applied unless you pass it on):", *lines])


def suggestions(space: Space, frame: pd.DataFrame, most: int = 20) -> Suggestions:
    """Order pairs, then implications; up to ``most`` of each."""
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 0:
        raise InputError(f"most={most!r}: give a whole number of at least 0")
    X = space.inner(frame, "suggest_rules", allow_missing=True)
    if len(X) < LEAST_ROWS:
        return Suggestions([])
    return Suggestions([*_orders(space, X)[:most], *_implications(space, X)[:most]])


def _orders(space: Space, X: Floats) -> list[Suggestion]:
    binary = np.array([feature.kind is Kind.BINARY for feature in space.features])
    columns = np.flatnonzero((space.group_of < 0) & ~binary & ~np.isnan(X).any(axis=0))
    low, high = X.min(axis=0), X.max(axis=0)
    columns = columns[low[columns] < high[columns]]
    size = np.median(np.abs(X), axis=0)
    first = X[: min(len(X), 64)]  # most pairs fail soon
    below = np.zeros((X.shape[1], X.shape[1]), dtype=np.bool_)
    for i in columns:
        for j in columns:
            if i == j or low[j] >= high[i] or not _alike(float(size[i]), float(size[j])):
                continue
            if (first[:, i] <= first[:, j]).all() and (X[:, i] <= X[:, j]).all() and (X[:, i] < X[:, j]).any():
                below[i, j] = True
    found = []
    for i, j in np.argwhere(below):
        if bool((below[i] & below[:, j]).any()):
            continue  # follows from two others
        overlap = (min(high[i], high[j]) - max(low[i], low[j])) / (max(high[i], high[j]) - min(low[i], low[j]))
        a, b = space.names[i], space.names[j]
        reason = f"in all {len(X):,} rows, and their ranges overlap by {100 * overlap:.0f} %"
        found.append((-overlap, Suggestion(LinearRule({b: 1.0, a: -1.0}, low=0.0), reason, len(X))))
    return [suggestion for _, suggestion in sorted(found, key=lambda pair: pair[0])]


def _alike(a: float, b: float) -> bool:
    return 0.0 < a and 0.0 < b and max(a, b) <= ALIKE * min(a, b)


@dataclass(frozen=True, eq=False)
class _Fact:
    """One value of a column of categories, or of a yes-or-no column."""

    column: str
    value: str | float | bool
    owner: int  # facts of one owner exclude each other
    holds: Bools


def _implications(space: Space, X: Floats) -> list[Suggestion]:
    facts = _facts(space, X)
    if not facts:
        return []
    n, held = len(X), np.array([fact.holds for fact in facts], dtype=np.float32)
    both, often = held @ held.T, held.sum(axis=1)
    found, told = [], set()
    for i, j in np.argwhere(both == often[:, None]):
        fact, then = facts[i], facts[j]
        share = often[j] / n
        if fact.owner == then.owner or often[i] < max(LEAST_SHARE * n, 5) or often[j] == n:
            continue
        if share ** float(often[i]) > RARE_BY_CHANCE or ((int(j), int(i)) in told and often[i] == often[j]):
            continue
        told.add((int(i), int(j)))
        reason = f"in all {int(often[i]):,} rows where this is so; otherwise in {100 * _rest(often, n, i, j):.0f} %"
        rule = Implies({fact.column: [fact.value]}, {then.column: [then.value]})
        found.append((float(often[i]) * np.log(max(share, 1e-12)), Suggestion(rule, reason, int(often[i]))))
    return [suggestion for _, suggestion in sorted(found, key=lambda pair: pair[0])]


def _rest(often: Floats, n: int, i: int, j: int) -> float:
    return float((often[j] - often[i]) / max(n - often[i], 1.0))


def _facts(space: Space, X: Floats) -> list[_Fact]:
    found = []
    for f, feature in enumerate(space.features):
        if space.group_of[f] < 0 and feature.kind is Kind.BINARY:
            found += [_Fact(feature.name, value, f, X[:, f] == value) for value in (0.0, 1.0)]
    for g, (group, members) in enumerate(zip(space.groups, space.members, strict=True)):
        for i, f in enumerate(members):
            label = group.members[i] if group.labels is None else group.labels[i]
            if label is not None:
                found.append(_Fact(group.name, label, len(space.names) + g, X[:, f] == 1.0))
    return [fact for fact in found if fact.holds.any()]
