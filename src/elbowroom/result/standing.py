"""What a region asks of each feature: that it changes, that it stays within limits, or nothing at all.

For a box (and a free group of categories) the region is a product: a feature has to change exactly if its value lies
outside its own interval or set, and does not matter if all the values that it may have lie inside. The columns of a ball
or diamond share one budget: one whose value lies outside the extent of the shape has to change, but one inside may have
to move nevertheless, because of the others; and none of them is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from elbowroom.numerics import Bools, Floats, Ints
from elbowroom.problem.body import Body
from elbowroom.problem.categories import allowed_categories
from elbowroom.problem.features import Feature, Group
from elbowroom.problem.kinds import Direction
from elbowroom.problem.shapes import is_round
from elbowroom.problem.space import Space


class Standing(Enum):
    """What the region asks of a feature; the value is what a user may read."""

    HAS_TO_CHANGE = "has to change"
    MUST_STAY_WITHIN = "must stay within"
    DOES_NOT_MATTER = "does not matter"


@dataclass(frozen=True)
class Standings:
    """One entry per inner column, and one per group; the columns of a group speak for themselves."""

    columns: tuple[Standing, ...]
    groups: tuple[Standing, ...]

    def changes(self, space: Space) -> int:
        """How many features have to change: a group of categories is one of them."""
        alone = [standing for standing, g in zip(self.columns, space.group_of, strict=True) if g < 0]
        return sum(standing is Standing.HAS_TO_CHANGE for standing in (*alone, *self.groups))

    def by_table(self, space: Space) -> list[Standing]:
        """One entry per column of the user's table."""
        numbers = {group.name: g for g, group in enumerate(space.groups)}
        return [
            self.columns[column.start] if column.group is None else self.groups[numbers[column.group.name]]
            for column in space.raw
        ]


def standings_of(
    space: Space, body: Body, factual: Floats, missing: tuple[str, ...] = (), filled: tuple[str, ...] = ()
) -> Standings:
    groups = tuple(
        _group(space, body, factual, group, members) for group, members in zip(space.groups, space.members, strict=True)
    )
    shared = shared_columns(body)
    columns = []
    for f, feature in enumerate(space.features):
        g = int(space.group_of[f])
        if feature.name in missing:
            columns.append(Standing.MUST_STAY_WITHIN)
        elif feature.name in filled or not body.lower[f] <= factual[f] <= body.upper[f]:
            columns.append(Standing.HAS_TO_CHANGE)
        elif g >= 0:
            free = groups[g] is Standing.DOES_NOT_MATTER
            columns.append(Standing.DOES_NOT_MATTER if free else Standing.MUST_STAY_WITHIN)
        else:
            free = not shared[f] and _covers(feature, float(factual[f]), body, f)
            columns.append(Standing.DOES_NOT_MATTER if free else Standing.MUST_STAY_WITHIN)
    return Standings(tuple(columns), groups)


def shared_columns(body: Body) -> Bools:
    """Columns whose interval is not theirs alone: those that share the budget of a ball or diamond with others."""
    shared = np.zeros(body.center.size, dtype=np.bool_)
    if is_round(body.shape) and body.round_columns.size > 1:
        shared[body.round_columns] = True
    return shared


def choices_of(body: Body, members: Ints) -> Bools:
    """Which members of a group may be 1 inside the region."""
    if any(np.array_equal(members, free) for free in body.free_groups):
        return allowed_categories(body.lower[members], body.upper[members])
    chosen = np.zeros(members.size, dtype=np.bool_)
    chosen[int(np.argmax(body.center[members]))] = True
    return chosen


def _covers(feature: Feature, factual: float, body: Body, f: int) -> bool:
    """Does the region take every value that the feature may have, of more than one?"""
    low = max(feature.lower, factual) if feature.direction is Direction.INCREASING else feature.lower
    high = min(feature.upper, factual) if feature.direction is Direction.DECREASING else feature.upper
    return not feature.immutable and low < high and bool(body.lower[f] <= low and high <= body.upper[f])


def _group(space: Space, body: Body, factual: Floats, group: Group, members: Ints) -> Standing:
    choices = choices_of(body, members)
    if not choices[int(np.argmax(factual[members]))]:
        return Standing.HAS_TO_CHANGE
    allowed = space.upper[members] == 1.0
    if group.missing_member is not None:
        allowed[group.missing_member] = False  # no value ever turns missing
    fixed = any(space.features[int(f)].immutable for f in members)
    free = not fixed and int(choices.sum()) > 1 and bool((choices | ~allowed).all())
    return Standing.DOES_NOT_MATTER if free else Standing.MUST_STAY_WITHIN
