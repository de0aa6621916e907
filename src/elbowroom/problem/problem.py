"""One complete question, frozen and checked when created."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.models.base import Label, Model
from elbowroom.numerics import Bools, Floats, next_up
from elbowroom.problem.body import Body
from elbowroom.problem.conditions import Conditions
from elbowroom.problem.distances import Distance, Metric
from elbowroom.problem.kinds import Direction
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
    ) -> RecourseProblem:
        """Parse and check everything a user may hand in."""
        if not isinstance(room, Room):
            raise InputError(f"room={room!r}: give Box(...), Ball(...) or Diamond(...)")
        factual = space.row(row)
        wanted = _other(model, factual) if target is None else Target.parse(target, model.info)
        return cls(
            model=model,
            space=space,
            factual=factual,
            target=wanted,
            room=room,
            distance=Distance.parse(distance),
            rules=rules if rules is NO_RULES else parse_rules(rules),
        )

    def __post_init__(self) -> None:
        if self.space.names != self.model.info.names:
            raise InputError(
                f"the space has columns {listed(self.space.names)}, the model has {listed(self.model.info.names)}"
            )
        if self.rules:
            check_rules(self.rules)
        _ = self.conditions, self.walls, self.target_index

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
        """Columns that never move; one immutable member freezes its whole one-hot group."""
        fixed = np.array([f.immutable for f in self.space.features])
        for members in self.space.members:
            fixed[members] = fixed[members].any()
        return fixed

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """Where the centre and the room may lie: declared bounds, cut by one-way features, a point for immutable ones.

        An empty interval (lower > upper) means that no answer exists.
        """
        lower, upper = self.space.lower.copy(), self.space.upper.copy()
        for f, feature in enumerate(self.space.features):
            if feature.direction is Direction.INCREASING:
                lower[f] = max(lower[f], self.factual[f])
            elif feature.direction is Direction.DECREASING:
                upper[f] = min(upper[f], self.factual[f])
        fixed = self.immutable
        return np.where(fixed, self.factual, lower), np.where(fixed, self.factual, upper)

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
