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
from elbowroom.problem.class_names import NO_NAMES, ClassNames
from elbowroom.problem.conditions import Between, Conditions, still_columns
from elbowroom.problem.distances import Distance, Metric
from elbowroom.problem.everywhere import Surroundings
from elbowroom.problem.features import Group
from elbowroom.problem.further import Further
from elbowroom.problem.keeping import Probability
from elbowroom.problem.kinds import Direction, Missing
from elbowroom.problem.rooms import Room, Walls
from elbowroom.problem.rules import Rule, check_rules, conditions_of, parse_rules
from elbowroom.problem.shapes import is_round
from elbowroom.problem.some_columns import half_changed, kept_ends, least_moves, walls_at
from elbowroom.problem.space import Space
from elbowroom.problem.target import Target
from elbowroom.visible import listed

NO_RULES: Final[tuple[Rule, ...]] = ()


@dataclass(frozen=True, eq=False)
class Case:
    """A part of a question that an engine is asked about: centres within narrower limits, with these conditions and
    prices alone."""

    lower: Floats
    upper: Floats
    conditions: Conditions
    metric: Metric


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
    labels: ClassNames = NO_NAMES  # what classes are called in the answer
    keeps: Probability | None = None  # what a slip of the centre must keep, besides the room
    case: Case | None = None  # set by a search that divides the question; no user's question has one

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
        labels: ClassNames = NO_NAMES,
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
            labels=labels,
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
        if self.space.causes is not None and (self.stated.most_changes is not None or self.missing):
            what = "AtMost, which counts columns and not actions," if not self.missing else "a row that lacks numbers"
            raise InputError(f"{what} is not known together with causes; leave it out, or leave out the causes")
        if self.missing:
            self._check_missing()
        _ = self.conditions, self.walls, self.target_index, self.spread

    def _check_missing(self) -> None:
        for name in self.missing:
            f = self.space.position.get(name, -1)
            if f < 0 or self.space.group_of[f] >= 0 or self.factual[f] != 0.0:
                raise InputError(f"missing: {name!r} must be a column of numbers that is 0 in the factual")
            about = [row.source for row in self.stated.rows if row.coefficients[f] != 0.0]
            about += [domain.source for domain in self.stated.domains if domain.column == f]
            about += [c.source for c in self.stated.clauses if any(option.column == f for option in c.options)]
            about += [each.source for each in self.stated.further if each.model.cuts[f].size]
            about += [hull.source for hull in self.stated.hulls]
            for source in about:
                raise InputError(f"{source} is about column {name!r}, which is missing in this row; fill it in first")

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
    def spread(self) -> Floats:
        """The standard deviation of the slip that ``keeps`` is about, per column in raw units."""
        if self.keeps is None:
            return np.zeros(len(self.space.names))
        return self.keeps.spread(self.space, self.immutable)

    @cached_property
    def stated(self) -> Conditions:
        """What the rules come down to, those about every point of the room as they are."""
        found = conditions_of(self.rules, self.space, self.factual)
        return Conditions.merged([found, still_columns(self.space, self.factual)]) if self.ruled else found

    @property
    def ruled(self) -> bool:
        """True if there may be conditions: of rules, or of columns that nobody can act on."""
        return bool(self.rules) or self.space.causes is not None

    @cached_property
    def conditions(self) -> Conditions:
        """What engines read instead of the rules: conditions on the centre. A clause with a single option is no
        condition but narrower limits of the centre: see `centers`."""
        if self.case is not None:
            return self.case.conditions
        return replace(self._at_center, clauses=tuple(c for c in self._at_center.clauses if len(c.options) != 1))

    @cached_property
    def _at_center(self) -> Conditions:
        if not self.stated.everywhere:
            return self.stated
        on = getattr(self.room, "on", "all")
        if getattr(on, "value", on) != "all":
            raise InputError(
                f"{self.stated.everywhere[0].source} needs a room of one size around every centre; leave on= out of the room, "
                "or everywhere=True out of the rule"
            )
        return Surroundings(self.space, self.walls, *self.limits).at_center(self.stated)

    @cached_property
    def _forced(self) -> tuple[tuple[Between, str], ...]:
        """Clauses that leave no choice."""
        return tuple((c.options[0], c.source) for c in self._at_center.clauses if len(c.options) == 1)

    @cached_property
    def centers(self) -> tuple[Floats, Floats]:
        """Where the centre may lie: the limits, cut by clauses that leave no choice, and by the case. The room is clipped to
        the limits alone."""
        if self.case is not None:
            return self.case.lower, self.case.upper
        if not self.ruled or not self._forced:
            return self.limits
        lower, upper = self.lower.copy(), self.upper.copy()
        for option, _ in self._forced:
            lower[option.column] = max(lower[option.column], option.low)
            upper[option.column] = min(upper[option.column], option.high)
        return lower, upper

    @cached_property
    def walls(self) -> Walls:
        return self.room.walls(self.space)

    @cached_property
    def further(self) -> tuple[Further, ...]:
        """The further margins that a search has to reach. In a room that is a point, its centre is everywhere."""
        found = self.conditions.further
        point = not self.walls.free_groups and not (self.walls.down > 0).any() and not (self.walls.up > 0).any()
        return tuple(replace(each, everywhere=True) for each in found) if point else found

    @cached_property
    def metric(self) -> Metric:
        return Metric.of(self.space, self.distance) if self.case is None else self.case.metric

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
        return self._trouble_with_rules() if self.ruled else None

    def _trouble_with_rules(self) -> str | None:
        for clause in self.conditions.clauses:
            if not clause.options:
                return f"{clause.source} cannot hold at every point of the {self.walls.shape.value}"
        if self.case is not None:
            return None
        lower, upper = self.centers
        for f in np.flatnonzero(lower > upper):
            sources = [source for option, source in self._forced if option.column == f]
            return f"{' and '.join(dict.fromkeys(sources))}: this leaves no value of column {self.space.names[f]!r}"
        return None

    def walls_at(self, center: Floats) -> Walls:
        """The walls of the room around this centre: of columns that have no room there, 0; see `on`."""
        return walls_at(self.walls, self.factual, center)

    def body(self, center: Floats) -> Body:
        """The room around a centre, clipped to the limits."""
        return self._body(center, self.walls_at(center))

    def _body(self, center: Floats, walls: Walls) -> Body:
        return Body.around(center, walls, self.lower, self.upper, self.space.whole_room, self.space.members)

    @cached_property
    def kept_ends(self) -> tuple[Floats, Floats]:
        """Between which values a column that is kept may slip; see `on`."""
        return kept_ends(self.walls, self.factual, self.lower, self.upper, self.space.whole_room)

    @cached_property
    def least_moves(self) -> tuple[Floats, Floats]:
        """What a changed column must reach, at most or at least, with on="kept"; see `on`."""
        return least_moves(self.walls, self.factual, self.lower, self.upper, self.space.whole_room)

    def is_room(self, body: Body) -> bool:
        """True if a body is the room around its own centre. The ends of a widened box may lie between those of its widths
        and those of the next larger widths: where a centre is much larger than an end, no width states it exactly."""
        least = self.body(body.center)
        if is_round(body.shape):
            return least.same_as(body)
        walls = self.walls_at(body.center)
        most = self._body(body.center, replace(walls, down=next_up(walls.down), up=next_up(walls.up)))
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
        return self.why_outside(center) or (self.conditions.missed_at(center) if self.conditions.further else None)

    def why_outside(self, center: Floats) -> str | None:
        """The same, but for further margins: whether one of them is reached, or open, is for the judge."""
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
        inner = half_changed(self.walls, self.factual, center, *self.least_moves)
        if inner.any():
            f = int(np.argmax(inner))
            return (
                f"column {space.names[f]!r}: {center[f]} differs from {self.factual[f]} by less than its room; with "
                'on="kept" a feature is kept, or moves by its room at least'
            )
        return self._broken_rule(center) if self.ruled else None

    def _broken_rule(self, center: Floats) -> str | None:
        if self.case is not None:
            lower, upper = self.centers
            if ((center < lower) | (center > upper)).any():
                return "the centre lies outside the part of the question that is asked about"
            return self.conditions.broken_by(self.space, self.factual, center)
        broken = self.stated.broken_by(self.space, self.factual, center)
        if broken is None and self.stated.everywhere:
            return self.broken_in(self.body(center))
        return broken

    def broken_in(self, body: Body) -> str | None:
        """The first rule demanded everywhere that a point of a region breaks, in words; None if none does."""
        return self.stated.broken_in(self.space, body)

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
    if model.info.members:
        return Target.others(model.info, tuple(model.info.says(model.scores(row[None]))[0]))  # type: ignore[arg-type]
    if model.info.is_regressor:
        return Target.other(model.info, 0)  # refused there
    return Target.other(model.info, int(model.info.labels_of(model.scores(row[None]))[0]))
