"""One complete question, frozen and checked when created."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from elbowroom.errors import InputError, warn
from elbowroom.models.base import Label, Model
from elbowroom.numerics import Bools, Floats, Ints, next_up
from elbowroom.problem.body import Body
from elbowroom.problem.conditions import Conditions
from elbowroom.problem.distances import Distance, Metric
from elbowroom.problem.features import Group
from elbowroom.problem.kinds import Direction, Missing
from elbowroom.problem.rooms import Room, Walls
from elbowroom.problem.rules import Rule, check_rules, parse_rules
from elbowroom.problem.shapes import is_round
from elbowroom.problem.space import Space
from elbowroom.problem.target import Target
from elbowroom.visible import listed

NO_RULES: Final[tuple[Rule, ...]] = ()


@dataclass(frozen=True, eq=False)
class RecourseProblem:
    """min distance(x, factual) over centres x in [lower, upper] (whole and one-hot where declared, obeying the rules)
    such that every point of body(x) has the wanted class."""

    model: Model
    space: Space
    factual: Floats
    target: Target
    room: Room
    distance: Distance
    rules: tuple[Rule, ...] = ()
    missing: tuple[str, ...] = ()  # columns of numbers that the row lacks: fixed, and 0 in ``factual``; the model knows

    @classmethod
    def ask(
        cls,
        model: Model,
        space: Space,
        row: object,
        room: Room,
        target: object = None,
        distance: Distance | str = Distance.L1,
        rules: Sequence[Rule] = NO_RULES,
        *,
        allow_missing: bool = False,
    ) -> RecourseProblem:
        """Parse and check everything a user may hand in.

        With ``allow_missing``, numbers may be missing in the row; ``model`` has to be the one for rows that lack these.
        """
        if not isinstance(room, Room):
            raise InputError(f"room={room!r}: give Box(...), Ball(...) or Diamond(...)")
        factual, missing = space.without_missing(space.row(row, allow_missing=allow_missing))
        wanted = _other(model, factual) if target is None else Target.parse(target, model.info)
        problem = cls(
            model=model,
            space=space,
            factual=factual,
            target=wanted,
            room=room,
            distance=Distance.parse(distance),
            rules=rules if rules is NO_RULES else parse_rules(rules),
            missing=missing,
        )
        problem._remark_on_width()
        return problem

    def __post_init__(self) -> None:
        if self.space.names != self.model.info.names:
            raise InputError(
                f"the space has columns {listed(self.space.names)}, the model has {listed(self.model.info.names)}"
            )
        if self.rules:
            check_rules(self.rules)
        if self.missing:
            self._check_missing()
        _ = self.conditions, self.walls, self.target_index

    def _check_missing(self) -> None:
        for name in self.missing:
            f = self.space.position.get(name, -1)
            if f < 0 or self.space.group_of[f] >= 0 or self.factual[f] != 0.0:
                raise InputError(f"missing: {name!r} must be a column of numbers that is 0 in the factual")
            for row in self.conditions.rows:
                if row.coefficients[f] != 0.0:
                    raise InputError(
                        f"{row.source} is about column {name!r}, which is missing in this row; fill it in first"
                    )

    def _remark_on_width(self) -> None:
        """Box(5) is five times each feature's scale and seldom meant."""
        space, walls = self.space, self.walls
        reach = space.upper - space.lower
        wide = (np.maximum(walls.down, walls.up) > reach) & (reach > 0) & ~self.immutable & (space.group_of < 0)
        if wide.any():
            names = [space.names[f] for f in np.flatnonzero(wide)]
            size = self.room.size
            said = "" if size is None else f" A radius of {size:g} counts in units of each scale: 5 % of it is 0.05."
            warn(f"the room is wider than the whole range of {listed(names)}, so it always takes all of it.{said}")

    @cached_property
    def predicted(self) -> Label:
        """What the model says of the factual: its label, or the value of a regressor."""
        return self.model.info.says(self.model.scores(self.factual[None]))[0]

    @cached_property
    def target_index(self) -> int:
        return self.target.index(self.model.info)

    @cached_property
    def conditions(self) -> Conditions:
        """What the rules come down to; engines read this instead of the rules."""
        parts = [rule.lower(self.space, self.factual) for rule in self.rules]
        return Conditions.merged(parts) if parts else Conditions()

    @cached_property
    def walls(self) -> Walls:
        return self.room.walls(self.space)

    @cached_property
    def metric(self) -> Metric:
        return Metric.of(self.space, self.distance)

    @cached_property
    def immutable(self) -> Bools:
        """Columns that never move; one immutable member freezes its whole one-hot group. What is missing stays so, unless
        it is a category that may be filled."""
        fixed = np.array([f.immutable for f in self.space.features])
        fixed[[self.space.position[name] for name in self.missing]] = True
        for group, members in zip(self.space.groups, self.space.members, strict=True):
            kept = self._is_missing(group, members) and not self._may_fill(members)
            fixed[members] = kept or fixed[members].any()
        return fixed

    def _is_missing(self, group: Group, members: Ints) -> bool:
        return group.missing_member is not None and bool(self.factual[members[group.missing_member]] == 1.0)

    def _may_fill(self, members: Ints) -> bool:
        return all(self.space.features[int(f)].missing is Missing.FILL for f in members)

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """Where the centre and the room may lie: declared bounds, cut by one-way features, a point for immutable ones.

        Categories that the room does not take are ruled out. A value never turns missing: that category is for rows in
        which it is missing already, and not inside a room that takes several. An empty interval (lower > upper) means that no answer exists.
        """
        lower, upper = self.space.lower.copy(), self.space.upper.copy()
        for f, feature in enumerate(self.space.features):
            if feature.direction is Direction.INCREASING:
                lower[f] = max(lower[f], self.factual[f])
            elif feature.direction is Direction.DECREASING:
                upper[f] = min(upper[f], self.factual[f])
        for g, (group, members) in enumerate(zip(self.space.groups, self.space.members, strict=True)):
            if group.missing_member is not None and (
                g in self.walls.free_groups or not self._is_missing(group, members)
            ):
                upper[members[group.missing_member]] = 0.0
        fixed = self.immutable
        lower, upper = np.where(fixed, self.factual, lower), np.where(fixed, self.factual, upper)
        banned = list(self.walls.banned)
        upper[banned] = np.minimum(upper[banned], 0.0)
        return lower, upper

    @property
    def lower(self) -> Floats:
        return self.limits[0]

    @property
    def upper(self) -> Floats:
        return self.limits[1]

    @cached_property
    def trouble(self) -> str | None:
        """A reason why no centre can exist at all, found without looking at the model."""
        for f in np.flatnonzero(self.lower > self.upper):
            g = int(self.space.group_of[f])
            if g >= 0 and self.immutable[f]:
                return (
                    f"{self.space.groups[g].name!r} cannot change, and the room does not take the category that it has"
                )
            return (
                f"column {self.space.names[f]!r}: the factual value {self.factual[f]:g} and its direction leave nothing "
                f"of the bounds [{self.space.lower[f]:g}, {self.space.upper[f]:g}]"
            )
        return None

    def body(self, center: Floats) -> Body:
        """The room around a centre, clipped to the limits."""
        return Body.around(center, self.walls, self.lower, self.upper, self.space.whole_room, self.space.members)

    def is_room(self, body: Body) -> bool:
        """True if a body is the room around its own centre. The ends of a widened box may lie between those of its widths
        and those of the next larger widths: where a centre is much larger than an end, no width states it exactly."""
        least = self.body(body.center)
        if is_round(body.shape):
            return least.same_as(body)
        larger = replace(self.walls, down=next_up(self.walls.down), up=next_up(self.walls.up))
        most = Body.around(body.center, larger, self.lower, self.upper, self.space.whole_room, self.space.members)
        inside = (most.lower <= body.lower) & (body.lower <= least.lower) & (least.upper <= body.upper)
        ends = bool((inside & (body.upper <= most.upper)).all())
        return ends and least.same_as(replace(body, lower=least.lower, upper=least.upper))

    def measure(self, center: Floats) -> float:
        return self.metric(self.factual, center)

    def changed(self, center: Floats) -> Bools:
        """What `AtMost` counts: columns outside groups that differ from the factual at all, then groups that do."""
        return self.space.changed(self.factual, center)

    def admissible(self, center: Floats) -> bool:
        """True if the centre obeys limits, whole numbers, one-hot groups and rules (exactly; linear rules to rounding)."""
        return self.why_inadmissible(center) is None

    def why_inadmissible(self, center: Floats) -> str | None:
        """The first limit, whole number, one-hot group or rule that the centre breaks, by name; None if it breaks none."""
        space = self.space
        inside = np.isfinite(center) & (center >= self.lower) & (center <= self.upper)
        if not inside.all():
            f = int(np.argmin(inside))
            return self._outside(f, float(center[f]))
        broken = space.whole_center & (center != np.floor(center))
        if broken.any():
            f = int(np.argmax(broken))
            return f"column {space.names[f]!r}: {center[f]} is not a whole number"
        for group, members in zip(space.groups, space.members, strict=True):
            if center[members].sum() != 1.0:
                return f"one-hot group {group.name!r}: its columns add up to {center[members].sum()}, not to 1"
        return self.conditions.broken_by(space, self.factual, center) if self.rules else None

    def _outside(self, f: int, value: float) -> str:
        name, direction = self.space.names[f], self.space.features[f].direction
        if self.immutable[f]:
            return f"column {name!r} is immutable: {value} is not {self.factual[f]}"
        way = {Direction.INCREASING: ", as it may only rise", Direction.DECREASING: ", as it may only fall"}
        return f"column {name!r}: {value} lies outside [{self.lower[f]}, {self.upper[f]}]" + way.get(
            Direction(direction), ""
        )


def _other(model: Model, row: Floats) -> Target:
    """What is wanted when nothing is said."""
    if model.info.is_regressor:
        return Target.other(model.info, 0)  # refused there
    return Target.other(model.info, int(model.info.labels_of(model.scores(row[None]))[0]))
